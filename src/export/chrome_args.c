/* SPDX-License-Identifier: MIT */
/* chrome_args.c - names and arguments of Chrome's trace events. */
#define _GNU_SOURCE
#include "chrome_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_ROOM (HODO_FORMAT_FLOAT_MAX + 8) /* of a scalar, quotes and comma */

static bool make_name(struct chrome_name *n, const char *name, const char *category, size_t category_len)
{
	size_t len = strlen(name);
	char *o = n->text = malloc((len + category_len) * HODO_ESCAPED_MAX + 32);

	if (!o)
		return false;
	o = hodo_escape_json(stpcpy(o, ",\"name\":\""), name, len, HODO_JSON_PLAIN);
	o = hodo_escape_json(stpcpy(o, "\",\"cat\":\""), category, category_len, HODO_JSON_PLAIN);
	*o++ = '"';
	n->len = (size_t)(o - n->text);
	return true;
}

const struct chrome_name *chrome_name(struct chrome *c, const struct hodo_slice *slice)
{
	const char *category = slice->kind == HODO_SLICE_CALL ? "func" : slice->cls ? slice->cls->name : "sched";
	struct chrome_name *n = hodo_map_add_u64(&c->names, (uintptr_t)slice->name, NULL);

	if (!n || (!n->text && !make_name(n, slice->name, category, strcspn(category, ":"))))
		return NULL;
	return n;
}

static bool make_field(struct chrome_class *k, const struct hodo_read_class *cls, const struct hodo_read_field *f)
{
	/* Not twice the same key, as that of the mark's text. */
	bool taken = (cls->kind == HODO_KIND_MARK && strcmp(f->name, "text") == 0) ||
		     (cls->ncontext > 0 && strcmp(f->name, "context") == 0);
	struct chrome_name *n = &k->fields[k->nfields];
	size_t len = strlen(f->name), label_len = 0;
	char *o = n->text = malloc(len * HODO_ESCAPED_MAX + 16);

	if (!o)
		return false;
	k->nfields++;
	o = stpcpy(o, taken ? "\"field_" : "\"");
	o = hodo_escape_json(o, f->name, len, HODO_JSON_PLAIN);
	*o++ = '"';
	*o++ = ':';
	n->len = (size_t)(o - n->text);
	for (uint32_t i = 0; f->labels && i < f->labels->n; i++)
		if (strlen(f->labels->names[i]) > label_len)
			label_len = strlen(f->labels->names[i]);
	k->room += n->len + label_len * HODO_ESCAPED_MAX + VALUE_ROOM;
	return true;
}

const struct chrome_class *chrome_class(struct chrome *c, const struct hodo_read_class *cls)
{
	struct chrome_class *k = c->last;

	if (k && k->address == (uintptr_t)cls)
		return k;
	k = hodo_map_add_u64(&c->classes, (uintptr_t)cls, NULL);
	c->last = k && k->name.text ? k : NULL;
	if (!k || k->name.text)
		return k;
	k->fields = calloc(cls->nfields + 1, sizeof(*k->fields));
	for (uint32_t i = 0; k->fields && i < cls->nfields; i++)
		if (!make_field(k, cls, &cls->fields[i]))
			return NULL;
	return k->fields && make_name(&k->name, cls->name, cls->name, strcspn(cls->name, ":")) ? k : NULL;
}

void chrome_free(void *state)
{
	struct chrome *c = state;

	for (uint32_t i = 0; i < c->classes.n; i++) {
		struct chrome_class *k = hodo_map_at(&c->classes, i);

		for (uint32_t f = 0; f < k->nfields; f++)
			free(k->fields[f].text);
		free(k->fields);
		free(k->name.text);
	}
	for (uint32_t i = 0; i < c->names.n; i++)
		free(((struct chrome_name *)hodo_map_at(&c->names, i))->text);
	hodo_map_free(&c->classes);
	hodo_map_free(&c->names);
	hodo_map_free(&c->known);
	hodo_arena_free(&c->memory);
}

