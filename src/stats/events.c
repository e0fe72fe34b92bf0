/* SPDX-License-Identifier: MIT */
/* events.c - what each event means: a count, the start or end of something, values, scheduling. */
#include "events.h"

#include <base/vec.h>
#include <errno.h>
#include <math.h>
#include <read/event/fields.h>
#include <read/event/losses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_WANTED UINT32_MAX /* the row of a start in a thread that is not selected; others are put as their row + 1 */

/* ---------------------------------------------------------------------- classes */

/* What an event does besides being counted. */
struct action {
	enum { ENDS, BEGINS, MEASURES } does;
	uint32_t series;
	const struct hodo_stats_pair *pair; /* NULL: paired by its role */
	uint8_t field[HODO_STATS_KEY_FIELDS_MAX]; /* shared by both ends; or measured */
};

struct seen_class {
	const struct hodo_read_class *cls;
	uint32_t series; /* of its count */
	int field;       /* of --by; -1: none */
	bool sched;
	uint32_t nactions;
	struct action *actions; /* ends first: an event may end a pair and begin the next */
};

static void add_action(struct hodo_stats_events *ev, struct seen_class *c, struct action a)
{
	ev->rows.failed |= hodo_vec_push(c->actions, c->nactions, a) < 0;
	if (a.does == ENDS && !ev->rows.failed) {
		memmove(c->actions + 1, c->actions, (c->nactions - 1) * sizeof(a));
		c->actions[0] = a;
	}
}

/* What is paired by default: spans and system calls. */
static void bind_own(struct hodo_stats_events *ev, struct seen_class *c)
{
	const struct hodo_read_class *cls = c->cls;
	bool ends = hodo_role_ends(cls->role);

	if (ends || hodo_role_begins(cls->role))
		add_action(ev, c, (struct action){ .does = ends ? ENDS : BEGINS,
						   .series = series_number(&ev->rows, HODO_STATS_SPANS, cls->base) });
}

static void bind_pairs(struct hodo_stats_events *ev, struct seen_class *c)
{
	for (uint32_t i = 0; i < ev->o->npairs; i++) {
		const struct hodo_stats_pair *pair = &ev->o->pairs[i];
		struct action a = { .series = i, .pair = pair };
		bool sides[2] = { strcmp(pair->begin, c->cls->name) == 0, strcmp(pair->end, c->cls->name) == 0 };
		bool fits = true;

		for (uint32_t k = 0; k < pair->nfields; k++) {
			int field = hodo_read_field(c->cls, pair->field[k]);

			fits &= field >= 0;
			a.field[k] = (uint8_t)field;
		}
		for (unsigned side = 0; side < 2 && fits; side++) {
			if (!sides[side])
				continue;
			a.does = side == 1 ? ENDS : BEGINS;
			hodo_stats_series_at(&ev->rows, i)->seen[side] = true;
			add_action(ev, c, a);
		}
	}
}

static bool has_number(const struct hodo_read_class *cls, int field)
{
	uint32_t type = field >= 0 ? cls->fields[field].type : HODO_TYPE_NONE;

	return (type >= HODO_TYPE_I8 && type <= HODO_TYPE_F64) || type == HODO_TYPE_PTR;
}

/* false: not a number. */
static bool bind_value(struct hodo_stats_events *ev, struct seen_class *c, int field, const char *name)
{
	struct action a = { .does = MEASURES, .field = { (uint8_t)field } };

	if (!has_number(c->cls, field))
		return false;
	a.series = series_number(&ev->rows, HODO_STATS_VALUES, name);
	add_action(ev, c, a);
	return true;
}

/* A span's name stands for its start, or for its end if only that has the field. */
static bool is_of(const struct hodo_stats_value *v, const struct hodo_read_class *cls,
		  const struct hodo_read_process *p)
{
	if (strcmp(v->event, cls->name) == 0)
		return true;
	if (strcmp(v->event, cls->base) != 0)
		return false;
	for (uint32_t i = 0; i < p->nclasses && hodo_role_ends(cls->role); i++) {
		const struct hodo_read_class *other = p->classes[i];

		if (hodo_role_begins(other->role) && strcmp(other->base, cls->base) == 0 &&
		    has_number(other, hodo_read_field(other, v->field)))
			return false;
	}
	return true;
}

