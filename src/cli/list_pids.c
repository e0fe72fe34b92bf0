/* SPDX-License-Identifier: MIT */
/* list_pids.c - hodo list --pids: the processes that listen. */
#define _GNU_SOURCE
#include "list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/vec.h>
#include <record/record.h>

#include "cli.h"
#include "target.h"

struct listener {
	pid_t pid;
	char comm[32];
	struct hodo_msg_answer answer;
};

struct listeners {
	struct listener *listener;
	uint32_t n;
};

static int by_pid(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void read_comm(pid_t pid, char *comm, size_t size)
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	comm[0] = 0;
	f = fopen(path, "re");
	if (f && fgets(comm, (int)size, f))
		comm[strcspn(comm, "\n")] = 0;
	if (f)
		fclose(f);
}

/* One that does not answer is reported, and is not one that listens. 0 or -ENOMEM. */
static int look_at(struct listeners *l, pid_t pid, bool quiet)
{
	struct listener *new, found = { .pid = pid };
	struct hodo_target t;
	int err;

	if (hodo_target_open(&t, pid) < 0) {
		hodo_target_close(&t);
		return 0;
	}
	err = hodo_target_ask(&t, HODO_CONTROL_STATUS, NULL, &found.answer, NULL);
	hodo_target_close(&t);
	if (err) {
		if (!quiet)
			hodo_warning("%s", t.why);
		return 0;
	}
	read_comm(pid, found.comm, sizeof(found.comm));
	new = hodo_vec_add(l->listener, l->n);
	if (!new)
		return -ENOMEM;
	*new = found;
	return 0;
}

/*
 * Through all processes, not all sockets: where a process has its socket only its own environment says, and what
 * lies about in a directory may be anything.
 */
static int find(struct listeners *l, bool quiet)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		uint64_t pid;

		if (hodo_parse_number(e->d_name, INT32_MAX, &pid) == 0 && pid > 0)
			err = look_at(l, (pid_t)pid, quiet);
	}
	closedir(d);
	if (l->n)
		qsort(l->listener, l->n, sizeof(*l->listener), by_pid);
	return err;
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
	struct listeners l = { 0 };
	struct hodo_table t;
	int err = find(&l, a->args.quiet), status = HODO_EXIT_FAILURE;

	if (err) {
		hodo_error("processes cannot be looked at: %s: %s", strerror(-err), hodo_remedy(err));
	} else {
		if (!l.n && !a->args.quiet && !a->look.json)
			hodo_warning("no process listens that is yours: start one with HODO_LISTEN=1, or use its number"
				     " all the same: 'hodo record -p PID' makes it listen");
		t = (struct hodo_table){ .columns = &hodo_list_pids_columns, .first = l.listener, .n = l.n,
					 .stride = sizeof(*l.listener) };
		status = hodo_list_table(&t, "processes", a);
	}
	free(l.listener);
	return status;
}
