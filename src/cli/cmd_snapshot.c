/* SPDX-License-Identifier: MIT */
/*
 * cmd_snapshot.c - hodo snapshot: writes the contents of flight recorders, which continue.
 *
 * The memory comes from the process's recorder, or is a file of the process itself. All of it is collected
 * before an earlier recording is moved out of the way.
 */
#include "cli.h"
#include <cli/values.h>
#include <sym/recording_symbols.h>
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/vec.h>
#include <pack/compress.h>
#include <record/record.h>

#define PROCESSES_MAX 8192u /* of one recorder */
#define JOIN_TRIES 200      /* of 10 ms */

struct snapshots {
	struct hodo_args args;
	const char *out, *why;
	bool kernel;
	pid_t pid; /* 0: the kernel */
	struct utsname system;
	struct hodo_lent *memory; /* that recorders gave */
	uint32_t n;
	struct hodo_flight_memory flight; /* or a file, read; shm NULL: none */
	int unanswered; /* the error of a recorder that may not even know the process; 0: none */
	int out_fd;
	uint64_t events, bytes;
	bool functions;
	struct hodo_roots roots; /* of processes with functions that do not have ours */
	int compress; /* level; 0: not */
	struct hodo_compressor *compressor;
};

/* ---------------------------------------------------------------- from a recorder */

static int add_memory(struct snapshots *s, const struct hodo_msg_answer *answer, int fd)
{
	struct hodo_lent memory;

	if (hodo_lent_map(&memory, answer, fd) < 0)
		return -EPROTO;
	*hodo_must(hodo_vec_add(s->memory, s->n)) = memory;
	return 0;
}

/* The recorder may not be ready for a process that has just joined. */
static int ask_for_memory(const struct snapshots *s, const struct hodo_found_recorder *recorder, pid_t pid,
			  uint32_t next, struct hodo_msg_answer *answer)
{
	int fd = -EAGAIN;

	for (int i = 0; fd == -EAGAIN && i < JOIN_TRIES; i++) {
		if (i)
			hodo_sleep_ns(10000000);
		fd = hodo_lent_ask(recorder->path, pid, next, s->why, answer);
	}
	return fd;
}

/*
 * Asks one recorder for a process, or for all its processes (pid 0). 0, also if it has fewer; else a negative
 * errno.
 */
static int ask(struct snapshots *s, const struct hodo_found_recorder *recorder, pid_t pid)
{
	struct hodo_msg_answer answer;
	int err = 0;

	for (uint32_t next = 0; !err && next < (pid ? 1 : PROCESSES_MAX); next++) {
		int fd = ask_for_memory(s, recorder, pid, next, &answer);

		if (fd == -ENOENT && next > 0)
			break;
		err = fd < 0 ? fd : add_memory(s, &answer, fd);
	}
	/* A recorder that does not answer may be somebody else's: it has exited, or is stopped. */
	if (err && err != -ENOENT && err != -EOPNOTSUPP && err != -ENOMEM) {
		/* Refused or reset: that recorder has ended. */
		if (err != -ECONNREFUSED && err != -ECONNRESET && err != -EPIPE && err != -EACCES)
			s->unanswered = err;
		err = -ENOENT;
	}
	return err;
}

/* Asks the recorder of the process, or the recorder itself. 0; -ENOENT: none; another negative errno. */
static int ask_recorders(struct snapshots *s)
{
	HODO_AUTO_FREE struct hodo_found_recorder *recorders =
		hodo_must(calloc(HODO_RECORDERS_MAX, sizeof(*recorders)));
	int err = -ENOENT, n = hodo_recorders_find(s->pid, recorders);

	for (int i = 0; i < n && err == -ENOENT; i++) {
		err = ask(s, &recorders[i], s->pid);
		if (err == -ENOENT && recorders[i].pid == (uint32_t)s->pid)
			err = ask(s, &recorders[i], 0);
	}
	return err;
}

/* ------------------------------------------------------------- from the process's file */

/* 0, or the exit status after a message; also the functions below. */
static int read_flight(struct snapshots *s, const char *path)
{
	HODO_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct hodo_why why;

	if (fd < 0)
		return hodo_error("%s: %s: %s", path, strerror(errno), hodo_remedy(errno));
	return hodo_flight_memory_read(&s->flight, fd, &why) < 0 ? hodo_error("%s", why.text) : 0;
}

