/* SPDX-License-Identifier: MIT */
/* arena.h - many small pieces of memory that stay where they are and are freed together. */
#pragma once

#include <stddef.h>

/* All zero is an empty arena. */
struct hodo_arena {
	struct hodo_arena_block *block; /* the newest; each points to the one before it */
	size_t used, room;              /* of that block */
};

/* len bytes, aligned to 8; not zeroed. NULL: no memory. */
void *hodo_arena_alloc(struct hodo_arena *a, size_t len);
void *hodo_arena_zero(struct hodo_arena *a, size_t len); /* hodo_arena_alloc(), zeroed */
/* A copy of len bytes followed by a NUL. NULL: no memory. */
char *hodo_arena_copy(struct hodo_arena *a, const void *data, size_t len);
void hodo_arena_clear(struct hodo_arena *a); /* frees all pieces, and keeps a block of memory for more */
void hodo_arena_free(struct hodo_arena *a);  /* all of it; the arena is empty then */
