/* SPDX-License-Identifier: MIT */
/* class.c - event classes: types and kinds by name, values of an event's fields. */
#include "class.h"
#include "load.h"

#include <base/arena.h>
#include <base/scope.h>
#include <base/text.h>
#include <core/fields.h>
#include <core/kind.h>

#include <errno.h>
#include <string.h>

const char *hodo_read_type_name(uint32_t type)
{
	return hodo_fields_type_name(type <= UINT8_MAX ? (uint8_t)type : 0);
}

const char *hodo_read_kind_name(uint32_t kind)
{
	return hodo_kind_name(kind);
}

uint32_t hodo_read_type_parse(const char *name, size_t len)
{
	for (uint32_t type = 1; type <= (HODO_TYPE_BYTES | HODO_TYPE_ARRAY); type++) {
		const char *known = hodo_read_type_name(type);

		if (known[0] != '?' && strlen(known) == len && memcmp(known, name, len) == 0)
			return type;
	}
	return 0;
}

uint32_t hodo_read_kind_parse(const char *name)
{
	for (uint32_t kind = 1; kind <= HODO_KIND_FUNCTION; kind++)
		if (kind != HODO_KIND_LABELS && strcmp(hodo_kind_name(kind), name) == 0)
			return kind;
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

/* Of a number or "true", but not a label: -2.2250738585072014e-308 and its quotes. */
#define NUMBER_ROOM 32

/* Makes the text of before, the name and behind, and its room. 0 or -ENOMEM. */
static int make_text(struct hodo_arena *memory, struct hodo_class_text *room, struct hodo_class_piece *piece,
		     const char *before, const char *name, const char *behind, bool json)
{
	HODO_AUTO(hodo_text_free) struct hodo_text t = { 0 };

	hodo_text_add(&t, before);
	if (json)
		hodo_text_json(&t, name, strlen(name), HODO_JSON_PLAIN);
	else
		hodo_text_plain(&t, name, strlen(name));
	hodo_text_add(&t, behind);
	*piece = (struct hodo_class_piece){ hodo_arena_copy(memory, t.data, t.len), (uint32_t)t.len };
	room->room += t.len;
	return piece->data ? t.error : -ENOMEM;
}

static int field_texts(struct hodo_arena *memory, struct hodo_class *c, uint32_t i)
{
	const struct hodo_read_field *f = &c->fields[i];
	const struct hodo_read_labels *l = f->labels;
	size_t label_len = 0;
	int err = make_text(memory, &c->text, &c->text.field[i].line, " ", f->name, "=", false);

	for (uint32_t k = 0; l && k < l->n; k++)
		if (strlen(l->names[k]) > label_len)
			label_len = strlen(l->names[k]);
	c->labelled |= l != NULL;
	c->text.room += label_len * HODO_ESCAPED_MAX + NUMBER_ROOM;
	return err ? err : make_text(memory, &c->text, &c->text.field[i].json, i ? "," : "", f->name, ":", true);
}

int hodo_read_class_finish(struct hodo_arena *memory, struct hodo_class *c)
{
	int err = make_text(memory, &c->text, &c->text.line, "", c->pub.name, "", false);

	if (!err)
		err = make_text(memory, &c->text, &c->text.json, ",\"name\":", c->pub.name, ",\"fields\":{", true);
	for (uint32_t i = 0; i < c->pub.nfields && !err; i++)
		err = field_texts(memory, c, i);
	return err;
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