/* The file of a process that does not listen: its environment tells where it is. */
static bool find_flight(pid_t pid, char *path, size_t size)
{
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	char dir[PATH_MAX], end[32];
	const char *name;
	bool found = false;

	if (!hodo_proc_environment(pid, HODO_FLIGHT_ENV, dir, sizeof(dir)) || dir[0] != '/')
		return false;
	snprintf(end, sizeof(end), "-%d.flight", (int)pid);
	d = opendir(dir);
	while (!found && (name = hodo_dir_next(d)))
		found = strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0 &&
			snprintf(path, size, "%s/%s", dir, name) < (int)size;
	return found;
}

static int ask_process(struct snapshots *s, struct hodo_target *t)
{
	struct hodo_msg_answer answer = { .by = HODO_BY_NOBODY };
	char path[PATH_MAX + 300];

	if (t->fd >= 0 && hodo_target_ask(t, HODO_CONTROL_STATUS, NULL, &answer, NULL) < 0)
		return hodo_error("%s", t->why.text);
	if (answer.by == HODO_BY_FLIGHT)
		return read_flight(s, answer.path);
	if (answer.by == HODO_BY_NOBODY && find_flight(s->pid, path, sizeof(path)))
		return read_flight(s, path);
	if (s->unanswered)
		return hodo_error("process %d is not recorded by a recorder that answers, and one recorder "
				  "does not answer: %s",
				  (int)s->pid, strerror(-s->unanswered));
	if (answer.by == HODO_BY_RECORDER)
		return hodo_error("process %d is recorded, but its recorder cannot be reached: become its "
				  "user", (int)s->pid);
	return hodo_error("process %d is not recorded: start with 'hodo record --overwrite -p %d', then "
			  "take a snapshot", (int)s->pid, (int)s->pid);
}

static int find_kernel(struct snapshots *s)
{
	struct hodo_why why;

	uname(&s->system);
	if (hodo_kernel_memory(hodo_must(hodo_vec_add(s->memory, s->n)), &why) == 0)
		return 0;
	s->n = 0;
	return hodo_error("%s", why.text);
}

/* Collects all memory. */
static int find(struct snapshots *s)
{
	HODO_AUTO(hodo_target_close) struct hodo_target t;
	int err = hodo_target_open(&t, s->pid);

	if (err && err != -ECONNREFUSED)
		return hodo_error("%s", t.why.text);
	err = ask_recorders(s);
	if (err == -ENOENT)
		return ask_process(s, &t);
	if (err == -EOPNOTSUPP)
		return hodo_error("the recording of process %d already holds every event: snapshots are for "
				  "'hodo record --overwrite'", (int)s->pid);
	return err ? hodo_error("the recorder of process %d cannot be asked: %s", (int)s->pid, strerror(-err)) : 0;
}

/* ------------------------------------------------------------------------- writing */

static int write_one(struct snapshots *s, struct hodo_snapshot_source source)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)source.shm;
	struct hodo_snapshot_result result;
	struct hodo_read_clock clock;
	struct hodo_why why;

	if (hodo_snapshot_clock(source.flight, &clock) < 0)
		return hodo_error("its clock cannot be understood");
	source.clock = &clock;
	source.why = s->why;
	source.compressor = s->compressor;
	source.functions = __atomic_load_n(&shm->functions, __ATOMIC_RELAXED) > 0;
	if (hodo_snapshot_write(&source, s->out_fd, &result, &why) < 0)
		return hodo_error("%s", why.text);
	/* The first calls may have come while it was written. */
	source.functions = __atomic_load_n(&shm->functions, __ATOMIC_RELAXED) > 0;
	s->functions |= source.functions;
	if (source.functions && !source.kernel)
		hodo_roots_add(&s->roots, source.pid);
	s->events += result.events;
	s->bytes += result.bytes;
	if (result.damaged_rings || result.lost.damaged)
		hodo_warning("%s: its buffers are damaged: some of its events are lost", result.dir);
	return 0;
}

static int write_all(struct snapshots *s)
{
	const struct hodo_flight_memory *f = &s->flight;
	int status = 0;

	for (uint32_t i = 0; i < s->n && !status; i++) {
		const struct hodo_lent *m = &s->memory[i];

		status = write_one(s, (struct hodo_snapshot_source){
			/* The kernel's rings cannot be found by searching for holes. */
			.shm = m->shm, .layout = m->layout, .fd = s->kernel ? -1 : m->fd, .flight = &m->flight,
			.pid = m->pid, .kernel = s->kernel ? s->system.release : NULL });
	}
	if (f->shm && !status)
		status = write_one(s, (struct hodo_snapshot_source){
			.shm = f->shm, .layout = f->layout, .fd = -1, .flight = &f->flight, .pid = f->pid });
	return status;
}

