/* SPDX-License-Identifier: MIT */
/*
 * pool.c - memory that is reused when the next recording begins: the end of the last one has waited for all
 * sections, so nobody reads it (hodo_recording_end()). In a fork child that does not hold: a handler may have
 * interrupted a section in the parent and forked, and returns into the section in the child. So the child
 * begins a new pool and leaves the parent's alone. Under the control lock.
 */
#include <user/libc/sys.h>
#include "rings.h"

#define CHUNK_MIN (64u << 10)

/* A piece of the pool. Never unmapped. */
struct chunk {
	struct chunk *next;
	uint64_t size, used;
};
static struct chunk *chunks, *current;
static long pool_pid; /* whose it is */

void hodo_pool_reset(void)
{
	long pid = hodo_sys0(SYS_getpid);

	if (pid != pool_pid)
		chunks = 0;
	pool_pid = pid;
	current = chunks;
	for (struct chunk *c = chunks; c; c = c->next)
		c->used = sizeof(*c);
}

void *hodo_pool_take(uint64_t size)
{
	struct chunk *c, **link = current ? &current : &chunks;
	uint64_t room;

	size = (size + 15) & ~15ull;
	for (; *link; link = &(*link)->next) {
		if ((*link)->size - (*link)->used >= size)
			break;
	}
	c = *link;
	if (!c) {
		room = size + sizeof(*c) > CHUNK_MIN ? size + HODO_PAGE : CHUNK_MIN;
		c = hodo_map(room);
		if (!c)
			return 0;
		*c = (struct chunk){ 0, room, (sizeof(*c) + 15) & ~15ull };
		*link = c;
	}
	if (c->size - c->used < CHUNK_MIN / 64) /* skip chunks that are nearly full */
		current = c->next ? c->next : c;
	c->used += size;
	return (uint8_t *)c + c->used - size;
}

void *hodo_pool_copy(const void *from, size_t size)
{
	void *to = hodo_pool_take(size);

	if (to)
		__builtin_memcpy(to, from, size);
	return to;
}
