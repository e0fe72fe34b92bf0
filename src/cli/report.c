/* SPDX-License-Identifier: MIT */
/* report.c - from calls, or from a profile made in the process, to a row for each function. */
#define _GNU_SOURCE
#include "report.h"
#include <export/function_names.h>

#include <errno.h>
#include <read/threads.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------- rows */

/* The row of an id, made if need be; NULL: no memory. */
static struct report_row *row_of(struct report *rep, uint64_t id)
{
	struct report_row *row = hodo_map_find_u64(&rep->rows, id);

	if (row)
		return row;
	if (rep->rows.n >= REPORT_ROWS_MAX && id != REPORT_OTHERS)
		return row_of(rep, REPORT_OTHERS);
	row = hodo_map_add_u64(&rep->rows, id, NULL);
	rep->no_memory |= !row;
	if (!row)
		return NULL;
	row->min_ns = UINT64_MAX;
	if (id == REPORT_OTHERS) {
		row->name = "(others)";
		row->object = "";
	}
	return row;
}

static struct report_row *row_at(struct report *rep, const struct hodo_read_process *p, int64_t ts_ns, uint64_t address)
{
	struct hodo_place place;
	struct report_row *row;

	hodo_symbols_find(rep->symbols, p, ts_ns, address, &place);
	row = row_of(rep, place.id);
	if (row && !row->name) {
		row->name = place.name;
		row->object = place.object;
	}
	return row;
}

double report_avg_ns(const struct report_row *row)
{
	return row->ended ? (double)row->sum_ns / (double)row->ended : 0;
}

uint64_t report_time_at(const struct report_row *row, double q)
{
	uint64_t ns = hodo_histogram_at(&row->times, q);

	return !row->ended ? 0 : ns < row->min_ns ? row->min_ns : ns > row->max_ns ? row->max_ns : ns;
}

/* ------------------------------------------------------------------------ calls */

/* The number of the call's thread. */
static uint32_t thread_of(struct report *rep, const struct hodo_read_call *call)
{
	const struct report_call_thread key = { call->process, call->tid };
	struct report_call_thread *t;

	if (rep->thread_last.process == key.process && rep->thread_last.tid == key.tid)
		return rep->thread_number;
	t = hodo_map_add(&rep->threads, &key, NULL);
	rep->no_memory |= !t;
	if (!t)
		return 0;
	rep->thread_last = key;
	return rep->thread_number = hodo_map_index(&rep->threads, t);
}

/* Counts a thread into a function, or out of it. Returns how many calls of it the thread was in before. */
static uint32_t count_inside(struct report *rep, uint32_t row, const struct hodo_read_call *call, bool in)
{
	const uint64_t key = (uint64_t)row << 32 | thread_of(rep, call);
	struct report_inside *i = in ? hodo_map_add_u64(&rep->inside, key, NULL) : hodo_map_find_u64(&rep->inside, key);
	uint32_t before = i ? i->n : 0;

	rep->no_memory |= in && !i;
	if (i && in)
		i->n++;
	else if (i && --i->n == 0)
		hodo_map_remove(&rep->inside, i);
	return before;
}

static void on_enter(void *data, struct hodo_read_call *call)
{
	struct report *rep = data;
	struct report_call *c = rep->free_calls;
	struct report_row *row;

	if (!hodo_thread_is(rep->thread, call->tid, call->comm))
		return;
	row = row_at(rep, call->process, call->entry_ns, call->function);
	if (c)
		rep->free_calls = c->next;
	else
		c = malloc(sizeof(*c));
	rep->no_memory |= !row || !c;
	if (!row || !c) {
		free(c);
		return;
	}
	*c = (struct report_call){ .row = hodo_map_index(&rep->rows, row) };
	c->nested = count_inside(rep, c->row, call, true) > 0;
	call->user = (uintptr_t)c;
}

/* It may wait or be over: calls of the function from now on are not inside of it. */
static void on_away(void *data, const struct hodo_read_call *call)
{
	struct report_call *c = (struct report_call *)(uintptr_t)call->user;
	struct report *rep = data;

	if (c && !c->away)
		count_inside(rep, c->row, call, false);
	if (c)
		c->away = true;
}

static void add_times(struct report *rep, struct report_row *row, const struct hodo_read_call *call, bool nested)
{
	uint64_t ns = (uint64_t)(call->end_ns - call->entry_ns);

	row->left += !!(call->flags & HODO_READ_CALL_LEFT);
	row->ended++;
	row->sum_ns += ns;
	row->total_ns += nested ? 0 : ns;
	row->self_ns += call->self_ns;
	row->min_ns = ns < row->min_ns ? ns : row->min_ns;
	row->max_ns = ns > row->max_ns ? ns : row->max_ns;
	rep->no_memory |= !hodo_histogram_add(&row->times, ns, 1);
}

static void on_leave(void *data, const struct hodo_read_call *call)
{
	struct report_call *c = (struct report_call *)(uintptr_t)call->user;
	struct report *rep = data;
	struct report_row *row;

	if (!c)
		return;
	row = hodo_map_at(&rep->rows, c->row);
	row->calls++;
	if (!c->away)
		count_inside(rep, c->row, call, false);
	if (call->flags & HODO_READ_CALL_WHOLE)
		report_slow_call(rep, call);
	if (call->flags & HODO_READ_CALL_NO_EXIT)
		row->no_exit++;
	else if (call->flags & HODO_READ_CALL_OPEN)
		row->open++;
	else
		add_times(rep, row, call, c->nested);
	c->next = rep->free_calls;
	rep->free_calls = c;
}

static bool on_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct report *rep = data;

	return hodo_function_same(rep->symbols, process, ts_ns, a, b);
}

