/* SPDX-License-Identifier: MIT */
/*
 * snapshots.c - the flight recorder: when the buffers of recorded processes are written.
 */
#include "snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <base/file.h>
#include <base/scope.h>

#include <record/conditions.h>
#include "out_dir.h"
#include <record/process_impl.h>
#include <proc/process.h>
#include <record/ring/shm.h>
#include "snapshot.h"

#define NAME_SIZE 24

static const struct hodo_shm *shm_of(const struct hodo_process *p)
{
	return (const struct hodo_shm *)p->shm;
}

/* ----------------------------------------------------------------- a snapshot */

static int write_into(struct hodo_process *p, int fd, uint32_t number, const char *why,
		      struct hodo_snapshot_result *result, struct hodo_why *flaw)
{
	struct hodo_recorder *s = p->recorder;
	struct hodo_snapshot_source source = {
		.shm = p->shm, .layout = p->layout, .fd = p->kernel ? -1 : p->memfd, .flight = &p->id.flight,
		.pid = p->id.vpid, .kernel = p->kernel ? s->release : NULL,
		.functions = s->config.functions != NULL, .number = number, .why = why,
		.compressor = s->thread[0].compressor,
	};
	int err;

	hodo_process_read_threads(p, false);
	source.clock = hodo_recorder_clock_map(s);
	source.thread = p->threads.entries;
	source.threads = p->threads.n;
	err = hodo_snapshot_write(&source, fd, result, flaw);
	if (hodo_recorder_free_files(s, err))
		err = hodo_snapshot_write(&source, fd, result, flaw);
	return err;
}

static void tell_failure(struct hodo_recorder *s, const char *name, const char *why)
{
	if (!s->snapshots.failed)
		hodo_report(&s->config.reporter, "%s/%s: %s", s->config.out_path, name, why);
	s->snapshots.failed = true;
}

static void take(struct hodo_process *p, const char *why)
{
	struct hodo_recorder *s = p->recorder;
	struct hodo_snapshots_made *made = &s->snapshots;
	uint32_t number = s->total.snapshots + 1;
	struct hodo_snapshot_result result;
	struct hodo_why flaw;
	char name[NAME_SIZE];
	HODO_AUTO_CLOSE int fd = -1;

	if (number > HODO_SNAPSHOTS_MAX) {
		if (!made->too_many)
			hodo_report(&s->config.reporter, "there are %u snapshots already: no more are made",
				    HODO_SNAPSHOTS_MAX);
		made->too_many = true;
		return;
	}
	snprintf(name, sizeof(name), HODO_OUT_SNAPSHOT "%04u", number);
	fd = hodo_dir_make(s->config.out_fd, name);
	if (fd < 0 && fd != -EEXIST) {
		tell_failure(s, name, strerror(-fd));
		return;
	}
	fd = hodo_recorder_open_dir(s, name);
	if (fd < 0) {
		tell_failure(s, name, strerror(-fd));
	} else if (write_into(p, fd, number, why, &result, &flaw) < 0) {
		tell_failure(s, name, flaw.text);
	} else {
		s->total.snapshots++;
		s->total.snapshot_events += result.events;
		s->total.snapshot_bytes += result.bytes;
		hodo_text_printf(&made->done, "%s/%s", name, result.dir);
		hodo_text_bytes(&made->done, "\0", 2); /* its metadata is on disk */
	}
	if (s->total.snapshots < number)
		unlinkat(s->config.out_fd, name, AT_REMOVEDIR);
}

/* One snapshot for all requests so far. Later requests make another. */
static void take_wanted(struct hodo_process *p)
{
	uint32_t wanted = hodo_shm_load32(&shm_of(p)->snapshots);
	char why[sizeof(shm_of(p)->why)];

	if (wanted == p->snapshots.seen || p->recorder->config.mode != HODO_MODE_OVERWRITE ||
	    p->recorder->config.ops.packet)
		return;
	p->snapshots.seen = wanted;
	hodo_shm_copy(why, shm_of(p)->why, sizeof(why));
	why[sizeof(why) - 1] = 0;
	take(p, why);
}

/* -------------------------------------------------------------------- look, end */

/* What this recording's triggers can want; damaged memory may claim more. */
static uint32_t triggers_want(const struct hodo_recorder *s)
{
	const struct hodo_conditions *c = s->config.conditions;

	return !c ? 0 : (hodo_conditions_have(c, HODO_CONDITION_STOP) ? HODO_WANTS_STOP : 0) |
			(hodo_conditions_have(c, HODO_CONDITION_EXIT) ? HODO_WANTS_EXIT : 0);
}

uint32_t hodo_snapshots_look(struct hodo_process *p)
{
	uint32_t wants = hodo_shm_load32(&shm_of(p)->wants) & triggers_want(p->recorder);

	take_wanted(p);
	if (wants & HODO_WANTS_EXIT)
		p->recorder->snapshots.ended = p->recorder->total.ended = true;
	p->snapshots.asked |= wants != 0;
	return wants;
}

static enum hodo_ending ending_of(const struct hodo_process *p)
{
	const struct hodo_recorder *s = p->recorder;

	/* Its program was replaced by exec, or only the recording ended. */
	if (hodo_proc_lives(p->pidfd))
		return HODO_ENDING_EXIT;
	if (p->id.pid == s->command && s->snapshots.command_ended)
		return hodo_ending_of_status(s->snapshots.command_status);
	return hodo_ending_of(p->id.pid, p->pidfd);
}

static bool is_wanted(struct hodo_process *p)
{
	const struct hodo_recorder *s = p->recorder;
	enum hodo_ending ending;

	if (s->config.snapshots.on_exit || p->snapshots.asked || s->snapshots.ended)
		return true;
	if (!s->config.snapshots.on_crash)
		return false;
	if (p->kernel) /* its activity at that time is of interest */
		return s->snapshots.crashed ||
		       (s->snapshots.command_ended &&
			hodo_ending_of_status(s->snapshots.command_status) != HODO_ENDING_EXIT);
	ending = ending_of(p);
	if (ending == HODO_ENDING_UNKNOWN)
		hodo_process_report(p, "this kernel does not say whether it crashed: its buffers are written");
	p->recorder->snapshots.crashed |= ending != HODO_ENDING_EXIT;
	return ending != HODO_ENDING_EXIT;
}

bool hodo_snapshots_end(struct hodo_process *p)
{
	hodo_snapshots_look(p);
	if (!p->snapshots.withheld)
		return true;
	if (!is_wanted(p)) {
		p->recorder->total.unwritten++;
		return false;
	}
	p->snapshots.withheld = false;
	return true;
}
