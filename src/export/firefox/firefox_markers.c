/* SPDX-License-Identifier: MIT */
/* firefox_markers.c - spans, events and marks as markers with their data; counters. */
#define _GNU_SOURCE
#include "firefox_impl.h"

#include <base/vec.h>
#include <errno.h>
#include <math.h>
#include <read/text/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 256u /* of arrays and bytes: a tooltip shows no more */
#define LOST "lost events" /* no event has this name */

/* ------------------------------------------------------------------------ pieces */

void firefox_put_ms(struct firefox *f, const char *key, int64_t ns)
{
	hodo_text_decimal(hodo_json_value(&f->json, key), ns, 6);
}

uint32_t firefox_string(struct firefox *f, const char *text)
{
	uint32_t i = hodo_strings_add(&f->strings, text);

	if (i != HODO_STRINGS_NONE)
		return i;
	hodo_text_fail(f->e->out, -ENOMEM);
	return 0;
}

static const char *format_of(const struct hodo_read_field *field)
{
	if (field->labels)
		return "string";
	switch (field->type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_U8:
	case HODO_TYPE_I16:
	case HODO_TYPE_U16:
	case HODO_TYPE_I32:
	case HODO_TYPE_U32:
		return "integer";
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		return "decimal";
	default: /* 64 bits: too large for JavaScript's numbers */
		return "string";
	}
}

/* The event's name; with a number, if another one with that name has other fields. NULL: no memory. */
static const char *name_type(struct firefox *f, const struct hodo_read_class *cls, uint32_t i)
{
	uint32_t known = f->type_names.map.n, name = hodo_strings_add(&f->type_names, cls->name);

	if (name < known) {
		f->scratch.len = 0;
		hodo_text_printf(&f->scratch, "%s #%u", cls->name, i);
		name = hodo_strings_add(&f->type_names, hodo_text_string(&f->scratch));
	}
	return name == HODO_STRINGS_NONE ? NULL : hodo_strings_at(&f->type_names, name);
}

/* The schema with the same fields and forms; NULL: no memory. Valid until the next call. */
static const struct firefox_schema *schema_of(struct firefox *f, const struct hodo_read_class *cls)
{
	bool is_new;
	struct firefox_class *known = hodo_map_add_u64(&f->classes, (uintptr_t)cls, &is_new);
	struct firefox_schema *schema;

	if (!known)
		return NULL;
	if (!is_new)
		return hodo_map_at(&f->schemas, known->schema);
	f->scratch.len = 0;
	hodo_text_printf(&f->scratch, "%s\n%u", cls->name, cls->kind == HODO_KIND_MARK);
	for (uint32_t k = 0; k < cls->nfields && cls->kind != HODO_KIND_MARK; k++)
		hodo_text_printf(&f->scratch, "\n%s\n%s", cls->fields[k].name, format_of(&cls->fields[k]));
	schema = f->scratch.error ? NULL : hodo_map_add_bytes(&f->schemas, f->scratch.data, f->scratch.len, &is_new);
	if (!schema)
		return NULL;
	known->schema = hodo_map_index(&f->schemas, schema);
	if (is_new) {
		schema->cls = cls;
		schema->name = name_type(f, cls, known->schema);
	}
	return schema->name ? schema : NULL;
}

/* As a string, like print. */
static void put_shown(struct firefox *f, const struct hodo_read_field *field, const struct hodo_read_value *v)
{
	struct hodo_read_value few = *v;

	if (few.type >= HODO_TYPE_STR && few.count > ELEMENTS_MAX)
		few.count = ELEMENTS_MAX;
	f->scratch.len = 0;
	hodo_read_add_value(&f->scratch, field, &few, f->e->text->c);
	hodo_text_fail(&f->text, f->scratch.error);
	hodo_text_json(&f->text, hodo_text_string(&f->scratch), f->scratch.len, HODO_JSON_SCRIPT);
}

static void put_field(struct firefox *f, uint32_t i, const struct hodo_read_field *field,
		      const struct hodo_read_value *v)
{
	struct hodo_text *o = &f->text;
	const char *format = format_of(field);

	if (format[0] == 'd' && !isfinite(v->f))
		return;
	hodo_text_add(o, ",\"f");
	hodo_text_u64(o, i);
	hodo_text_add(o, "\":");
	if (format[0] != 's')
		hodo_read_add_value_json(o, v, f->e->text->c);
	else if (v->type == HODO_TYPE_STR)
		hodo_text_json(o, v->null ? HODO_NULL_TEXT : v->data, v->null ? HODO_NULL_TEXT_LEN - 1 : v->count,
			       HODO_JSON_SCRIPT);
	else
		put_shown(f, field, v);
}

