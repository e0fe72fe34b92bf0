/* SPDX-License-Identifier: MIT */
/* report_rows.c - series, groups and their rows, within bounds. */
#include "report.h"

#include <read/event/threads.h>
#include <string.h>

/* A row takes about 100 bytes; one with times a few KiB, rarely 30. Further ones are counted together. */
#define ROWS_MAX     (1u << 16)
#define MEASURED_MAX (1u << 13)
#define GROUP_MAX    128u /* bytes of a name */

struct report_group {
	struct hodo_bytes key;
	const char *name;
	/* For a thread or process that may change its name, as by execve; number 0: the name is fixed. */
	const char *comm;
	uint32_t number;
};

void report_rows_start(struct report_rows *r, const struct report_options *o)
{
	*r = (struct report_rows){ .o = o,
				   .series = HODO_MAP_BYTES(struct report_series),
				   .groups = HODO_MAP_BYTES(struct report_group),
				   .rows = HODO_MAP(struct report_row, times.key) };
}

void report_rows_free(struct report_rows *r)
{
	for (uint32_t i = 0; i < r->rows.n; i++)
		report_times_free(&((struct report_row *)hodo_map_at(&r->rows, i))->times);
	hodo_map_free(&r->series);
	hodo_map_free(&r->groups);
	hodo_map_free(&r->rows);
	hodo_arena_free(&r->names);
	hodo_text_free(&r->key);
}

uint32_t report_series(struct report_rows *r, enum report_section section, const char *name)
{
	struct report_series *s;

	hodo_key_start(&r->key);
	hodo_key_add_number(&r->key, section);
	hodo_text_bytes(&r->key, name, strlen(name));
	s = hodo_must(hodo_map_add_bytes(&r->series, report_key(&r->key), r->key.len, NULL));
	s->section = section;
	return hodo_map_index(&r->series, s);
}

/* ------------------------------------------------------------------------ times */

void report_times_measure(struct report_times *t)
{
	t->histogram = hodo_must(malloc(sizeof(*t->histogram)));
	*t->histogram = (struct hodo_histogram)HODO_HISTOGRAM;
}

void report_times_add(struct report_times *t, uint64_t ns)
{
	t->min_ns = t->n && t->min_ns < ns ? t->min_ns : ns;
	t->max_ns = t->max_ns > ns ? t->max_ns : ns;
	t->sum_ns += ns;
	t->n++;
	if (t->histogram)
		hodo_must(hodo_histogram_add(t->histogram, ns, 1));
}

uint64_t report_times_at(const struct report_times *t, double q)
{
	uint64_t ns = t->n && t->histogram ? (uint64_t)hodo_histogram_at(t->histogram, q) : 0;

	return ns < t->min_ns ? t->min_ns : ns > t->max_ns ? t->max_ns : ns;
}

void report_times_free(struct report_times *t)
{
	hodo_histogram_free(t->histogram);
	free(t->histogram);
}

/* ------------------------------------------------------------------------- rows */

static bool is_measured(enum report_section section)
{
	return section == REPORT_SPANS || section == REPORT_VALUES || section == REPORT_LATENCY;
}

struct report_row *report_row_slow(struct report_rows *r, uint32_t series, uint32_t group)
{
	uint64_t key = (uint64_t)series << 32 | group;
	struct report_row *row = hodo_map_find_u64(&r->rows, key);
	bool measures, measured;

	if (row) {
		r->recent[(series + 32 * group) % 256] = hodo_map_index(&r->rows, row);
		return row;
	}
	measures = is_measured(report_series_at(r, series)->section);
	measured = measures && r->nmeasured < 2 * MEASURED_MAX;
	/* Rows without a group still get percentiles when groups have used up theirs. */
	if (group && group != REPORT_OTHERS &&
	    (r->rows.n >= ROWS_MAX || (measures && r->nmeasured >= MEASURED_MAX))) {
		r->others = true;
		return report_row(r, series, REPORT_OTHERS);
	}
	row = hodo_must(hodo_map_add_u64(&r->rows, key, NULL));
	if (measured)
		report_times_measure(&row->times);
	r->unmeasured |= measures && !measured;
	r->nmeasured += measured;
	return row;
}

/* ----------------------------------------------------------------------- groups */

/* The group of r->key, created if necessary: NULL with *number OTHERS if there are too many. */
static struct report_group *group_of_key(struct report_rows *r, uint32_t *number)
{
	struct report_group *g = hodo_map_find_bytes(&r->groups, report_key(&r->key), r->key.len);

	*number = REPORT_OTHERS;
	if (!g && r->groups.n >= ROWS_MAX) {
		r->others = true;
		return NULL;
	}
	if (!g)
		g = hodo_must(hodo_map_add_bytes(&r->groups, report_key(&r->key), r->key.len, NULL));
	*number = hodo_map_index(&r->groups, g) + 1;
	return g;
}

