/* SPDX-License-Identifier: MIT */
/* stats.c - reads a recording, its calls or a profile made in the process, into a row for each function. */
#include "stats.h"

#include <errno.h>
#include <read/time/late_calls.h>
#include <read/event/threads.h>
#include <string.h>

#define FUNCTIONS_MAX (1u << 18) /* further ones share one row, (others) */
#define OTHERS        0u /* its key, which no function has */

#define INSIDE_MANY   4096u

/* A thread that is, or was, in a function. */
struct hodo_stats_inside {
	struct {
		const struct hodo_read_process *process;
		uint32_t tid, row;
	} key;
	struct hodo_stats_call *inner; /* the innermost call; NULL: it is in none */
};

/* An open call. */
struct hodo_stats_call {
	uint32_t row;
	struct hodo_stats_call *outer; /* the call of the function that it is in; NULL: none, or it is away */
	uint64_t inside_ns; /* of calls of the function directly in it, which counts if its own time does not */
	bool nested; /* inside another call of the function, whose time includes it */
	bool away;
	struct hodo_stats_call *next; /* free ones */
};

/* ------------------------------------------------------------------------- rows */

static struct hodo_stats_function *find_row(struct hodo_stats *s, uint64_t key, const struct hodo_place *place)
{
	struct hodo_stats_function *f = hodo_map_find_u64(&s->functions, key);
	static const struct hodo_place others = { .name = "(others)", .full = "(others)", .object = "" };

	if (f)
		return f;
	if (s->functions.n >= FUNCTIONS_MAX && key != OTHERS)
		return find_row(s, OTHERS, &others);
	f = hodo_map_add_u64(&s->functions, key, NULL);
	if (!f || !series_times_measure(&f->times)) {
		s->events.rows.failed = true;
		return NULL;
	}
	f->name = place->name;
	f->object = place->object;
	return f;
}

/* The row of an address, created if necessary; NULL: no memory. */
static struct hodo_stats_function *row_of(struct hodo_stats *s, const struct hodo_read_process *p, int64_t ts_ns,
				      uint64_t address)
{
	struct hodo_place place;
	uint32_t name;

	hodo_symbols_find(s->symbols, p, ts_ns, address, &place);
	if (!s->events.o->compares)
		return find_row(s, place.id, &place);
	/* Merges functions with one name, whatever their object: another build is another object. */
	name = hodo_strings_add(&s->names, place.full);
	if (name == HODO_STRINGS_NONE) {
		s->events.rows.failed = true;
		return NULL;
	}
	return find_row(s, name + 1ull, &place);
}

/* ------------------------------------------------------------------------ calls */

/* The calls of a function that a thread is in; NULL: no memory. */
static struct hodo_stats_inside *inside_of(struct hodo_stats *s, uint32_t row, const struct hodo_read_call *call)
{
	const struct hodo_stats_inside thread = { .key = { call->process, call->tid, row } };

	return hodo_map_add(&s->inside, &thread.key, NULL);
}

static bool step_in(struct hodo_stats *s, struct hodo_stats_call *c, const struct hodo_read_call *call)
{
	struct hodo_stats_inside *i = inside_of(s, c->row, call);

	if (!i)
		return false;
	c->outer = i->inner;
	c->nested = c->outer != NULL;
	i->inner = c;
	return true;
}

static void step_out(struct hodo_stats *s, struct hodo_stats_call *c, const struct hodo_read_call *call)
{
	struct hodo_stats_inside *i = inside_of(s, c->row, call);
	struct hodo_stats_call **link = &i->inner;

	while (*link != c)
		link = &(*link)->outer;
	*link = c->outer;
	/* Kept for the next call, as long as there are few. */
	if (!i->inner && s->inside.n > INSIDE_MANY)
		hodo_map_remove(&s->inside, i);
}

static void on_enter(void *data, struct hodo_read_call *call)
{
	struct hodo_stats *s = data;
	const struct hodo_stats_function *row;
	struct hodo_stats_call *c = s->free_calls;

	if (!hodo_select_has_thread(s->events.o->select, call->process, call->process->pid, call->tid, call->comm))
		return;
	row = row_of(s, call->process, call->entry_ns, call->function);
	if (!row)
		return;
	if (call->flags & HODO_READ_CALL_WHOLE) {
		call->user = hodo_map_index(&s->functions, row) + 1;
		return;
	}
	if (c)
		s->free_calls = c->next;
	else
		c = hodo_arena_alloc(&s->all_calls, sizeof(*c));
	if (c)
		*c = (struct hodo_stats_call){ .row = hodo_map_index(&s->functions, row) };
	if (c && step_in(s, c, call))
		call->user = (uintptr_t)c;
	else
		s->events.rows.failed = true;
}

