/* SPDX-License-Identifier: MIT */
/* series.c - series, groups and their rows, within bounds. */
#include "series.h"

#include <read/event/threads.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row takes about 100 bytes; one with times a few KiB, rarely 30. Further ones are counted together. */
#define ROWS_MAX     (1u << 16)
#define MEASURED_MAX (1u << 13)
#define GROUP_MAX    128u /* bytes of a name */

struct hodo_stats_group {
	struct hodo_bytes key;
	const char *name;
	/* For a thread or process that may change its name, as by execve; number 0: the name is fixed. */
	const char *comm;
	uint32_t number;
};

void series_start(struct hodo_stats_rows *r, const struct hodo_stats_options *o)
{
	*r = (struct hodo_stats_rows){ .o = o,
				   .series = HODO_MAP_BYTES(struct hodo_stats_series),
				   .groups = HODO_MAP_BYTES(struct hodo_stats_group),
				   .rows = HODO_MAP(struct hodo_stats_row, times.key) };
}

void series_free(struct hodo_stats_rows *r)
{
	for (uint32_t i = 0; i < r->rows.n; i++)
		series_times_free(&((struct hodo_stats_row *)hodo_map_at(&r->rows, i))->times);
	hodo_map_free(&r->series);
	hodo_map_free(&r->groups);
	hodo_map_free(&r->rows);
	hodo_arena_free(&r->names);
	hodo_text_free(&r->key);
}

uint32_t series_number(struct hodo_stats_rows *r, enum hodo_stats_section section, const char *name)
{
	struct hodo_stats_series *s;

	hodo_key_start(&r->key);
	hodo_key_add_number(&r->key, section);
	hodo_text_bytes(&r->key, name, strlen(name));
	s = r->key.error ? NULL : hodo_map_add_bytes(&r->series, r->key.data, r->key.len, NULL);
	r->failed |= !s;
	if (!s)
		return 0;
	s->section = section;
	return hodo_map_index(&r->series, s);
}

/* ------------------------------------------------------------------------ times */

bool series_times_measure(struct hodo_stats_times *t)
{
	t->histogram = malloc(sizeof(*t->histogram));
	if (t->histogram)
		*t->histogram = (struct hodo_histogram)HODO_HISTOGRAM;
	return t->histogram;
}

bool series_times_add(struct hodo_stats_times *t, uint64_t ns)
{
	t->min_ns = t->n && t->min_ns < ns ? t->min_ns : ns;
	t->max_ns = t->max_ns > ns ? t->max_ns : ns;
	t->sum_ns += ns;
	t->n++;
	return !t->histogram || hodo_histogram_add(t->histogram, ns, 1);
}

uint64_t hodo_stats_times_at(const struct hodo_stats_times *t, double q)
{
	uint64_t ns = t->n && t->histogram ? (uint64_t)hodo_histogram_at(t->histogram, q) : 0;

	return ns < t->min_ns ? t->min_ns : ns > t->max_ns ? t->max_ns : ns;
}

void series_times_free(struct hodo_stats_times *t)
{
	if (t->histogram)
		hodo_histogram_free(t->histogram);
	free(t->histogram);
}

/* ------------------------------------------------------------------------- rows */

static bool is_measured(enum hodo_stats_section section)
{
	return section == HODO_STATS_SPANS || section == HODO_STATS_VALUES || section == HODO_STATS_LATENCY;
}

struct hodo_stats_row *series_row_slow(struct hodo_stats_rows *r, uint32_t series, uint32_t group)
{
	uint64_t key = (uint64_t)series << 32 | group;
	struct hodo_stats_row *row = hodo_map_find_u64(&r->rows, key);
	bool measures, measured;

	if (row) {
		r->recent[(series + 32 * group) % 256] = hodo_map_index(&r->rows, row);
		return row;
	}
	if (r->failed)
		return &r->nowhere;
	measures = is_measured(hodo_stats_series_at(r, series)->section);
	measured = measures && r->nmeasured < 2 * MEASURED_MAX;
	/* Rows without a group still get percentiles when groups have used up theirs. */
	if (group && group != HODO_STATS_OTHERS &&
	    (r->rows.n >= ROWS_MAX || (measures && r->nmeasured >= MEASURED_MAX))) {
		r->others = true;
		return series_row(r, series, HODO_STATS_OTHERS);
	}
	row = hodo_map_add_u64(&r->rows, key, NULL);
	r->failed = !row || (measured && !series_times_measure(&row->times));
	if (!row)
		return &r->nowhere;
	r->unmeasured |= measures && !measured;
	r->nmeasured += measured;
	return row;
}

