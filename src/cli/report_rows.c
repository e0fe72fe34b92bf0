/* SPDX-License-Identifier: MIT */
/* report_rows.c - series and their rows, within bounds. */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row takes about 100 bytes; one with times a few KiB, rarely 30. What is beyond is counted together. */
#define ROWS_MAX     (1u << 16)
#define MEASURED_MAX (1u << 13)
#define GROUP_MAX    128u /* bytes of a name */
#define OTHERS       1u

uint64_t report_hash(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return report_hash(h, len);
}

uint64_t report_hash_value(const struct hodo_read_value *v)
{
	uint64_t bits;

	if (v->type & HODO_TYPE_ARRAY)
		return report_hash(v->type, v->count);
	switch (v->type) {
	case HODO_TYPE_STR:
	case HODO_TYPE_BYTES:
		return hash_bytes(v->null ? 7 : 0xcbf29ce484222325ull, v->data, v->null ? 0 : v->count);
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		memcpy(&bits, &v->f, sizeof(bits));
		return report_hash(3, bits);
	default:
		return report_hash(5, v->u);
	}
}

/* ----------------------------------------------------------------------- series */

static uint32_t series_slot(const struct report_events *ev, enum report_section section, const char *name, size_t len)
{
	uint32_t i = (uint32_t)hash_bytes(0xcbf29ce484222325ull + section, name, len) & ev->series_mask;

	while (ev->series_index[i]) {
		const struct report_series *s = &ev->series[ev->series_index[i] - 1];

		if (s->section == section && strncmp(s->name, name, len) == 0 && !s->name[len])
			break;
		i = (i + 1) & ev->series_mask;
	}
	return i;
}

static bool grow_series(struct report_events *ev)
{
	uint32_t room = ev->series_room ? 2 * ev->series_room : 32;
	struct report_series *series = reallocarray(ev->series, room, sizeof(*series));
	uint32_t *index = calloc(2 * (size_t)room, sizeof(*index));

	if (series) {
		ev->series = series;
		ev->series_room = room;
	}
	if (!series || !index) {
		free(index);
		return false;
	}
	free(ev->series_index);
	ev->series_index = index;
	ev->series_mask = 2 * room - 1;
	for (uint32_t i = 0; i < ev->nseries; i++)
		index[series_slot(ev, series[i].section, series[i].name, strlen(series[i].name))] = i + 1;
	return true;
}

uint32_t report_series(struct report_events *ev, enum report_section section, const char *name, size_t len)
{
	uint32_t i;

	if (ev->nseries == ev->series_room && !grow_series(ev))
		return REPORT_NONE;
	i = series_slot(ev, section, name, len);
	if (ev->series_index[i])
		return ev->series_index[i] - 1;
	ev->series[ev->nseries] = (struct report_series){ .section = section, .name = strndup(name, len) };
	if (!ev->series[ev->nseries].name)
		return REPORT_NONE;
	ev->series_index[i] = ++ev->nseries;
	return ev->nseries - 1;
}

/* ------------------------------------------------------------------------- rows */

static uint32_t slot_of(const struct report_events *ev, uint32_t series, uint64_t hash)
{
	uint32_t i = (uint32_t)(report_hash(hash, series) >> 20) & ev->index_mask;

	while (ev->index[i] &&
	       (ev->rows[ev->index[i] - 1].series != series || ev->rows[ev->index[i] - 1].hash != hash))
		i = (i + 1) & ev->index_mask;
	return i;
}

static bool grow(struct report_events *ev)
{
	uint32_t room = ev->rows_room ? 2 * ev->rows_room : 64;
	struct report_stat *rows = reallocarray(ev->rows, room, sizeof(*rows));
	uint32_t *index = calloc(2 * (size_t)room, sizeof(*index));

	if (rows) {
		ev->rows = rows;
		ev->rows_room = room;
	}
	if (!rows || !index) {
		free(index);
		return false;
	}
	free(ev->index);
	ev->index = index;
	ev->index_mask = 2 * room - 1;
	for (uint32_t i = 0; i < ev->nrows; i++)
		index[slot_of(ev, rows[i].series, rows[i].hash)] = i + 1;
	return true;
}

static bool is_measured(enum report_section section)
{
	return section == REPORT_SPANS || section == REPORT_VALUES || section == REPORT_LATENCY;
}

/* hash 0: no group. */
static uint32_t add_row(struct report_events *ev, uint32_t series, uint64_t hash, const char *group)
{
	/* Those that are no group go on having percentiles when groups have used up theirs. */
	bool measured = is_measured(ev->series[series].section) &&
			ev->nmeasured < (hash > OTHERS ? MEASURED_MAX : 2 * MEASURED_MAX);
	struct report_stat *row;

	if (ev->nrows == ev->rows_room && !grow(ev))
		return REPORT_NONE;
	row = &ev->rows[ev->nrows];
	ev->unmeasured |= !measured && is_measured(ev->series[series].section);
	*row = (struct report_stat){ .series = series, .hash = hash, .min_ns = UINT64_MAX };
	if (group)
		row->group = strdup(group);
	if (measured && ev->series[series].section == REPORT_VALUES)
		row->numbers = calloc(1, sizeof(*row->numbers));
	else if (measured)
		row->times = calloc(1, sizeof(*row->times));
	if ((group && !row->group) || (measured && !row->times && !row->numbers)) {
		free(row->group);
		return REPORT_NONE;
	}
	ev->nmeasured += measured;
	ev->index[slot_of(ev, series, hash)] = ++ev->nrows;
	return ev->nrows - 1;
}

