/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 1024u
#define BLOCK_MAX (256u << 10) /* larger requests get their own block */

struct hodo_arena_block {
	struct hodo_arena_block *before;
	_Alignas(8) char data[];
};

void *hodo_arena_alloc(struct hodo_arena *a, size_t len)
{
	size_t room = a->room ? 2 * a->room : BLOCK_MIN;
	struct hodo_arena_block *block;

	if (len > SIZE_MAX / 2)
		return NULL;
	len = (len + 7) & ~(size_t)7;
	if (len <= a->room - a->used) {
		a->used += len;
		return a->block->data + a->used - len;
	}
	room = room > BLOCK_MAX ? BLOCK_MAX : room;
	room = room < len ? len : room;
	block = malloc(sizeof(*block) + room);
	if (!block)
		return NULL;
	block->before = a->block;
	*a = (struct hodo_arena){ .block = block, .used = len, .room = room };
	return block->data;
}

void *hodo_arena_zero(struct hodo_arena *a, size_t len)
{
	void *piece = hodo_arena_alloc(a, len);

	return piece ? memset(piece, 0, len) : NULL;
}

char *hodo_arena_copy(struct hodo_arena *a, const void *data, size_t len)
{
	char *copy = len < SIZE_MAX ? hodo_arena_alloc(a, len + 1) : NULL;

	if (!copy)
		return NULL;
	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = 0;
	return copy;
}

void hodo_arena_clear(struct hodo_arena *a)
{
	struct hodo_arena old = { .block = a->block ? a->block->before : NULL };

	hodo_arena_free(&old);
	if (a->block)
		a->block->before = NULL;
	a->used = 0;
}

void hodo_arena_free(struct hodo_arena *a)
{
	while (a->block) {
		struct hodo_arena_block *before = a->block->before;

		free(a->block);
		a->block = before;
	}
	*a = (struct hodo_arena){ 0 };
}
