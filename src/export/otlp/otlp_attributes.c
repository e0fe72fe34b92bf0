/* SPDX-License-Identifier: MIT */
/* otlp_attributes.c - what an event says, as attributes: fields, a mark's text, the context. */
#define _GNU_SOURCE
#include "otlp_impl.h"

#include <base/escape.h>
#include <base/number.h>
#include <core/fields.h>
#include <errno.h>
#include <read/event/fields.h>
#include <read/text/text.h>
#include <stdio.h>

void otlp_attributes_begin(struct otlp_attributes *a, struct hodo_export *e)
{
	hodo_arena_clear(&a->texts);
	a->e = e;
	a->n = 0;
}

void otlp_attributes_free(struct otlp_attributes *a)
{
	hodo_arena_free(&a->texts);
}

static void *room(struct otlp_attributes *a, size_t len)
{
	void *to = hodo_arena_alloc(&a->texts, len);

	if (!to)
		hodo_text_fail(a->e->out, -ENOMEM);
	return to;
}

char *otlp_text(struct otlp_attributes *a, const char *text, size_t len)
{
	char *to;

	if (len > OTLP_TEXT_MAX) {
		/* Not within a character: what would follow belongs to the same one. */
		for (len = OTLP_TEXT_MAX; len > OTLP_TEXT_MAX - 4 && ((uint8_t)text[len] & 0xc0) == 0x80;)
			len--;
	}
	to = room(a, 2 * len + 1);
	if (to)
		*hodo_escape_utf8(to, text, len, 0) = 0;
	return to;
}

/* A new one; NULL: there are as many as there may be. */
static Otlp__AnyValue *add(struct otlp_attributes *a, const char *key)
{
	Otlp__KeyValue *pair = &a->pairs[a->n];

	if (a->n == OTLP_ATTRIBUTES_MAX)
		return NULL;
	*pair = (Otlp__KeyValue)OTLP__KEY_VALUE__INIT;
	pair->key = otlp_text(a, key, strnlen(key, HODO_NAME_MAX));
	pair->value = &a->values[a->n];
	*pair->value = (Otlp__AnyValue)OTLP__ANY_VALUE__INIT;
	a->list[a->n++] = pair;
	return pair->value;
}

static void set_text(Otlp__AnyValue *to, char *text)
{
	to->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	to->string_value = text;
}

static void set_int(Otlp__AnyValue *to, int64_t number)
{
	to->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	to->int_value = number;
}

void otlp_add_text(struct otlp_attributes *a, const char *key, const char *text, size_t len)
{
	Otlp__AnyValue *value = add(a, key);

	if (value)
		set_text(value, otlp_text(a, text, len));
}

void otlp_add_number(struct otlp_attributes *a, const char *key, int64_t number)
{
	Otlp__AnyValue *value = add(a, key);

	if (value)
		set_int(value, number);
}

/* ------------------------------------------------------------------------- values */

/* An address, or a number that has no place in 64 bits with a sign. */
static void set_number_text(struct otlp_attributes *a, Otlp__AnyValue *to, uint64_t v, bool hex)
{
	char *text = room(a, HODO_FORMAT_INTEGER_MAX + 3);

	if (!text)
		return;
	*(hex ? hodo_format_hex(stpcpy(text, "0x"), v) : hodo_format_u64(text, v)) = 0;
	set_text(to, text);
}

static void set_scalar(struct otlp_attributes *a, Otlp__AnyValue *to, const struct hodo_read_value *v)
{
	switch (v->type) {
	case HODO_TYPE_BOOL:
		to->value_case = OTLP__ANY_VALUE__VALUE_BOOL_VALUE;
		to->bool_value = v->u != 0;
		break;
	case HODO_TYPE_PTR:
		set_number_text(a, to, v->u, true);
		break;
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		to->value_case = OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE;
		to->double_value = v->f;
		break;
	default:
		if (v->type == HODO_TYPE_U64 && v->u > INT64_MAX)
			set_number_text(a, to, v->u, false);
		else
			set_int(to, v->i);
	}
}

/* The i-th of an array's elements. */
static struct hodo_read_value element(const struct hodo_read_value *v, uint32_t i)
{
	uint8_t type = v->type & (uint8_t)~HODO_TYPE_ARRAY;
	const uint8_t *p = (const uint8_t *)v->data + (size_t)i * hodo_fields_fixed_size(type);
	struct hodo_read_value one = { .type = type };
	float single;

