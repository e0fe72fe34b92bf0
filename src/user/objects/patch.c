/* SPDX-License-Identifier: MIT */
/*
 * patch.c - stores into running code, and the barriers for them.
 *
 * Text stays read-and-execute: the store goes through /proc/self/mem, which writes to a private copy of the
 * page as a debugger does. It is opened for each batch, since a descriptor that a fork child inherits would
 * patch the parent.
 */
#include <fcntl.h>
#include <linux/membarrier.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <user/libc/sys.h>
#include "objects.h"

#define REST_AFTER    500000 /* ns */
#define QUIESCE_TRIES 40000 /* of 50 us: two seconds */

#ifndef MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ (1 << 7)
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ (1 << 8)
#endif

static bool always_jump; /* the erratum */
static bool has_sync_core, has_rseq_barrier, registered;

static bool has_erratum(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d, family, model;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_INTEL_ebx)
		return false;
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return true;
	family = (a >> 8) & 15;
	model = ((a >> 4) & 15) | ((a >> 12) & 0xf0);
	return family < 6 || (family == 6 && (model < 0x1a || model == 0x1d)) || family == 15;
#else
	return false;
#endif
}

void hodo_patch_init(void)
{
	always_jump = has_erratum();
}

/* In the constructor, with a single thread, this takes 2 us; later up to 15 ms. */
void hodo_patch_register(void)
{
	if (registered)
		return;
	has_sync_core = hodo_sys3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
	has_rseq_barrier = hodo_sys3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
	registered = true;
}

void hodo_patch_forked(void)
{
	registered = false; /* exec and a new address space lose it */
	hodo_patch_register();
}

void hodo_rest(uint32_t work)
{
	static uint32_t done;

	done += work;
	if (done < REST_AFTER)
		return;
	done = 0;
	hodo_sleep_ns(1);
}

/* ----------------------------------------------------------------- storing */

/*
 * Stores are written a page at a time: the whole span from the first changed byte to the last, with the other
 * bytes unchanged. A core that executes them sees no change in those; each byte that does change is still one
 * store.
 */
void hodo_patch_begin(struct hodo_patch *p)
{
	p->mem = -EAGAIN; /* not tried yet */
	p->page = 0;
	p->first = HODO_PAGE;
	p->last = 0;
	p->stored = 0;
	p->error = 0;
}

/* If /proc is not mounted, or mem is refused: the page is also writable during the store. */
static void store_by_mprotect(struct hodo_patch *p)
{
	long error = hodo_sys3(SYS_mprotect, p->page, HODO_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	volatile uint8_t *code = (volatile uint8_t *)p->page;

	if (error) {
		p->error = (int)error;
		return;
	}
	for (uint32_t i = p->first; i <= p->last; i++) {
		if (code[i] != p->bytes[i])
			code[i] = p->bytes[i];
	}
	hodo_sys3(SYS_mprotect, p->page, HODO_PAGE, PROT_READ | PROT_EXEC);
}

static void write_out(struct hodo_patch *p)
{
	long len = (long)p->last - p->first + 1;

	if (p->mem == -EAGAIN)
		p->mem = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
	if (p->mem < 0 ||
	    hodo_sys4(SYS_pwrite64, p->mem, p->bytes + p->first, len, p->page + p->first) != len)
		store_by_mprotect(p);
	p->stored++;
	hodo_rest(5000);
	p->first = HODO_PAGE;
	p->last = 0;
}

static void flush(struct hodo_patch *p)
{
	if (p->first > p->last)
		return;
	hodo_patch_register();
	write_out(p);
}

void hodo_patch_page(struct hodo_patch *p, uintptr_t page)
{
	flush(p);
	p->page = page;
	__builtin_memcpy(p->bytes, (const void *)page, HODO_PAGE);
}

void hodo_patch_store(struct hodo_patch *p, uintptr_t addr, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hodo_patch_byte(p, addr + i, ((const uint8_t *)bytes)[i]);
}

int hodo_patch_write(uintptr_t addr, const void *bytes, size_t len)
{
	struct hodo_patch p;

	hodo_patch_begin(&p);
	hodo_patch_page(&p, addr & ~(uintptr_t)(HODO_PAGE - 1));
	hodo_patch_store(&p, addr, bytes, len);
	if (p.first <= p.last)
		write_out(&p);
	if (p.mem >= 0)
		hodo_sys1(SYS_close, p.mem);
	return p.error;
}

int hodo_patch_end(struct hodo_patch *p)
{
	flush(p);
	if (p->mem >= 0)
		hodo_sys1(SYS_close, p->mem);
	HODO_INJECT(HODO_INJECT_PATCHED);
	if (p->stored && has_sync_core)
		hodo_sys3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	return p->error;
}

bool hodo_patch_has_rseq_barrier(void)
{
	return has_rseq_barrier;
}

void hodo_patch_rseq_barrier(void)
{
	if (has_rseq_barrier)
		hodo_sys3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool hodo_patch_possible(void)
{
	return !always_jump;
}

/* When this returns, all threads have executed a full barrier; false: the kernel has none. */
bool hodo_patch_barrier(void)
{
	hodo_patch_register();
	return has_sync_core &&
	       hodo_sys3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

/* ------------------------------------------------------------------- writers */

/*
 * After an on word was cleared: returns when no writer that read it set can still commit. The barrier
 * restarts writers in a critical section, which read the word again; without it, one that had passed its
 * check could commit after the return. A fallback writer reads the word under its lock: if it read it before,
 * we see it hold the lock here, and wait.
 */
void hodo_patch_quiesce(void)
{
	struct hodo_ring *ring;
	uint32_t owner;

	hodo_patch_rseq_barrier();
	if (!hodo_recording.on)
		return;
	ring = hodo_ring_of(hodo_fallback_number());
	owner = hodo_load_seq(&ring->owner);
	/* Not forever: the word lies in memory that others write. */
	for (int i = 0; i < QUIESCE_TRIES && owner && hodo_load_seq(&ring->owner) == owner &&
			hodo_sys2(SYS_tkill, owner, 0) == 0; i++) {
		if (i < 1000)
			hodo_sys0(SYS_sched_yield);
		else
			hodo_sleep_ns(50000);
	}
}
