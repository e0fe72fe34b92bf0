/* SPDX-License-Identifier: MIT */
/* report.c - reads a recording, its calls or a profile made in the process, into a row for each function. */
#include "report.h"
#include <cli/selection.h>

#include <read/time/late_calls.h>
#include <read/event/threads.h>
#include <string.h>

#define FUNCTIONS_MAX (1u << 18) /* further ones share one row, (others) */
#define OTHERS        0u /* its key, which no function has */

#define INSIDE_MANY   4096u

/* A thread that is, or was, in a function. */
struct report_inside {
	struct {
		const struct hodo_read_process *process;
		uint32_t tid, row;
	} key;
	struct report_call *inner; /* the innermost call; NULL: it is in none */
};

/* An open call. */
struct report_call {
	uint32_t row;
	struct report_call *outer; /* the call of the function that it is in; NULL: none, or it is away */
	uint64_t inside_ns; /* of calls of the function directly in it, which counts if its own time does not */
	bool nested; /* inside another call of the function, whose time includes it */
	bool away;
	struct report_call *next; /* free ones */
};

/* ------------------------------------------------------------------------- rows */

static struct report_function *find_row(struct report *rep, uint64_t key, const struct hodo_place *place)
{
	struct report_function *f = hodo_map_find_u64(&rep->functions, key);
	static const struct hodo_place others = { .name = "(others)", .full = "(others)", .object = "" };

	if (f)
		return f;
	if (rep->functions.n >= FUNCTIONS_MAX && key != OTHERS)
		return find_row(rep, OTHERS, &others);
	f = hodo_must(hodo_map_add_u64(&rep->functions, key, NULL));
	report_times_measure(&f->times);
	f->name = place->name;
	f->object = place->object;
	return f;
}

/* The row of an address, created if necessary. */
static struct report_function *row_of(struct report *rep, const struct hodo_read_process *p, int64_t ts_ns,
				      uint64_t address)
{
	struct hodo_place place;
	uint32_t name;

	hodo_symbols_find(rep->symbols, p, ts_ns, address, &place);
	if (!rep->events.o->diff)
		return find_row(rep, place.id, &place);
	/* Merges functions with one name, whatever their object: another build is another object. */
	name = hodo_strings_add(&rep->names, place.full);
	if (name == HODO_STRINGS_NONE)
		exit(hodo_no_memory());
	return find_row(rep, name + 1ull, &place);
}

/* ------------------------------------------------------------------------ calls */

/* The calls of a function that a thread is in. */
static struct report_inside *inside_of(struct report *rep, uint32_t row, const struct hodo_read_call *call)
{
	const struct report_inside thread = { .key = { call->process, call->tid, row } };

	return hodo_must(hodo_map_add(&rep->inside, &thread.key, NULL));
}

static void step_in(struct report *rep, struct report_call *c, const struct hodo_read_call *call)
{
	struct report_inside *i = inside_of(rep, c->row, call);

	c->outer = i->inner;
	c->nested = c->outer != NULL;
	i->inner = c;
}

static void step_out(struct report *rep, struct report_call *c, const struct hodo_read_call *call)
{
	struct report_inside *i = inside_of(rep, c->row, call);
	struct report_call **link = &i->inner;

	while (*link != c)
		link = &(*link)->outer;
	*link = c->outer;
	/* Kept for the next call, as long as there are few. */
	if (!i->inner && rep->inside.n > INSIDE_MANY)
		hodo_map_remove(&rep->inside, i);
}

static void on_enter(void *data, struct hodo_read_call *call)
{
	struct report *rep = data;
	const struct report_function *row;
	struct report_call *c = rep->free_calls;

	if (!hodo_selects_thread(&rep->events.o->args, call->process, call->process->pid, call->tid, call->comm))
		return;
	row = row_of(rep, call->process, call->entry_ns, call->function);
	if (call->flags & HODO_READ_CALL_WHOLE) {
		call->user = hodo_map_index(&rep->functions, row) + 1;
		return;
	}
	if (c)
		rep->free_calls = c->next;
	else
		c = hodo_must(hodo_arena_alloc(&rep->all_calls, sizeof(*c)));
	*c = (struct report_call){ .row = hodo_map_index(&rep->functions, row) };
	step_in(rep, c, call);
	call->user = (uintptr_t)c;
}

