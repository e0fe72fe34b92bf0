/* SPDX-License-Identifier: MIT */
/* target.c - a running process that a verb communicates with. */
#include "target.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#ifdef HODO_HAVE_ATTACH
#include <attach/attach.h>
#endif
#include <base/clock.h>
#include <base/vec.h>
#include <base/scope.h>
#include <cli/options.h>
#include <proc/maps.h>

#include "say.h"

#define PLAN_NS  60000000000ll /* a plan for a large program may take that long on a busy machine */
#define BEGIN_NS 3000000000ll /* longer than the process's own limit for its part of the recorder */

int hodo_target_parse(const char *verb, const char *text, pid_t *pid)
{
	uint64_t number;

	if (hodo_parse_number(text, INT_MAX, &number) < 0 || number == 0)
		return hodo_usage(verb, "'%s' is not a process ID", text);
	*pid = (pid_t)number;
	return 0;
}

/* Connects to its listener. 0, or a negative errno with t->fd -1. */
static int connect_to(struct hodo_target *t)
{
	int fd = hodo_peer_connect(t->pid, t->pidfd, &t->why);

	t->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

int hodo_target_open(struct hodo_target *t, pid_t pid)
{
	int err;

	t->pid = pid;
	t->pidfd = t->fd = -1;
	t->copy = NULL;
	if (pid == getpid())
		return hodo_why(&t->why, -EINVAL, "process %d is this hodo itself: give another process", (int)pid);
	t->pidfd = hodo_peer_open(pid, &t->why);
	if (t->pidfd < 0)
		return t->pidfd;
	err = connect_to(t);
	if (err && err != -ECONNREFUSED)
		hodo_target_close(t);
	return err;
}

#ifdef HODO_HAVE_ATTACH
/*
 * It has another root directory. The copies are there until it is connected and has answered: it loads libhodo-func
 * before that.
 */
static int inject_copy(struct hodo_target *t, const char *library)
{
	struct hodo_why why;
	char libraries[2 * PATH_MAX];
	struct hodo_attach_copy *copy = hodo_must(calloc(1, sizeof(*copy)));
	int err;

	snprintf(libraries, sizeof(libraries), "%s", library);
	hodo_launch_add_functions(libraries, sizeof(libraries), &why);
	t->copy = copy;
	err = hodo_attach_copy_make(copy, t->pid, libraries, false, &why);
	if (err)
		return hodo_why(&t->why, err, "process %d has another root directory (chroot, container), to which "
				"libhodo cannot be copied: %s: start it there with HODO_LISTEN=1 and libhodo",
				(int)t->pid, why.text);
	return hodo_attach_process(t->pid, t->pidfd, library, copy, NULL, &t->why);
}
#endif

static void remove_copy(struct hodo_target *t)
{
#ifdef HODO_HAVE_ATTACH
	if (t->copy)
		hodo_attach_copy_remove(t->copy);
#endif
	free(t->copy);
	t->copy = NULL;
}

/* Attaches libhodo to it if necessary, makes it listen, and connects. 0 or negative errno. */
static int inject(struct hodo_target *t)
{
#ifdef HODO_HAVE_ATTACH
	char library[PATH_MAX];
	int err = hodo_launch_library(library, sizeof(library), &t->why);

	if (!err)
		err = hodo_attach_process(t->pid, t->pidfd, library, NULL, NULL, &t->why);
	if (err == -EXDEV)
		err = inject_copy(t, library);
	return err ? err : connect_to(t);
#else
	return hodo_why(&t->why, -ECONNREFUSED, "process %d does not listen: start it with HODO_LISTEN=1",
			(int)t->pid);
#endif
}

/* Whether the process has mapped a libhodo, with or without a version in its name. */
static bool has_library(pid_t pid)
{
	HODO_AUTO(hodo_proc_maps_close) struct hodo_proc_maps maps;
	struct hodo_proc_map map;
	bool found = false;

	hodo_proc_maps_open(&maps, pid);
	while (!found && hodo_proc_maps_next(&maps, &map))
		found = strstr(map.name, "/libhodo.so") != NULL;
	return found;
}

int hodo_target_control(struct hodo_target *t, pid_t pid)
{
	int err = hodo_target_open(t, pid);

	if (err == -ECONNREFUSED && !has_library(pid)) {
		hodo_target_close(t);
		return hodo_why(&t->why, -ENOTCONN, "process %d is not being recorded, and does not listen: 'hodo "
				"record -p %d' does both", (int)pid, (int)pid);
	}
	if (err == -ECONNREFUSED)
		err = inject(t);
	if (err)
		hodo_target_close(t);
	return err;
}

int hodo_target_ask(struct hodo_target *t, enum hodo_control_op op, const char *text,
		    struct hodo_msg_answer *answer, int *passed)
{
	int err = hodo_peer_ask(t->fd, op, 0, 0, text, answer, passed);

	if (err == -ETIMEDOUT)
		hodo_why(&t->why, 0, "process %d does not answer: if it is stopped, resume it ('kill -CONT "
			 "%d'), and try again", (int)t->pid, (int)t->pid);
	else if (err == -ECONNRESET)
		hodo_why(&t->why, 0, "process %d ended the conversation: it has another version of libhodo, too many"
			 " connections, or is ending", (int)t->pid);
	else if (err == -ENAMETOOLONG)
		hodo_why(&t->why, 0, "a pattern can have at most %u bytes", HODO_CONTROL_TEXT_MAX - 1);
	else if (err)
		hodo_why(&t->why, 0, "process %d cannot be asked: %s", (int)t->pid, strerror(-err));
	else if (answer->result < 0)
		hodo_peer_refusal(t->pid, op, answer, &t->why);
	return err ? err : answer->result < 0 ? answer->result : 0;
}

/*
 * Begins the recording of the process, which must be connected, in the recorder, which owns both descriptors
 * if it returns 0. It continues in hodo_recorder_step().
 */
static int record(struct hodo_target *t, struct hodo_recorder *s)
{
	struct hodo_msg_answer answer;
	const char *join = hodo_recorder_socket_for(s, t->pid);
	int err = hodo_target_ask(t, HODO_CONTROL_RECORD, join, &answer, NULL);

	if (err)
		return err;
	err = hodo_recorder_adopt(s, t->fd, t->pid, t->pidfd);
	t->fd = t->pidfd = -1;
	if (err)
		hodo_why(&t->why, 0, "process %d cannot be recorded: %s", (int)t->pid, strerror(-err));
	return err;
}

void hodo_target_close(struct hodo_target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->fd = t->pidfd = -1;
	remove_copy(t);
}

/* --------------------------------------------------------------- several, to be recorded */

int hodo_attach_options_add(struct hodo_attach_options *o, const char *verb, const char *text)
{
	pid_t pid = 0;
	int err = hodo_target_parse(verb, text, &pid);

	if (err)
		return err;
	for (uint32_t i = 0; i < o->n; i++)
		if (o->target[i].pid == pid)
			return 0;
	if (o->n == HODO_ATTACH_MAX)
		return hodo_usage(verb, "at most %u processes", HODO_ATTACH_MAX);
	*hodo_must(hodo_vec_add(o->target, o->n)) = (struct hodo_target){ .pid = pid, .pidfd = -1, .fd = -1 };
	return 0;
}

void hodo_attach_options_free(struct hodo_attach_options *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		hodo_target_close(&o->target[i]);
	free(o->target);
	*o = (struct hodo_attach_options){ 0 };
}

/* Refuses a second recorder before an earlier recording is moved needlessly. */
static bool is_recorded(const struct hodo_msg_answer *a)
{
	return a->by == HODO_BY_RECORDER && a->recorder > 0 && a->recorder <= INT_MAX &&
	       (kill((pid_t)a->recorder, 0) == 0 || errno == EPERM);
}

static int find(struct hodo_target *t)
{
	struct hodo_msg_answer answer;
	int err = hodo_target_open(t, t->pid);

	if (!err)
		err = hodo_target_ask(t, HODO_CONTROL_STATUS, NULL, &answer, NULL);
	if (!err && is_recorded(&answer)) {
		err = answer.result = -EBUSY;
		hodo_peer_refusal(t->pid, HODO_CONTROL_RECORD, &answer, &t->why);
	}
	return err == -ECONNREFUSED ? 0 : err;
}

uint32_t hodo_attach_find(struct hodo_attach_options *o)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		if (find(&o->target[i]) == 0) {
			o->target[kept++] = o->target[i];
			continue;
		}
		hodo_error("%s", o->target[i].why.text);
		hodo_target_close(&o->target[i]);
	}
	o->n = kept;
	return kept;
}

