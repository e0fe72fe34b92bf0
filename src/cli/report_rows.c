/* SPDX-License-Identifier: MIT */
/* report_rows.c - series and their rows, within bounds. */
#define _GNU_SOURCE
#include "report_events.h"

#include <base/vec.h>
#include <errno.h>
#include <read/threads.h>
#include <stdlib.h>
#include <string.h>

/* A row takes about 100 bytes; one with times a few KiB, rarely 30. What is beyond is counted together. */
#define ROWS_MAX     (1u << 16)
#define MEASURED_MAX (1u << 13)
#define GROUP_MAX    128u /* bytes of a name */

/* ----------------------------------------------------------------------- series */

uint32_t report_series(struct report_events *ev, enum report_section section, const char *name, size_t len)
{
	const struct hodo_bytes *known;
	struct report_series *more;
	bool is_new;

	hodo_key_start(&ev->key);
	hodo_key_add_number(&ev->key, section);
	hodo_key_add(&ev->key, name, len);
	if (ev->key.no_memory || hodo_vec_reserve(ev->rows.series, ev->rows.series_room, ev->rows.nseries + 1) < 0)
		return REPORT_NONE;
	known = hodo_map_add_bytes(&ev->rows.series_keys, hodo_key_bytes(&ev->key), ev->key.len, &is_new);
	if (!known)
		return REPORT_NONE;
	if (is_new) {
		more = &ev->rows.series[ev->rows.nseries++];
		*more = (struct report_series){ .section = section, .name = known->data + sizeof(uint64_t) };
	}
	return hodo_map_index(&ev->rows.series_keys, known);
}

/* ------------------------------------------------------------------------- rows */

static bool is_measured(enum report_section section)
{
	return section == REPORT_SPANS || section == REPORT_VALUES || section == REPORT_LATENCY;
}

/* The row of ev->key: a series, and behind it a group. REPORT_NONE: there is none. */
static uint32_t find_row(const struct report_events *ev)
{
	const void *known = hodo_map_find_bytes(&ev->rows.keys, hodo_key_bytes(&ev->key), ev->key.len);

	return known ? hodo_map_index(&ev->rows.keys, known) : REPORT_NONE;
}

/* Of ev->key. group NULL: of none. */
static uint32_t add_row(struct report_events *ev, uint32_t series, const char *group, uint32_t measured_max)
{
	bool measures = is_measured(ev->rows.series[series].section);
	bool measured = measures && ev->rows.nmeasured < measured_max;
	struct report_stat row = { .series = series, .min_ns = UINT64_MAX };

	if (ev->key.no_memory || hodo_vec_reserve(ev->rows.all, ev->rows.room, ev->rows.n + 1) < 0)
		return REPORT_NONE;
	if (group)
		row.group = strdup(group);
	if (measured && ev->rows.series[series].section == REPORT_VALUES)
		row.numbers = calloc(1, sizeof(*row.numbers));
	else if (measured)
		row.times = calloc(1, sizeof(*row.times));
	if ((group && !row.group) || (measured && !row.times && !row.numbers) ||
	    !hodo_map_add_bytes(&ev->rows.keys, hodo_key_bytes(&ev->key), ev->key.len, NULL)) {
		free(row.group);
		free(row.numbers);
		free(row.times);
		return REPORT_NONE;
	}
	ev->rows.unmeasured |= measures && !measured;
	ev->rows.nmeasured += measured;
	ev->rows.all[ev->rows.n] = row;
	return ev->rows.n++;
}

static void start_key(struct report_events *ev, uint32_t series)
{
	hodo_key_start(&ev->key);
	hodo_key_add_number(&ev->key, series);
}

uint32_t report_row_plain(struct report_events *ev, uint32_t series)
{
	uint32_t row = ev->rows.series[series].row;

	if (row)
		return row - 1;
	start_key(ev, series);
	/* Those that are no group go on having percentiles when groups have used up theirs. */
	row = add_row(ev, series, NULL, 2 * MEASURED_MAX);
	if (row != REPORT_NONE)
		ev->rows.series[series].row = row + 1;
	return row;
}

