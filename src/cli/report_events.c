/* SPDX-License-Identifier: MIT */
/* report_events.c - what each event means: a count, the begin or end of something, values, scheduling. */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <export/values.h>
#include <stdlib.h>
#include <string.h>

struct action {
	uint32_t series;
	bool end;
	const struct report_pair *pair; /* NULL: what is paired by itself */
	uint8_t field[REPORT_KEY_FIELDS_MAX];
};

struct measure {
	uint32_t series;
	uint32_t field;
};

struct report_class {
	const struct hodo_read_class *cls;
	uint32_t series;  /* of its count */
	uint32_t row;     /* its only one; REPORT_NONE: there are several */
	int field;        /* of --by; -1: none */
	bool sched;
	uint32_t nactions, nmeasures;
	struct action *actions; /* ends first: an event may end a pair and begin the next */
	struct measure *measures;
};

/* ---------------------------------------------------------------------- classes */

static int field_of(const struct hodo_read_class *cls, const char *name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (strcmp(cls->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void add_action(struct report_events *ev, struct report_class *c, struct action a)
{
	struct action *more = reallocarray(c->actions, c->nactions + 1, sizeof(*more));

	if (!more || a.series == REPORT_NONE) {
		c->actions = more ? more : c->actions;
		ev->no_memory = true;
		return;
	}
	c->actions = more;
	if (a.end) {
		memmove(more + 1, more, c->nactions * sizeof(*more));
		more[0] = a;
	} else {
		more[c->nactions] = a;
	}
	c->nactions++;
}

static void add_measure(struct report_events *ev, struct report_class *c, uint32_t field, const char *name)
{
	struct measure *more = reallocarray(c->measures, c->nmeasures + 1, sizeof(*more));
	uint32_t series = report_series(ev, REPORT_VALUES, name, strlen(name));

	if (more)
		c->measures = more;
	if (!more || series == REPORT_NONE) {
		ev->no_memory = true;
		return;
	}
	more[c->nmeasures++] = (struct measure){ series, field };
}

/* What is paired without being asked for: spans and system calls. */
static void bind_own(struct report_events *ev, struct report_class *c)
{
	const struct hodo_read_class *cls = c->cls;
	struct action a = { .end = hodo_role_ends(cls->role) };

	if (!a.end && !hodo_role_begins(cls->role))
		return;
	a.series = report_series(ev, REPORT_SPANS, cls->base, strlen(cls->base));
	add_action(ev, c, a);
}

static void bind_pairs(struct report_events *ev, struct report_class *c)
{
	for (uint32_t i = 0; i < ev->o->npairs; i++) {
		const struct report_pair *pair = &ev->o->pairs[i];
		struct action a = { .series = i, .pair = pair };
		bool sides[2] = { strcmp(pair->begin, c->cls->name) == 0, strcmp(pair->end, c->cls->name) == 0 };
		bool fits = true;

		for (uint32_t k = 0; k < pair->nfields; k++) {
			int field = field_of(c->cls, pair->field[k]);

			fits &= field >= 0;
			a.field[k] = (uint8_t)field;
		}
		for (unsigned side = 0; side < 2 && fits; side++) {
			if (!sides[side])
				continue;
			a.end = side == 1;
			ev->rows.series[i].seen[side] = true;
			add_action(ev, c, a);
		}
	}
}

static bool is_number(uint32_t type)
{
	return (type >= HODO_TYPE_I8 && type <= HODO_TYPE_F64) || type == HODO_TYPE_PTR;
}

static void bind_values(struct report_events *ev, struct report_class *c)
{
	const struct hodo_read_class *cls = c->cls;

	if (cls->role == HODO_READ_ROLE_COUNTER && is_number(cls->fields[0].type))
		add_measure(ev, c, 0, cls->name);
	for (uint32_t i = 0; i < ev->o->nvalues; i++) {
		const struct report_value *v = &ev->o->values[i];
		int field = strcmp(v->event, cls->name) == 0 ? field_of(cls, v->field) : -1;
		char name[2 * HODO_NAME_MAX + 4];

		if (field < 0 || !is_number(cls->fields[field].type))
			continue;
		snprintf(name, sizeof(name), "%s.%s", v->event, v->field);
		add_measure(ev, c, (uint32_t)field, name);
		ev->findings.values |= 1ull << i;
	}
}

static void bind(struct report_events *ev, struct report_class *c, const struct hodo_read_event *e)
{
	c->row = REPORT_NONE;
	c->field = ev->o->by == REPORT_BY_FIELD ? field_of(e->cls, ev->o->by_field) : -1;
	ev->findings.by |= c->field >= 0;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return;
	c->series = report_series(ev, REPORT_EVENTS, e->cls->name, strlen(e->cls->name));
	if (c->series == REPORT_NONE) {
		ev->no_memory = true;
		return;
	}
	c->sched = e->process->kernel && strncmp(e->cls->name, "sched:", 6) == 0;
	bind_own(ev, c);
	bind_pairs(ev, c);
	bind_values(ev, c);
}

/* NULL: no memory. */
static struct report_class *class_of(struct report_events *ev, const struct hodo_read_event *e)
{
	bool is_new;
	struct report_class *c = hodo_map_add_u64(&ev->classes.all, (uintptr_t)e->cls, &is_new);

	if (c && is_new)
		bind(ev, c, e);
	return c;
}

/* ----------------------------------------------------------------------- events */

static bool is_wanted(struct report_events *ev, const struct hodo_read_event *e)
{
	if (!ev->o->args.thread)
		return true;
	if (ev->thread.tid != e->tid || ev->thread.process != e->process || ev->thread.comm != e->comm || !e->tid) {
		ev->thread.tid = e->tid;
		ev->thread.process = e->process;
		ev->thread.comm = e->comm;
		ev->thread.wanted = hodo_thread_is(ev->o->args.thread, e->tid, e->comm);
	}
	return ev->thread.wanted;
}

/* Sets ev->key to what is the same at the begin and at the end. */
static void set_key(struct report_events *ev, const struct action *a, const struct hodo_read_event *e)
{
	const struct report_pair *pair = a->pair;

	if (!pair) {
		hodo_pair_key(&ev->key, e);
		return;
	}
	hodo_key_start(&ev->key);
	hodo_key_add_number(&ev->key, a->series); /* less than the address that the others begin with */
	/* The kernel's events happen in any process. */
	if (pair->key & REPORT_KEY_PROCESS)
		hodo_key_add_number(&ev->key, e->process->kernel ? 0 : e->pid);
	if (pair->key & REPORT_KEY_THREAD)
		hodo_key_add_number(&ev->key, (uint64_t)e->pid << 32 | e->tid);
	if (pair->key & REPORT_KEY_CPU)
		hodo_key_add_number(&ev->key, (uint32_t)e->cpu);
	for (uint32_t i = 0; i < pair->nfields; i++)
		hodo_key_add_value(&ev->key, &e->values[a->field[i]]);
}

/* A begin has no end. */
static bool is_unpaired(struct report_events *ev, const struct hodo_pair *begin)
{
	if (begin->user == REPORT_NONE)
		return false;
	ev->rows.all[begin->user].begins++;
	return true;
}

static int begin(struct report_events *ev, const struct report_class *c, const struct action *a,
		 const struct hodo_read_event *e, bool wanted)
{
	struct hodo_pair begin = { .begin_ns = e->ts_ns, .user = REPORT_NONE }, other;
	int paired;

	if (wanted) {
		begin.user = report_row_of(ev, a->series, e, c->field);
		if (begin.user == REPORT_NONE)
			return -ENOMEM;
	}
	if (!a->pair)
		begin.base = hodo_pair_base(e);
	set_key(ev, a, e);
	paired = hodo_pairs_begin(ev->pairs, &ev->key, &begin, &other);
	if (paired > HODO_PAIR_NONE && is_unpaired(ev, &other))
		ev->findings.dropped += paired == HODO_PAIR_GIVEN_UP;
	return paired < 0 ? paired : 0;
}

static int end(struct report_events *ev, const struct report_class *c, const struct action *a,
	       const struct hodo_read_event *e, bool wanted)
{
	struct hodo_pair begin;
	uint32_t row;
	int paired;

	set_key(ev, a, e);
	paired = hodo_pairs_end(ev->pairs, &ev->key, a->pair ? NULL : hodo_pair_base(e), &begin);
	if (paired < 0)
		return paired;
	if (paired == HODO_PAIR_LEFT)
		is_unpaired(ev, &begin);
	/* Whose begin was in a thread that is not asked for does not count; nor does one there that has none. */
	if (paired == HODO_PAIR_FOUND ? begin.user == REPORT_NONE : !wanted)
		return 0;
	row = paired == HODO_PAIR_FOUND ? (uint32_t)begin.user : REPORT_NONE;
	/* The begin has not the field of --by, the end has. */
	if (row == REPORT_NONE || (!ev->rows.all[row].group && c->field >= 0))
		row = report_row_of(ev, a->series, e, c->field);
	if (row == REPORT_NONE)
		return -ENOMEM;
	if (paired != HODO_PAIR_FOUND) {
		ev->rows.all[row].ends++;
		return 0;
	}
	report_add_time(ev, row, (uint64_t)e->ts_ns - (uint64_t)begin.begin_ns);
	ev->findings.unsure_spans += hodo_losses_between(ev->losses, e->process, HODO_LOSSES_ANY_CPU, begin.begin_ns,
							 e->ts_ns);
	return 0;
}

static int count(struct report_events *ev, struct report_class *c, const struct hodo_read_event *e)
{
	uint32_t row = c->row;

	if (row == REPORT_NONE) {
		row = report_row_of(ev, c->series, e, c->field);
		if (row == REPORT_NONE)
			return -ENOMEM;
		if (ev->o->by == REPORT_BY_NONE)
			c->row = row;
	}
	ev->rows.all[row].count++;
	for (uint32_t i = 0; i < c->nmeasures; i++) {
		const struct hodo_read_value *v = &e->values[c->measures[i].field];

		row = report_row_of(ev, c->measures[i].series, e, c->field);
		if (row == REPORT_NONE)
			return -ENOMEM;
		report_add_number(ev, row, hodo_value_number(v), v->type != HODO_TYPE_F32 && v->type != HODO_TYPE_F64);
	}
	return 0;
}

int report_events_take(struct report_events *ev, const struct hodo_read_event *e)
{
	struct report_class *c = ev->classes.last;
	bool wanted;
	int err = 0;

	if (ev->events++ == 0)
		ev->begin_ns = e->ts_ns;
	ev->end_ns = e->ts_ns;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return 0;
	if (!c || c->cls != e->cls) {
		c = class_of(ev, e);
		if (!c || ev->no_memory)
			return -ENOMEM;
		ev->classes.last = c;
	}
	wanted = is_wanted(ev, e);
	if (wanted)
		err = count(ev, c, e);
	for (uint32_t i = 0; i < c->nactions && !err; i++) {
		const struct action *a = &c->actions[i];

		err = a->end ? end(ev, c, a, e, wanted) : begin(ev, c, a, e, wanted);
	}
	if (c->sched && !err) {
		ev->sched.process = e->process;
		err = hodo_sched_event(ev->sched.sched, e);
	}
	return err ? err : ev->no_memory ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------- scheduling */

static void add_thread(struct report_events *ev, uint32_t *series, enum report_section section, const char *name,
		       const struct hodo_sched_off *who, uint64_t ns)
{
	uint32_t s = *series ? *series - 1 : report_series(ev, section, name, strlen(name)), row = REPORT_NONE;

	if (s != REPORT_NONE) {
		*series = s + 1;
		row = report_row_thread(ev, s, who->tid, who->pid, who->comm, who->cpu);
	}
	if (row == REPORT_NONE)
		ev->no_memory = true;
	else
		report_add_time(ev, row, ns);
}

static void on_ran(void *data, const struct hodo_sched_ran *ran)
{
	const struct hodo_sched_off who = { .cpu = ran->cpu, .pid = ran->pid, .tid = ran->tid, .comm = ran->comm };
	struct report_events *ev = data;

	if (!ran->tid || !hodo_thread_is(ev->o->args.thread, ran->tid, ran->comm))
		return;
	if (hodo_losses_between(ev->losses, ev->sched.process, ran->cpu, ran->begin_ns, ran->end_ns))
		ev->findings.unsure_times++;
	else
		add_thread(ev, &ev->sched.running, REPORT_RUNNING, "running", &who,
			   (uint64_t)ran->end_ns - (uint64_t)ran->begin_ns);
}

static void on_off(void *data, const struct hodo_sched_off *off)
{
	struct report_events *ev = data;

	if (!hodo_thread_is(ev->o->args.thread, off->tid, off->comm))
		return;
	if (hodo_losses_between(ev->losses, ev->sched.process, HODO_LOSSES_ANY_CPU,
				off->off_ns != INT64_MIN ? off->off_ns : off->woken_ns, off->on_ns)) {
		ev->findings.unsure_times++;
		return;
	}
	if (off->off_ns != INT64_MIN)
		add_thread(ev, &ev->sched.off[off->why], REPORT_OFF, hodo_sched_why_text(off->why), off,
			   (uint64_t)off->on_ns - (uint64_t)off->off_ns);
	if (off->woken_ns != INT64_MIN && off->why != HODO_SCHED_PREEMPTED)
		add_thread(ev, &ev->sched.latency, REPORT_LATENCY, "latency", off,
			   (uint64_t)off->on_ns - (uint64_t)off->woken_ns);
}

/* ---------------------------------------------------------------- start and end */

int report_events_start(struct report_events *ev, const struct report_options *o)
{
	static const struct hodo_sched_ops ops = { .ran = on_ran, .off = on_off };

	*ev = (struct report_events){ .o = o,
				      .classes.all = HODO_MAP(struct report_class, cls),
				      .rows.series_keys = HODO_MAP_BYTES(struct hodo_bytes),
				      .rows.keys = HODO_MAP_BYTES(struct hodo_bytes),
				      .rows.numbers = HODO_MAP(struct report_number, key),
				      .rows.names = HODO_MAP(struct report_name, tid) };
	hodo_hash_seed();
	ev->pairs = hodo_pairs_new();
	ev->sched.sched = hodo_sched_new(&ops, ev);
	if (!ev->pairs || !ev->sched.sched)
		return -ENOMEM;
	/* The first series are those that were asked for. */
	for (uint32_t i = 0; i < o->npairs; i++) {
		const struct report_pair *p = &o->pairs[i];
		char name[3 * HODO_NAME_MAX + 8];
		uint32_t s;

		snprintf(name, sizeof(name), "%s,%s%s%s", p->begin, p->end, p->by ? " by " : "", p->by ? p->by : "");
		s = report_series(ev, REPORT_SPANS, name, strlen(name));
		if (s == REPORT_NONE || report_row_plain(ev, s) == REPORT_NONE)
			return -ENOMEM;
		ev->rows.series[s].pair = p;
	}
	return 0;
}

int report_events_end(struct report_events *ev)
{
	int err = hodo_sched_end(ev->sched.sched, ev->end_ns);
	struct hodo_pair begin;

	while (hodo_pairs_oldest(ev->pairs, &begin))
		is_unpaired(ev, &begin);
	if (!err)
		err = report_rows_rename(ev);
	return err ? err : ev->no_memory ? -ENOMEM : 0;
}

void report_events_warn(const struct report_events *ev, const char *dir)
{
	const struct report_options *o = ev->o;

	for (uint32_t i = 0; i < o->npairs; i++)
		for (unsigned side = 0; side < 2; side++)
			if (!ev->rows.series[i].seen[side])
				hodo_warning("%s: no event '%s'%s: 'hodo stat' shows which there are", dir,
					     side ? o->pairs[i].end : o->pairs[i].begin,
					     o->pairs[i].nfields ? " with the fields to pair by" : "");
	for (uint32_t i = 0; i < o->nvalues; i++)
		if (!(ev->findings.values >> i & 1))
			hodo_warning("%s: no event '%s' with a number '%s': 'hodo list' shows which there are", dir,
				     o->values[i].event, o->values[i].field);
	if (o->by == REPORT_BY_FIELD && !ev->findings.by)
		hodo_warning("%s: no event has a field '%s': 'hodo list' shows which there are", dir, o->by_field);
	if (ev->findings.dropped)
		hodo_warning("%s: %llu begins were given up, as more than a million waited for their end", dir,
			     (unsigned long long)ev->findings.dropped);
	if (ev->rows.others)
		hodo_warning("%s: there is more to tell apart than is shown: the rest is in (others)", dir);
	if (ev->findings.unsure_times)
		hodo_warning("%s: %llu times on or off CPUs reach over lost events, and do not count", dir,
			     (unsigned long long)ev->findings.unsure_times);
	if (ev->findings.unsure_spans)
		hodo_warning("%s: %llu spans reach over lost events: begin and end may be those of two", dir,
			     (unsigned long long)ev->findings.unsure_spans);
	if (ev->rows.unmeasured)
		hodo_warning("%s: more spans and fields than can be: some are without percentiles", dir);
	if (hodo_sched_forgotten(ev->sched.sched))
		hodo_warning("%s: there were too many threads: %llu were forgotten, and times off CPUs with them", dir,
			     (unsigned long long)hodo_sched_forgotten(ev->sched.sched));
}

void report_events_free(struct report_events *ev)
{
	for (uint32_t i = 0; i < ev->rows.n; i++) {
		free(ev->rows.all[i].group);
		if (ev->rows.all[i].times)
			hodo_histogram_free(ev->rows.all[i].times);
		free(ev->rows.all[i].times);
		report_numbers_free(ev->rows.all[i].numbers);
	}
	for (uint32_t i = 0; i < ev->classes.all.n; i++) {
		struct report_class *c = hodo_map_at(&ev->classes.all, i);

		free(c->actions);
		free(c->measures);
	}
	free(ev->rows.all);
	free(ev->rows.series);
	hodo_map_free(&ev->rows.keys);
	hodo_map_free(&ev->rows.series_keys);
	hodo_map_free(&ev->rows.numbers);
	hodo_map_free(&ev->rows.names);
	hodo_key_free(&ev->key);
	hodo_map_free(&ev->classes.all);
	hodo_pairs_free(ev->pairs);
	hodo_losses_free(ev->losses);
	hodo_sched_free(ev->sched.sched);
}