/* Its place + 1, 0 if there is no room; or a negative errno. */
static int64_t put_data(struct firefox *f, const struct hodo_read_event *event)
{
	const struct firefox_schema *schema = schema_of(f, event->cls);
	struct hodo_text *o = &f->text;
	uint64_t start = o->len;

	if (!schema)
		return -ENOMEM;
	if (start > FIREFOX_TEXT_MAX) {
		f->texts_left_out++;
		return 0;
	}
	hodo_text_add(o, "{\"type\":");
	hodo_text_json(o, schema->name, strlen(schema->name), HODO_JSON_SCRIPT);
	if (event->cls->kind == HODO_KIND_MARK) {
		const char *text;
		size_t len;

		text = hodo_export_text(f->e, event, &len, hodo_read_text_mark);
		hodo_text_add(o, ",\"text\":");
		hodo_text_json(o, text, len, HODO_JSON_SCRIPT);
	} else {
		for (uint32_t i = 0; i < event->cls->nfields; i++)
			put_field(f, i, &event->cls->fields[i], &event->values[i]);
	}
	hodo_text_bytes(o, "}", 2); /* with the NUL */
	hodo_text_fail(o, f->e->out->error);
	return o->error ? o->error : (int64_t)start + 1;
}

/* ---------------------------------------------------------------------- collect */

static int add(struct firefox *f, struct firefox_owner *owner, struct firefox_marker marker)
{
	if (f->nmarkers == FIREFOX_MARKERS_MAX) {
		f->markers_left_out++;
		return 0;
	}
	f->nmarkers++;
	return hodo_vec_push(owner->markers, owner->n, marker);
}

static struct firefox_owner *new_owner(struct firefox *f, const struct hodo_track *track)
{
	struct firefox_owner *owner = calloc(1, sizeof(*owner));

	if (owner) {
		owner->track = track;
		*f->last_owner = owner;
		f->last_owner = &owner->next;
	}
	return owner;
}

static int on_track(void *data, struct hodo_track *track)
{
	if (track->kind == HODO_TRACK_CPU)
		return 0;
	track->user = new_owner(data, track);
	return track->user ? 0 : -ENOMEM;
}

static int extra_of(void *data, const struct hodo_slice *slice, const struct hodo_read_event *event, uint32_t *extra)
{
	int64_t place = !slice->place && event ? put_data(data, event) : 0;

	*extra = place > 0 ? (uint32_t)place : 0;
	return place < 0 ? (int)place : 0;
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct firefox *f = data;
	struct firefox_marker m = { .begin_ns = slice->begin_ns, .end_ns = slice->begin_ns };
	struct firefox_owner *owner = slice->track->user;
	bool room = f->nmarkers < FIREFOX_MARKERS_MAX;
	int err;

	if (slice->kind != HODO_SLICE_ASYNC)
		return 0;
	err = room ? extra_of(f, slice, event, &m.data) : 0;
	m.name = firefox_string(f, slice->name);
	if (!err)
		err = add(f, owner, m);
	slice->user = (void *)(uintptr_t)(room ? owner->n : 0);
	return err;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct firefox_owner *owner = slice->track->user;

	if (slice->kind == HODO_SLICE_ASYNC && slice->user)
		owner->markers[(uintptr_t)slice->user - 1].end_ns = slice->end_ns;
	return 0;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct firefox *f = data;
	struct hodo_call_thread *thread = track->user;
	struct firefox_marker m = { .begin_ns = event->ts_ns, .end_ns = INT64_MIN };
	int64_t place;

	if (!thread->user)
		thread->user = new_owner(f, track);
	if (!thread->user)
		return -ENOMEM;
	place = f->nmarkers < FIREFOX_MARKERS_MAX ? put_data(f, event) : 0;
	if (place < 0)
		return (int)place;
	m.data = (uint32_t)place;
	m.name = firefox_string(f, event->cls->name);
	return add(f, thread->user, m);
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	const struct firefox_marker m = { .begin_ns = event->ts_ns, .value = value };

	return add(data, track->user, m);
}

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	struct firefox *f = data;
	struct firefox_marker m = { .begin_ns = loss->from_ns, .end_ns = loss->until_ns };
	struct firefox_owner *owner = f->losses;
	struct hodo_json j = { .text = &f->text };

	/* Those of one process are consecutive. */
	if (!owner || owner->own.process != loss->process)
		f->losses = owner = new_owner(f, NULL);
	if (!owner)
		return -ENOMEM;
	owner->lost = true;
	owner->own = (struct hodo_track){ .process = loss->process, .pid = loss->process->pid, .name = LOST };
	owner->track = &owner->own;
	m.name = firefox_string(f, LOST);
	m.data = (uint32_t)f->text.len + 1;
	hodo_json_object(&j, NULL);
	hodo_json_string(&j, "type", LOST);
	hodo_export_loss(&j, loss);
	hodo_json_end(&j);
	hodo_text_bytes(&f->text, "", 1);
	return f->text.error ? f->text.error : add(f, owner, m);
}

