/* SPDX-License-Identifier: MIT */
/*
 * buffers.c - memory for the duration of an event, since a stack may be too small for it.
 *
 * An event that a handler leaves by longjmp keeps its buffer, which is taken away after some seconds, when no
 * other is free. If its owner still writes to it (a thread that was stopped meanwhile), it corrupts another
 * event's data in the buffer, but nothing else: lengths are fixed beforehand.
 *
 *                  | take, release | make
 *   take, release  | beside        | excluded (sections)
 *   make           |               | excluded (control lock)
 */
#include <user/libc/sys.h>
#include <user/ring/rings.h>
#include "event.h"

#define TAKEN_TICKS_MAX (1ll << 34) /* some seconds: a buffer held for so long is abandoned */

int hodo_buffers_make(struct hodo_buffers *b, uint64_t size)
{
	uint32_t pid = (uint32_t)hodo_sys0(SYS_getpid);
	uint64_t stride = (size + 63) & ~63ull, bytes = HODO_BUFFERS * stride;

	/* A fork child keeps its parent's: code that it returns to may still use them. */
	if (b->memory && bytes > b->bytes && b->process == pid)
		hodo_sys2(SYS_munmap, b->memory, b->bytes);
	if (!b->memory || bytes > b->bytes) {
		b->bytes = 0;
		b->memory = hodo_map(bytes);
		if (!b->memory)
			return -ENOMEM;
		b->bytes = bytes;
		b->process = pid;
	}
	b->stride = stride;
	__builtin_memset(b->taken, 0, sizeof(b->taken));
	return 0;
}

void *hodo_buffers_take(struct hodo_buffers *b)
{
	uint64_t now = hodo_ticks_now() | 1;
	uint32_t start = hodo_tls.tid;

	for (unsigned round = 0; round < 2 && b->memory; round++) {
		for (uint32_t k = 0; k < HODO_BUFFERS; k++) {
			uint32_t i = (start + k) % HODO_BUFFERS;
			uint64_t taken = hodo_load(&b->taken[i].since);

			/*
			 * In the second round all are in use: take an abandoned one. Some may have been taken
			 * after `now`.
			 */
			if (round == 0 ? taken != 0 : (int64_t)(now - taken) < TAKEN_TICKS_MAX)
				continue;
			if (hodo_cas_acquire(&b->taken[i].since, &taken, now))
				return b->memory + i * b->stride;
		}
	}
	return 0;
}

void hodo_buffers_release(struct hodo_buffers *b, const void *buffer)
{
	uint64_t i = b->stride ? (uint64_t)((const uint8_t *)buffer - b->memory) / b->stride : HODO_BUFFERS;

	if (buffer && i < HODO_BUFFERS) /* else it belongs to the parent of this fork child */
		hodo_store_release(&b->taken[i].since, 0);
}