/* Of ev->key. */
static uint32_t add_group(struct report_events *ev, uint32_t series, const char *group, uint32_t tid)
{
	bool measures = is_measured(ev->rows.series[series].section);
	uint32_t row;

	if (ev->rows.n < ROWS_MAX && (!measures || ev->rows.nmeasured < MEASURED_MAX)) {
		row = add_row(ev, series, group, MEASURED_MAX);
		if (row != REPORT_NONE)
			ev->rows.all[row].tid = tid;
		return row;
	}
	ev->rows.others = true;
	start_key(ev, series);
	hodo_key_add(&ev->key, "\0", 2); /* no group's key */
	row = find_row(ev);
	return row != REPORT_NONE ? row : add_row(ev, series, "(others)", 2 * MEASURED_MAX);
}

/* ----------------------------------------------------------------------- groups */

static void name_value(const struct hodo_read_field *f, const struct hodo_read_value *v, char *to)
{
	const char *label = f->labels ? hodo_read_label(f->labels, v->i) : NULL;
	const uint8_t *bytes = v->data;

	if (label)
		snprintf(to, GROUP_MAX, "%s", label);
	else if (v->type & HODO_TYPE_ARRAY)
		snprintf(to, GROUP_MAX, "[%u elements]", v->count);
	else if (v->type == HODO_TYPE_STR && v->null)
		snprintf(to, GROUP_MAX, "%s", HODO_NULL_TEXT);
	else if (v->type == HODO_TYPE_STR)
		snprintf(to, GROUP_MAX, "%.*s%s", v->count > 120 ? 120 : (int)v->count, (const char *)v->data,
			 v->count > 120 ? "..." : "");
	else if (v->type == HODO_TYPE_BYTES)
		for (uint32_t i = 0; i < v->count && i < 60; i++)
			snprintf(to + 2 * (size_t)i, 3, "%02x", bytes[i]);
	else if (v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64)
		snprintf(to, GROUP_MAX, "%.9g", v->f);
	else if (v->type == HODO_TYPE_PTR)
		snprintf(to, GROUP_MAX, "0x%llx", (unsigned long long)v->u);
	else if (v->type == HODO_TYPE_BOOL)
		snprintf(to, GROUP_MAX, "%s", v->u ? "true" : "false");
	else if (v->type == HODO_TYPE_U8 || v->type == HODO_TYPE_U16 || v->type == HODO_TYPE_U32 ||
		 v->type == HODO_TYPE_U64)
		snprintf(to, GROUP_MAX, "%llu", (unsigned long long)v->u);
	else
		snprintf(to, GROUP_MAX, "%lld", (long long)v->i);
}

static void name_cpu(char *to, int32_t cpu)
{
	if (cpu < 0)
		snprintf(to, GROUP_MAX, "fallback");
	else
		snprintf(to, GROUP_MAX, "cpu%d", (int)cpu);
}

/* Numbers of threads and processes mean nothing in another recording. */
static void name_number(const struct report_events *ev, char *to, const char *comm, uint32_t number)
{
	if (ev->o->diff)
		snprintf(to, GROUP_MAX, "%.100s", comm);
	else
		snprintf(to, GROUP_MAX, "%.100s[%u]", comm, number);
}

static void name_process(const struct report_events *ev, const struct hodo_read_process *p, uint32_t pid, char *to)
{
	const struct hodo_read_thread *t = p && p->kernel ? hodo_read_thread(p, pid) : NULL;

	if (p && p->kernel && !pid)
		snprintf(to, GROUP_MAX, "kernel");
	else
		name_number(ev, to, t ? t->comm : !p || p->kernel ? "?" : p->comm, pid);
}

static void name_group(const struct report_events *ev, const struct hodo_read_event *e, int field, char *to)
{
	to[0] = 0;
	switch (ev->o->by) {
	case REPORT_BY_THREAD:
		name_number(ev, to, e->comm, e->tid);
		break;
	case REPORT_BY_CPU:
		name_cpu(to, e->cpu);
		break;
	case REPORT_BY_PROCESS:
		name_process(ev, e->process, e->pid, to);
		break;
	default:
		name_value(&e->cls->fields[field], &e->values[field], to);
	}
}

