/* SPDX-License-Identifier: MIT */
/* class.c - event classes: types and kinds by name, values of an event's fields. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#include <base/text.h>
#include <core/fields.h>

/* Alone, and of an array of them. */
static const char *const type_names[][2] = {
	[HODO_TYPE_I8] = { "i8", "i8[]" },       [HODO_TYPE_U8] = { "u8", "u8[]" },
	[HODO_TYPE_I16] = { "i16", "i16[]" },    [HODO_TYPE_U16] = { "u16", "u16[]" },
	[HODO_TYPE_I32] = { "i32", "i32[]" },    [HODO_TYPE_U32] = { "u32", "u32[]" },
	[HODO_TYPE_I64] = { "i64", "i64[]" },    [HODO_TYPE_U64] = { "u64", "u64[]" },
	[HODO_TYPE_BOOL] = { "bool", "bool[]" }, [HODO_TYPE_CHAR] = { "char", "char[]" },
	[HODO_TYPE_F32] = { "f32", "f32[]" },    [HODO_TYPE_F64] = { "f64", "f64[]" },
	[HODO_TYPE_PTR] = { "ptr", "ptr[]" },    [HODO_TYPE_STR] = { "str" },
	[HODO_TYPE_BYTES] = { "bytes" },
};
static const char *const kind_names[] = {
	[HODO_KIND_EVENT] = "event",
	[HODO_KIND_MARK] = "mark",
	[HODO_KIND_TRACEPOINT] = "tracepoint",
	[HODO_KIND_SPAN_BEGIN] = "span_begin",
	[HODO_KIND_SPAN_END] = "span_end",
	[HODO_KIND_BEGIN] = "begin",
	[HODO_KIND_END] = "end",
	[HODO_KIND_COUNTER] = "counter",
	[HODO_KIND_LABELS] = "labels",
	[HODO_KIND_FUNCTION] = "function",
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *hodo_read_type_name(uint32_t type)
{
	uint32_t element = type & ~(uint32_t)HODO_TYPE_ARRAY;
	const char *name = element < COUNT(type_names) ? type_names[element][type != element] : NULL;

	return name ? name : "?";
}

const char *hodo_read_kind_name(uint32_t kind)
{
	return kind < COUNT(kind_names) && kind_names[kind] ? kind_names[kind] : "?";
}

uint32_t hodo_read_type_parse(const char *name, size_t len)
{
	for (uint32_t i = 2; i < 2 * COUNT(type_names); i++) {
		const char *one = type_names[i / 2][i % 2];

		if (one && strlen(one) == len && memcmp(one, name, len) == 0)
			return i / 2 | (i % 2 ? HODO_TYPE_ARRAY : 0);
	}
	return 0;
}

uint32_t hodo_read_kind_parse(const char *name)
{
	for (uint32_t i = 1; i < COUNT(kind_names); i++)
		if (i != HODO_KIND_LABELS && strcmp(kind_names[i], name) == 0)
			return i;
	return 0;
}

/* ----------------------------------------------------------------------- values */

static const uint8_t *take_var(uint32_t type, const uint8_t *p, struct hodo_read_value *v)
{
	if (type == HODO_TYPE_STR) {
		v->count = load16(p);
		v->data = p + 2;
		v->null = v->count == HODO_NULL_TEXT_LEN &&
			  memcmp(v->data, HODO_NULL_TEXT, HODO_NULL_TEXT_LEN) == 0;
		p += 2 + v->count;
		if (!v->null)
			v->count = (uint32_t)strnlen(v->data, v->count);
		return p;
	}
	v->count = load32(p);
	v->data = p + 4;
	return p + 4 + (size_t)v->count * hodo_fields_element_size((uint8_t)type);
}

static inline const uint8_t *take(uint32_t type, const uint8_t *p, struct hodo_read_value *v)
{
	float f;

	v->type = type;
	v->null = false;
	v->count = 1;
	switch (type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		v->i = (int8_t)*p;
		return p + 1;
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
		v->u = *p;
		return p + 1;
	case HODO_TYPE_I16:
		v->i = (int16_t)load16(p);
		return p + 2;
	case HODO_TYPE_U16:
		v->u = load16(p);
		return p + 2;
	case HODO_TYPE_I32:
		v->i = (int32_t)load32(p);
		return p + 4;
	case HODO_TYPE_U32:
		v->u = load32(p);
		return p + 4;
	case HODO_TYPE_I64:
	case HODO_TYPE_U64:
	case HODO_TYPE_PTR:
		v->u = load64(p);
		return p + 8;
	case HODO_TYPE_F32:
		memcpy(&f, p, sizeof(f));
		v->f = (double)f;
		return p + 4;
	case HODO_TYPE_F64:
		memcpy(&v->f, p, sizeof(v->f));
		return p + 8;
	default:
		return take_var(type, p, v);
	}
}

const uint8_t *hodo_read_value_take(uint32_t type, const uint8_t *p, struct hodo_read_value *v)
{
	return take(type, p, v);
}

void hodo_read_class_values(const struct hodo_class *c, const uint8_t *p, struct hodo_read_value *values)
{
	for (uint32_t i = 0; i < c->pub.nfields; i++)
		p = take(c->types[i], p, &values[i]);
}

/* ------------------------------------------------------------------------ texts */

/* Of a number, "true", a label excepted: -2.2250738585072014e-308 and its quotes. */
#define NUMBER_ROOM 32

/* before, the name, behind, and room for it. 0 or -ENOMEM. */
static int make_text(struct hodo_class_text *room, struct hodo_class_piece *piece, const char *before, const char *name,
		     const char *behind, bool json)
{
	struct hodo_text t = { 0 };

	hodo_text_add(&t, before);
	if (json)
		hodo_text_json(&t, name, strlen(name), HODO_JSON_PLAIN);
	else
		hodo_text_plain(&t, name, strlen(name));
	hodo_text_add(&t, behind);
	*piece = (struct hodo_class_piece){ t.data, (uint32_t)t.len };
	room->room += t.len;
	return t.error;
}

static int field_texts(struct hodo_class *c, uint32_t i)
{
	const struct hodo_read_field *f = &c->fields[i];
	const struct hodo_read_labels *l = f->labels;
	size_t label_len = 0;
	int err = make_text(&c->text, &c->text.field[i].line, " ", f->name, "=", false);

	for (uint32_t k = 0; l && k < l->n; k++)
		if (strlen(l->names[k]) > label_len)
			label_len = strlen(l->names[k]);
	c->text.room += label_len * HODO_ESCAPED_MAX + NUMBER_ROOM;
	return err ? err : make_text(&c->text, &c->text.field[i].json, i ? "," : "", f->name, ":", true);
}

int hodo_read_class_finish(struct hodo_class *c)
{
	int err = make_text(&c->text, &c->text.line, "", c->pub.name, "", false);

	if (!err)
		err = make_text(&c->text, &c->text.json, ",\"name\":", c->pub.name, ",\"fields\":{", true);
	for (uint32_t i = 0; i < c->pub.nfields && !err; i++)
		err = field_texts(c, i);
	return err;
}

void hodo_read_class_free(struct hodo_class *c)
{
	if (!c)
		return;
	free(c->base);
	free(c->text.line.data);
	free(c->text.json.data);
	for (unsigned i = 0; i < c->pub.nfields; i++) {
		free(c->text.field[i].line.data);
		free(c->text.field[i].json.data);
	}
	free(c);
}

bool hodo_read_class_same(const struct hodo_read_class *a, const struct hodo_read_class *b)
{
	if (a->kind != b->kind || a->nfields != b->nfields || strcmp(a->name, b->name) != 0 ||
	    strcmp(a->format, b->format) != 0)
		return false;
	for (uint32_t i = 0; i < a->nfields; i++)
		if (a->fields[i].type != b->fields[i].type ||
		    strcmp(a->fields[i].name, b->fields[i].name) != 0)
			return false;
	return true;
}
