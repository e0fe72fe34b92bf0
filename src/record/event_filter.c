/* SPDX-License-Identifier: MIT */
/*
 * event_filter.c - a filter's expression on events that are read.
 *
 * Bound once to each class of events. If the expression asks for $duration, begins wait for their ends (read/pairs.h).
 */
#include "event_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/map.h>
#include <core/filter.h>
#include <core/payload.h>
#include <read/pairs.h>

#include "filter_compile.h"

/* The program bound to a class, and where the fields of its events are. */
struct program {
	struct hodo_filter filter;
	struct hodo_payload payload;
};

struct bound {
	const struct hodo_read_class *cls;
	struct program *program;
};

struct hodo_event_filter {
	struct hodo_filter_vars vars; /* first */
	const struct hodo_read_event *event;
	int64_t duration_ns; /* INT64_MIN: not known */
	uint8_t *code;
	size_t len;
	bool timed; /* $duration is asked for */
	struct hodo_map bound; /* struct bound */
	struct hodo_pairs *pairs; /* if timed */
	struct hodo_text key;
};

static bool get_var(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	const struct hodo_event_filter *f = (const struct hodo_event_filter *)vars;
	const struct hodo_read_event *e = f->event;

	switch (var) {
	case HODO_FILTER_TID:
		*number = e->tid;
		return true;
	case HODO_FILTER_PID:
		*number = e->pid;
		return true;
	case HODO_FILTER_CPU:
		*number = e->cpu;
		return e->cpu >= 0;
	case HODO_FILTER_COMM:
		*number = (int64_t)strnlen(e->comm, sizeof(vars->comm) - 1);
		memcpy(vars->comm, e->comm, (size_t)*number);
		return true;
	case HODO_FILTER_DURATION:
		*number = f->duration_ns;
		return f->duration_ns != INT64_MIN;
	case HODO_FILTER_VARS:
		break;
	}
	return false;
}

int hodo_event_filter_new(struct hodo_event_filter **filter, const char *expr, char *error, size_t size)
{
	struct hodo_event_filter *f = calloc(1, sizeof(*f));
	uint8_t code[HODO_FILTER_MAX];
	int err = f ? hodo_filter_compile(expr, code, sizeof(code), &f->len, error, size) : -ENOMEM;

	*filter = NULL;
	if (!err) {
		hodo_hash_seed();
		f->bound = (struct hodo_map)HODO_MAP(struct bound, cls);
		f->timed = hodo_filter_names_var(code, HODO_FILTER_DURATION);
		f->pairs = f->timed ? hodo_pairs_new() : NULL;
		f->code = malloc(f->len);
		if (!f->code || (f->timed && !f->pairs))
			err = -ENOMEM;
	}
	if (err) {
		hodo_event_filter_free(f);
		return err;
	}
	memcpy(f->code, code, f->len);
	f->vars.get = get_var;
	*filter = f;
	return 0;
}

void hodo_event_filter_free(struct hodo_event_filter *filter)
{
	if (!filter)
		return;
	for (uint32_t i = 0; i < filter->bound.n; i++)
		free(((struct bound *)hodo_map_at(&filter->bound, i))->program);
	hodo_map_free(&filter->bound);
	hodo_pairs_free(filter->pairs);
	hodo_text_free(&filter->key);
	free(filter->code);
	free(filter);
}

/* ------------------------------------------------------------------ classes */

struct class_labels {
	struct hodo_filter_labels labels; /* first */
	const struct hodo_read_class *cls;
};

static bool find_label(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		       int64_t *value)
{
	const struct hodo_read_labels *l = ((const struct class_labels *)labels)->cls->fields[field].labels;

	for (uint32_t i = 0; l && i < l->n; i++) {
		if (strlen(l->names[i]) == len && memcmp(l->names[i], name, len) == 0) {
			*value = l->values[i];
			return true;
		}
	}
	return false;
}

static struct program *bind_class(const struct hodo_event_filter *f, const struct hodo_read_class *cls)
{
	struct class_labels labels = { { find_label }, cls };
	struct program *bound = malloc(sizeof(*bound));
	const char *names[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];

	for (uint32_t i = 0; i < cls->nfields && i < HODO_FIELDS_MAX; i++) {
		names[i] = cls->fields[i].name;
		types[i] = (uint8_t)cls->fields[i].type;
	}
	if (!bound)
		return NULL;
	if (hodo_payload_init(&bound->payload, types, cls->nfields) < 0 ||
	    hodo_filter_bind(&bound->filter, f->code, f->len, cls->nfields, types, names, &labels.labels) != 0)
		bound->filter = hodo_filter_none;
	return bound;
}

/* NULL: no memory. */
static const struct program *program_of(struct hodo_event_filter *f, const struct hodo_read_class *cls)
{
	struct bound *b = hodo_map_add_u64(&f->bound, (uintptr_t)cls, NULL);

	if (b && !b->program)
		b->program = bind_class(f, cls);
	return b ? b->program : NULL;
}

/* ---------------------------------------------------------------- durations */

static const struct hodo_read_value *value_of(const struct hodo_read_event *e, const char *field)
{
	for (uint32_t i = 0; i < e->cls->nfields; i++)
		if (strcmp(e->cls->fields[i].name, field) == 0)
			return &e->values[i];
	return NULL;
}

static int64_t ticks_ns(const struct hodo_read_event *e, const char *field)
{
	const struct hodo_read_value *v = value_of(e, field);
	uint64_t hz = e->process->clock.freq_hz;

	if (!v || hz == 0)
		return INT64_MIN;
	return (int64_t)((unsigned __int128)v->u * 1000000000u / hz);
}

static int find_duration(struct hodo_event_filter *f, const struct hodo_read_event *e)
{
	struct hodo_pair begin = { .begin_ns = e->ts_ns, .base = hodo_pair_base(e) }, other;
	int paired;

	f->duration_ns = INT64_MIN;
	if (!f->timed)
		return 0;
	if (e->cls->kind == HODO_KIND_FUNCTION &&
	    (strcmp(e->cls->name, "func:call") == 0 || strcmp(e->cls->name, "func:held") == 0)) {
		f->duration_ns = ticks_ns(e, "ticks");
		return 0;
	}
	if (!hodo_pair_key(&f->key, e))
		return 0;
	if (hodo_role_begins(e->cls->role))
		return hodo_pairs_begin(f->pairs, &f->key, &begin, &other) < 0 ? -ENOMEM : 0;
	paired = hodo_pairs_end(f->pairs, &f->key, hodo_pair_base(e), &begin);
	if (paired == HODO_PAIR_FOUND)
		f->duration_ns = e->ts_ns - begin.begin_ns;
	return paired < 0 ? paired : 0;
}

int hodo_event_filter_takes(struct hodo_event_filter *filter, const struct hodo_read_event *event)
{
	struct hodo_piece pieces[HODO_PAYLOAD_PIECES_MAX];
	const struct program *bound = program_of(filter, event->cls);
	int err = find_duration(filter, event);

	if (!bound || err)
		return -ENOMEM;
	filter->event = event;
	if (hodo_filter_never(&bound->filter))
		return 0;
	/* It was decoded: its sizes fit what is there. */
	return hodo_filter_run(&bound->filter, pieces,
			       hodo_payload_pieces(&bound->payload, event->payload, UINT64_MAX, pieces), &filter->vars);
}
