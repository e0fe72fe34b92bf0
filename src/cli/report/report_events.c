/* SPDX-License-Identifier: MIT */
/* report_events.c - what each event means: a count, the begin or end of something, values, scheduling. */
#include "report.h"
#include <cli/selection.h>

#include <base/vec.h>
#include <math.h>
#include <read/event/fields.h>
#include <stdlib.h>
#include <string.h>

#define NOT_WANTED UINT32_MAX /* the row of a begin in a thread that is not selected; others are put as their row + 1 */

/* ---------------------------------------------------------------------- classes */

/* What an event does besides being counted. */
struct action {
	enum { ENDS, BEGINS, MEASURES } does;
	uint32_t series;
	const struct report_pair *pair; /* NULL: paired by its role */
	uint8_t field[REPORT_KEY_FIELDS_MAX]; /* shared by both ends; or measured */
};

struct report_class {
	const struct hodo_read_class *cls;
	uint32_t series; /* of its count */
	int field;       /* of --by; -1: none */
	bool sched;
	uint32_t nactions;
	struct action *actions; /* ends first: an event may end a pair and begin the next */
};

static void add_action(struct report_class *c, struct action a)
{
	*hodo_must(hodo_vec_add(c->actions, c->nactions)) = a;
	if (a.does == ENDS) {
		memmove(c->actions + 1, c->actions, (c->nactions - 1) * sizeof(a));
		c->actions[0] = a;
	}
}

/* What is paired by default: spans and system calls. */
static void bind_own(struct report_events *ev, struct report_class *c)
{
	const struct hodo_read_class *cls = c->cls;
	bool ends = hodo_role_ends(cls->role);

	if (ends || hodo_role_begins(cls->role))
		add_action(c, (struct action){ .does = ends ? ENDS : BEGINS,
					       .series = report_series(&ev->rows, REPORT_SPANS, cls->base) });
}

static void bind_pairs(struct report_events *ev, struct report_class *c)
{
	for (uint32_t i = 0; i < ev->o->npairs; i++) {
		const struct report_pair *pair = &ev->o->pairs[i];
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
			report_series_at(&ev->rows, i)->seen[side] = true;
			add_action(c, a);
		}
	}
}

static bool has_number(const struct hodo_read_class *cls, int field)
{
	uint32_t type = field >= 0 ? cls->fields[field].type : HODO_TYPE_NONE;

	return (type >= HODO_TYPE_I8 && type <= HODO_TYPE_F64) || type == HODO_TYPE_PTR;
}

/* false: not a number. */
static bool bind_value(struct report_events *ev, struct report_class *c, int field, const char *name)
{
	struct action a = { .does = MEASURES, .field = { (uint8_t)field } };

	if (!has_number(c->cls, field))
		return false;
	a.series = report_series(&ev->rows, REPORT_VALUES, name);
	add_action(c, a);
	return true;
}

/* A span's name stands for its begin, or for its end if only that has the field. */
static bool is_of(const struct report_value *v, const struct hodo_read_class *cls, const struct hodo_read_process *p)
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

static void bind_values(struct report_events *ev, struct report_class *c, const struct hodo_read_process *p)
{
	const struct hodo_read_class *cls = c->cls;

	if (cls->role == HODO_READ_ROLE_COUNTER)
		bind_value(ev, c, 0, cls->name);
	for (uint32_t i = 0; i < ev->o->nvalues; i++) {
		const struct report_value *v = &ev->o->values[i];
		char name[2 * HODO_NAME_MAX + 4];

		snprintf(name, sizeof(name), "%s.%s", v->event, v->field);
		if (is_of(v, cls, p) && bind_value(ev, c, hodo_read_field(cls, v->field), name))
			ev->findings.values |= 1ull << i;
	}
}

static void bind(struct report_events *ev, struct report_class *c, const struct hodo_read_event *e)
{
	c->field = ev->o->by == REPORT_BY_FIELD ? hodo_read_field(e->cls, ev->o->by_text) : -1;
	ev->findings.by |= c->field >= 0;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return;
	c->series = report_series(&ev->rows, REPORT_EVENTS, e->cls->name);
	c->sched = e->process->kernel && strncmp(e->cls->name, "sched:", 6) == 0;
	bind_own(ev, c);
	bind_pairs(ev, c);
	bind_values(ev, c, e->process);
}

