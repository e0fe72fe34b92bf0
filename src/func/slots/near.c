/* SPDX-License-Identifier: MIT */
/*
 * near.c - places that a near call (E8 rel32) reaches.
 *
 * Slots that the compiler left as no-ops get a call of 5 bytes, which reaches 2 GiB. libhodo's own stubs
 * serve all objects within that distance, mostly shared ones. For others, a page is mapped near them with the
 * same stubs, as
 *
 *	jmp *address(%rip)
 *	address: .quad stub in libhodo
 *
 * a single instruction, so that an unwinder lacks tables at only one address. The page is the same for all
 * objects and never unmapped: it serves every object near it.
 *
 * If a security policy forbids executing memory that was written, there is no page, and these slots are not
 * used.
 */
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "near.h"
#include <user/libc/sys.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define REACH (0x7fffffffl - 64)
#define PAGES_MAX 64
#define GIB (1ul << 30)

static uintptr_t pages[PAGES_MAX];
static unsigned npages;

/* Whether near calls from all of text … end reach the target. */
static bool reaches(uintptr_t text, uintptr_t end, uintptr_t target)
{
	intptr_t low = (intptr_t)(target - text), high = (intptr_t)(target - end);

	return low <= REACH && low >= -REACH && high <= REACH && high >= -REACH;
}

/* The main thread's stack grows down into free memory: leave alone what it may need. */
static bool stack_may_need(uintptr_t at, size_t bytes)
{
	uintptr_t top = getauxval(AT_EXECFN); /* a text at the very top of it */
	uint64_t limit[2] = { 0, 0 };
	uintptr_t size;

	hodo_sys4(SYS_prlimit64, 0, RLIMIT_STACK, 0, limit);
	size = limit[0] > GIB ? GIB : limit[0] < 8ul << 20 ? 8ul << 20 : limit[0];
	size += 2ul << 20; /* plus the gap that the kernel keeps below it */
	return at < top + HODO_PAGE && at + bytes > top - size;
}

bool hodo_near_map(uintptr_t at, size_t bytes)
{
	void *p;

	if (at < HODO_PAGE || at + bytes < at || at % HODO_PAGE || stack_may_need(at, bytes))
		return false;
	p = (void *)hodo_sys6(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == (void *)at)
		return true;
	if (!hodo_is_error(p)) /* before Linux 4.17, the address is a hint */
		hodo_sys2(SYS_munmap, p, bytes);
	return false;
}

bool hodo_near_seal(uintptr_t at, size_t bytes)
{
	if (hodo_sys3(SYS_mprotect, at, bytes, PROT_READ | PROT_EXEC) == 0)
		return true;
	hodo_sys2(SYS_munmap, at, bytes);
	return false;
}

static bool fill(uintptr_t page)
{
	for (unsigned i = 0; i < HODO_HOOKS; i++) {
		uint8_t *p = (uint8_t *)page + i * HODO_NEAR_STUB_BYTES;
		uintptr_t stub = (uintptr_t)hodo_x86_near + i * HODO_NEAR_STUB_BYTES;

		__builtin_memcpy(p, "\xff\x25\x02\x00\x00\x00\xcc\xcc", 8);
		__builtin_memcpy(p + 8, &stub, 8);
	}
	return hodo_near_seal(page, HODO_PAGE);
}

/*
 * Below the object first: its heap, which must be able to grow, is above a program. First close by, then over
 * the whole reach in steps.
 */
static uintptr_t new_page(uintptr_t text, uintptr_t end)
{
	uintptr_t low = text & ~(uintptr_t)(HODO_PAGE - 1), high = (end + HODO_PAGE - 1) & ~(uintptr_t)(HODO_PAGE - 1);
	uintptr_t step = 64ul << 20;

	for (unsigned i = 4; i < 64 + 30 && npages < PAGES_MAX; i++) {
		uintptr_t at = i < 14 ? low - ((uintptr_t)HODO_PAGE << i) : i < 64 ? low - (i - 13) * step :
										   high + (64 + 30 - i) * step;

		if ((i < 64) == (at < low) && reaches(text, end, at) && hodo_near_map(at, HODO_PAGE))
			return fill(at) ? pages[npages++] = at : 0;
	}
	return 0;
}

uintptr_t hodo_near_stub(uintptr_t text, uintptr_t end, enum hodo_hook hook)
{
	uintptr_t offset = (unsigned)hook * HODO_NEAR_STUB_BYTES, page;

	if (reaches(text, end, (uintptr_t)hodo_x86_near))
		return (uintptr_t)hodo_x86_near + offset;
	for (unsigned i = 0; i < npages; i++) {
		if (reaches(text, end, pages[i]))
			return pages[i] + offset;
	}
	page = new_page(text, end);
	return page ? page + offset : 0;
}
