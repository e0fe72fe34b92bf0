/* SPDX-License-Identifier: MIT */
/*
 * event_filter.c - a filter's expression on events that are read.
 *
 * Bound once to each class of events. Begins of spans and functions wait in a table for their ends,
 * if the expression asks for $duration: scopes and functions by thread, other spans by their id.
 */
#include "event_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/fields.h>
#include <core/filter.h>

#include "filter_compile.h"

#define ROOM_MIN 64u

/* A class, and the program bound to it. */
struct bound {
	const struct hodo_read_class *cls;
	struct hodo_filter *filter;
};

/* A begin; of those with one key the latest comes first. */
struct begin {
	uint64_t key;
	int64_t ts_ns;
	bool used;
};

struct hodo_event_filter {
	struct hodo_filter_vars vars; /* first */
	const struct hodo_read_event *event;
	int64_t duration_ns; /* INT64_MIN: not known */
	uint8_t *code;
	size_t len;
	bool timed; /* $duration is asked for */
	struct bound *bound; /* hashed by cls; rooms are 2^n, half free at least */
	size_t nbound, bound_room;
	struct begin *begin; /* hashed by key */
	size_t nbegin, begin_room;
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
		f->code = malloc(f->len);
		f->bound = calloc(ROOM_MIN, sizeof(*f->bound));
		f->begin = calloc(ROOM_MIN, sizeof(*f->begin));
		f->bound_room = f->begin_room = ROOM_MIN;
		if (!f->code || !f->bound || !f->begin)
			err = -ENOMEM;
	}
	if (err) {
		hodo_event_filter_free(f);
		return err;
	}
	memcpy(f->code, code, f->len);
	f->vars.get = get_var;
	f->timed = hodo_filter_names_var(f->code, HODO_FILTER_DURATION);
	*filter = f;
	return 0;
}

void hodo_event_filter_free(struct hodo_event_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->bound_room && filter->bound; i++)
		free(filter->bound[i].filter);
	free(filter->bound);
	free(filter->begin);
	free(filter->code);
	free(filter);
}

