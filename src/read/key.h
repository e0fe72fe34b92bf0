/* SPDX-License-Identifier: MIT */
/*
 * key.h - what is to be the same: a run of bytes, made of values one behind the other. Two keys that were made in the
 * same way are the same bytes if and only if all of their values are the same (core/key.h).
 *
 *	struct hodo_key key = { 0 };
 *
 *	hodo_key_start(&key);
 *	hodo_key_add_number(&key, e->tid);
 *	hodo_key_add_value(&key, &e->values[0]);
 */
#ifndef HODO_READ_KEY_H
#define HODO_READ_KEY_H

#include <hodo/read.h>
#include <string.h>

struct hodo_key {
	uint8_t small[64];
	uint8_t *large; /* NULL: in small */
	size_t len, room;
	bool no_memory; /* a value is missing: whoever uses the key fails with -ENOMEM */
};

static inline const uint8_t *hodo_key_bytes(const struct hodo_key *k)
{
	return k->large ? k->large : k->small;
}

static inline void hodo_key_start(struct hodo_key *k)
{
	k->len = 0;
	k->no_memory = false;
}

/* Room for so many bytes behind the others; NULL: no memory. */
uint8_t *hodo_key_room(struct hodo_key *k, size_t bytes);

static inline void hodo_key_add(struct hodo_key *k, const void *data, size_t bytes)
{
	uint8_t *to = !k->large && k->len + bytes <= sizeof(k->small) ? k->small + k->len : hodo_key_room(k, bytes);

	if (!to)
		return;
	memcpy(to, data, bytes);
	k->len += bytes;
}

static inline void hodo_key_add_number(struct hodo_key *k, uint64_t number)
{
	hodo_key_add(k, &number, sizeof(number));
}

void hodo_key_add_value(struct hodo_key *k, const struct hodo_read_value *v);
void hodo_key_free(struct hodo_key *k);

#endif
