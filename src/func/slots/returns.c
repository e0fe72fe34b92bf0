/* SPDX-License-Identifier: MIT */
/*
 * returns.c - return replacement: exits of functions that have a slot only at their entry.
 *
 * At the entry the function's return address is replaced by hodo_x86_return (func/x86_64/returns.S), and kept
 * in a table under the address of its stack slot (`at`). While a call lasts, nothing else in the process has
 * that address: threads, coroutines and signal stacks need nothing more. A frame left by longjmp or an
 * exception leaves its entry behind; the entry is reused when the address is used again, or freed when the
 * table gets crowded and a thread finds that the slot no longer holds hodo_x86_return.
 *
 * An entry is in one of the HODO_RETURNS_PROBES places from its first place downwards, as stacks grow: even
 * amid a million contiguous frames, if another stack's frame has the place, there is a free one below.
 * Removing an entry breaks no chain. Its word `at`: 0 free, `at` in use, `at` | OWNED the frame at `at` sets
 * it up, `at` | EXAMINED another thread looks whether it is stale:
 *
 *                      | replace of the same at | leave of it           | unwinding through it | look for stale ones
 *   replace (owner)    | impossible: one frame  | impossible: one frame | other frames; own    | excluded by OWNED
 *   look for stale     | waits for EXAMINED     | beside: it stays      | beside: entry stays  | excluded by EXAMINED
 *
 * The owner sets OWNED before it changes the original, and clears it after the slot holds hodo_x86_return:
 * otherwise, it would look stale while it is being made. Readers (leave, the unwind data) take `at` with and
 * without the marks.
 *
 * A thread that is cancelled asynchronously, or left by a handler's longjmp, leaves the mark that it has set. OWNED
 * is then found only by the next frame at that address, which owns the place. A place left EXAMINED stays so,
 * and frames at its address have no exit: the examining thread might still give it to another frame.
 *
 * Once a slot was replaced, its function returns through here, even if tracing ended long ago.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <func/x86_64/returns.h>
#include "slots.h"
#include <errno.h>
#include <user/libc/sys.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define ARCH_SHSTK_STATUS 0x5005
#define SHSTK_ENABLED 1ull
#define OWNED 1u
#define EXAMINED 2u
#define MARKS (OWNED | EXAMINED)
#define WAITS 1000
#define PROLOGUE_MIN 16    /* bytes; calls at the very start are closer to it */
#define SAVED_MAX 8        /* words below the copy */
#define ALIGNMENT_MAX 8192 /* bytes between the two, and the argument above */

struct entry {
	uintptr_t at;
	uintptr_t original;
};

static const char *refusal;
static bool ready;
static uintptr_t trampoline; /* hodo_x86_return */

static struct entry *entry_of(uintptr_t at, unsigned i)
{
	struct entry *table = (struct entry *)HODO_RETURNS_ENTRIES;
	uintptr_t h = (at >> HODO_RETURNS_LOW_SHIFT) + (at >> HODO_RETURNS_HIGH_SHIFT) * HODO_RETURNS_FACTOR;

	return &table[(h - i) & HODO_RETURNS_MASK];
}

static struct entry *find(uintptr_t at)
{
	for (unsigned i = 0; i < HODO_RETURNS_PROBES; i++) {
		struct entry *e = entry_of(at, i);

		if ((hodo_load_acquire(&e->at) | MARKS) == (at | MARKS))
			return e;
	}
	return 0;
}

/* The entry left behind by the last frame with this address. NULL: none, or somebody examines it. */
static struct entry *take_own(uintptr_t at)
{
	struct entry *e = find(at);

	for (unsigned i = 0; e && i < WAITS; i++) {
		uintptr_t word = at;

		if (hodo_cas_acquire(&e->at, &word, at | OWNED) || word == (at | OWNED))
			return e;
		if (word != (at | EXAMINED))
			return 0;
		__builtin_ia32_pause();
	}
	return 0;
}

static struct entry *take_free(uintptr_t at)
{
	for (unsigned i = 0; i < HODO_RETURNS_PROBES; i++) {
		struct entry *e = entry_of(at, i);
		uintptr_t word = 0;

		if (!hodo_load(&e->at) && hodo_cas_acquire(&e->at, &word, at | OWNED))
			return e;
	}
	return 0;
}

/*
 * Whether the slot holds something else by now; its stack may even be unmapped. The kernel compares it, in a
 * futex call that wakes no waiters: every sandbox allows that call.
 */
static bool is_stale(uintptr_t at)
{
	uint32_t other = 0;
	long error = hodo_sys6(SYS_futex, (long)at, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, (long)&other,
			       (long)(uint32_t)trampoline);

	return error == -EFAULT || error == -EAGAIN;
}

