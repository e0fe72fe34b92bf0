/* SPDX-License-Identifier: MIT */
/*
 * fallback.c - the writer that needs neither restartable sequences nor a clock that an instruction reads: for
 * threads without rseq, vfork children, and --clock monotonic. They all share one ring.
 *
 *              | write                            | end of the recording
 *   write      | excluded (the ring's owner word) | waited for (sections); the on word is read under the lock
 *   wait       | beside: nothing is held (wait.c)  | waited for (sections); a sleep ends after 100 ms
 */
#include <user/libc/sys.h>
#include <user/event/event.h>
#include <user/process/process.h>
#include "rings.h"
#include "wait.h"

#define SPINS 2000
#define PAUSE_NS 20000

/* The fallback ring's lock: owner is the holder's tid. Taken with signals blocked. */
static bool fallback_lock(struct hodo_ring *ring, uint32_t tid)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t owner = 0;

		if (hodo_cas_seq(&ring->owner, &owner, tid))
			return true;
		/* The holder may have lost its CPU: yielding does not wait for it. */
		if (i % 16 == 15 && i < SPINS / 2)
			hodo_sys0(SYS_sched_yield);
		else if (i % 16 == 15)
			hodo_sleep_ns(PAUSE_NS);
		/* A vfork child that was killed while it held the lock leaves its tid. Any other death while
		 * holding it ends the whole process. The ring is as valid as after any kill: nothing counts
		 * before the commit. */
		if (i == SPINS - 1 && hodo_sys2(SYS_tkill, owner, 0) == -ESRCH &&
		    hodo_cas_seq(&ring->owner, &owner, tid))
			return true;
	}
	return false;
}

/* Makes room for the event, switching packets if necessary. */
static bool fallback_room(struct hodo_view *v, size_t total, uint32_t on)
{
	struct hodo_switch plan;
	uint64_t word = hodo_load(&v->ring->word);

	if (hodo_ring_has_room(word, v->packet_size, total) && !((on & HODO_ON_AGE) && hodo_view_too_old(v, word)))
		return true;
	if (hodo_ring_plan(&hodo_recording.ring, v, HODO_CPU_ANY, word, &plan) != HODO_RING_PLANNED)
		return false;
	plan.now = hodo_clock_now();
	HODO_INJECT(HODO_INJECT_FALLBACK_SWITCH);
	hodo_ring_switch_locked(&plan);
	hodo_view_populate_ahead(v, plan.seq + 1);
	return true;
}

enum outcome { DONE, FULL, BUSY };

static enum outcome fallback(struct hodo_state *state, const struct hodo_piece *piece)
{
	uint32_t number = hodo_fallback_number(), tid = hodo_gettid(), on;
	struct hodo_ring *ring = hodo_ring_of(number);
	struct hodo_view *v = hodo_view_of(number);
	enum outcome outcome = DONE;

	if (!fallback_lock(ring, tid))
		return BUSY;
	HODO_INJECT(HODO_INJECT_FALLBACK_LOCKED);
	/* The lock orders this load after the disabler's store if the disabler has since seen the lock free. */
	on = hodo_load_seq(state->on);
	if (!(on & HODO_ON_RECORD))
		goto out;
	if ((!v->packet_size && !hodo_view_setup(number)) || !fallback_room(v, piece->len, on))
		outcome = FULL;
	else
		hodo_ring_write_locked(v, state->id, tid, hodo_clock_now(), piece, 1, piece->len);
out:
	hodo_store_release(&ring->owner, 0);
	return outcome;
}

/* Without the lock. If what a switch would be planned from changes meanwhile, look again. */
static bool is_full(size_t total)
{
	struct hodo_view *v = hodo_view_of(hodo_fallback_number());
	struct hodo_switch plan;
	uint64_t word;

	if (!v->packet_size)
		return false;
	word = hodo_load_acquire(&v->ring->word);
	return !hodo_ring_has_room(word, v->packet_size, total) &&
	       hodo_ring_plan(&hodo_recording.ring, v, HODO_CPU_ANY, word, &plan) == HODO_RING_FULL;
}

/* Signals are blocked, and there is a recording. True: try the event again after hodo_wait_sleep(). */
static bool later(enum outcome outcome, size_t total, struct hodo_wait *wait)
{
	struct hodo_ring *ring = hodo_ring_of(hodo_fallback_number());

	if (hodo_wait_prepare(wait, outcome == FULL ? ring : 0)) {
		if (outcome == FULL && !is_full(total))
			wait->space = 0;
		return true;
	}
	hodo_add(outcome == FULL ? &ring->lost_full : &ring->lost_busy, 1);
	return false;
}

static struct hodo_buffers copies; /* of events on their way to the fallback ring */

int hodo_fallback_prepare(void)
{
	return hodo_buffers_make(&copies, hodo_recording.layout.packet_size);
}

static void *take_copy(void)
{
	void *copy = 0;

	for (int i = 1; i < SPINS && !(copy = hodo_buffers_take(&copies)); i++)
		if (i % 16 == 0)
			hodo_sys0(SYS_sched_yield);
	return copy;
}

/*
 * Reads the program's memory with the program's signal mask, not under the lock, where signals are blocked: a
 * handler may repair a fault and return, as garbage collectors do, or end the program in its own way. A
 * waiting event keeps no copy: others need the buffers.
 */
void hodo_fallback_write(struct hodo_state *state, const struct hodo_piece *pieces, size_t count)
{
	struct hodo_wait wait = { 0 };
	bool again;

	do {
		uint8_t *copy = take_copy(), *at = copy;
		enum outcome outcome = BUSY;
		uint64_t mask;

		for (size_t i = 0; i < count && copy; i++) {
			__builtin_memcpy(at, pieces[i].data, pieces[i].len);
			at += pieces[i].len;
		}
		mask = hodo_signals_block();
		again = false;
		if (hodo_process_recording()) {
			if (copy)
				outcome = fallback(state, &(struct hodo_piece){ copy, (size_t)(at - copy) });
			again = outcome != DONE && later(outcome, (size_t)(at - copy), &wait);
		}
		hodo_signals_restore(mask);
		hodo_buffers_release(&copies, copy);
		if (again)
			hodo_wait_sleep(&wait);
	} while (again);
}
