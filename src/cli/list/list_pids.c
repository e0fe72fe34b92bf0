/* SPDX-License-Identifier: MIT */
/* list_pids.c - hodo list --pids: the processes that listen. */
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <base/file.h>
#include <base/vec.h>
#include <proc/process.h>
#include <record/record.h>

#include <cli/say.h>
#include <cli/output/out.h>
#include <cli/target.h>

struct listener {
	pid_t pid;
	char comm[32];
	struct hodo_msg_answer answer;
};

static int by_pid(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* A process that does not answer is reported, and does not count as listening. */
static void look_at(struct listener **all, size_t *n, pid_t pid, bool quiet)
{
	struct listener found = { .pid = pid };
	HODO_AUTO(hodo_target_close) struct hodo_target t;

	if (hodo_target_open(&t, pid) < 0)
		return;
	if (hodo_target_ask(&t, HODO_CONTROL_STATUS, NULL, &found.answer, NULL) < 0) {
		if (!quiet)
			hodo_warning("%s", t.why.text);
		return;
	}
	hodo_proc_file(pid, "comm", found.comm, sizeof(found.comm));
	*hodo_must(hodo_vec_add(*all, *n)) = found;
}

/*
 * Goes through all processes, not all sockets: only a process's environment tells where its socket is, and
 * files in a directory may be anything.
 */
static int find(struct listener **all, size_t *n, bool quiet)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(AT_FDCWD, "/proc");
	const char *name;

	if (!d)
		return -errno;
	while ((name = hodo_dir_next(d))) {
		uint64_t pid;

		if (hodo_parse_number(name, INT32_MAX, &pid) == 0 && pid > 0)
			look_at(all, n, (pid_t)pid, quiet);
	}
	if (*n)
		qsort(*all, *n, sizeof(**all), by_pid);
	return 0;
}

static void put_comm(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct listener *p = row;

	hodo_add_plain(to, p->comm);
	if (p->answer.by != HODO_BY_NOBODY)
		hodo_text_add(to, ": recorded");
	hodo_list_put_recorder(to, &p->answer);
}

static void put_recorder(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	hodo_list_put_recorder_json(j, &((const struct listener *)row)->answer);
}

#define ROW(name) HODO_MEMBER(struct listener, name)
static const struct hodo_column columns[] = {
	{ "pid", .as = HODO_AS_ID, .width = 7, ROW(pid) },
	{ "comm", "PROGRAM", ROW(comm), .put = put_comm },
	{ "events", .as = HODO_AS_ID, .width = 6, ROW(answer.events) },
	{ "recorded_by", .as = HODO_AS_JSON, .put_json = put_recorder },
};
const struct hodo_columns hodo_list_pids_columns = { "processes", HODO_COLUMNS(columns), .head = HODO_HEADING,
						     .text = "pid,events,comm" };

int hodo_list_pids(const struct hodo_list_args *a)
{
	struct hodo_table t = { .columns = &hodo_list_pids_columns, .stride = sizeof(struct listener) };
	HODO_AUTO_FREE struct listener *listeners = NULL;
	int err = find(&listeners, &t.n, a->args.quiet);

	if (err)
		return hodo_error("processes cannot be inspected: %s: %s", strerror(-err), hodo_remedy(err));
	if (!t.n && !a->args.quiet && !a->args.look.json)
		hodo_warning("none of your processes listens: start one with HODO_LISTEN=1, or just use "
			     "'hodo record -p PID', which makes it listen");
	t.first = listeners;
	return hodo_list_table(&t, "processes", a);
}
