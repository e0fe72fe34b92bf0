/* SPDX-License-Identifier: MIT */
/* firefox_markers.c - spans, events and marks as markers, and what they say; counters. */
#define _GNU_SOURCE
#include "firefox_impl.h"

#include <errno.h>
#include <math.h>
#include <read/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 256u /* of arrays and bytes: a tooltip shows no more */
#define LOST "lost events" /* no event is called so */

/* ---------------------------------------------------------------- what they say */

static int append(void *data, const void *bytes, size_t len)
{
	struct firefox *f = data;

	if (f->text_room - f->text_len < len) {
		size_t room = 2 * (f->text_room + len);
		char *more = realloc(f->text, room);

		if (!more)
			return -ENOMEM;
		f->text = more;
		f->text_room = room;
	}
	memcpy(f->text + f->text_len, bytes, len);
	f->text_len += len;
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
	default: /* of 64 bits: a number of JavaScript's does not hold them all */
		return "string";
	}
}

/* The event's name; with a number, if another one of that name says something else. */
static bool name_type(struct firefox *f, const struct hodo_read_class *cls, uint32_t i)
{
	uint32_t known = f->type_names.n, name;
	char *numbered;

	if (i >= f->schemas_room) {
		uint32_t room = 2 * i + 64;
		struct firefox_schema *more = reallocarray(f->schemas, room, sizeof(*more));

		if (!more)
			return false;
		memset(more + f->schemas_room, 0, (room - f->schemas_room) * sizeof(*more));
		f->schemas = more;
		f->schemas_room = room;
	}
	if (f->schemas[i].cls)
		return true;
	name = hodo_strings_add(&f->type_names, cls->name);
	if (name < known && asprintf(&numbered, "%s #%u", cls->name, i) >= 0) {
		name = hodo_strings_add(&f->type_names, numbered);
		free(numbered);
	}
	if (name == HODO_STRINGS_NONE)
		return false;
	f->schemas[i] = (struct firefox_schema){ cls, f->type_names.text[name] };
	return true;
}

/* The number of what says the same in the same way; NONE: no memory. */
static uint32_t type_of(struct firefox *f, const struct hodo_read_class *cls)
{
	void **known = hodo_pointer_map_at(&f->classes, cls);
	char *key = NULL;
	size_t len = 0;
	FILE *stream;
	uint32_t i;

	if (known && *known)
		return (uint32_t)(uintptr_t)*known - 1;
	stream = known ? open_memstream(&key, &len) : NULL;
	if (!stream)
		return HODO_STRINGS_NONE;
	fprintf(stream, "%s\n%u", cls->name, cls->kind == HODO_KIND_MARK);
	for (uint32_t k = 0; k < cls->nfields && cls->kind != HODO_KIND_MARK; k++)
		fprintf(stream, "\n%s\n%s", cls->fields[k].name, format_of(&cls->fields[k]));
	i = fclose(stream) == 0 ? hodo_strings_add(&f->types, key) : HODO_STRINGS_NONE;
	free(key);
	if (i == HODO_STRINGS_NONE)
		return i;
	if (!name_type(f, cls, i))
		return HODO_STRINGS_NONE;
	*known = (void *)(uintptr_t)(i + 1);
	return i;
}

/* As a string, as print shows it. */
static int put_shown(struct firefox *f, const struct hodo_read_field *field, const struct hodo_read_value *v)
{
	const char *label = field->labels ? hodo_read_label(field->labels, v->i) : NULL;
	struct hodo_read_value few = *v;
	size_t room;
	char *end;

	if (few.type >= HODO_TYPE_STR && few.count > ELEMENTS_MAX)
		few.count = ELEMENTS_MAX;
	room = ELEMENTS_MAX * (PUT_FLOAT_MAX + 2) + 64 + (label ? strlen(label) * PUT_ESCAPED : 0);
	if (room > f->scratch_room) {
		free(f->scratch);
		f->scratch = malloc(room);
		f->scratch_room = f->scratch ? room : 0;
		if (!f->scratch)
			return -ENOMEM;
	}
	end = hodo_read_put_value(f->scratch, field, &few, f->c);
	hodo_export_put_json(&f->text_out, f->scratch, (size_t)(end - f->scratch));
	return 0;
}

static int put_field(struct firefox *f, uint32_t i, const struct hodo_read_field *field,
		     const struct hodo_read_value *v)
{
	struct hodo_export_out *o = &f->text_out;
	const char *format = format_of(field);
	char number[PUT_FLOAT_MAX + 8];

	if (format[0] == 'd' && !isfinite(v->f))
		return 0;
	hodo_export_printf(o, ",\"f%u\":", i);
	if (format[0] != 's')
		hodo_export_put(o, number, (size_t)(hodo_read_put_value_json(number, v, f->c) - number));
	else if (v->type == HODO_TYPE_STR)
		hodo_export_put_json(o, v->null ? HODO_NULL_TEXT : v->data,
				     v->null ? HODO_NULL_TEXT_LEN - 1 : v->count);
	else
		return put_shown(f, field, v);
	return 0;
}