static void bind_values(struct hodo_stats_events *ev, struct seen_class *c, const struct hodo_read_process *p)
{
	const struct hodo_read_class *cls = c->cls;

	if (cls->role == HODO_READ_ROLE_COUNTER)
		bind_value(ev, c, 0, cls->name);
	for (uint32_t i = 0; i < ev->o->nvalues; i++) {
		const struct hodo_stats_value *v = &ev->o->values[i];
		char name[2 * HODO_NAME_MAX + 4];

		snprintf(name, sizeof(name), "%s.%s", v->event, v->field);
		if (is_of(v, cls, p) && bind_value(ev, c, hodo_read_field(cls, v->field), name))
			ev->findings.values |= 1ull << i;
	}
}

static void bind(struct hodo_stats_events *ev, struct seen_class *c, const struct hodo_read_event *e)
{
	c->field = ev->o->by == HODO_STATS_BY_FIELD ? hodo_read_field(e->cls, ev->o->by_text) : -1;
	ev->findings.by |= c->field >= 0;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return;
	c->series = series_number(&ev->rows, HODO_STATS_EVENTS, e->cls->name);
	c->sched = e->process->kernel && strncmp(e->cls->name, "sched:", 6) == 0;
	bind_own(ev, c);
	bind_pairs(ev, c);
	bind_values(ev, c, e->process);
}

/* NULL: no memory. */
static const struct seen_class *class_of(struct hodo_stats_events *ev, const struct hodo_read_event *e)
{
	uint32_t *recent = &ev->recent[e->cls->id % 256];
	struct seen_class *c = (struct seen_class *)ev->classes.entries + *recent;
	bool is_new;

	if (*recent < ev->classes.n && c->cls == e->cls)
		return c;
	c = hodo_map_add_u64(&ev->classes, (uintptr_t)e->cls, &is_new);
	if (!c)
		return NULL;
	*recent = hodo_map_index(&ev->classes, c);
	if (is_new)
		bind(ev, c, e);
	return c;
}

/* ----------------------------------------------------------------------- events */

/* The event's group. */
static uint32_t group_of(struct hodo_stats_events *ev, const struct seen_class *c, const struct hodo_read_event *e)
{
	const struct hodo_stats_who who = { e->process, e->comm, e->pid, e->tid, e->cpu };

	if (ev->o->by == HODO_STATS_BY_NONE || (ev->o->by == HODO_STATS_BY_FIELD && c->field < 0))
		return 0;
	return ev->o->by == HODO_STATS_BY_FIELD ? series_group_of_value(&ev->rows, e, (uint32_t)c->field)
					    : series_group_of(&ev->rows, &who);
}

/* What must be equal at the start and at the end. */
static const struct hodo_text *key_of(struct hodo_stats_events *ev, const struct action *a,
				      const struct hodo_read_event *e)
{
	const struct hodo_stats_pair *pair = a->pair;
	const uint64_t host = (uint64_t)e->process->host << 32;
	struct hodo_text *key = &ev->rows.key;

	hodo_key_start(key);
	hodo_key_add_number(key, a->series);
	/* The kernel's events may happen in any process. */
	if (pair->key & HODO_STATS_KEY_PROCESS)
		hodo_key_add_number(key, host | (e->process->kernel ? 0 : e->pid));
	if (pair->key & HODO_STATS_KEY_THREAD) {
		hodo_key_add_number(key, host);
		hodo_key_add_number(key, (uint64_t)e->pid << 32 | e->tid);
	}
	if (pair->key & HODO_STATS_KEY_CPU)
		hodo_key_add_number(key, host | (uint32_t)e->cpu);
	for (uint32_t i = 0; i < pair->nfields; i++)
		hodo_key_add_value(key, &e->values[a->field[i]]);
	return key;
}

/* The end of a start event will not come. */
static void on_unfinished(void *data, uintptr_t user, int64_t ts_ns, bool given_up)
{
	struct hodo_stats_events *ev = data;

	if (user == NOT_WANTED || ev->rows.failed)
		return;
	((struct hodo_stats_row *)hodo_map_at(&ev->rows.rows, (uint32_t)user - 1))->begins++;
	ev->findings.dropped += given_up;
}