static uint32_t joined(const struct hodo_recorder *s)
{
	struct hodo_recorder_stats stats;

	hodo_recorder_stats(s, &stats);
	return stats.processes + stats.refused;
}

/* Steps until the process has joined, or a failure was reported: it waits for our answers. */
static void let_join(struct hodo_recorder *s, uint32_t before)
{
	int64_t begin = hodo_now_ns(), last = begin + PLAN_NS, end = begin + BEGIN_NS;

	while (joined(s) == before && hodo_now_ns() < (hodo_recorder_joining(s) ? last : end)) {
		struct pollfd p = { .fd = hodo_recorder_fd(s), .events = POLLIN };

		hodo_recorder_step(s);
		if (joined(s) == before)
			poll(&p, 1, 1);
	}
}

uint32_t hodo_attach_record(struct hodo_attach_options *o, struct hodo_recorder *s)
{
	struct hodo_recorder_stats stats;

	for (uint32_t i = 0; i < o->n; i++) {
		struct hodo_target *t = &o->target[i];
		uint32_t before = joined(s);
		int err;

		t->deaf = t->fd < 0;
		hodo_switches_watch(s, t->pid);
		err = t->deaf ? inject(t) : 0;
		if (!err)
			err = record(t, s);
		if (err)
			hodo_error("%s", t->why.text);
		else
			let_join(s, before);
		hodo_target_close(t);
	}
	hodo_recorder_stats(s, &stats);
	return stats.processes;
}