/* A thread may change its name, as it does by execve. The name's number + 1; 0: tid 0, or no memory. */
static uint32_t note_name(struct report_events *ev, uint32_t tid, const char *comm)
{
	struct report_name *name = tid ? hodo_map_add_u64(&ev->rows.names, tid, NULL) : NULL;

	ev->no_memory |= tid && !name;
	if (!name)
		return 0;
	name->comm = comm;
	ev->rows.noted = *name;
	return hodo_map_index(&ev->rows.names, name) + 1;
}

/* Of a number that note_name() gave. */
static const struct report_name *name_again(struct report_events *ev, uint32_t number, const char *comm)
{
	struct report_name *name = hodo_map_at(&ev->rows.names, number);

	name->comm = comm;
	return name;
}

int report_rows_rename(struct report_events *ev)
{
	for (uint32_t i = 0; i < ev->rows.n && !ev->o->diff; i++) {
		struct report_stat *row = &ev->rows.all[i];
		const struct report_name *name = row->tid ? hodo_map_find_u64(&ev->rows.names, row->tid) : NULL;
		char group[GROUP_MAX];

		if (!name)
			continue;
		free(row->group);
		name_number(ev, group, name->comm, row->tid);
		row->group = strdup(group);
		if (!row->group)
			return -ENOMEM;
	}
	return 0;
}

/* The name that goes with the event's group. */
static void note_event(struct report_events *ev, const struct hodo_read_event *e)
{
	bool kernel = e->process->kernel, by_process = ev->o->by == REPORT_BY_PROCESS;
	const char *comm = kernel ? e->comm : e->process->comm;
	uint32_t tid = kernel ? e->tid : e->pid;

	if (!by_process && !(kernel && ev->o->by == REPORT_BY_THREAD))
		return;
	if (ev->rows.noted.tid != tid || ev->rows.noted.comm != comm)
		note_name(ev, tid, comm);
}

/* Adds what tells one group from another to the key. Returns the group's tid, 0 if it has none. */
static uint32_t add_group_key(struct report_events *ev, const struct hodo_read_event *e, int field)
{
	struct hodo_key *key = &ev->key;
	bool kernel = e->process->kernel;

	switch (ev->o->by) {
	case REPORT_BY_THREAD:
		hodo_key_add_number(key, kernel ? 0 : (uintptr_t)e->process);
		hodo_key_add_number(key, e->tid);
		if (kernel && !e->tid) /* each CPU has one of its own */
			hodo_key_add_number(key, (uint32_t)e->cpu);
		return kernel ? e->tid : 0;
	case REPORT_BY_CPU:
		hodo_key_add_number(key, (uint32_t)e->cpu);
		return 0;
	case REPORT_BY_PROCESS:
		hodo_key_add_number(key, e->pid);
		return e->pid;
	default:
		/* Arrays are told apart by their length alone, which is what is shown of them. */
		if (e->values[field].type & HODO_TYPE_ARRAY)
			hodo_key_add_number(key, e->values[field].count);
		else
			hodo_key_add_value(key, &e->values[field]);
		return 0;
	}
}

static uint32_t group_row(struct report_events *ev, uint32_t series, const struct hodo_read_event *e, int field)
{
	char group[GROUP_MAX];
	uint32_t row, tid = 0;

	start_key(ev, series);
	if (ev->o->diff) {
		name_group(ev, e, field, group);
		hodo_key_add(&ev->key, group, strlen(group) + 1);
	} else {
		tid = add_group_key(ev, e, field);
	}
	row = find_row(ev);
	if (row != REPORT_NONE)
		return row;
	name_group(ev, e, field, group);
	return add_group(ev, series, group, tid);
}

