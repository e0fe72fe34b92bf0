/* SPDX-License-Identifier: MIT */
/*
 * section.c - counts threads inside the slow path, so that the end of a recording can unmap its memory.
 *
 * The writers in assembly are restartable sequences: clearing the views and one
 * barrier puts them all outside. Code in C (emit.c) counts itself in and out, on its CPU, by a restartable
 * sequence without a locked instruction; threads without such sequences use atomic counters.
 *
 *                | enter            | leave  | close
 *   enter        | beside           | beside | before or closed
 *   leave        |                  | beside | beside
 *   close        |                  |        | excluded (control lock)
 *
 * close clears the word `open`, then restarts every sequence by the rseq barrier:
 * a thread that had read the word set but not yet counted reads it again, so that no ins are added after the
 * barrier. Without the barrier, a thread preempted between its check and its count would be inside unseen. An
 * atomic enter counts first and looks at the word afterwards, both sequentially consistent: either close sees
 * the count, or the enter sees the word cleared and counts itself out.
 *
 * close sums the outs before the ins: otherwise, one that came in after the sum of ins (an atomic one that
 * will turn back) and went out before that of outs would hide one that is still inside.
 *
 * A thread that waits for room in a ring (wait.c) is inside, too; ten times a second, it checks whether the
 * recording goes on.
 *
 * A section that a handler leaves by longjmp is never counted out: close then gives up after two seconds, and
 * the memory stays.
 */
#include <user/libc/sys.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include "event.h"

#define CLOSE_TRIES 40000 /* of 50 us: two seconds */
#define CLOSE_PAUSE_NS 50000

enum { ATOMIC = 1, SEQUENCE = 2, LANE_BITS = 2 };

static struct lane {
	uint64_t in, out;
	uint64_t pad[6];
} *lanes; /* as many as views, mapped when a recording begins; NULL: atomic counters alone */
static uint64_t atomic_in, atomic_out;
static uint32_t is_open;
static uint32_t epoch = 1; /* a fork child starts counting again */
static uint32_t max_lanes; /* that may have been used */

uint32_t hodo_section_enter(void)
{
#ifdef __x86_64__
	/* With hodo_no_views, the thread has no restartable sequences, or is a vfork child. */
	if (lanes && hodo_tls.table != hodo_no_views) {
		int r = hodo_x86_count(&lanes[0].in, &is_open);

		if (r >= 0)
			return r ? epoch << LANE_BITS | SEQUENCE : 0;
	}
#endif
	if (!hodo_load(&is_open))
		return 0;
	hodo_add_seq(&atomic_in, 1);
	HODO_INJECT(HODO_INJECT_SECTION);
	if (hodo_load_seq(&is_open))
		return epoch << LANE_BITS | ATOMIC;
	hodo_add_seq(&atomic_out, 1);
	return 0;
}

void hodo_section_leave(uint32_t token)
{
	if (!token || token >> LANE_BITS != (epoch & (~0u >> LANE_BITS)))
		return; /* the token is the parent's, and this is a fork child */
#ifdef __x86_64__
	static const uint32_t always = 1;

	/* Any counter will do: only the sums matter. */
	if (lanes && hodo_tls.table != hodo_no_views && hodo_x86_count(&lanes[0].out, &always) == 1)
		return;
#endif
	hodo_add_seq(&atomic_out, 1);
}

bool hodo_section_empty(void)
{
	uint64_t in, out = hodo_load_seq(&atomic_out);

	for (uint32_t i = 0; i < max_lanes; i++)
		out += hodo_load_acquire(&lanes[i].out);
	in = hodo_load_seq(&atomic_in);
	for (uint32_t i = 0; i < max_lanes; i++)
		in += hodo_load_acquire(&lanes[i].in);
	return in == out;
}

void hodo_section_open(void)
{
	if (!lanes) {
		struct lane *all = hodo_map(HODO_VIEWS_ALL * sizeof(*lanes));

		if (all)
			max_lanes = hodo_possible_cpus();
		hodo_store_release(&lanes, all ? all + HODO_VIEWS_BEFORE : 0);
	}
	hodo_store_seq(&is_open, 1);
}

bool hodo_section_close(void)
{
	hodo_store_seq(&is_open, 0);
	hodo_patch_rseq_barrier();
	for (int i = 0; i < CLOSE_TRIES; i++) {
		if (hodo_section_empty())
			return true;
		hodo_sleep_ns(CLOSE_PAUSE_NS);
	}
	return false;
}

void hodo_section_forked(void)
{
	hodo_store_seq(&is_open, 0);
	for (uint32_t i = 0; i < max_lanes; i++)
		lanes[i].in = lanes[i].out = 0;
	atomic_in = atomic_out = 0;
	epoch++;
}