static int begin(struct hodo_stats_events *ev, const struct action *a, const struct hodo_read_event *e, bool wanted,
		 uint32_t group)
{
	struct hodo_pair begin = { .begin_ns = e->ts_ns, .user = NOT_WANTED }, other;
	int paired;

	if (wanted)
		begin.user = hodo_map_index(&ev->rows.rows, series_row(&ev->rows, a->series, group)) + 1;
	if (!a->pair) {
		hodo_read_pair_put(ev->r, begin.user);
		return 0;
	}
	paired = hodo_pairs_begin(ev->pairs, key_of(ev, a, e), &begin, NULL, &other);
	if (paired > HODO_PAIR_NONE)
		on_unfinished(ev, other.user, e->ts_ns, paired == HODO_PAIR_GIVEN_UP);
	return paired < 0 ? paired : 0;
}

static int end(struct hodo_stats_events *ev, const struct action *a, const struct hodo_read_event *e, bool wanted,
	       uint32_t group)
{
	struct hodo_pair begin;
	struct hodo_stats_row *row = NULL;
	int paired = a->pair ? hodo_pairs_end(ev->pairs, key_of(ev, a, e), NULL, &begin) :
		     hodo_read_pair_of(ev->r, &begin) && begin.user ? HODO_PAIR_FOUND : HODO_PAIR_NONE;

	if (paired < 0)
		return paired;
	/* Ends whose start was in a thread that is not selected do not count, nor ends there without a start event. */
	if (paired == HODO_PAIR_FOUND ? begin.user == NOT_WANTED : !wanted)
		return 0;
	if (paired == HODO_PAIR_FOUND)
		row = hodo_map_at(&ev->rows.rows, (uint32_t)begin.user - 1);
	/* The start lacks the field of --by, but the end has it. */
	if (!row || (group && ev->o->by == HODO_STATS_BY_FIELD && !hodo_stats_row_group(row)))
		row = series_row(&ev->rows, a->series, group);
	if (paired != HODO_PAIR_FOUND) {
		row->ends++;
		return 0;
	}
	ev->rows.failed |= !series_times_add(&row->times, (uint64_t)e->ts_ns - (uint64_t)begin.begin_ns);
	if (!a->pair && e->off_cpu) {
		row->off_n++;
		row->off_ns += e->off_cpu->ns;
	}
	ev->findings.unsure_spans += hodo_losses_between(e->process, HODO_LOSSES_ANY_CPU, begin.begin_ns,
							 e->ts_ns);
	return 0;
}

static void measure(struct hodo_stats_events *ev, const struct action *a, const struct hodo_read_event *e,
		    uint32_t group)
{
	const struct hodo_read_value *v = &e->values[a->field[0]];
	struct hodo_stats_row *row = series_row(&ev->rows, a->series, group);
	bool whole = v->type != HODO_TYPE_F32 && v->type != HODO_TYPE_F64;
	struct hodo_histogram *h = row->times.histogram;
	double number = hodo_value_number(v);

	row->times.n++;
	if (!h || isnan(number))
		return;
	ev->rows.failed |= !hodo_histogram_add_double(h, number, whole);
	row->min = h->n > 1 && row->min < number ? row->min : number;
	row->max = h->n > 1 && row->max > number ? row->max : number;
	row->sum += number;
	row->last = number;
}

int events_take(struct hodo_stats_events *ev, const struct hodo_read_event *e)
{
	const struct seen_class *c;
	uint32_t group = 0;
	bool wanted;
	int err = 0;

	if (ev->events++ == 0)
		ev->begin_ns = e->ts_ns;
	ev->end_ns = e->ts_ns;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return 0;
	c = class_of(ev, e);
	if (!c)
		return -ENOMEM;
	wanted = hodo_select_whose(ev->o->select, e);
	if (wanted || c->nactions)
		group = group_of(ev, c, e);
	if (wanted)
		series_row(&ev->rows, c->series, group)->times.n++;
	for (uint32_t i = 0; i < c->nactions && !err; i++) {
		const struct action *a = &c->actions[i];

		if (a->does != MEASURES)
			err = a->does == ENDS ? end(ev, a, e, wanted, group) : begin(ev, a, e, wanted, group);
		else if (wanted)
			measure(ev, a, e, group);
	}
	if (c->sched && !err)
		err = hodo_runs_event(ev->runs, e);
	return ev->rows.failed ? -ENOMEM : err;
}

/* ------------------------------------------------------------------- scheduling */

static void add_thread(struct hodo_stats_events *ev, uint32_t series, const struct hodo_sched_off *off, uint64_t ns)
{
	const struct hodo_stats_who who = { off->kernel, off->comm, off->pid, off->tid, off->cpu };
	struct hodo_stats_row *row = series_row(&ev->rows, series, series_group_of(&ev->rows, &who));

	ev->rows.failed |= !series_times_add(&row->times, ns);
}