static uint64_t mixed(uint64_t v)
{
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
	return v ^ (v >> 31);
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

static struct hodo_filter *bind_class(const struct hodo_event_filter *f, const struct hodo_read_class *cls)
{
	struct class_labels labels = { { find_label }, cls };
	struct hodo_filter *bound = malloc(sizeof(*bound));
	const char *names[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];

	for (uint32_t i = 0; i < cls->nfields && i < HODO_FIELDS_MAX; i++) {
		names[i] = cls->fields[i].name;
		types[i] = (uint8_t)cls->fields[i].type;
	}
	if (bound && hodo_filter_bind(bound, f->code, f->len, cls->nfields, types, names, &labels.labels) != 0)
		*bound = hodo_filter_none;
	return bound;
}

static struct bound *find_class(struct bound *table, size_t room, const struct hodo_read_class *cls)
{
	size_t i = mixed((uintptr_t)cls) & (room - 1);

	while (table[i].cls && table[i].cls != cls)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static const struct hodo_filter *filter_of(struct hodo_event_filter *f, const struct hodo_read_class *cls)
{
	struct bound *b = find_class(f->bound, f->bound_room, cls), *grown;

	if (b->cls)
		return b->filter;
	if (f->nbound >= f->bound_room / 2) {
		grown = calloc(2 * f->bound_room, sizeof(*grown));
		if (!grown)
			return NULL;
		for (size_t i = 0; i < f->bound_room; i++)
			if (f->bound[i].cls)
				*find_class(grown, 2 * f->bound_room, f->bound[i].cls) = f->bound[i];
		free(f->bound);
		f->bound = grown;
		f->bound_room *= 2;
		b = find_class(f->bound, f->bound_room, cls);
	}
	b->filter = bind_class(f, cls);
	if (!b->filter)
		return NULL;
	b->cls = cls;
	f->nbound++;
	return b->filter;
}

/* Of a text at p, whose length stands before it. */
static size_t text_bytes(const uint8_t *p)
{
	uint16_t len;

	memcpy(&len, p - sizeof(len), sizeof(len));
	return len;
}

/* The event's payload in the pieces that it was written from; how many. */
static size_t pieces_of(const struct hodo_read_event *e, struct hodo_piece *pieces)
{
	const uint8_t *run = e->payload, *p = run;
	size_t n = 0;

	for (uint32_t i = 0; i < e->cls->nfields; i++) {
		uint8_t type = (uint8_t)e->cls->fields[i].type;
		size_t element = hodo_fields_element_size(type);

		p += hodo_fields_fixed_size(type);
		if (!element)
			continue;
		pieces[n++] = (struct hodo_piece){ run, (size_t)(p - run) };
		/* The values were decoded from this payload: their sizes fit it. A text's ends at its first NUL. */
		pieces[n] = (struct hodo_piece){ p, element * e->values[i].count };
		if (type == HODO_TYPE_STR)
			pieces[n].len = text_bytes(p);
		p += pieces[n++].len;
		run = p;
	}
	if (p > run)
		pieces[n++] = (struct hodo_piece){ run, (size_t)(p - run) };
	return n;
}

/* ---------------------------------------------------------------- durations */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

/* The first field, by which HODO_BEGIN and HODO_END are paired, whatever its size. */
static uint64_t id_of(const struct hodo_read_event *e)
{
	const struct hodo_read_value *v = e->values;

	if (e->cls->nfields == 0)
		return 0;
	if (v->type >= HODO_TYPE_STR)
		return hash_bytes(0, v->data, v->count);
	return mixed(v->u);
}

static const struct hodo_read_value *value_of(const struct hodo_read_event *e, const char *field)
{
	for (uint32_t i = 0; i < e->cls->nfields; i++)
		if (strcmp(e->cls->fields[i].name, field) == 0)
			return &e->values[i];
	return NULL;
}

enum place { NEITHER, BEGINS, ENDS };

/* Whether the event begins or ends what takes time, and which. */
static enum place place_of(const struct hodo_read_event *e, uint64_t *key)
{
	const char *name = e->cls->name;
	size_t len = strlen(name);
	const struct hodo_read_value *frame;
	uint64_t who = mixed(e->tid);
	bool ends = e->cls->kind == HODO_KIND_SPAN_END || e->cls->kind == HODO_KIND_END;

	switch (e->cls->kind) {
	case HODO_KIND_BEGIN:
	case HODO_KIND_END:
		who = id_of(e);
		break;
	case HODO_KIND_SPAN_BEGIN:
	case HODO_KIND_SPAN_END:
		break;
	case HODO_KIND_FUNCTION:
		ends = strcmp(name, "func:exit") == 0;
		frame = value_of(e, "frame");
		if (!frame || (!ends && strcmp(name, "func:entry") != 0))
			return NEITHER;
		*key = mixed(frame->u + mixed(who + (uintptr_t)e->process)) | 1;
		return ends ? ENDS : BEGINS;
	default:
		return NEITHER;
	}
	len -= ends ? 4 : 6;
	*key = mixed(hash_bytes(who, name, len) + (uintptr_t)e->process) | 1;
	return ends ? ENDS : BEGINS;
}

static int64_t *add_begin(struct begin *table, size_t room, uint64_t key)
{
	size_t i = mixed(key) & (room - 1);

	while (table[i].used)
		i = (i + 1) & (room - 1);
	table[i].used = true;
	table[i].key = key;
	return &table[i].ts_ns;
}

/* Makes room, by leaving out what has ended and, if that is not much, by a larger table. */
static int grow_begins(struct hodo_event_filter *f)
{
	size_t room = f->begin_room, kept = 0, first = 0;
	struct begin *grown;

	for (size_t i = 0; i < room; i++)
		kept += f->begin[i].used && f->begin[i].key;
	if (kept > room / 4)
		room *= 2;
	grown = calloc(room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	/* From a free place on, so that those of one key stay in their order. */
	while (f->begin[first].used)
		first++;
	for (size_t i = 0; i < f->begin_room; i++) {
		const struct begin *b = &f->begin[(first + i) & (f->begin_room - 1)];

		if (b->used && b->key)
			*add_begin(grown, room, b->key) = b->ts_ns;
	}
	free(f->begin);
	f->begin = grown;
	f->begin_room = room;
	f->nbegin = kept;
	return 0;
}

static int note_begin(struct hodo_event_filter *f, uint64_t key, int64_t ts_ns)
{
	if (f->nbegin >= f->begin_room / 2 && grow_begins(f) < 0)
		return -ENOMEM;
	*add_begin(f->begin, f->begin_room, key) = ts_ns;
	f->nbegin++;
	return 0;
}

/* Takes the latest begin of that key out. */
static int64_t take_begin(struct hodo_event_filter *f, uint64_t key, int64_t now_ns)
{
	size_t i = mixed(key) & (f->begin_room - 1);
	struct begin *latest = NULL;

	for (; f->begin[i].used; i = (i + 1) & (f->begin_room - 1))
		if (f->begin[i].key == key)
			latest = &f->begin[i];
	if (!latest)
		return INT64_MIN;
	latest->key = 0; /* its place stays taken, so that others behind it are found */
	return now_ns - latest->ts_ns;
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
	uint64_t key;

	f->duration_ns = INT64_MIN;
	if (!f->timed)
		return 0;
	if (e->cls->kind == HODO_KIND_FUNCTION &&
	    (strcmp(e->cls->name, "func:call") == 0 || strcmp(e->cls->name, "func:held") == 0)) {
		f->duration_ns = ticks_ns(e, "ticks");
		return 0;
	}
	switch (place_of(e, &key)) {
	case BEGINS:
		return note_begin(f, key, e->ts_ns);
	case ENDS:
		f->duration_ns = take_begin(f, key, e->ts_ns);
		return 0;
	case NEITHER:
		break;
	}
	return 0;
}

int hodo_event_filter_takes(struct hodo_event_filter *filter, const struct hodo_read_event *event)
{
	struct hodo_piece pieces[2 * HODO_FIELDS_MAX + 1];
	const struct hodo_filter *bound = filter_of(filter, event->cls);
	int err = find_duration(filter, event);

	if (!bound || err)
		return -ENOMEM;
	filter->event = event;
	if (hodo_filter_never(bound))
		return 0;
	return hodo_filter_run(bound, pieces, pieces_of(event, pieces), &filter->vars);
}