	if (type == HODO_TYPE_F32) {
		memcpy(&single, p, sizeof(single));
		one.f = (double)single;
	} else if (type == HODO_TYPE_F64) {
		memcpy(&one.f, p, sizeof(one.f));
	} else {
		one.i = hodo_fields_integer(type, p);
	}
	return one;
}

static void set_array(struct otlp_attributes *a, Otlp__AnyValue *to, const struct hodo_read_value *v)
{
	uint32_t n = v->count < OTLP_ELEMENTS_MAX ? v->count : OTLP_ELEMENTS_MAX;
	Otlp__ArrayValue *array = room(a, sizeof(*array));
	Otlp__AnyValue *values = room(a, (n + 1) * sizeof(*values)), **list = room(a, (n + 1) * sizeof(*list));

	if (!array || !values || !list)
		return;
	*array = (Otlp__ArrayValue)OTLP__ARRAY_VALUE__INIT;
	array->n_values = n;
	array->values = list;
	for (uint32_t i = 0; i < n; i++) {
		struct hodo_read_value one = element(v, i);

		values[i] = (Otlp__AnyValue)OTLP__ANY_VALUE__INIT;
		list[i] = &values[i];
		set_scalar(a, &values[i], &one);
	}
	to->value_case = OTLP__ANY_VALUE__VALUE_ARRAY_VALUE;
	to->array_value = array;
}

static void set_value(struct otlp_attributes *a, Otlp__AnyValue *to, const struct hodo_read_field *f,
		      const struct hodo_read_value *v)
{
	const char *label = f->labels && v->type < HODO_TYPE_STR ? hodo_read_label(f->labels, v->i) : NULL;

	if (label) {
		set_text(to, otlp_text(a, label, strnlen(label, HODO_NAME_MAX)));
	} else if (v->type == HODO_TYPE_STR) {
		/* NULL becomes an attribute without a value. */
		if (!v->null)
			set_text(to, otlp_text(a, v->data, v->count));
	} else if (v->type == HODO_TYPE_BYTES) {
		to->value_case = OTLP__ANY_VALUE__VALUE_BYTES_VALUE;
		to->bytes_value.data = (uint8_t *)(uintptr_t)v->data;
		to->bytes_value.len = v->count < OTLP_TEXT_MAX ? v->count : OTLP_TEXT_MAX;
	} else if (v->type & HODO_TYPE_ARRAY) {
		set_array(a, to, v);
	} else {
		set_scalar(a, to, v);
	}
}

/* ------------------------------------------------------------------------- events */

static bool has_field(const struct hodo_read_class *cls, const char *name)
{
	for (uint32_t i = 0; cls && i < cls->nfields; i++)
		if (strcmp(cls->fields[i].name, name) == 0)
			return true;
	return false;
}

void otlp_add_event(struct otlp_attributes *a, const struct hodo_read_event *event, uint32_t first,
		    const struct hodo_read_class *but)
{
	const struct hodo_read_class *cls = event->cls;
	const char *text;
	char name[HODO_NAME_MAX + 8];
	size_t len;

	if (cls->kind == HODO_KIND_MARK) {
		text = hodo_export_text(a->e, event, &len, hodo_read_text_mark);
		otlp_add_text(a, "message", text, len);
	}
	for (uint32_t i = first; i < cls->nfields && i < HODO_FIELDS_MAX; i++) {
		const char *key = cls->fields[i].name;
		Otlp__AnyValue *value;

		/* No key twice. */
		if (has_field(but, key) || (cls->kind == HODO_KIND_MARK && strcmp(key, "message") == 0)) {
			snprintf(name, sizeof(name), "%.*s.%s", HODO_NAME_MAX - 8, key, but ? "end" : "field");
			key = name;
		}
		value = add(a, key);
		if (value)
			set_value(a, value, &cls->fields[i], &event->values[i]);
	}
	if (cls->ncontext > 0) {
		text = hodo_export_text(a->e, event, &len, hodo_read_add_context);
		if (len > 3) /* " {…}" */
			otlp_add_text(a, but ? "hodo.context.end" : "hodo.context", text + 2, len - 3);
	}
}