static const struct report_class *class_of(struct report_events *ev, const struct hodo_read_event *e)
{
	uint32_t *recent = &ev->recent[e->cls->id % 256];
	struct report_class *c = (struct report_class *)ev->classes.entries + *recent;
	bool is_new;

	if (*recent < ev->classes.n && c->cls == e->cls)
		return c;
	c = hodo_must(hodo_map_add_u64(&ev->classes, (uintptr_t)e->cls, &is_new));
	*recent = hodo_map_index(&ev->classes, c);
	if (is_new)
		bind(ev, c, e);
	return c;
}

/* ----------------------------------------------------------------------- events */

/* The event's group. */
static uint32_t group_of(struct report_events *ev, const struct report_class *c, const struct hodo_read_event *e)
{
	const struct report_who who = { e->process, e->comm, e->pid, e->tid, e->cpu };

	if (ev->o->by == REPORT_BY_NONE || (ev->o->by == REPORT_BY_FIELD && c->field < 0))
		return 0;
	return ev->o->by == REPORT_BY_FIELD ? report_group_of_value(&ev->rows, e, (uint32_t)c->field)
					    : report_group_of(&ev->rows, &who);
}

/* What must be equal at the begin and at the end. */
static const struct hodo_text *key_of(struct report_events *ev, const struct action *a, const struct hodo_read_event *e)
{
	const struct report_pair *pair = a->pair;
	const uint64_t host = (uint64_t)e->process->host << 32;
	struct hodo_text *key = &ev->rows.key;

	hodo_key_start(key);
	hodo_key_add_number(key, a->series);
	/* The kernel's events may happen in any process. */
	if (pair->key & REPORT_KEY_PROCESS)
		hodo_key_add_number(key, host | (e->process->kernel ? 0 : e->pid));
	if (pair->key & REPORT_KEY_THREAD) {
		hodo_key_add_number(key, host);
		hodo_key_add_number(key, (uint64_t)e->pid << 32 | e->tid);
	}
	if (pair->key & REPORT_KEY_CPU)
		hodo_key_add_number(key, host | (uint32_t)e->cpu);
	for (uint32_t i = 0; i < pair->nfields; i++)
		hodo_key_add_value(key, &e->values[a->field[i]]);
	return key;
}

/* A begin has no end. */
static void on_unfinished(void *data, uintptr_t user, int64_t ts_ns, bool given_up)
{
	struct report_events *ev = data;

	(void)ts_ns;
	if (user == NOT_WANTED)
		return;
	((struct report_row *)hodo_map_at(&ev->rows.rows, (uint32_t)user - 1))->begins++;
	ev->findings.dropped += given_up;
}

static int begin(struct report_events *ev, const struct action *a, const struct hodo_read_event *e, bool wanted,
		 uint32_t group)
{
	struct hodo_pair begin = { .begin_ns = e->ts_ns, .user = NOT_WANTED }, other;
	int paired;

	if (wanted)
		begin.user = hodo_map_index(&ev->rows.rows, report_row(&ev->rows, a->series, group)) + 1;
	if (!a->pair) {
		hodo_read_pair_put(ev->r, begin.user);
		return 0;
	}
	paired = hodo_pairs_begin(ev->pairs, key_of(ev, a, e), &begin, NULL, &other);
	if (paired > HODO_PAIR_NONE)
		on_unfinished(ev, other.user, e->ts_ns, paired == HODO_PAIR_GIVEN_UP);
	return paired < 0 ? paired : 0;
}

