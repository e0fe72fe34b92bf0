/* SPDX-License-Identifier: MIT */
/* text_value.c - a field's value as text, or as JSON. */
#include "text.h"

/* One element of an array, or a scalar. */
static char *put_scalar(char *o, uint32_t type, const struct hodo_read_value *v, bool json, locale_t c)
{
	switch (type) {
	case HODO_TYPE_BOOL:
		return stpcpy(o, v->u ? "true" : "false");
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
		return hodo_format_u64(o, v->u);
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		return hodo_format_float(o, v->f, type == HODO_TYPE_F32, json, c);
	case HODO_TYPE_PTR:
		if (json)
			return hodo_format_u64(o, v->u);
		return hodo_format_hex(stpcpy(o, "0x"), v->u);
	default:
		return hodo_format_i64(o, v->i);
	}
}

static char *put_array(char *o, const struct hodo_read_value *v, bool json, locale_t c)
{
	uint8_t type = (uint8_t)(v->type & ~(uint32_t)HODO_TYPE_ARRAY);
	const uint8_t *p = v->data;

	*o++ = '[';
	for (uint32_t i = 0; i < v->count; i++) {
		struct hodo_read_value e;

		p = hodo_read_value_take(type, p, &e);
		if (i > 0)
			*o++ = ',';
		o = put_scalar(o, type, &e, json, c);
	}
	*o++ = ']';
	return o;
}

static char *put_var(char *o, const struct hodo_read_value *v, bool json, locale_t c)
{
	if (v->type & HODO_TYPE_ARRAY)
		return put_array(o, v, json, c);
	if (v->type == HODO_TYPE_STR && v->null)
		return stpcpy(o, json ? "null" : HODO_NULL_TEXT);
	if (v->type == HODO_TYPE_BYTES && !json)
		return hodo_format_bytes(o, v->data, v->count);
	*o++ = '"';
	if (v->type == HODO_TYPE_BYTES)
		o = hodo_format_bytes(o, v->data, v->count);
	else
		o = json ? hodo_escape_json(o, v->data, v->count, HODO_JSON_PLAIN)
			 : hodo_escape_plain(o, v->data, v->count, true);
	*o++ = '"';
	return o;
}

char *hodo_read_put_value(char *o, const struct hodo_read_field *f, const struct hodo_read_value *v,
			  locale_t c)
{
	if (f->labels) {
		const char *label = hodo_read_label(f->labels, v->i);

		if (label)
			return hodo_escape_plain(o, label, strlen(label), false);
	}
	if (v->type == HODO_TYPE_CHAR && v->i >= 0x20 && v->i < 0x7f) {
		*o++ = '\'';
		*o++ = (char)v->i;
		*o++ = '\'';
		return o;
	}
	if (v->type >= HODO_TYPE_STR)
		return put_var(o, v, false, c);
	return put_scalar(o, v->type, v, false, c);
}

char *hodo_read_put_value_json(char *o, const struct hodo_read_value *v, locale_t c)
{
	return v->type >= HODO_TYPE_STR ? put_var(o, v, true, c) : put_scalar(o, v->type, v, true, c);
}

static size_t room_for(const struct hodo_read_value *v)
{
	if (v->type & HODO_TYPE_ARRAY)
		return (size_t)v->count * (HODO_FORMAT_FLOAT_MAX + 1) + 2;
	return v->type >= HODO_TYPE_STR ? (size_t)v->count * HODO_ESCAPED_MAX + 16 : HODO_FORMAT_FLOAT_MAX + 2;
}

void hodo_read_add_value(struct hodo_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v,
			 locale_t c)
{
	const char *label = f->labels ? hodo_read_label(f->labels, v->i) : NULL;
	char *o;

	if (label) {
		hodo_text_plain(t, label, strlen(label));
		return;
	}
	o = hodo_text_room(t, room_for(v));
	if (o)
		t->len += (size_t)(hodo_read_put_value(o, f, v, c) - o);
}

void hodo_read_add_value_json(struct hodo_text *t, const struct hodo_read_value *v, locale_t c)
{
	char *o = hodo_text_room(t, room_for(v));

	if (o)
		t->len += (size_t)(hodo_read_put_value_json(o, v, c) - o);
}

void hodo_read_add_labels_json(struct hodo_text *t, const struct hodo_class *c, const struct hodo_read_value *values)
{
	bool any = false;

	for (uint32_t i = 0; i < c->pub.nfields && c->labelled; i++) {
		const struct hodo_class_piece *key = &c->text.field[i].json;
		const char *label = hodo_read_label(c->fields[i].labels, values[i].i);

		if (!label)
			continue;
		hodo_text_add(t, any ? "," : ",\"labels\":{");
		hodo_text_bytes(t, key->data + (i > 0), key->len - (i > 0)); /* without the comma */
		hodo_text_json(t, label, strlen(label), HODO_JSON_PLAIN);
		any = true;
	}
	hodo_text_add(t, any ? "}" : "");
}
