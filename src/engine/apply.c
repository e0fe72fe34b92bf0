/* SPDX-License-Identifier: MIT */
/*
 * apply.c - writes windows, on and off, while threads run through them. In three steps, after each of which all cores
 * have serialised:
 *
 *      1  the first byte becomes int3; so do those on which other instructions begin, but where the jump is: there they
 *         trap already, and are a part of it
 *      2  the bytes between become what they are to be; of a jump, all but its first
 *      3  the bytes on which instructions begin become what they are to be
 *
 * The first barrier is what makes the second step safe: without it a core could still fetch an instruction, or the
 * jump, of which we change the middle. The second, what makes the third safe: a core that sees the jump, or an
 * instruction, must see all of it. The third is for who comes after: when apply returns, no core runs what was there
 * before, and comes to a slot that nobody wants any more. Each is membarrier(2) with PRIVATE_EXPEDITED_SYNC_CORE: every
 * core that runs a thread of ours has serialised. The first byte of an instruction that cores may run changes to int3
 * and from it alone: of any other change processors do not say what they run meanwhile. tests/model/hodo_window.pml
 * holds all this.
 *
 * Any number of windows, on and off, takes three such steps. They are the same from wherever another change was left,
 * by a fork, or where memory could not be written.
 */
#include "engine.h"

#define INT3 0xcc
#define STEPS 3u

static struct hodo_patch patch;

/* What the k-th of the jump's bytes is after the step. */
static uint8_t byte_after(const struct hodo_plan_window *w, bool on, unsigned k, unsigned step)
{
	bool begins = k == 0 || w->boundaries >> k & 1;
	uint8_t is;

	if (step == STEPS - 1)
		return !on ? w->bytes[k] : w->flags & HODO_PLAN_JUMP ? w->jump[k] : INT3;
	if (k == 0)
		return INT3;
	if (step == 1)
		return on ? w->jump[k] : begins ? INT3 : w->bytes[k];
	is = *(const volatile uint8_t *)(w->addr + k);
	return begins && is == w->bytes[k] ? INT3 : is;
}

static unsigned bytes_of(const struct hodo_plan_window *w)
{
	return w->flags & HODO_PLAN_JUMP ? sizeof(w->jump) : 1;
}

static void write_window(const struct hodo_plan_window *w, bool on, unsigned step)
{
	for (unsigned k = 0; k < bytes_of(w); k++) {
		uint8_t byte = byte_after(w, on, k, step);

		if (*(const volatile uint8_t *)(w->addr + k) != byte)
			hodo_patch_byte(&patch, w->addr + k, byte);
	}
}

/* Else a debugger's breakpoint is there, or another object. */
bool hodo_engine_is(const struct hodo_plan_window *w, bool on)
{
	const uint8_t *code = (const uint8_t *)w->addr;

	for (unsigned k = 0; k < w->len; k++) {
		uint8_t byte = k < bytes_of(w) ? byte_after(w, on, k, STEPS - 1) : w->bytes[k];

		if (code[k] != byte)
			return false;
	}
	return true;
}

/* Which are to change, or did not come to the end of an earlier change; their number. */
static uint32_t begin(struct hodo_engine_plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		uint8_t state = p->state[i];
		bool on = state & HODO_ENGINE_ON;

		if (!(state & HODO_ENGINE_CHANGES)) {
			if (hodo_engine_wanted(state) == on || state & HODO_ENGINE_REFUSED)
				continue;
			if (!hodo_engine_is(&p->windows[i], on)) {
				p->state[i] |= HODO_ENGINE_REFUSED;
				continue;
			}
			p->state[i] |= HODO_ENGINE_CHANGES;
		}
		n++;
	}
	return n;
}

/* After an error those that are neither on nor off trap where they must, and change on the next time. */
static void end(struct hodo_engine_plan *p, int error)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		uint8_t state = p->state[i] & (uint8_t)~(HODO_ENGINE_CHANGES | HODO_ENGINE_ON);
		bool on;

		if (!(p->state[i] & HODO_ENGINE_CHANGES))
			continue;
		on = hodo_engine_is(&p->windows[i], true);
		if (on || !error || hodo_engine_is(&p->windows[i], false))
			p->state[i] = state | (on ? HODO_ENGINE_ON : 0);
	}
}

static void write_step(const struct hodo_engine_plan *p, unsigned step)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->state[i] & HODO_ENGINE_CHANGES)
			write_window(&p->windows[i], hodo_engine_wanted(p->state[i]), step);
	}
}

static int change(void)
{
	int error = 0;

	for (unsigned step = 0; step < STEPS && !error; step++) {
		hodo_patch_begin(&patch);
		for (uint32_t i = 0; i < hodo_engine_nplans; i++)
			write_step(&hodo_engine_plans[i], step);
		error = hodo_patch_end(&patch);
	}
	for (uint32_t i = 0; i < hodo_engine_nplans; i++)
		end(&hodo_engine_plans[i], error);
	return error;
}

int hodo_engine_apply(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hodo_engine_nplans && hodo_engine_guarded; i++)
		n += begin(&hodo_engine_plans[i]);
	return n ? change() : 0;
}

/* Of the youngest plan that has it: the slots of those before may lead where nobody is any more. */
void hodo_engine_want(uintptr_t window, uint8_t what, bool on)
{
	const unsigned stays = HODO_PLAN_ALWAYS | HODO_PLAN_STAYS;
	uint32_t age = 0;
	uint8_t *state = 0;

	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];
		uint32_t k = hodo_engine_window_index(p, window);

		if (k == p->head->windows.n || p->windows[k].addr != window || p->windows[k].flags & stays)
			continue;
		p->state[k] &= (uint8_t)~what;
		if (p->state[k] & HODO_ENGINE_REFUSED || (state && p->age < age))
			continue;
		age = p->age;
		state = &p->state[k];
	}
	if (state && on)
		*state |= what;
}

void hodo_engine_forget(uintptr_t start, uintptr_t end)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];

		bool all = p->head->windows.n > 0;

		for (uint32_t k = 0; k < p->head->windows.n; k++) {
			if (p->windows[k].addr >= start && p->windows[k].addr < end)
				p->state[k] = HODO_ENGINE_REFUSED | HODO_ENGINE_GONE;
			all = all && p->state[k] & HODO_ENGINE_GONE;
		}
		p->gone = all;
	}
}

static bool is_changing(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->state[i] & HODO_ENGINE_CHANGES)
			return true;
	}
	return false;
}

/*
 * The thread that was writing stayed in the parent. Here there was one, which is in no window; but it may have started
 * others before it came here.
 */
void hodo_engine_forked(void)
{
	bool changing = false;

	hodo_engine_pid = (uint32_t)hodo_sys0(SYS_getpid);
	for (uint32_t i = 0; i < hodo_engine_nplans; i++)
		changing = changing || is_changing(&hodo_engine_plans[i]);
	if (changing)
		change();
}