/* ----------------------------------------------------------------------- groups */

/* The group of r->key, created if necessary: NULL with *number OTHERS if there are too many, or no memory. */
static struct hodo_stats_group *group_of_key(struct hodo_stats_rows *r, uint32_t *number)
{
	struct hodo_stats_group *g = r->key.error ? NULL : hodo_map_find_bytes(&r->groups, r->key.data, r->key.len);

	*number = HODO_STATS_OTHERS;
	r->failed |= r->key.error;
	if (!g && r->groups.n >= ROWS_MAX) {
		r->others = true;
		return NULL;
	}
	if (!g && !r->failed)
		g = hodo_map_add_bytes(&r->groups, r->key.data, r->key.len, NULL);
	r->failed |= !g;
	if (!g)
		return NULL;
	*number = hodo_map_index(&r->groups, g) + 1;
	return g;
}

static void keep_name(struct hodo_stats_rows *r, struct hodo_stats_group *g, const char *name)
{
	g->name = hodo_arena_copy(&r->names, name, strlen(name));
	r->failed |= !g->name;
}

const char *hodo_stats_group_name(const struct hodo_stats_rows *r, uint32_t group)
{
	if (!group || group == HODO_STATS_OTHERS)
		return group ? "(others)" : NULL;
	return ((const struct hodo_stats_group *)hodo_map_at(&r->groups, group - 1))->name;
}

/* ---------------------------------------------------------------------- threads */

static const char *process_comm(const struct hodo_stats_who *w)
{
	const struct hodo_read_thread *t = w->process->kernel ? hodo_read_thread(w->process, w->pid) : NULL;

	return t ? t->comm : w->process->kernel ? "?" : w->process->comm;
}

/* Numbers of threads and processes mean nothing in another recording. */
static void put_name(const struct hodo_stats_rows *r, char name[GROUP_MAX], const char *comm, uint32_t number)
{
	snprintf(name, GROUP_MAX, r->o->compares ? "%.100s" : "%.100s[%u]", comm, number);
}

static const char *host_of(const struct hodo_stats_who *w)
{
	return w->process->hostname && *w->process->hostname ? w->process->hostname : "(not known)";
}

static void name_group(const struct hodo_stats_rows *r, const struct hodo_stats_who *w, char name[GROUP_MAX])
{
	/* CPUs of several hosts have the same numbers. */
	if (r->o->by == HODO_STATS_BY_CPU && r->hosts)
		snprintf(name, GROUP_MAX, w->cpu < 0 ? "%.80s fallback" : "%.80s cpu%d", host_of(w), (int)w->cpu);
	else if (r->o->by == HODO_STATS_BY_CPU)
		snprintf(name, GROUP_MAX, w->cpu < 0 ? "fallback" : "cpu%d", (int)w->cpu);
	else if (r->o->by == HODO_STATS_BY_HOST)
		snprintf(name, GROUP_MAX, "%.100s", host_of(w));
	else if (r->o->by != HODO_STATS_BY_PROCESS)
		put_name(r, name, w->comm, w->tid);
	else if (w->process->kernel && !w->pid)
		strcpy(name, "kernel");
	else
		put_name(r, name, process_comm(w), w->pid);
}

static uint32_t find_group(struct hodo_stats_rows *r, const struct hodo_stats_who *w)
{
	bool by_cpu = r->o->by == HODO_STATS_BY_CPU, by_process = r->o->by == HODO_STATS_BY_PROCESS;
	bool kernel = w->process->kernel, by_host = r->o->by == HODO_STATS_BY_HOST;
	uint32_t number = by_host ? 0 : by_cpu ? (uint32_t)w->cpu : by_process ? w->pid : w->tid, group;
	struct hodo_stats_group *g;
	char name[GROUP_MAX];

	hodo_key_start(&r->key);
	if (r->o->compares) {
		name_group(r, w, name);
		hodo_text_bytes(&r->key, name, strlen(name));
	} else {
		hodo_key_add_number(&r->key, kernel || by_cpu || by_process || by_host ? 0 : (uintptr_t)w->process);
		hodo_key_add_number(&r->key, w->process->host);
		hodo_key_add_number(&r->key, number);
		if (kernel && !number && !by_cpu && !by_process && !by_host) /* each CPU has its own */
			hodo_key_add_number(&r->key, (uint32_t)w->cpu);
	}
	g = group_of_key(r, &group);
	if (g && !g->name) {
		name_group(r, w, name);
		g->number = !r->o->compares && !by_host && (by_process || (kernel && !by_cpu)) ? number : 0;
		g->comm = by_process ? process_comm(w) : w->comm;
		keep_name(r, g, name);
	}
	return group;
}

