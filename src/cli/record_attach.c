/* SPDX-License-Identifier: MIT */
/* record_attach.c - hodo record -p: the running processes that are to be recorded. */
#include "record_attach.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include <base/clock.h>
#include <base/vec.h>
#include <record/record.h>

#include "cli.h"

#define BEGIN_NS 3000000000ll /* a process's part of the conversation has its own limit, which is shorter */

int hodo_attach_options_add(struct hodo_attach_options *o, const char *verb, const char *text)
{
	struct hodo_target *new;
	pid_t pid;
	int err = hodo_target_parse(verb, text, &pid);

	if (err)
		return err;
	for (uint32_t i = 0; i < o->n; i++)
		if (o->target[i].pid == pid)
			return 0;
	if (o->n == HODO_ATTACH_MAX)
		return hodo_usage(verb, "%u processes at most", HODO_ATTACH_MAX);
	new = hodo_vec_add(o->target, o->n);
	if (!new)
		return hodo_no_memory();
	*new = (struct hodo_target){ .pid = pid, .pidfd = -1, .fd = -1 };
	return 0;
}

void hodo_attach_options_free(struct hodo_attach_options *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		hodo_target_close(&o->target[i]);
	free(o->target);
	*o = (struct hodo_attach_options){ 0 };
}

/* A second recorder is refused before an earlier recording is moved for nothing. */
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
		hodo_peer_refusal(t->pid, HODO_CONTROL_RECORD, &answer, t->why, sizeof(t->why));
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
		hodo_error("%s", o->target[i].why);
		hodo_target_close(&o->target[i]);
	}
	o->n = kept;
	return kept;
}

static uint32_t joined(const struct hodo_session *s)
{
	struct hodo_session_stats stats;

	hodo_session_stats(s, &stats);
	return stats.processes + stats.refused;
}

/* Until the process has joined, or it has been said why not: it waits for our part of the conversation. */
static void let_join(struct hodo_session *s, uint32_t before)
{
	int64_t end = hodo_now_ns() + BEGIN_NS;

	while (joined(s) == before && hodo_now_ns() < end) {
		struct pollfd p = { .fd = hodo_session_fd(s), .events = POLLIN };

		hodo_session_step(s);
		if (joined(s) == before)
			poll(&p, 1, 1);
	}
}

uint32_t hodo_attach_record(struct hodo_attach_options *o, struct hodo_session *s)
{
	struct hodo_session_stats stats;

	for (uint32_t i = 0; i < o->n; i++) {
		struct hodo_target *t = &o->target[i];
		uint32_t before = joined(s);
		int err = t->fd < 0 ? hodo_target_inject(t) : 0;

		if (!err)
			err = hodo_target_record(t, s);
		if (err)
			hodo_error("%s", t->why);
		else
			let_join(s, before);
		hodo_target_close(t);
	}
	hodo_session_stats(s, &stats);
	return stats.processes;
}
