/* SPDX-License-Identifier: MIT */
/*
 * apply.c - writes windows, on and off, while threads run through them.
 *
 * On:  each byte on which an instruction begins becomes one that traps, of which the first is int3 and the others are
 *      the jump's; a barrier; the bytes between become the jump's; a barrier; int3 becomes the jump; a barrier.
 * Off: the same, backwards.
 *
 * The first barrier is what makes the second step safe: without it a core could still fetch an instruction of which
 * we change the middle. The second, what makes the third safe: a core that sees the jump must see all of its
 * distance. The third is for who comes after: when apply returns, no core runs what was there before. Each is
 * membarrier(2) with PRIVATE_EXPEDITED_SYNC_CORE: every core that runs a thread of ours has serialised.
 *
 * Any number of windows, on and off, takes three such steps.
 */
#include "engine.h"

#include <core/search.h>

#define INT3 0xcc
#define STEPS 3u

static struct hodo_patch patch;

/* What the k-th of the jump's bytes is after the step, of a window that is switched on, or was. */
static uint8_t byte_after(const struct hodo_plan_window *w, unsigned k, unsigned step)
{
	bool begins = k == 0 || w->boundaries >> k & 1;

	if (step == STEPS)
		return w->bytes[k];
	if (k == 0)
		return step == STEPS - 1 && w->flags & HODO_PLAN_JUMP ? w->jump[0] : INT3;
	return begins || step >= 1 ? w->jump[k] : w->bytes[k];
}

static unsigned bytes_of(const struct hodo_plan_window *w)
{
	return w->flags & HODO_PLAN_JUMP ? sizeof(w->jump) : 1;
}

/* On goes through what is there after steps 0, 1, 2; off through 1, 0, and what was there before. */
static void write_window(const struct hodo_plan_window *w, bool on, unsigned step)
{
	static const uint8_t off[STEPS] = { 1, 0, STEPS };

	for (unsigned k = 0; k < bytes_of(w); k++) {
		uint8_t byte = byte_after(w, k, on ? step : off[step]);

		if (*(const volatile uint8_t *)(w->addr + k) != byte)
			hodo_patch_byte(&patch, w->addr + k, byte);
	}
}

/* Else a debugger's breakpoint is there, or another object. */
bool hodo_engine_is(const struct hodo_plan_window *w, bool on)
{
	const uint8_t *code = (const uint8_t *)w->addr;

	for (unsigned k = 0; k < w->len; k++) {
		uint8_t byte = on && k < bytes_of(w) ? byte_after(w, k, STEPS - 1) : w->bytes[k];

		if (code[k] != byte)
			return false;
	}
	return true;
}

/* Which are to change; their number. */
static uint32_t begin(struct hodo_engine_plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		uint8_t state = p->state[i];
		bool want = state & HODO_ENGINE_WANTED, on = state & HODO_ENGINE_ON;

		if (want == on || state & HODO_ENGINE_REFUSED)
			continue;
		if (!hodo_engine_is(&p->windows[i], on)) {
			p->state[i] |= HODO_ENGINE_REFUSED;
			continue;
		}
		p->state[i] |= HODO_ENGINE_CHANGES;
		n++;
	}
	return n;
}

static void end(struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		uint8_t state = p->state[i] & (uint8_t)~(HODO_ENGINE_CHANGES | HODO_ENGINE_ON);

		if (p->state[i] & HODO_ENGINE_CHANGES)
			p->state[i] = state | (hodo_engine_is(&p->windows[i], true) ? HODO_ENGINE_ON : 0);
	}
}

static void write_step(const struct hodo_engine_plan *p, unsigned step)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->state[i] & HODO_ENGINE_CHANGES)
			write_window(&p->windows[i], p->state[i] & HODO_ENGINE_WANTED, step);
	}
}

int hodo_engine_apply(void)
{
	uint32_t n = 0;
	int error = 0;

	for (uint32_t i = 0; i < hodo_engine_nplans && hodo_engine_guarded; i++)
		n += begin(&hodo_engine_plans[i]);
	for (unsigned step = 0; step < STEPS && n && !error; step++) {
		hodo_patch_begin(&patch);
		for (uint32_t i = 0; i < hodo_engine_nplans; i++)
			write_step(&hodo_engine_plans[i], step);
		error = hodo_patch_end(&patch);
	}
	for (uint32_t i = 0; i < hodo_engine_nplans && n; i++)
		end(&hodo_engine_plans[i]);
	return error;
}

void hodo_engine_want(uintptr_t window, bool on)
{
	/* Of the last plan that has it: the slots of those before may lead where nobody is any more. */
	for (uint32_t i = hodo_engine_nplans; i-- > 0;) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];
		uint32_t k = hodo_search(j, p->head->windows.n, p->windows[j].addr >= window);

		if (k == p->head->windows.n || p->windows[k].addr != window || p->windows[k].flags & HODO_PLAN_ALWAYS)
			continue;
		p->state[k] = (uint8_t)((p->state[k] & ~HODO_ENGINE_WANTED) | (on ? HODO_ENGINE_WANTED : 0));
		on = on && p->state[k] & HODO_ENGINE_REFUSED;
	}
}

void hodo_engine_forget(uintptr_t start, uintptr_t end)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];

		for (uint32_t k = 0; k < p->head->windows.n; k++) {
			if (p->windows[k].addr >= start && p->windows[k].addr < end)
				p->state[k] = HODO_ENGINE_REFUSED;
		}
	}
}

/* The thread that was writing stayed in the parent; here there is one thread, which is not in a window. */
void hodo_engine_forked(void)
{
	hodo_engine_pid = (uint32_t)hodo_sys0(SYS_getpid);
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];

		hodo_patch_begin(&patch);
		write_step(p, STEPS - 1);
		hodo_patch_end(&patch);
		end(p);
	}
}
