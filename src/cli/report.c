/* SPDX-License-Identifier: MIT */
/* report.c - from calls, or from a profile made in the process, to a row for each function. */
#define _GNU_SOURCE
#include "report.h"
#include <export/function_names.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------- rows */

static uint32_t slot_of(const struct report *rep, uint64_t id)
{
	uint32_t i = (uint32_t)(id * 0x9e3779b97f4a7c15ull >> 32) & rep->index_mask;

	while (rep->index[i] && rep->rows[rep->index[i] - 1].id != id)
		i = (i + 1) & rep->index_mask;
	return i;
}

static bool grow(struct report *rep)
{
	uint32_t room = rep->rows_room ? 2 * rep->rows_room : 64;
	struct report_row *rows = reallocarray(rep->rows, room, sizeof(*rows));
	uint32_t *index = calloc(2 * (size_t)room, sizeof(*index));

	if (rows) {
		rep->rows = rows;
		rep->rows_room = room;
	}
	if (!rows || !index) {
		free(index);
		return false;
	}
	free(rep->index);
	rep->index = index;
	rep->index_mask = 2 * room - 1;
	for (uint32_t i = 0; i < rep->nrows; i++)
		index[slot_of(rep, rows[i].id)] = i + 1;
	return true;
}

struct report_row *report_row(struct report *rep, uint64_t id)
{
	uint32_t i;

	if (rep->nrows == rep->rows_room && !grow(rep)) {
		rep->no_memory = true;
		return NULL;
	}
	i = slot_of(rep, id);
	if (!rep->index[i] && rep->nrows >= REPORT_ROWS_MAX && id != REPORT_OTHERS)
		return report_row(rep, REPORT_OTHERS);
	if (!rep->index[i]) {
		rep->rows[rep->nrows] = (struct report_row){ .id = id, .min_ns = UINT64_MAX };
		if (id == REPORT_OTHERS) {
			rep->rows[rep->nrows].name = "(others)";
			rep->rows[rep->nrows].object = "";
		}
		rep->index[i] = ++rep->nrows;
	}
	return &rep->rows[rep->index[i] - 1];
}

static struct report_row *row_at(struct report *rep, const struct hodo_read_process *p, int64_t ts_ns, uint64_t address)
{
	struct hodo_place place;
	struct report_row *row;

