/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* key.c - see key.h. A key begins with a tag; behind it an integer has its 8 bytes, the rest a length and the bytes. */
#include "key.h"
#include "fields.h"

enum { INTEGER = 0xf0, NEGATIVE, NULL_TEXT }; /* tags that are no types */

static size_t put_integer(uint8_t *to, size_t room, uint8_t tag, uint64_t bits)
{
	if (room >= HODO_KEY_INTEGER_BYTES) {
		to[0] = tag;
		__builtin_memcpy(to + 1, &bits, sizeof(bits));
	}
	return HODO_KEY_INTEGER_BYTES;
}

static size_t put_signed(uint8_t *to, size_t room, int64_t number)
{
	return put_integer(to, room, number < 0 ? NEGATIVE : INTEGER, (uint64_t)number);
}

static size_t put_bytes(uint8_t *to, size_t room, uint8_t tag, const void *data, uint32_t bytes)
{
	size_t size = 1 + sizeof(bytes) + bytes;

	if (room >= size) {
		to[0] = tag;
		__builtin_memcpy(to + 1, &bytes, sizeof(bytes));
		__builtin_memcpy(to + 1 + sizeof(bytes), data, bytes);
	}
	return size;
}

static size_t put_text(uint8_t *to, size_t room, const char *text, uint32_t bytes)
{
	uint32_t len = 0;

	if (bytes == HODO_NULL_TEXT_LEN && __builtin_memcmp(text, HODO_NULL_TEXT, bytes) == 0)
		return put_bytes(to, room, NULL_TEXT, text, 0);
	while (len < bytes && text[len])
		len++;
	return put_bytes(to, room, HODO_TYPE_STR, text, len);
}

/* It may stand anywhere in an event. */
#define LOAD(type)                                         \
	({                                                 \
		type number_;                              \
		__builtin_memcpy(&number_, data, sizeof(number_)); \
		number_;                                   \
	})

size_t hodo_key_put(uint8_t *to, size_t room, uint8_t type, const void *data, uint32_t bytes)
{
	switch (type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		return put_signed(to, room, LOAD(int8_t));
	case HODO_TYPE_I16:
		return put_signed(to, room, LOAD(int16_t));
	case HODO_TYPE_I32:
		return put_signed(to, room, LOAD(int32_t));
	case HODO_TYPE_I64:
		return put_signed(to, room, LOAD(int64_t));
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
		return put_integer(to, room, INTEGER, LOAD(uint8_t));
	case HODO_TYPE_U16:
		return put_integer(to, room, INTEGER, LOAD(uint16_t));
	case HODO_TYPE_U32:
		return put_integer(to, room, INTEGER, LOAD(uint32_t));
	case HODO_TYPE_U64:
	case HODO_TYPE_PTR:
		return put_integer(to, room, INTEGER, LOAD(uint64_t));
	case HODO_TYPE_STR:
		return put_text(to, room, data, bytes);
	}
	return put_bytes(to, room, type, data, hodo_fields_element_size(type) ? bytes : hodo_fields_fixed_size(type));
}
