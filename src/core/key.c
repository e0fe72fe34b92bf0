/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* key.c - makes keys of values. A key begins with a tag; an integer's 8 bytes follow, or for anything else a length
 * and the bytes. */
#include "key.h"
#include "fields.h"

enum { INTEGER = 0xf0, NEGATIVE, NULL_TEXT }; /* tags that are not types */

static size_t put_integer(uint8_t *to, size_t room, uint8_t tag, uint64_t bits)
{
	if (room >= HODO_KEY_INTEGER_BYTES) {
		to[0] = tag;
		__builtin_memcpy(to + 1, &bits, sizeof(bits));
	}
	return HODO_KEY_INTEGER_BYTES;
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

size_t hodo_key_put(uint8_t *to, size_t room, uint8_t type, const void *data, uint32_t bytes)
{
	int64_t number;

	if (hodo_fields_is_integer(type)) {
		number = hodo_fields_integer(type, data);
		return put_integer(to, room, number < 0 && !hodo_fields_is_unsigned64(type) ? NEGATIVE : INTEGER,
				   (uint64_t)number);
	}
	if (type == HODO_TYPE_STR)
		return put_text(to, room, data, bytes);
	return put_bytes(to, room, type, data, hodo_fields_element_size(type) ? bytes : hodo_fields_fixed_size(type));
}