/* Its place + 1, 0 if there is no room; or a negative errno. */
static int64_t put_data(struct firefox *f, const struct hodo_read_event *event)
{
	struct hodo_export_out *o = &f->text_out;
	uint64_t start = o->written;
	uint32_t type = type_of(f, event->cls);
	int err = 0;

	if (type == HODO_STRINGS_NONE)
		return -ENOMEM;
	if (start > FIREFOX_TEXT_MAX) {
		f->texts_left_out++;
		return 0;
	}
	hodo_export_puts(o, "{\"type\":");
	hodo_export_put_json(o, f->schemas[type].name, strlen(f->schemas[type].name));
	if (event->cls->kind == HODO_KIND_MARK) {
		const char *text;
		size_t len;

		hodo_read_text_clear(f->mark);
		err = hodo_read_text_mark(f->mark, event);
		text = hodo_read_text_data(f->mark, &len);
		hodo_export_puts(o, ",\"text\":");
		hodo_export_put_json(o, text, len);
	} else {
		for (uint32_t i = 0; i < event->cls->nfields && !err; i++)
			err = put_field(f, i, &event->cls->fields[i], &event->values[i]);
	}
	hodo_export_put(o, "}", 2); /* with the NUL */
	return err ? err : o->error ? o->error : (int64_t)start + 1;
}

/* ---------------------------------------------------------------------- collect */

static int add(struct firefox *f, struct firefox_owner *owner, const struct firefox_marker *marker)
{
	if (f->nmarkers == FIREFOX_MARKERS_MAX) {
		f->markers_left_out++;
		return 0;
	}
	if (f->nmarkers == f->markers_room) {
		uint32_t room = f->markers_room ? 2 * f->markers_room : 256;
		struct firefox_marker *more = reallocarray(f->markers, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->markers = more;
		f->markers_room = room;
	}
	f->markers[f->nmarkers++] = *marker;
	if (owner->last)
		f->markers[owner->last - 1].next = f->nmarkers;
	else
		owner->first = f->nmarkers;
	owner->last = f->nmarkers;
	owner->n++;
	return 0;
}

static struct firefox_owner *new_owner(struct firefox_owner ***last, const struct hodo_track *track)
{
	struct firefox_owner *owner = calloc(1, sizeof(*owner));

	if (owner) {
		owner->track = track;
		**last = owner;
		*last = &owner->next;
	}
	return owner;
}

static int on_track(void *data, struct hodo_track *track)
{
	struct firefox *f = data;

	if (track->kind == HODO_TRACK_ASYNC)
		track->user = new_owner(&f->last_async, track);
	else if (track->kind == HODO_TRACK_COUNTER)
		track->user = new_owner(&f->last_counter, track);
	else
		return 0;
	return track->user ? 0 : -ENOMEM;
}

int firefox_extra(void *data, const struct hodo_slice *slice, const struct hodo_read_event *event, uint32_t *extra)
{
	int64_t place = !slice->place && event ? put_data(data, event) : 0;

	*extra = place > 0 ? (uint32_t)place : 0;
	return place < 0 ? (int)place : 0;
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct firefox *f = data;
	struct firefox_marker m = { .begin_ns = slice->begin_ns, .end_ns = slice->begin_ns };
	uint32_t extra, n = f->nmarkers;
	int err;

	if (slice->kind != HODO_SLICE_ASYNC)
		return 0;
	err = n < FIREFOX_MARKERS_MAX ? firefox_extra(f, slice, event, &extra) : 0;
	if (err)
		return err;
	m.data = n < FIREFOX_MARKERS_MAX ? extra : 0;
	m.name = firefox_string(f, slice->name);
	err = add(f, slice->track->user, &m);
	slice->user = (void *)(uintptr_t)(f->nmarkers > n ? f->nmarkers : 0);
	return err;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct firefox *f = data;

	(void)event;
	if (slice->kind == HODO_SLICE_ASYNC && slice->user)
		f->markers[(uintptr_t)slice->user - 1].end_ns = slice->end_ns;
	return 0;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct firefox *f = data;
	struct hodo_call_thread *thread = track->user;
	struct firefox_marker m = { .begin_ns = event->ts_ns, .end_ns = INT64_MIN };
	int64_t place;

	(void)depth;
	if (!thread->user) {
		struct firefox_owner *owner = calloc(1, sizeof(*owner));

		if (!owner)
			return -ENOMEM;
		owner->track = track;
		owner->next = f->threads;
		f->threads = owner;
		thread->user = owner;
	}
	place = f->nmarkers < FIREFOX_MARKERS_MAX ? put_data(f, event) : 0;
	if (place < 0)
		return (int)place;
	m.data = (uint32_t)place;
	m.name = firefox_string(f, event->cls->name);
	return add(f, thread->user, &m);
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	const struct firefox_marker m = { .begin_ns = event->ts_ns, .value = value };

	return add(data, track->user, &m);
}

const struct hodo_story_ops firefox_ops = { .track = on_track, .begin = on_begin, .end = on_end, .instant = on_instant,
					    .counter = on_counter };

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	struct firefox *f = data;
	struct firefox_marker m = { .begin_ns = loss->from_ns, .end_ns = loss->until_ns };
	struct firefox_owner *owner;
	void **known;

	if (f->e->until_ns != 0 && (loss->until_ns < f->e->since_ns || loss->from_ns >= f->e->until_ns))
		return 0;
	known = hodo_pointer_map_at(&f->lossy, loss->process);
	if (known && !*known)
		*known = new_owner(&f->last_loss, NULL);
	if (!known || !*known)
		return -ENOMEM;
	owner = *known;
	owner->own = (struct hodo_track){ .process = loss->process, .pid = loss->process->pid, .name = LOST };
	owner->track = &owner->own;
	m.name = firefox_string(f, LOST);
	m.data = (uint32_t)f->text_out.written + 1;
	hodo_export_printf(&f->text_out, "{\"type\":\"" LOST "\",\"cpu\":%d,\"discarded\":%llu,\"overwritten\":%llu,"
			   "\"damaged\":%llu}", loss->stream->cpu, (unsigned long long)loss->discarded,
			   (unsigned long long)loss->overwritten, (unsigned long long)loss->damaged);
	hodo_export_put(&f->text_out, "", 1);
	return f->text_out.error ? f->text_out.error : add(f, owner, &m);
}