/* ----------------------------------------------------------------------- arguments */

static const char *name_at(struct chrome *c, const struct hodo_read_event *event, uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(c->e->symbols, event->process, event->ts_ns, address, &place);
	return place.name;
}

static bool is_function(const struct hodo_read_event *event, uint32_t i)
{
	return event->cls->kind == HODO_KIND_FUNCTION && event->values[i].type == HODO_TYPE_PTR;
}

int chrome_args_room(struct chrome *c, const struct chrome_class *k, const struct hodo_read_event *event, size_t *room)
{
	const struct hodo_read_class *cls = event->cls;
	size_t len;

	*room += k->room + 32;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct hodo_read_value *v = &event->values[i];

		if (is_function(event, i))
			*room += strlen(name_at(c, event, v->u)) * HODO_ESCAPED_MAX;
		else if (v->type & HODO_TYPE_ARRAY)
			*room += (size_t)v->count * VALUE_ROOM;
		else if (v->type >= HODO_TYPE_STR)
			*room += (size_t)v->count * HODO_ESCAPED_MAX;
	}
	if (cls->kind != HODO_KIND_MARK && cls->ncontext == 0)
		return 0;
	/* Both begin with a comma; the mark's text goes in front of the fields, and the context behind them. */
	hodo_read_text_clear(c->e->text);
	if (cls->kind == HODO_KIND_MARK) {
		if (hodo_read_text_mark(c->e->text, event) < 0)
			return -ENOMEM;
		hodo_read_text_data(c->e->text, &c->mark_len);
	}
	if (cls->ncontext > 0 && hodo_read_add_context_json(c->e->text, event) < 0)
		return -ENOMEM;
	hodo_read_text_data(c->e->text, &len);
	*room += len * HODO_ESCAPED_MAX + 16;
	return 0;
}

static char *put_value(struct chrome *c, char *o, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	const char *label = f->labels && v->type < HODO_TYPE_STR ? hodo_read_label(f->labels, v->i) : NULL;

	if (!label && v->type != HODO_TYPE_PTR)
		return hodo_read_put_value_json(o, v, c->e->c);
	*o++ = '"';
	o = label ? hodo_escape_json(o, label, strlen(label), HODO_JSON_PLAIN) : hodo_format_hex(stpcpy(o, "0x"), v->u);
	*o++ = '"';
	return o;
}

char *chrome_args(struct chrome *c, char *o, const struct chrome_class *k, const struct hodo_read_event *event)
{
	const struct hodo_read_class *cls = event->cls;
	bool mark = cls->kind == HODO_KIND_MARK;
	size_t len = 0, mark_len = mark ? c->mark_len : 0;
	const char *text = mark || cls->ncontext > 0 ? hodo_read_text_data(c->e->text, &len) : NULL;
	char *start;

	if (cls->nfields == 0 && len == 0)
		return o;
	o = start = stpcpy(o, ",\"args\":{");
	if (mark) {
		o = hodo_escape_json(stpcpy(o, "\"text\":\""), text, mark_len, HODO_JSON_PLAIN);
		*o++ = '"';
	}
	for (uint32_t i = 0; i < cls->nfields; i++) {
		if (o > start)
			*o++ = ',';
		o = (char *)mempcpy(o, k->fields[i].text, k->fields[i].len);
		if (is_function(event, i)) {
			const char *name = name_at(c, event, event->values[i].u);

			*o++ = '"';
			o = hodo_escape_json(o, name, strlen(name), HODO_JSON_PLAIN);
			*o++ = '"';
		} else {
			o = put_value(c, o, &cls->fields[i], &event->values[i]);
		}
	}
	if (len > mark_len) {
		size_t comma = o == start; /* nothing stands before it */

		o = (char *)mempcpy(o, text + mark_len + comma, len - mark_len - comma);
	}
	*o++ = '}';
	return o;
}