const struct hodo_call_options firefox_options = {
	.group = HODO_CALL_BY_THREAD,
	.lines = true,
	.slices = true,
	.also = { .track = on_track, .begin = on_begin, .end = on_end, .instant = on_instant, .counter = on_counter,
		  .loss = on_loss },
	.extra = extra_of,
};

int firefox_markers_open(void *state, struct hodo_export *e)
{
	struct firefox *f = state;

	f->e = e;
	f->classes = (struct hodo_map)HODO_MAP(struct firefox_class, address);
	f->schemas = (struct hodo_map)HODO_MAP_BYTES(struct firefox_schema);
	f->last_owner = &f->owners;
	return 0;
}

void firefox_markers_free(struct firefox *f)
{
	for (struct firefox_owner *o = f->owners, *next; o; o = next) {
		next = o->next;
		free(o->markers);
		free(o);
	}
	hodo_text_free(&f->text);
	hodo_text_free(&f->scratch);
	hodo_map_free(&f->classes);
	hodo_map_free(&f->schemas);
}

/* ------------------------------------------------------------------------ write */

enum column { DATA, NAME, START, END, PHASE, CATEGORY };

/* Losses may be before the first event, or after the last. */
static void put_time(struct firefox *f, int64_t ns)
{
	const struct hodo_timeline_totals *t = &f->tree->totals;

	firefox_put_ms(f, NULL, ns < t->begin_ns ? 0 : (ns < t->end_ns ? ns : t->end_ns) - t->begin_ns);
}

static void put_cell(struct firefox *f, enum column column, const struct firefox_marker *m)
{
	bool point = m->end_ns == INT64_MIN;

	if (column == DATA)
		hodo_text_add(hodo_json_value(&f->json, NULL), m->data ? f->text.data + m->data - 1 : "null");
	else if (column == NAME)
		hodo_json_u64(&f->json, NULL, m->name);
	else if (column == START)
		put_time(f, m->begin_ns);
	else if (column == END && point)
		hodo_json_null(&f->json, NULL);
	else if (column == END)
		put_time(f, m->end_ns);
	else
		hodo_json_u64(&f->json, NULL, !point); /* a phase; a category */
}

void firefox_put_markers(struct firefox *f, const struct hodo_call_thread *thread, const struct firefox_owner *owner)
{
	static const char *const names[] = { "data", "name", "startTime", "endTime", "phase", "category" };
	uint64_t n = owner ? owner->n : 0;

	hodo_json_object(&f->json, "markers");
	for (unsigned k = DATA; k <= CATEGORY; k++) {
		hodo_json_array(&f->json, names[k]);
		for (uint32_t i = 0; thread && i < thread->nslices; i++) {
			const struct hodo_call_slice *s = &thread->slices[i];
			struct firefox_marker m = { .begin_ns = s->begin_ns, .end_ns = s->end_ns, .data = s->extra };

			if (!s->span)
				continue;
			if (k == NAME)
				m.name = firefox_string(f, f->tree->frames[f->tree->nodes[s->node].frame].name);
			put_cell(f, (enum column)k, &m);
			n += k == DATA;
		}
		for (uint32_t i = 0; owner && i < owner->n; i++)
			put_cell(f, (enum column)k, &owner->markers[i]);
		hodo_json_end(&f->json);
	}
	hodo_json_u64(&f->json, "length", n);
	hodo_json_end(&f->json);
}