/* It may be waiting or over: later calls of the function are not inside it. */
static void on_away(void *data, const struct hodo_read_call *call)
{
	struct report_call *c = (struct report_call *)(uintptr_t)call->user;
	struct report *rep = data;

	if (!c || c->away)
		return;
	step_out(rep, c, call);
	c->outer = NULL;
	c->away = true;
}

/*
 * Adds to the total of a function, in which each moment counts once, what a call that is over has taken: nothing if
 * that is part of what an outer call will have taken. A call without a time, since it is open or its exit was lost,
 * gives what the calls in it took.
 */
static void add_total(struct report_function *f, struct report_call *outer, bool nested, uint64_t ns)
{
	if (!nested)
		f->total_ns += ns;
	else if (outer)
		outer->inside_ns += ns;
}

/* What a call that is over adds to its function, except for the total. False: how long it took is not known. */
static bool count_call(struct report_function *f, const struct hodo_read_call *call)
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
		report_times_add(&f->times, (uint64_t)(call->end_ns - call->entry_ns));
		return true;
	}
	return false;
}

static void on_leave(void *data, const struct hodo_read_call *call)
{
	struct report_call *c = (struct report_call *)(uintptr_t)call->user, *outer;
	uint64_t ns = (uint64_t)(call->end_ns - call->entry_ns);
	struct report *rep = data;
	struct report_function *f;
	bool known;

	if (!call->user)
		return;
	if (call->flags & HODO_READ_CALL_WHOLE) {
		f = hodo_map_at(&rep->functions, (uint32_t)call->user - 1);
		report_lists_call(&rep->lists, call);
		if (count_call(f, call))
			f->total_ns += ns - hodo_late_call(call)->same_ns;
		return;
	}
	outer = c->outer;
	f = hodo_map_at(&rep->functions, c->row);
	on_away(data, call);
	known = count_call(f, call);
	add_total(f, outer, c->nested, known ? ns : c->inside_ns);
	if (known)
		report_slowest_call(&rep->slowest, call);
	c->next = rep->free_calls;
	rep->free_calls = c;
}

static bool on_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct report *rep = data;

	return hodo_function_same(rep->symbols, process, ts_ns, a, b);
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

	return report_class_is(cls, "func:profile", sizeof(types), types) ||
	       report_class_is(cls, "func:profile", PROFILE_FIELDS_OLD, types);
}

static void add_profile(struct report *rep, const struct hodo_read_event *e)
{
	const struct hodo_read_value *v = e->values;
	const struct hodo_read_process *p = e->process;
	const struct hodo_read_thread *t = hodo_read_thread(p, (uint32_t)v[1].u);
	uint64_t min_ns = report_ns(p, v[5].u), max_ns = report_ns(p, v[6].u), about_ns = 0;
	bool old = e->cls->nfields == PROFILE_FIELDS_OLD;
	uint64_t no_exit = old ? 0 : v[9].u;
	struct report_function *f;

	if (!v[2].u || !hodo_selects_thread(&rep->events.o->args, p, p->pid, (uint32_t)v[1].u, t ? t->comm : p->comm))
		return;
	f = row_of(rep, p, e->ts_ns, v[0].u);
	f->calls += v[2].u;
	f->no_exit += no_exit;
	if (no_exit >= v[2].u)
		return;
	f->times.min_ns = f->times.n && f->times.min_ns < min_ns ? f->times.min_ns : min_ns;
	f->times.max_ns = f->times.max_ns > max_ns ? f->times.max_ns : max_ns;
	f->times.n += v[2].u - no_exit;
	f->total_ns += report_ns(p, v[3].u);
	f->self_ns += report_ns(p, v[4].u);
	for (uint32_t b = 0; b < v[7].count && b < PROFILE_BUCKETS_MAX; b++) {
		uint32_t n;

		memcpy(&n, (const uint8_t *)v[7].data + 4 * (size_t)b, sizeof(n));
		about_ns += n * report_ns(p, bucket_ticks(b));
		if (n)
			hodo_must(hodo_histogram_add(f->times.histogram, report_ns(p, bucket_ticks(b)), n));
	}
	f->times.sum_ns += old ? about_ns : report_ns(p, v[8].u);
}

