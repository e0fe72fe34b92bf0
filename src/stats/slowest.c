/* SPDX-License-Identifier: MIT */
/* slowest.c - which spans, system calls and calls took longest, one by one. */
#define _GNU_SOURCE
#include "slowest.h"

#include <errno.h>
#include <read/event/threads.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MAX 1000u

int slowest_start(struct hodo_stats_slowest *s, struct hodo_symbols *symbols, uint64_t room, bool json, bool hosts)
{
	*s = (struct hodo_stats_slowest){ .symbols = symbols, .json = json, .hosts = hosts,
					  .room = (uint32_t)(room < ROOM_MAX ? room : ROOM_MAX) };
	s->spans.row = calloc(s->room + 1, sizeof(*s->spans.row));
	s->calls.row = calloc(s->room + 1, sizeof(*s->calls.row));
	s->text = hodo_read_text_new();
	return s->spans.row && s->calls.row && s->text ? 0 : -ENOMEM;
}

static void free_row(struct hodo_stats_slowest_row *row)
{
	free(row->thread);
	free(row->fields);
}

static void free_list(struct hodo_stats_slowest_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free_row(&list->row[i]);
	free(list->row);
}

void slowest_free(struct hodo_stats_slowest *s)
{
	free_list(&s->spans);
	free_list(&s->calls);
	hodo_read_text_free(s->text);
}

/* A row of the list, to fill in except for its rank; NULL: enough are as slow. */
static struct hodo_stats_slowest_row *insert(struct hodo_stats_slowest *s, struct hodo_stats_slowest_list *list,
					    uint64_t rank_ns)
{
	uint32_t at = list->n;

	while (at > 0 && list->row[at - 1].rank_ns < rank_ns)
		at--;
	if (at == s->room)
		return NULL;
	if (list->n == s->room)
		free_row(&list->row[--list->n]);
	memmove(&list->row[at + 1], &list->row[at], (list->n++ - at) * sizeof(list->row[0]));
	list->row[at] = (struct hodo_stats_slowest_row){ .rank_ns = rank_ns };
	return &list->row[at];
}

static int set_thread(const struct hodo_stats_slowest *s, struct hodo_stats_slowest_row *row,
		      const struct hodo_read_process *process, const char *comm, uint32_t pid, uint32_t tid)
{
	row->host = s->hosts ? process->hostname : NULL;
	row->comm = comm;
	row->pid = pid;
	row->tid = tid;
	if (asprintf(&row->thread, "%s[%u]", comm, tid) >= 0)
		return 0;
	row->thread = NULL;
	return -ENOMEM;
}

/* As in print, or the whole event as in print --json. NULL: no memory. */
static char *fields_of(struct hodo_stats_slowest *s, const struct hodo_read_event *e)
{
	const char *data;
	size_t len;

	hodo_read_text_clear(s->text);
	if ((s->json ? hodo_read_text_json(s->text, e) :
		       hodo_read_text_line(s->text, e, HODO_READ_FIELDS | HODO_READ_UNTIMED)) < 0)
		return NULL;
	data = hodo_read_text_data(s->text, &len);
	return strndup(data, len - 1); /* without the end of the line */
}

int slowest_span(struct hodo_stats_slowest *s, const struct hodo_read_event *e)
{
	const struct hodo_read_begin *begin = e->begin;
	uint64_t ns = e->ts_ns > begin->ts_ns ? (uint64_t)(e->ts_ns - begin->ts_ns) : 0;
	struct hodo_stats_slowest_row *row = insert(s, &s->spans, ns);
	const struct hodo_read_thread *t;

	if (!row)
		return 0;
	t = begin->tid == e->tid ? NULL : hodo_read_thread(e->process, begin->tid);
	row->name = e->cls->base;
	row->begin_ns = begin->ts_ns;
	row->duration_ns = ns;
	row->off_known = e->off_cpu;
	row->off_ns = e->off_cpu ? e->off_cpu->ns : 0;
	row->fields = fields_of(s, e);
	return row->fields ? set_thread(s, row, e->process, t ? t->comm : e->comm, begin->pid, begin->tid) : -ENOMEM;
}

int slowest_call(struct hodo_stats_slowest *s, const struct hodo_read_call *call)
{
	struct hodo_stats_slowest_row *row = insert(s, &s->calls, call->self_ns);
	struct hodo_place place;

	if (!row)
		return 0;
	hodo_symbols_find(s->symbols, call->process, call->entry_ns, call->function, &place);
	row->name = place.name;
	row->begin_ns = call->entry_ns;
	row->duration_ns = (uint64_t)(call->end_ns - call->entry_ns);
	row->left = call->flags & HODO_READ_CALL_LEFT;
	return set_thread(s, row, call->process, call->comm, call->process->pid, call->tid);
}