static void put_schema_field(struct hodo_json *j, const char *key, const char *label, const char *format)
{
	hodo_json_object(j, NULL);
	hodo_json_string(j, "key", key);
	hodo_json_string(j, "label", label);
	hodo_json_string(j, "format", format);
	hodo_json_end(j);
}

static void begin_schema(struct hodo_json *j, const char *name)
{
	hodo_json_line(j);
	hodo_json_object(j, NULL);
	hodo_json_string(j, "name", name);
	hodo_json_printf(j, "display", "[\"marker-chart\",\"marker-table\",\"timeline-overview\"]");
	hodo_json_array(j, "fields");
}

void firefox_put_schemas(struct firefox *f, struct hodo_json *j)
{
	static const char *const of_loss[][2] = { { "cpu", "CPU" }, { "discarded", "discarded" },
						  { "overwritten", "overwritten" }, { "damaged", "damaged" } };
	char key[16];

	for (uint32_t i = 0; i < f->schemas.n; i++) {
		const struct firefox_schema *schema = hodo_map_at(&f->schemas, i);
		const struct hodo_read_class *cls = schema->cls;

		begin_schema(j, schema->name);
		if (cls->kind == HODO_KIND_MARK)
			put_schema_field(j, "text", "text", "string");
		for (uint32_t k = 0; k < cls->nfields && cls->kind != HODO_KIND_MARK; k++) {
			snprintf(key, sizeof(key), "f%u", k);
			put_schema_field(j, key, cls->fields[k].name, format_of(&cls->fields[k]));
		}
		hodo_json_end(j);
		if (cls->kind == HODO_KIND_MARK)
			hodo_json_string(j, "tableLabel", "{marker.data.text}");
		else if (cls->nfields)
			hodo_json_string(j, "tableLabel", "{marker.data.f0}");
		hodo_json_end(j);
	}
	if (!f->losses)
		return;
	begin_schema(j, LOST);
	for (unsigned i = 0; i < 4; i++)
		put_schema_field(j, of_loss[i][0], of_loss[i][1], "integer");
	hodo_json_end(j);
	hodo_json_end(j);
}

/* A counter's graph adds up changes; the value itself is given besides. */
void firefox_put_counter(struct firefox *f, const struct firefox_owner *counter, uint32_t main_thread)
{
	static const char *const columns[] = { "time", "number", "count" };
	struct hodo_json *j = &f->json;

	hodo_json_object(j, NULL);
	hodo_json_string(j, "name", counter->track->name);
	hodo_json_string(j, "category", "hodo");
	hodo_json_string(j, "description", "");
	hodo_json_printf(j, "pid", "\"%u\"", firefox_pid(counter->track));
	hodo_json_u64(j, "mainThreadIndex", main_thread);
	hodo_json_object(j, "samples");
	for (unsigned k = 0; k < 3; k++) {
		double before = 0;

		hodo_json_array(j, columns[k]);
		for (uint32_t i = 0; i < counter->n; i++) {
			const struct firefox_marker *m = &counter->markers[i];
			double value = isfinite(m->value) ? m->value : before;
			double number = k == 1 ? value : value - before;
			const struct hodo_read_value shown = { .type = HODO_TYPE_F64,
							       .f = isfinite(number) ? number : 0 };

			if (k == 0)
				firefox_put_ms(f, NULL, m->begin_ns - f->tree->totals.begin_ns);
			else
				hodo_read_add_value_json(hodo_json_value(j, NULL), &shown, f->e->text->c);
			before = value;
		}
		hodo_json_end(j);
	}
	hodo_json_u64(j, "length", counter->n);
	hodo_json_end(j);
	hodo_json_object(j, "display");
	hodo_json_string(j, "graphType", "line-accumulated");
	hodo_json_string(j, "unit", "");
	hodo_json_string(j, "color", "blue");
	hodo_json_null(j, "markerSchemaLocation");
	hodo_json_u64(j, "sortWeight", 50);
	hodo_json_string(j, "label", counter->track->name);
	hodo_json_printf(j, "tooltipRows", "[{\"type\":\"value\",\"source\":\"sample-number\","
			 "\"format\":{\"unit\":\"number\"},\"label\":\"value\"}]");
	hodo_json_end(j);
	hodo_json_end(j);
}