int firefox_losses(struct firefox *f)
{
	return hodo_read_losses(f->e->reader, on_loss, f);
}

int firefox_markers_open(struct firefox *f)
{
	hodo_export_out_init(&f->text_out, append, f);
	f->last_async = &f->async;
	f->last_counter = &f->counters;
	f->last_loss = &f->losses;
	f->mark = hodo_read_text_new();
	f->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return f->mark && f->c ? 0 : -ENOMEM;
}

void firefox_markers_free(struct firefox *f)
{
	struct firefox_owner *lists[] = { f->threads, f->async, f->counters, f->losses };

	for (unsigned i = 0; i < 4; i++) {
		for (struct firefox_owner *o = lists[i], *next; o; o = next) {
			next = o->next;
			free(o);
		}
	}
	hodo_export_out_free(&f->text_out);
	hodo_pointer_map_free(&f->classes, NULL);
	hodo_pointer_map_free(&f->lossy, NULL);
	hodo_read_text_free(f->mark);
	if (f->c)
		freelocale(f->c);
	free(f->schemas);
	free(f->markers);
	free(f->scratch);
	free(f->text);
}

/* ------------------------------------------------------------------------ write */

enum column { DATA, NAME, START, END, PHASE, CATEGORY };

/* What was lost may have been before the first event, or behind the last. */
static void put_time(struct firefox *f, int64_t ns)
{
	const struct hodo_story_totals *t = &f->tree->totals;

	firefox_put_ms(f->out, ns < t->begin_ns ? 0 : (ns < t->end_ns ? ns : t->end_ns) - t->begin_ns);
}

static void put_cell(struct firefox *f, enum column column, const struct firefox_marker *m)
{
	bool point = m->end_ns == INT64_MIN;

	firefox_comma(f);
	switch (column) {
	case DATA:
		hodo_export_puts(f->out, m->data ? f->text + m->data - 1 : "null");
		break;
	case NAME:
		hodo_export_put_u64(f->out, m->name);
		break;
	case START:
		put_time(f, m->begin_ns);
		break;
	case END:
		if (point)
			hodo_export_puts(f->out, "null");
		else
			put_time(f, m->end_ns);
		break;
	case PHASE:
		hodo_export_put(f->out, point ? "0" : "1", 1);
		break;
	default:
		hodo_export_put(f->out, point ? "0" : "1", 1);
	}
}

