/* SPDX-License-Identifier: MIT */
/*
 * grace.c - unmaps what dispatch may still be reading once all threads that were in it have left it. It waits
 * without the control lock, since a running tracer may want that. See dispatch.c for the order.
 */
#include <func/slots/slots.h>
#include "dispatch.h"
#include "threads.h"
#include <user/objects/objects.h>
#include <user/process/process.h>
#include <errno.h>
#include <user/libc/sys.h>
#include <func/func.h>

#define PAUSE_NS 50000
#define RETIRED_MAX 256
#define RETIRED_MANY 32
#define UNTOLD_PAUSES 400 /* 20 ms: a store becomes visible sooner */
#define ENDING_PAUSES 40000 /* two seconds */
#define LEFT_TRIES 64 /* pauses between checks whether a thread has left dispatch by a longjmp */

static struct {
	void *memory;
	size_t bytes;
} retired[RETIRED_MAX];
static uint32_t nretired;

/* false: the kernel now refuses the barrier (a sandbox began). From now on, threads order their own accesses;
 * those between two accesses do not yet. */
static bool barrier(void)
{
	if (hodo_patch_barrier())
		return true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (hodo_dispatch_fence)
		return true;
	hodo_store(&hodo_dispatch_fence, true);
	return false;
}

/*
 * Returns when all threads that were in dispatch have left it; false: one has not within that many pauses.
 * Not under the control lock, not from inside.
 */
static bool grace_wait(unsigned pauses_max)
{
	uint32_t pid = (uint32_t)hodo_sys0(SYS_getpid);
	struct hodo_func_thread *t;

	/* After this, everybody sees an odd `inside` of threads that loaded the old list before. */
	for (unsigned n = barrier() ? 0 : UNTOLD_PAUSES; n > 0; n--)
		hodo_sleep_ns(PAUSE_NS);
	for (uint32_t i = 0; (t = hodo_func_thread_at(i)); i++) {
		uint32_t inside = hodo_load_acquire(&t->inside);

		if (t == hodo_func_tls.thread)
			continue; /* its mark is left over from a longjmp */
		for (unsigned n = 1; (inside & 1) && hodo_load_acquire(&t->inside) == inside; n++) {
			if (hodo_sys3(SYS_tgkill, pid, hodo_load(&t->tid), 0) == -ESRCH ||
			    (n % LEFT_TRIES == 0 && hodo_func_thread_left(t)))
				break;
			if (n == pauses_max)
				return false;
			hodo_sleep_ns(PAUSE_NS);
		}
	}
	return true;
}

/* The end of a recording does not wait forever, although one of the program's tracers may. */
bool hodo_grace_recording(void)
{
	return !hodo_func_wanted || grace_wait(ENDING_PAUSES);
}

/* Whether no thread, this one included, is in dispatch or can still use what was replaced before this. */
static bool nobody_inside(void)
{
	struct hodo_func_thread *t;

	if (!barrier())
		return false;
	for (uint32_t i = 0; (t = hodo_func_thread_at(i)); i++) {
		if (hodo_load_acquire(&t->inside) & 1)
			return false;
	}
	return true;
}

/* Libraries that come and go replace things while nobody waits for a grace period: a moment with no thread
 * inside will do. */
void hodo_grace_give_back(void)
{
	if (nretired < RETIRED_MANY || !nobody_inside())
		return;
	while (nretired > 0) {
		nretired--;
		hodo_sys2(SYS_munmap, retired[nretired].memory, retired[nretired].bytes);
	}
}

void hodo_grace_retire(void *memory, size_t bytes)
{
	if (nretired < RETIRED_MAX) { /* else it stays mapped: better than a thread reading unmapped memory */
		retired[nretired].memory = memory;
		retired[nretired++].bytes = bytes;
	}
}

void hodo_grace_settle(void)
{
	uint64_t mask = hodo_control_lock();
	uint32_t n = nretired;
	__typeof__(retired[0]) old[RETIRED_MAX];

	__builtin_memcpy(old, retired, sizeof(old));
	nretired = 0;
	hodo_control_unlock(mask);
	grace_wait(~0u);
	for (uint32_t i = 0; i < n; i++)
		hodo_sys2(SYS_munmap, old[i].memory, old[i].bytes);
}