static void on_ran(void *data, const struct hodo_sched_ran *ran)
{
	const struct hodo_sched_off who = { .cpu = ran->cpu, .pid = ran->pid, .tid = ran->tid, .comm = ran->comm,
					    .kernel = ran->kernel };
	struct hodo_stats_events *ev = data;

	if (!ran->tid || !hodo_select_has_thread(ev->o->select, ran->kernel, ran->pid, ran->tid, ran->comm))
		return;
	if (hodo_losses_between(ran->kernel, ran->cpu, ran->begin_ns, ran->end_ns))
		ev->findings.unsure_times++;
	else
		add_thread(ev, ev->cpus.running, &who, (uint64_t)ran->end_ns - (uint64_t)ran->begin_ns);
}

static void on_off(void *data, const struct hodo_sched_off *off)
{
	struct hodo_stats_events *ev = data;

	if (!hodo_select_has_thread(ev->o->select, off->kernel, off->pid, off->tid, off->comm))
		return;
	if (hodo_losses_between(off->kernel, HODO_LOSSES_ANY_CPU,
				off->off_ns != INT64_MIN ? off->off_ns : off->woken_ns, off->on_ns)) {
		ev->findings.unsure_times++;
		return;
	}
	if (off->off_ns != INT64_MIN)
		add_thread(ev, ev->cpus.off[off->why], off, (uint64_t)off->on_ns - (uint64_t)off->off_ns);
	if (off->woken_ns != INT64_MIN && off->why != HODO_SCHED_PREEMPTED)
		add_thread(ev, ev->cpus.latency, off, (uint64_t)off->on_ns - (uint64_t)off->woken_ns);
}

/* ---------------------------------------------------------------- start and end */

/* Requested ones come first. */
static void make_series(struct hodo_stats_events *ev, const struct hodo_stats_options *o)
{
	for (uint32_t i = 0; i < o->npairs; i++) {
		const struct hodo_stats_pair *p = &o->pairs[i];
		char name[3 * HODO_NAME_MAX + 8];
		uint32_t s;

		snprintf(name, sizeof(name), "%s,%s%s%s", p->begin, p->end, p->by ? " by " : "", p->by ? p->by : "");
		s = series_number(&ev->rows, HODO_STATS_SPANS, name);
		series_row(&ev->rows, s, 0);
		if (ev->rows.failed)
			return;
		hodo_stats_series_at(&ev->rows, s)->pair = p;
	}
	ev->cpus.running = series_number(&ev->rows, HODO_STATS_RUNNING, "running");
	ev->cpus.latency = series_number(&ev->rows, HODO_STATS_LATENCY, "latency");
	for (uint32_t why = 0; why <= HODO_SCHED_UNKNOWN; why++)
		ev->cpus.off[why] = series_number(&ev->rows, HODO_STATS_OFF, hodo_sched_why_text(why));
}

int events_start(struct hodo_stats_events *ev, const struct hodo_stats_options *o, struct hodo_read *r)
{
	static const struct hodo_runs_ops ops = { .ran = on_ran, .off = on_off };

	*ev = (struct hodo_stats_events){ .o = o, .r = r, .classes = HODO_MAP(struct seen_class, cls) };
	series_start(&ev->rows, o);
	ev->pairs = hodo_pairs_new();
	ev->runs = hodo_runs_new(&ops, ev);
	if (!ev->pairs || !ev->runs || hodo_read_pairs(r, on_unfinished, ev) < 0)
		return -ENOMEM;
	make_series(ev, o);
	return ev->rows.failed ? -ENOMEM : 0;
}

int events_end(struct hodo_stats_events *ev)
{
	struct hodo_pair begin;

	hodo_runs_end(ev->runs, ev->end_ns);
	hodo_read_pairs_end(ev->r, ev->end_ns);
	while (hodo_pairs_oldest(ev->pairs, &begin))
		on_unfinished(ev, begin.user, ev->end_ns, false);
	series_end(&ev->rows);
	return ev->rows.failed ? -ENOMEM : 0;
}

void events_free(struct hodo_stats_events *ev)
{
	for (uint32_t i = 0; i < ev->classes.n; i++)
		free(((struct seen_class *)hodo_map_at(&ev->classes, i))->actions);
	hodo_map_free(&ev->classes);
	series_free(&ev->rows);
	hodo_pairs_free(ev->pairs);
	hodo_runs_free(ev->runs);
}