uint32_t report_row_of(struct report_events *ev, uint32_t series, const struct hodo_read_event *e, int field)
{
	enum report_by by = ev->o->by;
	struct report_last *last;
	uint32_t row;

	if (by == REPORT_BY_NONE || (by == REPORT_BY_FIELD && field < 0))
		return report_row_plain(ev, series);
	if (by == REPORT_BY_FIELD || ev->o->diff)
		return group_row(ev, series, e, field);
	note_event(ev, e);
	last = &ev->rows.series[series].last[(e->tid + (uint32_t)e->cpu) % REPORT_LAST_ROWS];
	if (last->row && last->tid == e->tid && last->pid == e->pid && last->cpu == e->cpu &&
	    last->process == e->process)
		return last->row - 1;
	row = group_row(ev, series, e, field);
	if (row != REPORT_NONE)
		*last = (struct report_last){ e->process, e->pid, e->tid, e->cpu, row + 1 };
	return row;
}

static void name_thread(const struct report_events *ev, uint32_t pid, uint32_t tid, const char *comm, int32_t cpu,
			char *to)
{
	if (ev->o->by == REPORT_BY_CPU)
		name_cpu(to, cpu);
	else if (ev->o->by == REPORT_BY_PROCESS)
		name_process(ev, ev->sched.process, pid, to);
	else
		name_number(ev, to, comm, tid);
}

/* Of what is told apart by its number. */
static uint32_t row_of_number(struct report_events *ev, uint32_t series, uint32_t number)
{
	const uint64_t key = (uint64_t)series << 32 | number;
	struct report_number *known = hodo_map_find_u64(&ev->rows.numbers, key);
	uint32_t row;

	if (known)
		return known->row;
	start_key(ev, series);
	hodo_key_add_number(&ev->key, number);
	row = find_row(ev);
	if (row == REPORT_NONE || ev->rows.numbers.n >= ROWS_MAX)
		return row;
	known = hodo_map_add_u64(&ev->rows.numbers, key, NULL);
	if (known)
		known->row = row; /* else it is found as before */
	return row;
}

uint32_t report_row_thread(struct report_events *ev, uint32_t series, uint32_t tid, uint32_t pid, const char *comm,
			   int32_t cpu)
{
	uint32_t row, number = ev->o->by == REPORT_BY_CPU ? 0 : ev->o->by == REPORT_BY_PROCESS ? pid : tid;
	char group[GROUP_MAX];
	bool named = ev->o->diff || !number; /* else what tells groups apart is the number */

	if (named) {
		name_thread(ev, pid, tid, comm, cpu, group);
		start_key(ev, series);
		hodo_key_add(&ev->key, group, strlen(group) + 1);
		row = find_row(ev);
	} else {
		row = row_of_number(ev, series, number);
	}
	if (row == REPORT_NONE) {
		if (!named)
			name_thread(ev, pid, tid, comm, cpu, group);
		row = add_group(ev, series, group, number);
	}
	if (row == REPORT_NONE || named)
		return row;
	/* A thread's own row has its name at hand. */
	if (ev->rows.all[row].tid != tid)
		note_name(ev, tid, comm);
	else if (ev->rows.all[row].name)
		ev->rows.noted = *name_again(ev, ev->rows.all[row].name - 1, comm);
	else
		ev->rows.all[row].name = note_name(ev, tid, comm);
	return row;
}

/* ----------------------------------------------------------------------- adding */

void report_add_time(struct report_events *ev, uint32_t row, uint64_t ns)
{
	struct report_stat *s = &ev->rows.all[row];

	s->count++;
	s->sum_ns += ns;
	s->min_ns = ns < s->min_ns ? ns : s->min_ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	if (s->times && !hodo_histogram_add(s->times, ns, 1))
		ev->no_memory = true;
}

void report_add_number(struct report_events *ev, uint32_t row, double number, bool whole)
{
	struct report_stat *s = &ev->rows.all[row];

	s->count++;
	if (s->numbers && !report_numbers_add(s->numbers, number, whole))
		ev->no_memory = true;
}

uint64_t report_stat_at(const struct report_stat *row, double q)
{
	uint64_t ns = row->times ? hodo_histogram_at(row->times, q) : 0;

	return !row->count ? 0 : ns < row->min_ns ? row->min_ns : ns > row->max_ns ? row->max_ns : ns;
}

double report_stat_avg(const struct report_stat *row)
{
	return row->count ? (double)row->sum_ns / (double)row->count : 0;
}
