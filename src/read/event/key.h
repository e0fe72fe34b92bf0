/* SPDX-License-Identifier: MIT */
/*
 * key.h - keys: runs of bytes made of consecutive values. Two keys made in the same way are equal if and only
 * if all of their values are equal (core/key.h).
 *
 *	struct hodo_text key = { 0 };
 *
 *	hodo_key_start(&key);
 *	hodo_key_add_number(&key, e->tid);
 *	hodo_key_add_value(&key, &e->values[0]);
 */
#pragma once

#include <base/text.h>
#include <hodo/read.h>

/* key->error refers only to this key; its user fails with it. */
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
