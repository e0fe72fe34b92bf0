/* SPDX-License-Identifier: MIT */
/*
 * hot_traps.c - gives up windows whose middle code reaches again and again, by jumps that the analysis did not see:
 * it traps each time, and continues correctly, but each trap costs 2 us.
 *
 * A window is hot after that many traps within a second. Threads preempted in it while it was written cause
 * at most one trap each. All windows of its function go, too: calls would lack an exit, or have only an exit.
 * This happens in the handler of the last of these traps, between any two instructions of the program: if the
 * control lock is taken, it is left to the next trap.
 */
#include "engine.h"

#include <time.h>
#include <user/process/process.h>

#define TRAPS 1000u
#define MS 1000u
#define STAYS (HODO_PLAN_ALWAYS | HODO_PLAN_STAYS)

void (*hodo_engine_gives_up)(uintptr_t at);

static uint32_t now_ms(void)
{
	struct timespec now = { 0, 0 };

	hodo_sys2(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)now.tv_sec * 1000 + (uint32_t)(now.tv_nsec / 1000000);
}

/* A vfork child, which shares its parent's memory, could end while holding the lock. */
static bool is_us(void)
{
	return (uint32_t)hodo_sys0(SYS_getpid) == hodo_engine_pid;
}

static bool has(const struct hodo_plan_function *f, uint32_t window)
{
	return f->entry == window || window - f->first < f->exits;
}

static void mark(struct hodo_engine_plan *p, uint32_t window)
{
	if (!(p->windows[window].flags & STAYS))
		p->state[window] |= HODO_ENGINE_HOT;
}

static void give_up(struct hodo_engine_plan *p, uint32_t window)
{
	mark(p, window);
	for (uint32_t i = 0; i < p->head->functions.n; i++) {
		const struct hodo_plan_function *f = &p->functions[i];

		if (!has(f, window))
			continue;
		if (f->entry != HODO_PLAN_NO_WINDOW)
			mark(p, f->entry);
		for (uint32_t k = 0; k < f->exits; k++)
			mark(p, f->first + k);
	}
	hodo_engine_apply();
	if (hodo_engine_gives_up)
		hodo_engine_gives_up(p->windows[window].addr);
}

void hodo_engine_heated(struct hodo_engine_plan *p, uint32_t window)
{
	struct hodo_engine_heat *heat = &p->heat[window];
	uint64_t mask;

	hodo_add(&heat->traps, 1);
	if (hodo_load(&heat->traps) < TRAPS || p->windows[window].flags & STAYS)
		return;
	if (now_ms() - hodo_load(&heat->since_ms) >= MS) {
		hodo_store(&heat->since_ms, now_ms());
		hodo_store(&heat->traps, 0);
	} else if (is_us() && hodo_control_try(&mask)) {
		give_up(p, window);
		hodo_control_unlock(mask);
	}
}