static void keep_name(struct report_rows *r, struct report_group *g, const char *name)
{
	g->name = hodo_must(hodo_arena_copy(&r->names, name, strlen(name)));
}

const char *report_group_name(const struct report_rows *r, uint32_t group)
{
	if (!group || group == REPORT_OTHERS)
		return group ? "(others)" : NULL;
	return ((const struct report_group *)hodo_map_at(&r->groups, group - 1))->name;
}

/* ---------------------------------------------------------------------- threads */

static const char *process_comm(const struct report_who *w)
{
	const struct hodo_read_thread *t = w->process->kernel ? hodo_read_thread(w->process, w->pid) : NULL;

	return t ? t->comm : w->process->kernel ? "?" : w->process->comm;
}

/* Numbers of threads and processes mean nothing in another recording. */
static void put_name(const struct report_rows *r, char name[GROUP_MAX], const char *comm, uint32_t number)
{
	snprintf(name, GROUP_MAX, r->o->diff ? "%.100s" : "%.100s[%u]", comm, number);
}

static const char *host_of(const struct report_who *w)
{
	return w->process->hostname && *w->process->hostname ? w->process->hostname : "(not known)";
}

static void name_group(const struct report_rows *r, const struct report_who *w, char name[GROUP_MAX])
{
	/* CPUs of several hosts have the same numbers. */
	if (r->o->by == REPORT_BY_CPU && r->hosts)
		snprintf(name, GROUP_MAX, w->cpu < 0 ? "%.80s fallback" : "%.80s cpu%d", host_of(w), (int)w->cpu);
	else if (r->o->by == REPORT_BY_CPU)
		snprintf(name, GROUP_MAX, w->cpu < 0 ? "fallback" : "cpu%d", (int)w->cpu);
	else if (r->o->by == REPORT_BY_HOST)
		snprintf(name, GROUP_MAX, "%.100s", host_of(w));
	else if (r->o->by != REPORT_BY_PROCESS)
		put_name(r, name, w->comm, w->tid);
	else if (w->process->kernel && !w->pid)
		strcpy(name, "kernel");
	else
		put_name(r, name, process_comm(w), w->pid);
}

static uint32_t find_group(struct report_rows *r, const struct report_who *w)
{
	bool by_cpu = r->o->by == REPORT_BY_CPU, by_process = r->o->by == REPORT_BY_PROCESS;
	bool kernel = w->process->kernel, by_host = r->o->by == REPORT_BY_HOST;
	uint32_t number = by_host ? 0 : by_cpu ? (uint32_t)w->cpu : by_process ? w->pid : w->tid, group;
	struct report_group *g;
	char name[GROUP_MAX];

	hodo_key_start(&r->key);
	if (r->o->diff) {
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
		g->number = !r->o->diff && !by_host && (by_process || (kernel && !by_cpu)) ? number : 0;
		g->comm = by_process ? process_comm(w) : w->comm;
		keep_name(r, g, name);
	}
	return group;
}

uint32_t report_group_of(struct report_rows *r, const struct report_who *w)
{
	struct report_last *last = &r->last[(w->tid + 7 * (uint32_t)w->cpu) % (sizeof(r->last) / sizeof(*r->last))];
	bool kernel = w->process->kernel;

	if (!last->group || last->who.tid != w->tid || last->who.pid != w->pid || last->who.cpu != w->cpu ||
	    last->who.process != w->process || last->who.comm != w->comm) {
		uint32_t group = find_group(r, w);

		if (group == REPORT_OTHERS)
			return group;
		*last = (struct report_last){ *w, group };
	}
	if (r->o->by != REPORT_BY_CPU && r->o->by != REPORT_BY_HOST) {
		struct report_group *g = hodo_map_at(&r->groups, last->group - 1);

		if (g->number == (kernel ? w->tid : w->pid))
			g->comm = kernel ? w->comm : w->process->comm;
	}
	return last->group;
}

void report_rows_end(struct report_rows *r)
{
	for (uint32_t i = 0; i < r->groups.n; i++) {
		struct report_group *g = hodo_map_at(&r->groups, i);
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

uint32_t report_group_of_value(struct report_rows *r, const struct hodo_read_event *e, uint32_t field)
{
	const struct hodo_read_value *v = &e->values[field];
	const struct hodo_read_labels *labels = e->cls->fields[field].labels;
	const char *label = labels ? hodo_read_label(labels, v->i) : NULL;
	bool array = v->type & HODO_TYPE_ARRAY, written = v->type == HODO_TYPE_PTR || v->type == HODO_TYPE_BOOL;
	struct report_group *g;
	char name[GROUP_MAX];
	uint32_t group;

	hodo_key_start(&r->key);
	if (r->o->diff) {
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
