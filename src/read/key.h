/* SPDX-License-Identifier: MIT */
/*
 * key.h - what is to be the same: a run of bytes in a text, made of values one behind the other. Two keys that were
 * made in the same way are the same bytes if and only if all of their values are the same (core/key.h).
 *
 *	struct hodo_text key = { 0 };
 *
 *	hodo_key_start(&key);
 *	hodo_key_add_number(&key, e->tid);
 *	hodo_key_add_value(&key, &e->values[0]);
 */
#ifndef HODO_READ_KEY_H
#define HODO_READ_KEY_H

#include <base/text.h>
#include <hodo/read.h>

/* key->error is of this key alone: whoever uses it fails with that. */
static inline void hodo_key_start(struct hodo_text *key)
{
	key->len = 0;
	key->error = 0;
}

static inline void hodo_key_add_number(struct hodo_text *key, uint64_t number)
{
	hodo_text_bytes(key, &number, sizeof(number));
}

void hodo_key_add_value(struct hodo_text *key, const struct hodo_read_value *v);

#endif