/* All places are taken: the first stale one that nobody else holds. */
static struct entry *take_stale(uintptr_t at)
{
	for (unsigned i = 0; i < HODO_RETURNS_PROBES; i++) {
		struct entry *e = entry_of(at, i);
		uintptr_t word = hodo_load(&e->at);

		if (!word || (word & MARKS) || !hodo_cas_acquire(&e->at, &word, word | EXAMINED))
			continue;
		if (is_stale(word)) {
			hodo_store_release(&e->at, at | OWNED);
			return e;
		}
		hodo_store_release(&e->at, word);
	}
	return 0;
}

static const char *refuse(void)
{
	uint64_t features = 0;
	void *table = (void *)HODO_RETURNS_TABLE;
	size_t bytes = (HODO_RETURNS_ENTRIES - HODO_RETURNS_TABLE) + (sizeof(struct entry) << HODO_RETURNS_BITS);
	void *p;

	if (hodo_sys2(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 && (features & SHSTK_ENABLED))
		return "the program runs with a shadow stack, which forbids other return addresses";
	if (hodo_func_profiled) /* see entry_only.c */
		return "gprof, or another profiler's mcount, takes a function's caller from there";
	p = (void *)hodo_sys6(SYS_mmap, (long)table, (long)bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (hodo_is_error(p))
		return (long)p == -EEXIST ? "something else is at the address of their table"
					  : "there is no memory for their table";
	if (p != table) { /* to an old kernel, the address is a hint */
		hodo_sys2(SYS_munmap, p, bytes);
		return "something else is at the address of their table";
	}
	/* Accesses are scattered: no huge pages. */
	hodo_sys3(SYS_madvise, table, bytes, MADV_NOHUGEPAGE);
	*(uintptr_t *)table = trampoline;
	return 0;
}

/* Under the control lock. The table is never unmapped: frames may be in it. */
bool hodo_returns_possible(const char *to, const char **why_not)
{
	if (!ready && !refusal) {
		trampoline = (uintptr_t)to;
		refusal = refuse();
		hodo_store_release(&ready, !refusal);
	}
	*why_not = refusal;
	return ready;
}

/* lea 8(%rsp), %r10, behind an endbr64 or not */
static bool aligns_stack(const uint8_t *p)
{
	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa)
		p += 4;
	return p[0] == 0x4c && p[1] == 0x8d && p[2] == 0x54 && p[3] == 0x24 && p[4] == 0x08;
}

/*
 * -pg: if GCC aligns a function's stack, the function puts a copy of its return address beside the frame
 * pointer, and returns through the real one, which is below the address that r10 holds. It saves that among
 * other registers.
 */
uintptr_t hodo_returns_slot(uintptr_t function, uintptr_t pc, uintptr_t at)
{
	const uintptr_t *copy = (const uintptr_t *)at;

	if (pc - function < PROLOGUE_MIN || !aligns_stack((const uint8_t *)function))
		return at;
	for (int i = 2; i <= SAVED_MAX; i++) {
		uintptr_t kept = copy[-i];

		if (!(kept & 7) && kept - at > 8 && kept - at <= ALIGNMENT_MAX && *((uintptr_t *)kept - 1) == *copy)
			return kept - 8;
	}
	return 0;
}

bool hodo_returns_replace(uintptr_t *at, uintptr_t pc, bool *jumped)
{
	struct entry *e;

	*jumped = false;
	if (!hodo_load_acquire(&ready) || ((uintptr_t)at & 7))
		return false;
	/* A function entered by a tail jump returns as the one that jumped. */
	if (*at == trampoline) {
		*jumped = find((uintptr_t)at) != 0;
		return *jumped;
	}
	e = take_own((uintptr_t)at);
	if (!e && !find((uintptr_t)at))
		e = take_free((uintptr_t)at);
	if (!e && !find((uintptr_t)at))
		e = take_stale((uintptr_t)at);
	if (!e)
		return false;
	hodo_store_release(&e->original, *at);
	/* Release: a signal handler that unwinds from here on finds the original. */
	hodo_store_release(at, trampoline);
	hodo_store_release(&e->at, (uintptr_t)at);
	return true;
}

uintptr_t hodo_returns_restore(uintptr_t at)
{
	struct entry *e = find(at);
	uintptr_t word = at, original;

	if (!e)
		__builtin_trap(); /* there is nowhere to return to */
	original = hodo_load(&e->original);
	hodo_store_release((uintptr_t *)at, original);
	/* Fails if somebody is examining it; they will find it stale. */
	hodo_cas_acquire(&e->at, &word, 0);
	return original;
}