/* ---------------------------------------------------------------------- profile */

uint64_t report_ns(const struct hodo_read_process *p, uint64_t ticks)
{
	return p->clock.freq_hz ? (uint64_t)((unsigned __int128)ticks * 1000000000u / p->clock.freq_hz) : 0;
}

/* The middle of a bucket of struct hodo_profile_entry, in ticks. */
static uint64_t bucket_ticks(uint32_t b)
{
	uint32_t octave = b / 4 + 1;

	if (b < 4)
		return b;
	return ((uint64_t)(4 + b % 4) << (octave - 2)) + (octave > 2 ? 1ull << (octave - 3) : 0);
}

static bool is_profile(const struct hodo_read_class *cls)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64,
					 HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U32 | HODO_TYPE_ARRAY };

	if (strcmp(cls->name, "func:profile") != 0 || cls->nfields != sizeof(types))
		return false;
	for (unsigned i = 0; i < sizeof(types); i++)
		if (cls->fields[i].type != types[i])
			return false;
	return true;
}

static void add_profile(struct report *rep, const struct hodo_read_event *e)
{
	const struct hodo_read_value *v = e->values;
	const struct hodo_read_process *p = e->process;
	const struct hodo_read_thread *t = hodo_read_thread(p, (uint32_t)v[1].u);
	struct report_row *row;

	if (!hodo_thread_is(rep->thread, (uint32_t)v[1].u, t ? t->comm : p->comm))
		return;
	row = row_at(rep, p, e->ts_ns, v[0].u);
	if (!row || !v[2].u)
		return;
	row->calls += v[2].u;
	row->ended += v[2].u;
	row->total_ns += report_ns(p, v[3].u);
	row->sum_ns += report_ns(p, v[3].u);
	row->self_ns += report_ns(p, v[4].u);
	row->min_ns = report_ns(p, v[5].u) < row->min_ns ? report_ns(p, v[5].u) : row->min_ns;
	row->max_ns = report_ns(p, v[6].u) > row->max_ns ? report_ns(p, v[6].u) : row->max_ns;
	for (uint32_t b = 0; b < v[7].count && b < HODO_PROFILE_BUCKETS; b++) {
		uint32_t n;

		memcpy(&n, (const uint8_t *)v[7].data + 4 * (size_t)b, sizeof(n));
		if (n)
			rep->no_memory |= !hodo_histogram_add(&row->times, report_ns(p, bucket_ticks(b)), n);
	}
}

/* ---------------------------------------------------------------------- reading */

static int read_events(struct report *rep)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };
	const struct hodo_read_event *e;
	int64_t last_ns = 0;
	int got = 0, err = 0;

	while (!err && !rep->no_memory && (got = hodo_read_next(rep->r, &e)) > 0) {
		last_ns = e->ts_ns;
		err = report_events_take(&rep->events, e);
		if (e->cls->kind != HODO_KIND_FUNCTION)
			continue;
		if (strcmp(e->cls->name, "func:profile") == 0) {
			/* The calls themselves say more, and it is the same ones. */
			hodo_read_calls_totals(rep->calls, &t);
			if (!t.calls && is_profile(e->cls))
				add_profile(rep, e);
		} else {
			report_list_event(rep, e);
			err = hodo_read_calls_event(rep->calls, e);
		}
	}
	if (err || rep->no_memory)
		return err ? err : -ENOMEM;
	if (got < 0)
		return got;
	err = hodo_read_calls_end(rep->calls, last_ns);
	if (!err)
		err = report_events_end(&rep->events);
	rep->totals.size = sizeof(rep->totals);
	hodo_read_calls_totals(rep->calls, &rep->totals);
	return rep->no_memory ? -ENOMEM : err;
}

int report_read(struct report *rep, const char *dir, const struct report_options *o)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = on_away };
	struct hodo_args args = o->args;
	int64_t since, until;
	int got = -ENOMEM, status;

	rep->rows = (struct hodo_map)HODO_MAP(struct report_row, id);
	rep->inside = (struct hodo_map)HODO_MAP(struct report_inside, key);
	rep->threads = (struct hodo_map){ .entry_bytes = sizeof(struct report_call_thread),
					  .key_bytes = sizeof(struct report_call_thread) };
	rep->dir = dir;
	rep->thread = o->args.thread;
	args.dir = dir;
	status = hodo_open_range(&rep->r, &args, &since, &until);
	if (status)
		return status;
	rep->symbols = hodo_symbols_new(dir);
	rep->calls = hodo_read_calls_new(&ops, rep);
	if (report_events_start(&rep->events, o) == 0 && rep->symbols && rep->calls)
		got = hodo_losses_read(&rep->events.losses, rep->r);
	if (got == 0)
		got = read_events(rep);
	if (got < 0) {
		hodo_error("%s: cannot be read on: %s", dir, strerror(-got));
		return HODO_EXIT_FAILURE;
	}
	if (!o->args.quiet) {
		report_events_warn(&rep->events, dir);
		hodo_tell_lost(rep->r);
	}
	return 0;
}

void report_free(struct report *rep)
{
	hodo_read_calls_free(rep->calls);
	for (uint32_t i = 0; i < rep->rows.n; i++)
		hodo_histogram_free(&((struct report_row *)hodo_map_at(&rep->rows, i))->times);
	hodo_map_free(&rep->rows);
	hodo_map_free(&rep->inside);
	hodo_map_free(&rep->threads);
	for (struct report_call *c = rep->free_calls, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	report_events_free(&rep->events);
	free(rep->stacks);
	free(rep->held);
	free(rep->wrong);
	hodo_symbols_free(rep->symbols);
	hodo_read_close(rep->r);
}
