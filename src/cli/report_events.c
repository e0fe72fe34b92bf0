/* SPDX-License-Identifier: MIT */
/* report_events.c - what each event means: a count, the begin or end of something, values, scheduling. */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <export/values.h>
#include <stdlib.h>
#include <string.h>

enum keyed {
	KEY_PAIR,    /* by what --pair says */
	KEY_SPAN,    /* by thread */
	KEY_ID,      /* by the first field */
	KEY_SYSCALL, /* by thread; one at a time */
};

struct action {
	uint32_t series;
	enum keyed keyed;
	bool end;
	const struct report_pair *pair;
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

#define SYSCALL_MATCH (REPORT_NONE - 1)

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
static void bind_own(struct report_events *ev, struct report_class *c, const struct hodo_read_process *p)
{
	static const char enter[] = "syscalls:sys_enter_", leave[] = "syscalls:sys_exit_";
	const struct hodo_read_class *cls = c->cls;
	bool end = cls->kind == HODO_KIND_SPAN_END || cls->kind == HODO_KIND_END;
	bool id = cls->kind == HODO_KIND_BEGIN || cls->kind == HODO_KIND_END;
	struct action a = { .keyed = id ? KEY_ID : KEY_SPAN, .end = end };
	size_t len = strlen(cls->name), tail = end ? 4 : 6;

	if (end || id || cls->kind == HODO_KIND_SPAN_BEGIN) {
		if (len > tail && strcmp(cls->name + len - tail, end ? ".end" : ".begin") == 0)
			len -= tail;
		a.series = report_series(ev, REPORT_SPANS, cls->name, len);
		add_action(ev, c, a);
		return;
	}
	a.end = strncmp(cls->name, leave, sizeof(leave) - 1) == 0;
	/* Their threads' numbers are the machine's. */
	if (p->kernel && (a.end || strncmp(cls->name, enter, sizeof(enter) - 1) == 0)) {
		char name[300];

		snprintf(name, sizeof(name), "syscalls:%s",
			 cls->name + (a.end ? sizeof(leave) : sizeof(enter)) - 1);
		a.keyed = KEY_SYSCALL;
		a.series = report_series(ev, REPORT_SPANS, name, strlen(name));
		add_action(ev, c, a);
	}
}

static void bind_pairs(struct report_events *ev, struct report_class *c)
{
	for (uint32_t i = 0; i < ev->o->npairs; i++) {
		const struct report_pair *pair = &ev->o->pairs[i];
		struct action a = { .series = i, .keyed = KEY_PAIR, .pair = pair };
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
			ev->series[i].seen[side] = true;
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

	if (cls->kind == HODO_KIND_COUNTER && cls->nfields && is_number(cls->fields[0].type))
		add_measure(ev, c, 0, cls->name);
	for (uint32_t i = 0; i < ev->o->nvalues; i++) {
		const struct report_value *v = &ev->o->values[i];
		int field = strcmp(v->event, cls->name) == 0 ? field_of(cls, v->field) : -1;
		char name[2 * HODO_NAME_MAX + 4];

		if (field < 0 || !is_number(cls->fields[field].type))
			continue;
		snprintf(name, sizeof(name), "%s.%s", v->event, v->field);
		add_measure(ev, c, (uint32_t)field, name);
		ev->value_found |= 1ull << i;
	}
}

static void bind(struct report_events *ev, struct report_class *c, const struct hodo_read_event *e)
{
	c->cls = e->cls;
	c->row = REPORT_NONE;
	c->field = ev->o->by == REPORT_BY_FIELD ? field_of(e->cls, ev->o->by_field) : -1;
	ev->by_found |= c->field >= 0;
	if (e->cls->kind == HODO_KIND_FUNCTION)
		return;
	c->series = report_series(ev, REPORT_EVENTS, e->cls->name, strlen(e->cls->name));
	if (c->series == REPORT_NONE) {
		ev->no_memory = true;
		return;
	}
	c->sched = e->process->kernel && strncmp(e->cls->name, "sched:", 6) == 0;
	bind_own(ev, c, e->process);
	bind_pairs(ev, c);
	bind_values(ev, c);
}

static struct report_class *class_slot(const struct report_events *ev, const struct hodo_read_class *cls)
{
	uint32_t i = (uint32_t)((uintptr_t)cls * 0x9e3779b97f4a7c15ull >> 32) & ev->classes_mask;

	while (ev->classes[i].cls && ev->classes[i].cls != cls)
		i = (i + 1) & ev->classes_mask;
	return &ev->classes[i];
}

/* NULL: no memory. */
static struct report_class *class_of(struct report_events *ev, const struct hodo_read_event *e)
{
	struct report_class *c = class_slot(ev, e->cls), *old = ev->classes;
	uint32_t mask = ev->classes_mask;

	if (c->cls)
		return c;
	if (2 * ev->nclasses >= mask) {
		ev->classes = calloc(2 * ((size_t)mask + 1), sizeof(*ev->classes));
		if (!ev->classes) {
			ev->classes = old;
			return NULL;
		}
		ev->classes_mask = 2 * mask + 1;
		for (uint32_t i = 0; i <= mask; i++)
			if (old[i].cls)
				*class_slot(ev, old[i].cls) = old[i];
		free(old);
		c = class_slot(ev, e->cls);
	}
	ev->nclasses++;
	bind(ev, c, e);
	return c;
}

/* ----------------------------------------------------------------------- events */

static bool is_wanted(struct report_events *ev, const struct hodo_read_event *e)
{
	if (!ev->o->thread)
		return true;
	if (ev->last.tid != e->tid || ev->last.process != e->process || ev->last.comm != e->comm || !e->tid) {
		ev->last.tid = e->tid;
		ev->last.process = e->process;
		ev->last.comm = e->comm;
		ev->last.wanted = hodo_thread_is(ev->o->thread, e->tid, e->comm);
	}
	return ev->last.wanted;
}

static uint64_t key_of(const struct action *a, const struct hodo_read_event *e)
{
	const struct report_pair *pair = a->pair;
	uint64_t h = a->keyed == KEY_SYSCALL ? SYSCALL_MATCH : a->series;

	if (a->keyed == KEY_ID)
		return report_hash(report_hash(h, (uintptr_t)e->process),
				   e->cls->nfields ? report_hash_value(&e->values[0]) : 0);
	if (a->keyed != KEY_PAIR)
		return report_hash(report_hash(h, (uintptr_t)e->process), e->tid);
	/* The kernel's events happen in any process. */
	if (pair->key & REPORT_KEY_PROCESS)
		h = report_hash(h, e->process->kernel ? 0 : e->pid);
	if (pair->key & REPORT_KEY_THREAD)
		h = report_hash(report_hash(h, e->pid), e->tid);
	if (pair->key & REPORT_KEY_CPU)
		h = report_hash(h, (uint32_t)e->cpu);
	for (uint32_t i = 0; i < pair->nfields; i++)
		h = report_hash(h, report_hash_value(&e->values[a->field[i]]));
	return h;
}

static int begin(struct report_events *ev, const struct report_class *c, const struct action *a,
		 const struct hodo_read_event *e, bool wanted)
{
	uint32_t match = a->keyed == KEY_SYSCALL ? SYSCALL_MATCH : a->series, row = REPORT_NONE, before;
	uint64_t key = key_of(a, e);
	int64_t begin_ns;
	int err;

	/* A thread is in one system call at a time: the end of the one before was lost, or there is none. */
	if (a->keyed == KEY_SYSCALL && report_open_take(ev->open, key, match, &before, &begin_ns) &&
	    before != REPORT_NONE)
		ev->rows[before].begins++;
	if (wanted) {
		row = report_row_of(ev, a->series, e, c->field);
		if (row == REPORT_NONE)
			return -ENOMEM;
	}
	err = report_open_add(ev->open, key, match, row, e->ts_ns, &before);
	if (before == REPORT_NONE)
		return err;
	ev->rows[before].begins++;
	ev->dropped++;
	return err;
}

static int end(struct report_events *ev, const struct report_class *c, const struct action *a,
	       const struct hodo_read_event *e, bool wanted)
{
	uint32_t match = a->keyed == KEY_SYSCALL ? SYSCALL_MATCH : a->series, row;
	int64_t begin_ns;
	bool found = report_open_take(ev->open, key_of(a, e), match, &row, &begin_ns);

	if (found && row == REPORT_NONE)
		return 0; /* begun in a thread that is not asked for */
	if (found && ev->rows[row].series != a->series) {
		ev->rows[row].begins++;
		found = false;
	}
	if (!found && !wanted)
		return 0;
	/* The begin has not the field of --by, the end has. */
	if (!found || (ev->rows[row].hash == 0 && c->field >= 0))
		row = report_row_of(ev, a->series, e, c->field);
	if (row == REPORT_NONE)
		return -ENOMEM;
	if (!found) {
		ev->rows[row].ends++;
		return 0;
	}
	report_add_time(ev, row, (uint64_t)e->ts_ns - (uint64_t)begin_ns);
	ev->unsure_spans += report_losses_between(ev, e->process, begin_ns, e->ts_ns);
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
	ev->rows[row].count++;
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
	struct report_class *c = ev->last_class;
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
		ev->last_class = c;
	}
	wanted = is_wanted(ev, e);
	if (wanted)
		err = count(ev, c, e);
	for (uint32_t i = 0; i < c->nactions && !err; i++) {
		const struct action *a = &c->actions[i];

		err = a->end ? end(ev, c, a, e, wanted) : begin(ev, c, a, e, wanted);
	}
	if (c->sched && !err) {
		ev->sched_process = e->process;
		err = hodo_sched_event(ev->sched, e);
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

	if (!ran->tid || !hodo_thread_is(ev->o->thread, ran->tid, ran->comm))
		return;
	if (report_losses_between(ev, ev->sched_process, ran->begin_ns, ran->end_ns))
		ev->unsure++;
	else
		add_thread(ev, &ev->running, REPORT_RUNNING, "running", &who,
			   (uint64_t)ran->end_ns - (uint64_t)ran->begin_ns);
}

static void on_off(void *data, const struct hodo_sched_off *off)
{
	struct report_events *ev = data;

	if (!hodo_thread_is(ev->o->thread, off->tid, off->comm))
		return;
	if (report_losses_between(ev, ev->sched_process, off->off_ns != INT64_MIN ? off->off_ns : off->woken_ns,
				  off->on_ns)) {
		ev->unsure++;
		return;
	}
	if (off->off_ns != INT64_MIN)
		add_thread(ev, &ev->off[off->why], REPORT_OFF, hodo_sched_why_text(off->why), off,
			   (uint64_t)off->on_ns - (uint64_t)off->off_ns);
	if (off->woken_ns != INT64_MIN && off->why != HODO_SCHED_PREEMPTED)
		add_thread(ev, &ev->latency, REPORT_LATENCY, "latency", off,
			   (uint64_t)off->on_ns - (uint64_t)off->woken_ns);
}

/* ---------------------------------------------------------------- start and end */

int report_events_start(struct report_events *ev, const struct report_options *o)
{
	static const struct hodo_sched_ops ops = { .ran = on_ran, .off = on_off };

	*ev = (struct report_events){ .o = o, .classes_mask = 63 };
	ev->open = report_open_new();
	ev->sched = hodo_sched_new(&ops, ev);
	ev->classes = calloc(64, sizeof(*ev->classes));
	if (!ev->open || !ev->sched || !ev->classes)
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
		ev->series[s].pair = p;
	}
	return 0;
}

int report_events_end(struct report_events *ev)
{
	int err = hodo_sched_end(ev->sched, ev->end_ns);
	uint32_t row;

	while (report_open_any(ev->open, &row))
		if (row != REPORT_NONE)
			ev->rows[row].begins++;
	return err ? err : ev->no_memory ? -ENOMEM : 0;
}

void report_events_tell(const struct report_events *ev, const char *dir)
{
	const struct report_options *o = ev->o;

	for (uint32_t i = 0; i < o->npairs; i++)
		for (unsigned side = 0; side < 2; side++)
			if (!ev->series[i].seen[side])
				hodo_warning("%s: no event '%s'%s: 'hodo stat' tells which there are", dir,
					     side ? o->pairs[i].end : o->pairs[i].begin,
					     o->pairs[i].nfields ? " with the fields to pair by" : "");
	for (uint32_t i = 0; i < o->nvalues; i++)
		if (!(ev->value_found >> i & 1))
			hodo_warning("%s: no event '%s' with a number '%s': 'hodo list' tells which there are", dir,
				     o->values[i].event, o->values[i].field);
	if (o->by == REPORT_BY_FIELD && !ev->by_found)
		hodo_warning("%s: no event has a field '%s': 'hodo list' tells which there are", dir, o->by_field);
	if (ev->dropped)
		hodo_warning("%s: %llu begins were given up, as more than a million waited for their end", dir,
			     (unsigned long long)ev->dropped);
	if (ev->others)
		hodo_warning("%s: there is more to tell apart than is shown: the rest is in (others)", dir);
	if (ev->unsure)
		hodo_warning("%s: %llu times on or off CPUs reach over lost events, and do not count", dir,
			     (unsigned long long)ev->unsure);
	if (ev->unsure_spans)
		hodo_warning("%s: %llu spans reach over lost events: begin and end may be those of two", dir,
			     (unsigned long long)ev->unsure_spans);
	if (ev->unmeasured)
		hodo_warning("%s: more spans and fields than can be: some are without percentiles", dir);
	if (hodo_sched_forgotten(ev->sched))
		hodo_warning("%s: there were too many threads: %llu were forgotten, and times off CPUs with them", dir,
			     (unsigned long long)hodo_sched_forgotten(ev->sched));
}

void report_events_free(struct report_events *ev)
{
	for (uint32_t i = 0; i < ev->nrows; i++) {
		free(ev->rows[i].group);
		if (ev->rows[i].times)
			hodo_histogram_free(ev->rows[i].times);
		free(ev->rows[i].times);
		report_numbers_free(ev->rows[i].numbers);
	}
	for (uint32_t i = 0; i < ev->nseries; i++)
		free(ev->series[i].name);
	for (uint32_t i = 0; ev->classes && i <= ev->classes_mask; i++) {
		free(ev->classes[i].actions);
		free(ev->classes[i].measures);
	}
	free(ev->gaps);
	free(ev->rows);
	free(ev->series);
	free(ev->index);
	free(ev->series_index);
	free(ev->classes);
	report_open_free(ev->open);
	hodo_sched_free(ev->sched);
}
