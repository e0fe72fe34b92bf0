/* SPDX-License-Identifier: MIT */
/* key.c - see key.h. */
#include "key.h"

#include <core/fields.h>
#include <core/key.h>
#include <stdlib.h>

uint8_t *hodo_key_room(struct hodo_key *k, size_t bytes)
{
	size_t room = k->large ? k->room : sizeof(k->small), wanted = k->len + bytes;
	uint8_t *more;

	if (wanted > room) {
		more = realloc(k->large, 2 * wanted);
		if (!more) {
			k->no_memory = true;
			return NULL;
		}
		if (!k->large)
			memcpy(more, k->small, k->len);
		k->large = more;
		k->room = 2 * wanted;
	}
	return (k->large ? k->large : k->small) + k->len;
}

/* As it was recorded, but for integers, which were widened when they were read. */
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

void hodo_key_add_value(struct hodo_key *k, const struct hodo_read_value *v)
{
	uint8_t *to = hodo_key_room(k, HODO_KEY_INTEGER_BYTES);
	size_t bytes = to ? put_value(to, HODO_KEY_INTEGER_BYTES, v) : 0;

	if (bytes > HODO_KEY_INTEGER_BYTES) {
		to = hodo_key_room(k, bytes);
		bytes = to ? put_value(to, bytes, v) : 0;
	}
	k->len += bytes;
}

void hodo_key_free(struct hodo_key *k)
{
	free(k->large);
	*k = (struct hodo_key){ 0 };
}