uint32_t report_row_plain(struct report_events *ev, uint32_t series)
{
	uint32_t row = ev->series[series].row;

	if (row)
		return row - 1;
	row = add_row(ev, series, 0, NULL);
	if (row != REPORT_NONE)
		ev->series[series].row = row + 1;
	return row;
}

/* A row that is there; REPORT_NONE: one is to be made. */
static uint32_t find_row(const struct report_events *ev, uint32_t series, uint64_t hash)
{
	return ev->nrows ? ev->index[slot_of(ev, series, hash)] - 1 : REPORT_NONE;
}

/* Whether a group more would be too much. */
static bool is_full(const struct report_events *ev, uint32_t series)
{
	return ev->nrows >= ROWS_MAX ||
	       (is_measured(ev->series[series].section) && ev->nmeasured >= MEASURED_MAX);
}

static uint32_t add_group(struct report_events *ev, uint32_t series, uint64_t hash, const char *group)
{
	uint32_t row;

	if (!is_full(ev, series))
		return add_row(ev, series, hash, group);
	ev->others = true;
	row = find_row(ev, series, OTHERS);
	return row != REPORT_NONE ? row : add_row(ev, series, OTHERS, "(others)");
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

static const char *comm_of(const struct hodo_read_process *p, uint32_t tid)
{
	uint32_t low = 0, high = p->nthreads;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->threads[mid].tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->nthreads && p->threads[low].tid == tid ? p->threads[low].comm : "?";
}

static void name_process(const struct report_events *ev, const struct hodo_read_process *p, uint32_t pid, char *to)
{
	if (p && p->kernel && !pid)
		snprintf(to, GROUP_MAX, "kernel");
	else
		name_number(ev, to, !p ? "?" : p->kernel ? comm_of(p, pid) : p->comm, pid);
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

static uint64_t group_hash(const struct report_events *ev, const struct hodo_read_event *e, int field)
{
	switch (ev->o->by) {
	case REPORT_BY_THREAD:
		return report_hash(e->process->kernel ? 11 : (uintptr_t)e->process,
				   e->tid || !e->process->kernel ? e->tid : UINT64_MAX - (uint32_t)e->cpu);
	case REPORT_BY_CPU:
		return report_hash(13, (uint32_t)e->cpu);
	case REPORT_BY_PROCESS:
		return report_hash(17, e->pid);
	default:
		return report_hash_value(&e->values[field]);
	}
}

uint32_t report_row_of(struct report_events *ev, uint32_t series, const struct hodo_read_event *e, int field)
{
	enum report_by by = ev->o->by;
	char group[GROUP_MAX];
	uint64_t hash;
	uint32_t row;

	if (by == REPORT_BY_NONE || (by == REPORT_BY_FIELD && field < 0))
		return report_row_plain(ev, series);
	if (ev->o->diff) {
		name_group(ev, e, field, group);
		hash = hash_bytes(0xcbf29ce484222325ull, group, strlen(group));
	} else {
		hash = group_hash(ev, e, field);
	}
	hash = hash > OTHERS ? hash : 2;
	row = find_row(ev, series, hash);
	if (row != REPORT_NONE)
		return row;
	name_group(ev, e, field, group);
	return add_group(ev, series, hash, group);
}

uint32_t report_row_thread(struct report_events *ev, uint32_t series, uint32_t tid, uint32_t pid, const char *comm,
			   int32_t cpu)
{
	bool thread = ev->o->by != REPORT_BY_CPU && ev->o->by != REPORT_BY_PROCESS;
	/* A thread may change its name: what it was called first stands for it. */
	uint64_t hash = report_hash(11, tid);
	char group[GROUP_MAX];
	uint32_t row;

	if (!thread || ev->o->diff) {
		if (ev->o->by == REPORT_BY_CPU)
			name_cpu(group, cpu);
		else if (!thread)
			name_process(ev, ev->sched_process, pid, group);
		else
			name_number(ev, group, comm, tid);
		hash = hash_bytes(0xcbf29ce484222325ull, group, strlen(group));
	}
	hash = hash > OTHERS ? hash : 2;
	row = find_row(ev, series, hash);
	if (row != REPORT_NONE)
		return row;
	if (thread)
		name_number(ev, group, comm, tid);
	return add_group(ev, series, hash, group);
}

/* ----------------------------------------------------------------------- adding */

void report_add_time(struct report_events *ev, uint32_t row, uint64_t ns)
{
	struct report_stat *s = &ev->rows[row];

	s->count++;
	s->sum_ns += ns;
	s->min_ns = ns < s->min_ns ? ns : s->min_ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	if (s->times && !hodo_histogram_add(s->times, ns, 1))
		ev->no_memory = true;
}

void report_add_number(struct report_events *ev, uint32_t row, double number, bool whole)
{
	struct report_stat *s = &ev->rows[row];

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