static int end(struct report_events *ev, const struct action *a, const struct hodo_read_event *e, bool wanted,
	       uint32_t group)
{
	struct hodo_pair begin;
	struct report_row *row = NULL;
	int paired = a->pair ? hodo_pairs_end(ev->pairs, key_of(ev, a, e), NULL, &begin) :
		     hodo_read_pair_of(ev->r, &begin) && begin.user ? HODO_PAIR_FOUND : HODO_PAIR_NONE;

	if (paired < 0)
		return paired;
	/* Ends whose begin was in a thread that is not selected do not count, nor ends there without a begin.
	 * */
	if (paired == HODO_PAIR_FOUND ? begin.user == NOT_WANTED : !wanted)
		return 0;
	if (paired == HODO_PAIR_FOUND)
		row = hodo_map_at(&ev->rows.rows, (uint32_t)begin.user - 1);
	/* The begin lacks the field of --by, but the end has it. */
	if (!row || (group && ev->o->by == REPORT_BY_FIELD && !report_row_group(row)))
		row = report_row(&ev->rows, a->series, group);
	if (paired != HODO_PAIR_FOUND) {
		row->ends++;
		return 0;
	}
	report_times_add(&row->times, (uint64_t)e->ts_ns - (uint64_t)begin.begin_ns);
	if (!a->pair && e->off_cpu) {
		row->off_n++;
		row->off_ns += e->off_cpu->ns;
	}
	ev->findings.unsure_spans += hodo_losses_between(e->process, HODO_LOSSES_ANY_CPU, begin.begin_ns,
							 e->ts_ns);
	return 0;
}

static void measure(struct report_events *ev, const struct action *a, const struct hodo_read_event *e, uint32_t group)
{
	const struct hodo_read_value *v = &e->values[a->field[0]];
	struct report_row *row = report_row(&ev->rows, a->series, group);
	bool whole = v->type != HODO_TYPE_F32 && v->type != HODO_TYPE_F64;
	struct hodo_histogram *h = row->times.histogram;
	double number = hodo_value_number(v);

	row->times.n++;
	if (!h || isnan(number))
		return;
	hodo_must(hodo_histogram_add_double(h, number, whole));
	row->min = h->n > 1 && row->min < number ? row->min : number;
	row->max = h->n > 1 && row->max > number ? row->max : number;
	row->sum += number;
	row->last = number;
}

int report_events_take(struct report_events *ev, const struct hodo_read_event *e)
{
	const struct report_class *c;
	uint32_t group = 0;
	bool wanted;
	int err = 0;

	if (ev->events++ == 0)
		ev->begin_ns = e->ts_ns;
	ev->end_ns = e->ts_ns;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return 0;
	c = class_of(ev, e);
	wanted = hodo_selects_event(&ev->o->args, e);
	if (wanted || c->nactions)
		group = group_of(ev, c, e);
	if (wanted)
		report_row(&ev->rows, c->series, group)->times.n++;
	for (uint32_t i = 0; i < c->nactions && !err; i++) {
		const struct action *a = &c->actions[i];

		if (a->does != MEASURES)
			err = a->does == ENDS ? end(ev, a, e, wanted, group) : begin(ev, a, e, wanted, group);
		else if (wanted)
			measure(ev, a, e, group);
	}
	if (!c->sched || err)
		return err;
	return hodo_runs_event(ev->runs, e);
}

/* ------------------------------------------------------------------- scheduling */

static void add_thread(struct report_events *ev, uint32_t series, const struct hodo_sched_off *off, uint64_t ns)
{
	const struct report_who who = { off->kernel, off->comm, off->pid, off->tid, off->cpu };

	report_times_add(&report_row(&ev->rows, series, report_group_of(&ev->rows, &who))->times, ns);
}

static void on_ran(void *data, const struct hodo_sched_ran *ran)
{
	const struct hodo_sched_off who = { .cpu = ran->cpu, .pid = ran->pid, .tid = ran->tid, .comm = ran->comm,
					    .kernel = ran->kernel };
	struct report_events *ev = data;

	if (!ran->tid || !hodo_selects_thread(&ev->o->args, ran->kernel, ran->pid, ran->tid, ran->comm))
		return;
	if (hodo_losses_between(ran->kernel, ran->cpu, ran->begin_ns, ran->end_ns))
		ev->findings.unsure_times++;
	else
		add_thread(ev, ev->cpus.running, &who, (uint64_t)ran->end_ns - (uint64_t)ran->begin_ns);
}

