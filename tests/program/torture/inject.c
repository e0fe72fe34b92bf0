/* SPDX-License-Identifier: MIT */
/*
 * inject.c - what happens at the injection points of a libhodo built for
 * torture (HODO_INJECT_HOOK). The environment decides:
 *
 *	HODO_INJECT_SEED=N	at every point, by a random sequence from this seed: nothing, a delay, a
 *				yield, or a signal (SIGUSR1) to this thread; and longer windows
 *				inside the assembly
 *	HODO_INJECT_KILL=P:N	SIGKILL of the process when point P is passed the N-th time
 *	HODO_INJECT_LOOPS=N	turns of the loops at the assembly's points; P:N: only at point P
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <core/atomic.h>
#include <user/libc/sys.h>

#define ASSEMBLY_POINTS 9
HODO_HIDDEN uint32_t hodo_inject_loops[ASSEMBLY_POINTS]; /* see INJECT in arch/x86_64/writer.S */

static uint64_t seed;
static int kill_point = -1;
static uint64_t kill_after, passed[HODO_INJECT_POINTS];
static int ready;

static void set_up(void)
{
	const char *text = getenv("HODO_INJECT_SEED"), *kill = getenv("HODO_INJECT_KILL");
	const char *loops = getenv("HODO_INJECT_LOOPS");

	ready = 1;
	if (text)
		seed = strtoull(text, NULL, 10) * 2 + 1;
	if (kill && strchr(kill, ':')) {
		kill_point = atoi(kill);
		kill_after = strtoull(strchr(kill, ':') + 1, NULL, 10);
	}
	for (int i = 0; loops && i < ASSEMBLY_POINTS; i++) {
		const char *only = strchr(loops, ':');

		if (!only || atoi(loops) == i)
			hodo_inject_loops[i] = (uint32_t)atoi(only ? only + 1 : loops);
	}
}

HODO_HIDDEN void hodo_inject(enum hodo_inject_point point)
{
	uint64_t r;

	if (!ready && !environ)
		return; /* the constructor runs before libc's */
	if (!ready)
		set_up();
	if ((int)point == kill_point && hodo_add(&passed[point], 1) + 1 >= kill_after)
		hodo_sys2(SYS_kill, hodo_sys0(SYS_getpid), SIGKILL);
	if (!seed)
		return;
	r = hodo_add(&seed, 0x9e3779b97f4a7c15ull);
	r = (r ^ (r >> 30)) * 0xbf58476d1ce4e5b9ull;
	switch ((r >> 32) % 16) {
	case 0:
		for (volatile int i = 0; i < 2000; i++)
			;
		break;
	case 1:
		hodo_sys0(SYS_sched_yield);
		break;
	case 2:
		hodo_sys2(SYS_tkill, hodo_gettid(), SIGUSR1);
		break;
	}
}