uint32_t series_group_of(struct hodo_stats_rows *r, const struct hodo_stats_who *w)
{
	struct hodo_stats_last *last = &r->last[(w->tid + 7 * (uint32_t)w->cpu) % (sizeof(r->last) / sizeof(*r->last))];
	bool kernel = w->process->kernel;

	if (!last->group || last->who.tid != w->tid || last->who.pid != w->pid || last->who.cpu != w->cpu ||
	    last->who.process != w->process || last->who.comm != w->comm) {
		uint32_t group = find_group(r, w);

		if (group == HODO_STATS_OTHERS)
			return group;
		*last = (struct hodo_stats_last){ *w, group };
	}
	if (r->o->by != HODO_STATS_BY_CPU && r->o->by != HODO_STATS_BY_HOST) {
		struct hodo_stats_group *g = hodo_map_at(&r->groups, last->group - 1);

		if (g->number == (kernel ? w->tid : w->pid))
			g->comm = kernel ? w->comm : w->process->comm;
	}
	return last->group;
}

void series_end(struct hodo_stats_rows *r)
{
	for (uint32_t i = 0; i < r->groups.n; i++) {
		struct hodo_stats_group *g = hodo_map_at(&r->groups, i);
		char name[GROUP_MAX];

		if (!g->number)
			continue;
		put_name(r, name, g->comm, g->number);
		keep_name(r, g, name);
	}
}

/* ----------------------------------------------------------------------- values */

static void name_value(const struct hodo_read_value *v, char to[GROUP_MAX])
{
	const uint8_t *bytes = v->data;

	to[0] = 0;
	switch (v->type) {
	case HODO_TYPE_STR:
		if (v->null)
			strcpy(to, HODO_NULL_TEXT);
		else
			snprintf(to, GROUP_MAX, "%.*s%s", v->count > 120 ? 120 : (int)v->count, (const char *)v->data,
				 v->count > 120 ? "..." : "");
		break;
	case HODO_TYPE_BYTES:
		for (uint32_t i = 0; i < v->count && i < 60; i++)
			snprintf(to + 2 * (size_t)i, 3, "%02x", bytes[i]);
		break;
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		snprintf(to, GROUP_MAX, "%.9g", v->f);
		break;
	case HODO_TYPE_PTR:
		snprintf(to, GROUP_MAX, "0x%llx", (unsigned long long)v->u);
		break;
	case HODO_TYPE_BOOL:
		strcpy(to, v->u ? "true" : "false");
		break;
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
		snprintf(to, GROUP_MAX, "%llu", (unsigned long long)v->u);
		break;
	default:
		snprintf(to, GROUP_MAX, v->type & HODO_TYPE_ARRAY ? "[%lld elements]" : "%lld",
			 v->type & HODO_TYPE_ARRAY ? (long long)v->count : (long long)v->i);
	}
}

uint32_t series_group_of_value(struct hodo_stats_rows *r, const struct hodo_read_event *e, uint32_t field)
{
	const struct hodo_read_value *v = &e->values[field];
	const struct hodo_read_labels *labels = e->cls->fields[field].labels;
	const char *label = labels ? hodo_read_label(labels, v->i) : NULL;
	bool array = v->type & HODO_TYPE_ARRAY, written = v->type == HODO_TYPE_PTR || v->type == HODO_TYPE_BOOL;
	struct hodo_stats_group *g;
	char name[GROUP_MAX];
	uint32_t group;

	hodo_key_start(&r->key);
	if (r->o->compares) {
		name_value(v, name);
		hodo_text_bytes(&r->key, label ? label : name, strlen(label ? label : name));
	} else {
		/* Includes the form, so that each key has one name; no thread's group begins so. */
		hodo_key_add_number(&r->key, array ? HODO_TYPE_ARRAY : written ? v->type : HODO_TYPE_I64);
		if (label)
			hodo_text_bytes(&r->key, label, strlen(label) + 1);
		/* Arrays are distinguished only by their length, which is all that is shown. */
		if (array)
			hodo_key_add_number(&r->key, v->count);
		else
			hodo_key_add_value(&r->key, v);
	}
	g = group_of_key(r, &group);
	if (g && !g->name) {
		name_value(v, name);
		keep_name(r, g, label ? label : name);
	}
	return group;
}
