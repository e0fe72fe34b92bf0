/* SPDX-License-Identifier: MIT */
/*
 * hodo_probe.pml - the grace period of a tracepoint's probes: who runs probes
 * counts itself in and out, in one of two banks of per-CPU counters; who
 * unregisters a probe publishes the list without it, then waits until nobody who
 * may have the old list is left, twice: for the one bank and for the other.
 *
 * What it shows, over every interleaving:
 *   - when unregistering has returned, nobody runs the probe or will;
 *   - unregistering returns, if those inside leave (no state without a way on).
 *
 * A caller may enter on one CPU and leave on another: the sums of the two kinds
 * of counters over all CPUs are compared, each counter loaded in its own step.
 * A caller may sleep for any time between any two steps, also between the
 * choice of the bank and being counted in it, which is why one wait is not
 * enough. A probe list is a number here: the list after the n-th change.
 *
 * Left out: memory order (sequentially consistent here; the code has full
 * fences, or membarrier, between counting in and loading the list, between
 * publishing and summing, and between the sum of leaves and the sum of enters),
 * wrap of the counters (32 bits: fewer callers than that at once), several
 * unregistering threads (one at a time holds the lock).
 *
 * Parameters: R callers, each with ENTERS turns; C CPUs; CHANGES of the list.
 * Each M_... is a mutant: one thing done wrong, which must make the run fail.
 */
#ifndef R
#define R 2
#endif
#ifndef ENTERS
#define ENTERS 2
#endif
#ifndef C
#define C 2
#endif
#ifndef CHANGES
#define CHANGES 2
#endif

bit bank;
byte enters[2 * C], leaves[2 * C];
byte list;         /* the published list */
bit gone[CHANGES]; /* lists whose probe has been unregistered for good */

inline any_cpu()
{
	if
	:: cpu = 0
	:: cpu = C - 1
	fi
}

active [R] proctype caller()
{
	byte turns, cpu, mine;
	bit b;

	do
	:: turns < ENTERS ->
#ifdef M_LOAD_FIRST
		mine = list;
#endif
		b = bank;
		atomic { any_cpu(); enters[b * C + cpu]++ }
#ifndef M_LOAD_FIRST
		mine = list;
#endif
		/* Probes run: not one that is gone. */
		assert(mine == CHANGES || !gone[mine]);
		skip;
		assert(mine == CHANGES || !gone[mine]);
		atomic { any_cpu(); leaves[b * C + cpu]++; turns++ }
	:: else -> break
	od
}

/* Waits until all who entered with bank b have left. */
inline drain(b)
{
	do
	:: left = 0;
	   entered = 0;
#ifdef M_ENTERS_FIRST
	   i = 0;
	   do
	   :: i < C -> entered = entered + enters[(b) * C + i]; i++
	   :: else -> break
	   od;
#endif
	   i = 0;
	   do
	   :: i < C -> left = left + leaves[(b) * C + i]; i++
	   :: else -> break
	   od;
#ifndef M_ENTERS_FIRST
	   /* After the leaves: otherwise one who came and left in between could stand for one inside. */
	   i = 0;
	   do
	   :: i < C -> entered = entered + enters[(b) * C + i]; i++
	   :: else -> break
	   od;
#endif
	   if
	   :: left == entered -> break
	   :: else
	   fi
	od
}

active proctype unregister()
{
	byte n, i, left, entered;

	do
	:: n < CHANGES ->
#ifdef M_WAIT_FIRST
		bank = 1 - bank;
		drain(1 - bank);
		bank = 1 - bank;
		drain(1 - bank);
		list = n + 1;
#else
		list = n + 1;
#ifndef M_NO_WAIT
		bank = 1 - bank;
		drain(1 - bank);
#ifndef M_ONE_FLIP
		bank = 1 - bank;
		drain(1 - bank);
#endif
#endif
#endif
		gone[n] = 1;
		n++
	:: else -> break
	od
}
