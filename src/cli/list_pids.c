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

#include <record/remedy.h>

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

/* One that does not answer is told of, and is not one that listens. 0 or -ENOMEM. */
static int look_at(struct listeners *l, pid_t pid, bool quiet)
{
	struct listener *grown, found = { .pid = pid };
	struct hodo_target t;
	char why[HODO_WHY_MAX];
	int err;

	if (hodo_target_open(&t, pid, why, sizeof(why)) < 0) {
		hodo_target_close(&t);
		return 0;
	}
	err = hodo_target_ask(&t, HODO_CONTROL_STATUS, NULL, &found.answer, NULL, why, sizeof(why));
	hodo_target_close(&t);
	if (err) {
		if (!quiet)
			hodo_warning("%s", why);
		return 0;
	}
	read_comm(pid, found.comm, sizeof(found.comm));
	grown = realloc(l->listener, (l->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->listener = grown;
	grown[l->n++] = found;
	return 0;
}

/*
 * Through all processes, not all sockets: where a process has its socket only its own environment tells, and what
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

static void put_text(FILE *f, const struct listeners *l, bool color)
{
	fprintf(f, "%s    PID  EVENTS  PROGRAM%s\n", hodo_style(color, HODO_HEADING), hodo_style(color, HODO_PLAIN));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct listener *p = &l->listener[i];
		char by[384];

		fprintf(f, "%7d  %6u  ", (int)p->pid, p->answer.events);
		hodo_put_plain(f, p->comm);
		if (*hodo_list_recorded_by(&p->answer, by, sizeof(by))) {
			fputs(": recorded", f);
			hodo_put_plain(f, by);
		}
		fputc('\n', f);
	}
}

static void put_json(FILE *f, const struct listeners *l)
{
	static const char *const by[] = { "nobody", "hodo", "flight" };

	fputs("{\"version\":1,\"processes\":[", f);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct listener *p = &l->listener[i];

		fprintf(f, "%s{\"pid\":%d,\"comm\":", i ? "," : "", (int)p->pid);
		hodo_put_json(f, p->comm);
		fprintf(f, ",\"events\":%u,\"recorded_by\":\"%s\"", p->answer.events,
			by[p->answer.by <= HODO_BY_FLIGHT ? p->answer.by : HODO_BY_NOBODY]);
		if (p->answer.recorder)
			fprintf(f, ",\"recorder\":%u", p->answer.recorder);
		if (p->answer.by == HODO_BY_FLIGHT) {
			fputs(",\"flight\":", f);
			hodo_put_json(f, p->answer.path);
		}
		fputc('}', f);
	}
	fputs("]}\n", f);
}

int hodo_list_pids(const struct hodo_list_args *a)
{
	struct listeners l = { 0 };
	char *data = NULL;
	size_t len;
	FILE *f = open_memstream(&data, &len);
	int err = f ? find(&l, a->quiet) : -ENOMEM, status;

	if (err) {
		hodo_error("processes cannot be looked at: %s: %s", strerror(-err), hodo_remedy(err));
		status = HODO_EXIT_FAILURE;
		if (f)
			fclose(f);
		free(data);
	} else {
		if (a->json)
			put_json(f, &l);
		else
			put_text(f, &l, hodo_use_color(a->color, STDOUT_FILENO));
		if (!l.n && !a->quiet && !a->json)
			hodo_warning("no process listens that is yours: start one with HODO_LISTEN=1, or use its number"
				     " all the same: 'hodo record -p PID' makes it listen");
		status = hodo_out_page(f, &data, &len, !a->no_pager);
	}
	free(l.listener);
	return status;
}