/* It may be waiting or over: later calls of the function are not inside it. */
static void on_away(void *data, const struct hodo_read_call *call)
{
	struct hodo_stats_call *c = (struct hodo_stats_call *)(uintptr_t)call->user;
	struct hodo_stats *s = data;

	if (!c || c->away)
		return;
	step_out(s, c, call);
	c->outer = NULL;
	c->away = true;
}

/*
 * Adds to the total of a function, in which each moment counts once, what a call that is over has taken: nothing if
 * that is part of what an outer call will have taken. A call without a time, since it is open or its exit was lost,
 * gives what the calls in it took.
 */
static void add_total(struct hodo_stats_function *f, struct hodo_stats_call *outer, bool nested, uint64_t ns)
{
	if (!nested)
		f->total_ns += ns;
	else if (outer)
		outer->inside_ns += ns;
}

/* What a call that is over adds to its function, except for the total. False: how long it took is not known. */
static bool count_call(struct hodo_stats *s, struct hodo_stats_function *f, const struct hodo_read_call *call)
{
	f->calls++;
	if (call->flags & HODO_READ_CALL_NO_EXIT) {
		f->no_exit++;
	} else if (call->flags & HODO_READ_CALL_OPEN) {
		f->open++;
	} else if (call->flags & HODO_READ_CALL_EXIT_LOST) {
		f->exit_lost++;
	} else {
		f->left += !!(call->flags & HODO_READ_CALL_LEFT);
		f->self_ns += call->self_ns;
		s->events.rows.failed |= !series_times_add(&f->times, (uint64_t)(call->end_ns - call->entry_ns));
		return true;
	}
	return false;
}

static void on_leave(void *data, const struct hodo_read_call *call)
{
	struct hodo_stats_call *c = (struct hodo_stats_call *)(uintptr_t)call->user, *outer;
	uint64_t ns = (uint64_t)(call->end_ns - call->entry_ns);
	struct hodo_stats *s = data;
	struct hodo_stats_function *f;
	bool known;

	if (!call->user)
		return;
	if (call->flags & HODO_READ_CALL_WHOLE) {
		f = hodo_map_at(&s->functions, (uint32_t)call->user - 1);
		lists_call(&s->lists, call);
		if (count_call(s, f, call))
			f->total_ns += ns - hodo_late_call(call)->same_ns;
		return;
	}
	outer = c->outer;
	f = hodo_map_at(&s->functions, c->row);
	on_away(data, call);
	known = count_call(s, f, call);
	add_total(f, outer, c->nested, known ? ns : c->inside_ns);
	if (known)
		s->events.rows.failed |= slowest_call(&s->slowest, call) < 0;
	c->next = s->free_calls;
	s->free_calls = c;
}

static bool on_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct hodo_stats *s = data;

	return hodo_function_same(s->symbols, process, ts_ns, a, b);
}

/* ---------------------------------------------------------------------- profile */

/* The middle of a bucket of struct hodo_profile_entry, in ticks. */
static uint64_t bucket_ticks(uint32_t b)
{
	uint32_t octave = b / 4 + 1;

	if (b < 4)
		return b;
	return ((uint64_t)(4 + b % 4) << (octave - 2)) + (octave > 2 ? 1ull << (octave - 3) : 0);
}

/* Older recordings have only the first eight fields. */
#define PROFILE_FIELDS_OLD 8u
#define PROFILE_BUCKETS_MAX 252u /* for 64 bits; HODO_PROFILE_BUCKETS is less, and has changed */

static bool is_profile(const struct hodo_read_class *cls)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64,
					 HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U32 | HODO_TYPE_ARRAY,
					 HODO_TYPE_U64, HODO_TYPE_U64 };

	return lists_class_is(cls, "func:profile", sizeof(types), types) ||
	       lists_class_is(cls, "func:profile", PROFILE_FIELDS_OLD, types);
}

