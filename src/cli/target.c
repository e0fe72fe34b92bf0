/* SPDX-License-Identifier: MIT */
/* target.c - a running process that a verb talks to. */
#include "target.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HODO_HAVE_ATTACH
#include <attach/attach.h>
#endif
#include <record/record.h>

#include "cli.h"

int hodo_target_parse(const char *verb, const char *text, pid_t *pid)
{
	uint64_t number;

	if (hodo_parse_number(text, INT_MAX, &number) < 0 || number == 0)
		return hodo_usage(verb, "'%s' is no process's number", text);
	*pid = (pid_t)number;
	return 0;
}

/* Where it is said what failed. */
#define WHY(t) (t)->why, sizeof((t)->why)

/* To what listens in it. 0 or a negative errno, t->fd -1 then. */
static int connect_to(struct hodo_target *t)
{
	int fd = hodo_peer_connect(t->pid, t->pidfd, WHY(t));

	t->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

int hodo_target_open(struct hodo_target *t, pid_t pid)
{
	int err;

	t->pid = pid;
	t->pidfd = t->fd = -1;
	if (pid == getpid())
		return hodo_fail(WHY(t), -EINVAL, "process %d is this hodo itself: give another one", (int)pid);
	t->pidfd = hodo_peer_open(pid, WHY(t));
	if (t->pidfd < 0)
		return t->pidfd;
	err = connect_to(t);
	if (err && err != -ECONNREFUSED)
		hodo_target_close(t);
	return err;
}

#ifdef HODO_HAVE_ATTACH
int hodo_target_inject(struct hodo_target *t)
{
	char library[PATH_MAX];
	int err = hodo_launch_library(library, sizeof(library), WHY(t));

	if (!err)
		err = hodo_attach_process(t->pid, t->pidfd, library, NULL, WHY(t));
	return err ? err : connect_to(t);
}
#else
int hodo_target_inject(struct hodo_target *t)
{
	return hodo_fail(WHY(t), -ECONNREFUSED, "process %d does not listen: start it with HODO_LISTEN=1", (int)t->pid);
}
#endif

/* Whether the process has mapped a libhodo, under its own name or in front of a version. */
static bool has_library(pid_t pid)
{
	HODO_AUTO_FCLOSE FILE *f = NULL;
	HODO_AUTO_FREE char *line = NULL;
	bool found = false;
	size_t room = 0;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && !found && getline(&line, &room, f) > 0)
		found = strstr(line, "/libhodo.so") != NULL;
	return found;
}

int hodo_target_control(struct hodo_target *t, pid_t pid)
{
	int err = hodo_target_open(t, pid);

	if (err == -ECONNREFUSED && !has_library(pid)) {
		hodo_target_close(t);
		return hodo_fail(WHY(t), -ENOTCONN, "process %d is not being recorded, nor could be: 'hodo record -p %d'"
				 " does both", (int)pid, (int)pid);
	}
	if (err == -ECONNREFUSED)
		err = hodo_target_inject(t);
	if (err)
		hodo_target_close(t);
	return err;
}

int hodo_target_ask(struct hodo_target *t, enum hodo_control_op op, const char *text,
		    struct hodo_msg_answer *answer, int *passed)
{
	int err = hodo_peer_ask(t->fd, op, 0, 0, text, answer, passed);

	if (err == -ETIMEDOUT)
		snprintf(WHY(t), "process %d does not answer: is it stopped? Let it go on ('kill -CONT %d'), and"
			 " try again", (int)t->pid, (int)t->pid);
	else if (err == -ECONNRESET)
		snprintf(WHY(t), "process %d ended the conversation: it has another version of libhodo, too many"
			 " connections, or is just ending", (int)t->pid);
	else if (err == -ENAMETOOLONG)
		snprintf(WHY(t), "a pattern may have %u bytes at most", HODO_CONTROL_TEXT_MAX - 1);
	else if (err)
		snprintf(WHY(t), "process %d cannot be asked: %s", (int)t->pid, strerror(-err));
	else if (answer->result < 0)
		hodo_peer_refusal(t->pid, op, answer, WHY(t));
	return err ? err : answer->result < 0 ? answer->result : 0;
}

int hodo_target_record(struct hodo_target *t, struct hodo_session *s)
{
	struct hodo_msg_answer answer;
	const char *join = hodo_session_socket_for(s, t->pid);
	int err = hodo_target_ask(t, HODO_CONTROL_RECORD, join, &answer, NULL);

	if (err)
		return err;
	err = hodo_session_adopt(s, t->fd, t->pid, t->pidfd);
	t->fd = t->pidfd = -1;
	if (err)
		snprintf(WHY(t), "process %d cannot be recorded: %s", (int)t->pid, strerror(-err));
	return err;
}

void hodo_target_close(struct hodo_target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->fd = t->pidfd = -1;
}
