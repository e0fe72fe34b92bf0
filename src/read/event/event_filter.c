/* SPDX-License-Identifier: MIT */
/*
 * event_filter.c - a filter's expression on events that are read.
 *
 * Bound once to each class of events, and for ends to each pair of classes: an end also has its start's
 * fields.
 */
#include "event_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/map.h>
#include <core/filter.h>
#include <core/payload.h>

#include "filter_compile.h"

/* The class of an event, and of its start; NULL: not known, or it has more fields than fit. */
struct classes {
	const struct hodo_read_class *own, *begin;
};

/* The program bound to them, and where the fields are. */
struct program {
	struct hodo_filter filter;
	struct hodo_payload payload;
};

struct bound {
	struct classes classes;
	struct program *program;
};

struct hodo_event_filter {
	struct hodo_filter_vars vars; /* first */
	const struct hodo_read_event *event;
	int64_t duration_ns; /* INT64_MIN: not known */
	uint8_t *code;
	size_t len;
	struct hodo_map bound; /* struct bound */
	struct hodo_text both; /* the payloads of an end and its start */
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
	case HODO_FILTER_OFF_CPU:
		*number = e->off_cpu ? (int64_t)e->off_cpu->ns : 0;
		return e->off_cpu != NULL;
	case HODO_FILTER_VARS:
		break;
	}
	return false;
}

int hodo_event_filter_new(struct hodo_event_filter **filter, const char *expr, struct hodo_why *why)
{
	struct hodo_event_filter *f = calloc(1, sizeof(*f));
	uint8_t code[HODO_FILTER_MAX];
	int err = f ? hodo_filter_compile(expr, code, sizeof(code), &f->len, why->text, sizeof(why->text)) : -ENOMEM;

	*filter = NULL;
	if (!err) {
		hodo_hash_seed();
		f->bound = (struct hodo_map)HODO_MAP(struct bound, classes);
		f->code = malloc(f->len);
		err = f->code ? 0 : -ENOMEM;
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
	hodo_text_free(&filter->both);
	free(filter->code);
	free(filter);
}

int hodo_event_filter_fields(const struct hodo_event_filter *filter, struct hodo_pattern_list *list)
{
	return hodo_pattern_add_fields(list, filter->code, filter->len);
}

/* ------------------------------------------------------------------ classes */

/* The i-th field of both; the event's own come first. */
static const struct hodo_read_field *field_at(const struct classes *c, uint32_t i)
{
	return i < c->own->nfields ? &c->own->fields[i] : &c->begin->fields[i - c->own->nfields];
}

struct class_labels {
	struct hodo_filter_labels labels; /* first */
	const struct classes *classes;
};

static bool find_label(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		       int64_t *value)
{
	const struct hodo_read_labels *l = field_at(((const struct class_labels *)labels)->classes, field)->labels;

	for (uint32_t i = 0; l && i < l->n; i++) {
		if (strlen(l->names[i]) == len && memcmp(l->names[i], name, len) == 0) {
			*value = l->values[i];
			return true;
		}
	}
	return false;
}

static struct program *bind_classes(const struct hodo_event_filter *f, const struct classes *c)
{
	struct class_labels labels = { { find_label }, c };
	struct program *bound = malloc(sizeof(*bound));
	const uint32_t nfields = c->own->nfields + (c->begin ? c->begin->nfields : 0);
	const char *names[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];

	for (uint32_t i = 0; i < nfields && i < HODO_FIELDS_MAX; i++) {
		names[i] = field_at(c, i)->name;
		types[i] = (uint8_t)field_at(c, i)->type;
	}
	if (!bound)
		return NULL;
	if (hodo_payload_init(&bound->payload, types, nfields) < 0 ||
	    hodo_filter_bind(&bound->filter, f->code, f->len, nfields, types, names, &labels.labels) != 0)
		bound->filter = hodo_filter_none;
	return bound;
}

/* NULL: no memory. */
static const struct program *program_of(struct hodo_event_filter *f, const struct classes *classes)
{
	struct bound *b = hodo_map_add(&f->bound, classes, NULL);

	if (b && !b->program)
		b->program = bind_classes(f, classes);
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

static int64_t duration_of(const struct hodo_read_event *e)
{
	if (e->cls->kind == HODO_KIND_FUNCTION &&
	    (strcmp(e->cls->name, "func:call") == 0 || strcmp(e->cls->name, "func:held") == 0))
		return ticks_ns(e, "ticks");
	return e->begin ? e->ts_ns - e->begin->ts_ns : INT64_MIN;
}

int hodo_event_filter_takes(struct hodo_event_filter *filter, const struct hodo_read_event *event)
{
	const struct hodo_read_begin *begin = event->begin;
	struct hodo_piece pieces[HODO_PAYLOAD_PIECES_MAX];
	struct classes classes = { event->cls, begin ? begin->cls : NULL };
	const uint8_t *payload = event->payload;
	const struct program *bound;

	if (begin && begin->cls->nfields + event->cls->nfields > HODO_FIELDS_MAX)
		classes.begin = NULL;
	bound = program_of(filter, &classes);
	if (!bound)
		return -ENOMEM;
	if (hodo_filter_never(&bound->filter))
		return 0;
	if (classes.begin) {
		filter->both.len = 0;
		hodo_text_bytes(&filter->both, event->payload, event->payload_bytes);
		hodo_text_bytes(&filter->both, begin->payload, begin->payload_bytes);
		if (filter->both.error)
			return -ENOMEM;
		payload = (const uint8_t *)filter->both.data;
	}
	filter->event = event;
	filter->duration_ns = duration_of(event);
	/* They were decoded, so their sizes fit the data. */
	return hodo_filter_run(&bound->filter, pieces,
			       hodo_payload_pieces(&bound->payload, payload, UINT64_MAX, pieces), &filter->vars);
}