static void add_profile(struct hodo_stats *s, const struct hodo_read_event *e)
{
	const struct hodo_read_value *v = e->values;
	const struct hodo_read_process *p = e->process;
	const struct hodo_read_thread *t = hodo_read_thread(p, (uint32_t)v[1].u);
	uint64_t min_ns = lists_ns(p, v[5].u), max_ns = lists_ns(p, v[6].u), about_ns = 0;
	bool old = e->cls->nfields == PROFILE_FIELDS_OLD;
	uint64_t no_exit = old ? 0 : v[9].u;
	struct hodo_stats_function *f;

	if (!v[2].u || !hodo_select_has_thread(s->events.o->select, p, p->pid, (uint32_t)v[1].u, t ? t->comm : p->comm))
		return;
	f = row_of(s, p, e->ts_ns, v[0].u);
	if (!f)
		return;
	f->calls += v[2].u;
	f->no_exit += no_exit;
	if (no_exit >= v[2].u)
		return;
	f->times.min_ns = f->times.n && f->times.min_ns < min_ns ? f->times.min_ns : min_ns;
	f->times.max_ns = f->times.max_ns > max_ns ? f->times.max_ns : max_ns;
	f->times.n += v[2].u - no_exit;
	f->total_ns += lists_ns(p, v[3].u);
	f->self_ns += lists_ns(p, v[4].u);
	for (uint32_t b = 0; b < v[7].count && b < PROFILE_BUCKETS_MAX; b++) {
		uint64_t ns = lists_ns(p, bucket_ticks(b));
		uint32_t n;

		memcpy(&n, (const uint8_t *)v[7].data + 4 * (size_t)b, sizeof(n));
		about_ns += n * ns;
		if (n)
			s->events.rows.failed |= !hodo_histogram_add(f->times.histogram, ns, n);
	}
	f->times.sum_ns += old ? about_ns : lists_ns(p, v[8].u);
}

/* ---------------------------------------------------------------------- reading */

static int read_events(struct hodo_stats *s)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };
	const struct hodo_read_event *e;
	int64_t last_ns = 0;
	int got = 0, err = 0;

	while (!err && !s->events.rows.failed && !s->lists.failed && (got = hodo_read_next(s->r, &e)) > 0) {
		last_ns = e->ts_ns;
		err = events_take(&s->events, e);
		if (e->cls->kind != HODO_KIND_FUNCTION) {
			if (e->begin && hodo_select_whose(s->events.o->select, e) && !err)
				err = slowest_span(&s->slowest, e);
			continue;
		}
		if (strcmp(e->cls->name, "func:profile") == 0) {
			/* The calls themselves say more, and are the same ones, except for those without an
			 * end, which are not in a profile. */
			hodo_read_calls_totals(s->calls, &t);
			if (t.calls == t.open && is_profile(e->cls))
				add_profile(s, e);
		} else {
			hodo_stats_lists_event(&s->lists, e);
			err = hodo_read_calls_event(s->calls, e);
		}
	}
	if (err || got < 0)
		return err ? err : got;
	err = s->events.rows.failed || s->lists.failed ? -ENOMEM : hodo_read_calls_end(s->calls, last_ns);
	if (!err)
		err = events_end(&s->events);
	s->totals.size = sizeof(s->totals);
	hodo_read_calls_totals(s->calls, &s->totals);
	return err;
}

int hodo_stats_read(struct hodo_stats *s, struct hodo_read *r, struct hodo_symbols *symbols,
		    const struct hodo_stats_options *o)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = on_away };
	const bool hosts = hodo_read_nhosts(r) > 1;
	int err;

	s->r = r;
	s->symbols = symbols;
	s->functions = (struct hodo_map)HODO_MAP(struct hodo_stats_function, times.key);
	s->inside = (struct hodo_map)HODO_MAP(struct hodo_stats_inside, key);
	hodo_stats_lists_start(&s->lists, symbols, o->select);
	err = slowest_start(&s->slowest, symbols, o->slowest, o->json, hosts);
	if (!err)
		err = hodo_read_spans(r);
	s->calls = hodo_read_calls_new(&ops, s);
	if (!err && !s->calls)
		err = -ENOMEM;
	if (!err) {
		hodo_calls_late(s->calls, NULL, true);
		err = events_start(&s->events, o, r);
		s->events.rows.hosts = hosts;
	}
	return err ? err : read_events(s);
}

void hodo_stats_free(struct hodo_stats *s)
{
	hodo_read_calls_free(s->calls);
	for (uint32_t i = 0; i < s->functions.n; i++)
		series_times_free(&((struct hodo_stats_function *)hodo_map_at(&s->functions, i))->times);
	hodo_map_free(&s->functions);
	hodo_strings_free(&s->names);
	hodo_map_free(&s->inside);
	hodo_arena_free(&s->all_calls);
	events_free(&s->events);
	hodo_stats_lists_free(&s->lists);
	slowest_free(&s->slowest);
}