	hodo_symbols_find(rep->symbols, p, ts_ns, address, &place);
	row = report_row(rep, place.id);
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

static struct report_inside **chain_of(const struct report *rep, uint32_t row, const struct hodo_read_process *process,
				       uint32_t tid)
{
	uint64_t h = report_hash(report_hash(report_hash(19, row), (uintptr_t)process), tid);

	return &rep->inside[(h ^ h >> 16) & rep->inside_mask];
}

/* As many chains as threads, so that it does not matter how many wait in one function. */
static bool grow_inside(struct report *rep)
{
	uint32_t had = rep->inside ? rep->inside_mask + 1 : 0, room = had ? 2 * had : 64;
	struct report_inside **old = rep->inside, **chains = calloc(room, sizeof(struct report_inside *));

	if (!chains)
		return false;
	rep->inside = chains;
	rep->inside_mask = room - 1;
	for (uint32_t k = 0; k < had; k++) {
		for (struct report_inside *i = old[k], *next; i; i = next) {
			struct report_inside **chain = chain_of(rep, i->row, i->process, i->tid);

			next = i->next;
			i->next = *chain;
			*chain = i;
		}
	}
	free(old);
	return true;
}

/* Counts a thread into a function, or out of it. Returns how many calls of it the thread was in before. */
static uint32_t count_inside(struct report *rep, uint32_t row, const struct hodo_read_call *call, bool in)
{
	struct report_inside **at, *i;
	uint32_t before;

	if ((!rep->inside || rep->ninside > rep->inside_mask) && !grow_inside(rep)) {
		rep->no_memory = true;
		return 0;
	}
	at = chain_of(rep, row, call->process, call->tid);
	while (*at && ((*at)->row != row || (*at)->tid != call->tid || (*at)->process != call->process))
		at = &(*at)->next;
	i = *at;
	before = i ? i->n : 0;
	if (!i && in) {
		i = rep->free_inside;
		if (i)
			rep->free_inside = i->next;
		else
			i = malloc(sizeof(*i));
		rep->no_memory |= !i;
		if (!i)
			return 0;
		*i = (struct report_inside){ .process = call->process, .row = row, .tid = call->tid };
		*at = i;
		rep->ninside++;
	}
	if (in) {
		i->n++;
	} else if (i && --i->n == 0) {
		*at = i->next;
		i->next = rep->free_inside;
		rep->free_inside = i;
		rep->ninside--;
	}
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
	*c = (struct report_call){ .row = (uint32_t)(row - rep->rows) };
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
	row = &rep->rows[c->row];
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

static uint64_t ns_of(const struct hodo_read_process *p, uint64_t ticks)
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

static const char *comm_of(const struct hodo_read_process *p, uint64_t tid)
{
	for (uint32_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].tid == tid)
			return p->threads[i].comm;
	return p->comm;
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
	struct report_row *row;

	if (!hodo_thread_is(rep->thread, (uint32_t)v[1].u, comm_of(p, v[1].u)))
		return;
	row = row_at(rep, p, e->ts_ns, v[0].u);
	if (!row || !v[2].u)
		return;
	row->calls += v[2].u;
	row->ended += v[2].u;
	row->total_ns += ns_of(p, v[3].u);
	row->sum_ns += ns_of(p, v[3].u);
	row->self_ns += ns_of(p, v[4].u);
	row->min_ns = ns_of(p, v[5].u) < row->min_ns ? ns_of(p, v[5].u) : row->min_ns;
	row->max_ns = ns_of(p, v[6].u) > row->max_ns ? ns_of(p, v[6].u) : row->max_ns;
	for (uint32_t b = 0; b < v[7].count && b < HODO_PROFILE_BUCKETS; b++) {
		uint32_t n;

		memcpy(&n, (const uint8_t *)v[7].data + 4 * (size_t)b, sizeof(n));
		if (n)
			rep->no_memory |= !hodo_histogram_add(&row->times, ns_of(p, bucket_ticks(b)), n);
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
			/* The calls themselves tell more, and it is the same ones. */
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

/* 0, or the exit status, told. */
static int set_limits(struct report *rep, const struct report_options *o)
{
	int64_t since, until;
	int status;

	if (!o->since && !o->until)
		return 0;
	status = hodo_parse_range(rep->r, o->since, o->until, "report", &since, &until);
	if (!status)
		hodo_read_limit(rep->r, since, until);
	return status;
}

int report_read(struct report *rep, const char *dir, const struct report_options *o)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = on_away };
	int got = -ENOMEM, status;

	rep->dir = dir;
	rep->thread = o->thread;
	rep->r = hodo_open(dir, o->quiet);
	if (!rep->r)
		return HODO_EXIT_FAILURE;
	status = set_limits(rep, o);
	if (status)
		return status;
	rep->symbols = hodo_symbols_new(dir);
	rep->calls = hodo_read_calls_new(&ops, rep);
	if (report_events_start(&rep->events, o) == 0 && rep->symbols && rep->calls)
		got = report_losses_read(&rep->events, rep->r);
	if (got == 0)
		got = read_events(rep);
	if (got < 0) {
		hodo_error("%s: cannot be read on: %s", dir, strerror(-got));
		return HODO_EXIT_FAILURE;
	}
	if (!o->quiet) {
		report_events_tell(&rep->events, dir);
		hodo_tell_lost(rep->r);
	}
	return 0;
}

static void free_inside(struct report_inside *i)
{
	for (struct report_inside *next; i; i = next) {
		next = i->next;
		free(i);
	}
}

void report_free_rows(struct report *rep)
{
	for (uint32_t i = 0; i < rep->nrows; i++)
		hodo_histogram_free(&rep->rows[i].times);
	for (uint32_t k = 0; rep->inside && k <= rep->inside_mask; k++)
		free_inside(rep->inside[k]);
	free(rep->inside);
	free_inside(rep->free_inside);
	for (struct report_call *c = rep->free_calls, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(rep->rows);
	free(rep->index);
}

void report_free(struct report *rep)
{
	hodo_read_calls_free(rep->calls);
	report_free_rows(rep);
	report_events_free(&rep->events);
	free(rep->stacks);
	free(rep->held);
	free(rep->wrong);
	hodo_symbols_free(rep->symbols);
	hodo_read_close(rep->r);
}