void firefox_put_markers(struct firefox *f, const struct hodo_call_thread *thread, const struct firefox_owner *owner)
{
	static const char *const names[] = { "data", "name", "startTime", "endTime", "phase", "category" };
	uint64_t n = owner ? owner->n : 0;

	hodo_export_puts(f->out, ",\"markers\":{");
	for (unsigned k = DATA; k <= CATEGORY; k++) {
		hodo_export_puts(f->out, k ? "]," : "");
		hodo_export_printf(f->out, "\"%s\":[", names[k]);
		f->first = true;
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
		for (uint32_t i = owner ? owner->first : 0; i; i = f->markers[i - 1].next)
			put_cell(f, (enum column)k, &f->markers[i - 1]);
	}
	hodo_export_printf(f->out, "],\"length\":%llu}", (unsigned long long)n);
}

void firefox_put_schemas(struct firefox *f)
{
	for (uint32_t i = 0; i < f->types.n; i++) {
		const struct hodo_read_class *cls = f->schemas[i].cls;

		hodo_export_puts(f->out, i ? ",\n{\"name\":" : "\n{\"name\":");
		hodo_export_put_json(f->out, f->schemas[i].name, strlen(f->schemas[i].name));
		hodo_export_puts(f->out, ",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
					 "\"fields\":[");
		if (cls->kind == HODO_KIND_MARK)
			hodo_export_puts(f->out, "{\"key\":\"text\",\"label\":\"text\",\"format\":\"string\"}");
		for (uint32_t k = 0; k < cls->nfields && cls->kind != HODO_KIND_MARK; k++) {
			hodo_export_printf(f->out, "%s{\"key\":\"f%u\",\"label\":", k ? "," : "", k);
			hodo_export_put_json(f->out, cls->fields[k].name, strlen(cls->fields[k].name));
			hodo_export_printf(f->out, ",\"format\":\"%s\"}", format_of(&cls->fields[k]));
		}
		hodo_export_puts(f->out, "]");
		if (cls->kind == HODO_KIND_MARK)
			hodo_export_puts(f->out, ",\"tableLabel\":\"{marker.data.text}\"");
		else if (cls->nfields)
			hodo_export_puts(f->out, ",\"tableLabel\":\"{marker.data.f0}\"");
		hodo_export_puts(f->out, "}");
	}
	if (!f->losses)
		return;
	hodo_export_puts(f->out, f->types.n ? ",\n" : "\n");
	hodo_export_puts(f->out, "{\"name\":\"" LOST "\",\"display\":[\"marker-chart\",\"marker-table\","
				 "\"timeline-overview\"],\"fields\":["
				 "{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"},"
				 "{\"key\":\"discarded\",\"label\":\"discarded\",\"format\":\"integer\"},"
				 "{\"key\":\"overwritten\",\"label\":\"overwritten\",\"format\":\"integer\"},"
				 "{\"key\":\"damaged\",\"label\":\"damaged\",\"format\":\"integer\"}]}");
}

static void put_double(struct firefox *f, double value)
{
	struct hodo_read_value v = { .type = HODO_TYPE_F64, .f = isfinite(value) ? value : 0 };
	char number[PUT_FLOAT_MAX + 8];

	hodo_export_put(f->out, number, (size_t)(hodo_read_put_value_json(number, &v, f->c) - number));
}

/* What a counter's graph adds up is what it has changed by; its value is told beside that. */
void firefox_put_counter(struct firefox *f, const struct firefox_owner *counter, uint32_t main_thread)
{
	const char *name = counter->track->name;
	static const char *const columns[] = { "time", "number", "count" };

	hodo_export_puts(f->out, "{\"name\":");
	hodo_export_put_json(f->out, name, strlen(name));
	hodo_export_puts(f->out, ",\"category\":\"hodo\",\"description\":\"\",\"pid\":\"");
	hodo_export_put_u64(f->out, counter->track->pid);
	hodo_export_printf(f->out, "\",\"mainThreadIndex\":%u,\"samples\":{", main_thread);
	for (unsigned k = 0; k < 3; k++) {
		double before = 0;

		hodo_export_printf(f->out, "%s\"%s\":[", k ? "]," : "", columns[k]);
		f->first = true;
		for (uint32_t i = counter->first; i; i = f->markers[i - 1].next) {
			const struct firefox_marker *m = &f->markers[i - 1];
			double value = isfinite(m->value) ? m->value : before;

			firefox_comma(f);
			if (k == 0)
				firefox_put_ms(f->out, m->begin_ns - f->tree->totals.begin_ns);
			else
				put_double(f, k == 1 ? value : value - before);
			before = value;
		}
	}
	hodo_export_printf(f->out, "],\"length\":%u},\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"\","
			   "\"color\":\"blue\",\"markerSchemaLocation\":null,\"sortWeight\":50,\"label\":", counter->n);
	hodo_export_put_json(f->out, name, strlen(name));
	hodo_export_puts(f->out, ",\"tooltipRows\":[{\"type\":\"value\",\"source\":\"sample-number\","
				 "\"format\":{\"unit\":\"number\"},\"label\":\"value\"}]}}");
}