static void on_off(void *data, const struct hodo_sched_off *off)
{
	struct report_events *ev = data;

	if (!hodo_selects_thread(&ev->o->args, off->kernel, off->pid, off->tid, off->comm))
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
static void make_series(struct report_events *ev, const struct report_options *o)
{
	for (uint32_t i = 0; i < o->npairs; i++) {
		const struct report_pair *p = &o->pairs[i];
		char name[3 * HODO_NAME_MAX + 8];
		uint32_t s;

		snprintf(name, sizeof(name), "%s,%s%s%s", p->begin, p->end, p->by ? " by " : "", p->by ? p->by : "");
		s = report_series(&ev->rows, REPORT_SPANS, name);
		report_row(&ev->rows, s, 0);
		report_series_at(&ev->rows, s)->pair = p;
	}
	ev->cpus.running = report_series(&ev->rows, REPORT_RUNNING, "running");
	ev->cpus.latency = report_series(&ev->rows, REPORT_LATENCY, "latency");
	for (uint32_t why = 0; why <= HODO_SCHED_UNKNOWN; why++)
		ev->cpus.off[why] = report_series(&ev->rows, REPORT_OFF, hodo_sched_why_text(why));
}

void report_events_start(struct report_events *ev, const struct report_options *o, struct hodo_read *r)
{
	static const struct hodo_runs_ops ops = { .ran = on_ran, .off = on_off };

	*ev = (struct report_events){ .o = o, .r = r, .classes = HODO_MAP(struct report_class, cls) };
	report_rows_start(&ev->rows, o);
	ev->pairs = hodo_must(hodo_pairs_new());
	hodo_must(hodo_read_pairs(r, on_unfinished, ev) == 0);
	ev->runs = hodo_must(hodo_runs_new(&ops, ev));
	make_series(ev, o);
}

void report_events_end(struct report_events *ev)
{
	struct hodo_pair begin;

	hodo_runs_end(ev->runs, ev->end_ns);
	hodo_read_pairs_end(ev->r, ev->end_ns);
	while (hodo_pairs_oldest(ev->pairs, &begin))
		on_unfinished(ev, begin.user, ev->end_ns, false);
	report_rows_end(&ev->rows);
}

void report_events_warn(const struct report_events *ev, const char *dir)
{
	const struct report_options *o = ev->o;
	uint64_t n;
	char number[32];

	for (uint32_t i = 0; i < o->npairs; i++)
		for (unsigned side = 0; side < 2; side++)
			if (!report_series_at(&ev->rows, i)->seen[side])
				hodo_warning("%s: no event '%s'%s: 'hodo stat' lists the events", dir,
					     side ? o->pairs[i].end : o->pairs[i].begin,
					     o->pairs[i].nfields ? " with the fields to pair by" : "");
	for (uint32_t i = 0; i < o->nvalues; i++)
		if (!(ev->findings.values >> i & 1))
			hodo_warning("%s: no event '%s' with a number '%s': 'hodo list' lists the events",
				     dir, o->values[i].event, o->values[i].field);
	if (o->by == REPORT_BY_FIELD && !ev->findings.by)
		hodo_warning("%s: no event has a field '%s': 'hodo list' lists the fields", dir, o->by_text);
	if (ev->findings.dropped)
		hodo_warning("%s: %s of the begins were dropped, because more than a million were waiting for "
			     "their end", dir, hodo_grouped(ev->findings.dropped, number));
	if (ev->rows.others)
		hodo_warning("%s: there are more groups than can be shown: the rest is in (others)", dir);
	n = ev->findings.unsure_times;
	if (n)
		hodo_warning("%s: events were lost in %s time%s on or off CPUs, which %s not counted", dir,
			     hodo_grouped(n, number), hodo_plural(n), n == 1 ? "is" : "are");
	n = ev->findings.unsure_spans;
	if (n)
		hodo_warning("%s: events were lost in %s span%s: a begin and its end may belong to different spans", dir,
			     hodo_grouped(n, number), hodo_plural(n));
	if (ev->rows.unmeasured)
		hodo_warning("%s: too many spans and fields: some have no percentiles", dir);
	if (hodo_runs_forgotten(ev->runs))
		hodo_warning("%s: there were too many threads: %s of them were dropped, with their times off CPUs",
			     dir, hodo_grouped(hodo_runs_forgotten(ev->runs), number));
}

void report_events_free(struct report_events *ev)
{
	for (uint32_t i = 0; i < ev->classes.n; i++)
		free(((struct report_class *)hodo_map_at(&ev->classes, i))->actions);
	hodo_map_free(&ev->classes);
	report_rows_free(&ev->rows);
	hodo_pairs_free(ev->pairs);
	hodo_runs_free(ev->runs);
}
