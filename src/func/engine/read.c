/* SPDX-License-Identifier: MIT */
/*
 * read.c - reads what the values of an event point to: any address, at any time, in any thread and signal
 * handler. The kernel does it, by process_vm_readv(2) on this process: it stops at unmapped memory and raises
 * no signal, even if another thread unmaps memory meanwhile. If a sandbox refuses it, all memory counts as
 * unmapped.
 */
#include <sys/uio.h>
#include "engine.h"

#define READ_MAX 1024u
#define FAULT "(fault)"

long hodo_engine_read(uintptr_t from, uint8_t *to, uint32_t what)
{
	struct iovec part[READ_MAX / HODO_PAGE + 2];
	bool text = what & HODO_PLAN_READ_TEXT;
	uint32_t len = what & ~HODO_PLAN_READ_TEXT, n = 0;

	if (text && !from)
		return -1;
	/* Most invalid pointers are NULL plus a small offset. */
	if (len && len <= READ_MAX && from >= HODO_PAGE)
		n = hodo_memory_read((uint32_t)hodo_sys0(SYS_gettid), to, from, len, part,
				     sizeof(part) / sizeof(part[0]));
	if (!text)
		return n;
	if (n)
		return (long)strnlen((const char *)to, n);
	__builtin_memcpy(to, FAULT, sizeof(FAULT));
	return sizeof(FAULT) - 1;
}