static int write_snapshots(struct snapshots *s)
{
	struct hodo_why why;
	char events[32], bytes[32], whom[48];
	uint32_t processes = s->n + (s->flight.shm != NULL);
	int status;

	if (s->compress)
		s->compressor = hodo_must(hodo_compressor_new(s->compress));
	s->out_fd = hodo_out_dir_open(s->out, &why);
	if (s->out_fd < 0)
		return hodo_error("%s", why.text);
	status = write_all(s);
	if (status) {
		rmdir(s->out);
		return status;
	}
	if (s->functions) {
		char object[PATH_MAX];
		int err = hodo_symbols_keep(s->out, s->roots.fd, s->roots.n, object);

		if (err && !s->args.quiet)
			hodo_tell_unkept(s->out, object, err);
	}
	if (!s->args.quiet)
		fprintf(stderr, "hodo: %s event%s of %s, %s in %s\n", hodo_grouped(s->events, events),
			s->events == 1 ? "" : "s", hodo_whom(s->kernel, processes, whom),
			hodo_human_bytes(s->bytes, bytes), s->out);
	return 0;
}

static int run(void *args)
{
	struct snapshots *s = args;
	const struct hodo_args *w = &s->args;
	int status;

	if (strlen(s->why) >= sizeof(((struct hodo_shm *)0)->why))
		return hodo_usage("snapshot", "--why is a text of at most %zu bytes",
				  sizeof(((struct hodo_shm *)0)->why) - 1);
	if (s->kernel && w->n)
		return hodo_usage("snapshot", "-k is for the kernel, not a process: leave out '%s'",
				  w->words[0]);
	if (!s->kernel && w->n == 0)
		return hodo_usage("snapshot", "give a process ID");
	if (w->n > 1)
		return hodo_usage("snapshot", "one process at a time, not '%s' too", w->words[1]);
	status = s->kernel ? 0 : hodo_target_parse("snapshot", w->words[0], &s->pid);
	if (!status)
		status = s->kernel ? find_kernel(s) : find(s);
	return status ? status : write_snapshots(s);
}

static void drop(void *args)
{
	struct snapshots *s = args;

	for (uint32_t i = 0; i < s->n; i++)
		hodo_lent_unmap(&s->memory[i]);
	free(s->memory);
	if (s->flight.shm)
		hodo_flight_memory_free(&s->flight);
	if (s->out_fd >= 0)
		close(s->out_fd);
	hodo_compressor_free(s->compressor);
	hodo_roots_close(&s->roots);
}

static int set_compress(void *args, const char *value)
{
	return hodo_compress_level("snapshot", value, &((struct snapshots *)args)->compress);
}

static const struct hodo_option options[] = {
	{ .name = "kernel", .letter = 'k', HODO_AT(struct snapshots, kernel),
	  .help = "of the kernel, from 'hodo record -k --overwrite' or its\n"
		  "control tree (root, CAP_PERFMON)" },
	HODO_OPTION_DIR(struct snapshots, out),
	{ .name = "why", .kind = HODO_OPTION_TEXT, .arg = "TEXT", HODO_AT(struct snapshots, why),
	  .help = "the reason; 'hodo info' shows it" },
	{ .name = "compress", .kind = HODO_OPTION_CALL, .arg = "LEVEL", .optional = true, .set = set_compress,
	  .help = "compress what is written, at level 1 to 19 (1)" },
	HODO_OPTION_QUIET("do not report what was done"),
	{ 0 },
};

static const struct snapshots defaults = { .out = HODO_DIR_DEFAULT, .why = "hodo snapshot", .out_fd = -1 };

const struct hodo_verb hodo_verb_snapshot = {
	.name = "snapshot", .does = "write what a flight recorder holds while it goes on",
	.usage = "[options] PID\n[options] -k",
	.about = "Writes what a flight recorder holds now, without stopping it. PID is a process\n"
		 "recorded by 'hodo record --overwrite', such a recorder itself (all its\n"
		 "processes), or a process with its own flight recorder (HODO_FLIGHT).\n",
	.options = options, .column = 20, .aligned = true, .word = HODO_WORD_PID,
	.args_bytes = sizeof(struct snapshots), .defaults = &defaults, .run = run, .drop = drop,
};
