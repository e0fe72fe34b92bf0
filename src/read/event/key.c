/* SPDX-License-Identifier: MIT */
#include "key.h"

#include <core/fields.h>
#include <core/key.h>

/* As recorded, except for integers, which were widened when read. */
static size_t put_value(uint8_t *to, size_t room, const struct hodo_read_value *v)
{
	float f = 0;

	switch (v->type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_I16:
	case HODO_TYPE_I32:
	case HODO_TYPE_I64:
	case HODO_TYPE_CHAR:
		return hodo_key_put(to, room, HODO_TYPE_I64, &v->i, 0);
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
	case HODO_TYPE_BOOL:
	case HODO_TYPE_PTR:
		return hodo_key_put(to, room, HODO_TYPE_U64, &v->u, 0);
	case HODO_TYPE_F32:
		f = (float)v->f;
		return hodo_key_put(to, room, HODO_TYPE_F32, &f, 0);
	case HODO_TYPE_F64:
		return hodo_key_put(to, room, HODO_TYPE_F64, &v->f, 0);
	}
	if (v->null)
		return hodo_key_put(to, room, HODO_TYPE_STR, HODO_NULL_TEXT, HODO_NULL_TEXT_LEN);
	return hodo_key_put(to, room, (uint8_t)v->type, v->data, v->count * hodo_fields_element_size((uint8_t)v->type));
}

void hodo_key_add_value(struct hodo_text *k, const struct hodo_read_value *v)
{
	/* No element has more than 8 bytes, and NULL is a short text. */
	size_t room = 8 * ((size_t)v->count + 2) + HODO_NULL_TEXT_LEN;
	uint8_t *to = (uint8_t *)hodo_text_room(k, room);

	if (to)
		k->len += put_value(to, room, v);
}