/* ---------------------------------------------------------------------- reading */

static int read_events(struct report *rep)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };
	const struct hodo_read_event *e;
	int64_t last_ns = 0;
	int got = 0, err = 0;

	while (!err && (got = hodo_read_next(rep->r, &e)) > 0) {
		last_ns = e->ts_ns;
		err = report_events_take(&rep->events, e);
		if (e->cls->kind != HODO_KIND_FUNCTION) {
			if (e->begin && hodo_selects_event(&rep->events.o->args, e))
				report_slowest_span(&rep->slowest, e);
			continue;
		}
		if (strcmp(e->cls->name, "func:profile") == 0) {
			/* The calls themselves say more, and are the same ones, except for those without an
			 * end, which are not in a profile. */
			hodo_read_calls_totals(rep->calls, &t);
			if (t.calls == t.open && is_profile(e->cls))
				add_profile(rep, e);
		} else {
			report_lists_event(&rep->lists, e);
			err = hodo_read_calls_event(rep->calls, e);
		}
	}
	if (err || got < 0)
		return err ? err : got;
	err = hodo_read_calls_end(rep->calls, last_ns);
	report_events_end(&rep->events);
	rep->totals.size = sizeof(rep->totals);
	hodo_read_calls_totals(rep->calls, &rep->totals);
	return err;
}

int report_read(struct report *rep, const char *dir, const struct report_options *o)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = on_away };
	struct hodo_args args = o->args;
	int err, status;

	rep->functions = (struct hodo_map)HODO_MAP(struct report_function, times.key);
	rep->inside = (struct hodo_map)HODO_MAP(struct report_inside, key);
	args.dir = dir;
	status = hodo_open_selected(&rep->r, &args);
	if (status)
		return status;
	rep->symbols = hodo_open_symbols(&o->args, dir);
	report_lists_start(&rep->lists, rep->symbols, &o->args);
	report_slowest_start(&rep->slowest, rep->symbols, &o->args, hodo_read_nhosts(rep->r) > 1);
	hodo_must(hodo_read_spans(rep->r) < 0 ? NULL : rep);
	rep->calls = hodo_must(hodo_read_calls_new(&ops, rep));
	hodo_calls_late(rep->calls, NULL, true);
	report_events_start(&rep->events, o, rep->r);
	rep->events.rows.hosts = hodo_read_nhosts(rep->r) > 1;
	err = read_events(rep);
	if (err)
		return hodo_error("%s: cannot be read further: %s", dir, strerror(-err));
	if (!o->args.quiet) {
		report_events_warn(&rep->events, dir);
		hodo_tell_unnamed(rep->symbols);
		hodo_tell_lost(rep->r);
	}
	return 0;
}

void report_free(struct report *rep)
{
	hodo_read_calls_free(rep->calls);
	for (uint32_t i = 0; i < rep->functions.n; i++)
		report_times_free(&((struct report_function *)hodo_map_at(&rep->functions, i))->times);
	hodo_map_free(&rep->functions);
	hodo_strings_free(&rep->names);
	hodo_map_free(&rep->inside);
	hodo_arena_free(&rep->all_calls);
	report_events_free(&rep->events);
	report_lists_free(&rep->lists);
	report_slowest_free(&rep->slowest);
	hodo_symbols_free(rep->symbols);
	hodo_read_close(rep->r);
}
