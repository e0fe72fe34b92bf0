/* SPDX-License-Identifier: MIT */
/*
 * apply.c - switches windows on and off while threads run through them, in three steps. After each, all cores
 * serialise:
 *
 *      1  the first byte becomes int3; so do those on which other instructions begin, but where the jump is: there they
 *         trap already, and are a part of it
 *      2  the bytes between become what they are to be; of a jump, all but its first
 *      3  the bytes on which instructions begin become what they are to be
 *
 * The first barrier makes the second step safe: without it, a core could still fetch an instruction, or the
 * jump, whose middle we change. The second makes the third step safe: a core that sees the jump, or an
 * instruction, must see all of it. The third is for the caller: when apply returns, no core runs the old
 * bytes and enters a slot that nobody wants any more. Each is membarrier(2) with PRIVATE_EXPEDITED_SYNC_CORE:
 * every core that runs one of our threads has serialised. The first byte of an instruction that cores may run
 * changes only to and from int3: for any other change, processors do not define what runs meanwhile.
 * tests/model/hodo_window.pml verifies all this.
 *
 * Any number of windows takes three such steps. They also work from any state in which an earlier change
 * stopped, because of a fork or a failed write.
 *
 * A window at the same place as another plan's that is on replaces it: it does not go off in between, so that
 * no thread gets past it. The jumps differ in bytes where instructions begin, which must be int3 first; so
 * for these windows the second step off precedes the second step on. Windows that overlap otherwise go off,
 * and then on.
 */
#include "engine.h"

#include <core/search.h>
#include <user/objects/objects.h>

#define INT3 0xcc
#define STEPS 3u
#define ROUNDS_MAX 3u /* one window gives way, goes off, and another goes on */

static struct hodo_patch patch;

/* The k-th byte of the jump after the step. */
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

/* If not, there is a debugger's breakpoint, or another object. */
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

enum way { WAY_FREE, WAY_TAKEN_OVER, WAY_LATER, WAY_NONE };

/* Another plan's window is on over some of the same instructions. The older one gives way. */
static enum way meet(struct hodo_engine_plan *p, uint32_t i, struct hodo_engine_plan *q, uint32_t k)
{
	const struct hodo_plan_window *w = &p->windows[i], *other = &q->windows[k];
	uint8_t state = q->state[k];

	if (other->flags & (HODO_PLAN_ALWAYS | HODO_PLAN_STAYS) || (hodo_engine_wanted(state) && q->age > p->age))
		return WAY_NONE;
	q->state[k] = state & (uint8_t)~(HODO_ENGINE_WANTED | HODO_ENGINE_WANTED_EVENT);
	if (state & HODO_ENGINE_CHANGES || other->addr != w->addr || other->len != w->len ||
	    bytes_of(other) > bytes_of(w) || !hodo_engine_is(other, true))
		return WAY_LATER;
	q->state[k] &= (uint8_t)~HODO_ENGINE_ON;
	return WAY_TAKEN_OVER;
}

/* Whether the other plans' windows allow this one to go on. */
static enum way look_for_others(struct hodo_engine_plan *p, uint32_t i)
{
	const struct hodo_plan_window *w = &p->windows[i];
	enum way way = WAY_FREE, one;

	for (uint32_t j = 0; j < hodo_engine_nplans; j++) {
		struct hodo_engine_plan *q = &hodo_engine_plans[j];
		uint32_t n = q->head->windows.n;

		if (q == p || !q->on)
			continue;
		/* Those that begin in the window, and the one that may reach into it. */
		for (uint32_t k = hodo_search(x, n, q->windows[x].addr >= w->addr + w->len); k-- > 0;) {
			if (q->windows[k].addr + q->windows[k].len <= w->addr)
				break;
			one = q->state[k] & HODO_ENGINE_ON ? meet(p, i, q, k) : way;
			if (one == WAY_NONE)
				return one;
			way = one;
		}
	}
	return way;
}

/* A window that must go on. False: there is nothing to do. */
static bool begin_on(struct hodo_engine_plan *p, uint32_t i, bool *later)
{
	switch (look_for_others(p, i)) {
	case WAY_TAKEN_OVER:
		p->state[i] |= HODO_ENGINE_CHANGES | HODO_ENGINE_TAKES;
		return true;
	case WAY_LATER:
		*later = true;
		return false;
	case WAY_NONE:
		return false;
	default:
		break;
	}
	p->state[i] |= hodo_engine_is(&p->windows[i], false) ? HODO_ENGINE_CHANGES : HODO_ENGINE_REFUSED;
	return p->state[i] & HODO_ENGINE_CHANGES;
}

/* Whether it must change, or did not complete an earlier change. on: of those that go on; else, off. */
static bool begin_one(struct hodo_engine_plan *p, uint32_t i, bool on, bool *later)
{
	uint8_t state = p->state[i];
	bool is_on = state & HODO_ENGINE_ON;

	if (on == is_on)
		return false;
	if (state & HODO_ENGINE_CHANGES)
		return true;
	if (hodo_engine_wanted(state) == is_on || state & HODO_ENGINE_REFUSED)
		return false;
	if (on)
		return begin_on(p, i, later);
	p->state[i] |= hodo_engine_is(&p->windows[i], true) ? HODO_ENGINE_CHANGES : HODO_ENGINE_REFUSED;
	return p->state[i] & HODO_ENGINE_CHANGES;
}

/*
 * Returns how many must change. Those that go on come first: an older plan's unwanted window is still on
 * then, so that a younger plan's can replace it.
 */
static uint32_t begin(bool *later)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 2 * hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i % hodo_engine_nplans];

		for (uint32_t k = 0; k < p->head->windows.n; k++)
			n += begin_one(p, k, i < hodo_engine_nplans, later);
	}
	return n;
}

/* After an error, those that are neither on nor off trap where they must, and change the next time. */
static void end(struct hodo_engine_plan *p, int error)
{
	const uint8_t kept = (uint8_t)~(HODO_ENGINE_CHANGES | HODO_ENGINE_TAKES | HODO_ENGINE_ON);

	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		uint8_t state = p->state[i] & kept;
		bool on;

		if (!(p->state[i] & HODO_ENGINE_CHANGES))
			continue;
		on = hodo_engine_is(&p->windows[i], true);
		if (on || !error || hodo_engine_is(&p->windows[i], false))
			p->state[i] = state | (on ? HODO_ENGINE_ON : 0);
	}
}

/* takes: only those that replace another's, going off so far. */
static void write_step(const struct hodo_engine_plan *p, unsigned step, bool takes)
{
	const uint8_t which = takes ? HODO_ENGINE_TAKES : HODO_ENGINE_CHANGES;

	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->state[i] & which)
			write_window(&p->windows[i], !takes && hodo_engine_wanted(p->state[i]), step);
	}
}

static int write_all(unsigned step, bool takes)
{
	hodo_patch_begin(&patch);
	for (uint32_t i = 0; i < hodo_engine_nplans; i++)
		write_step(&hodo_engine_plans[i], step, takes);
	return hodo_patch_end(&patch);
}

static int change(void)
{
	int error = write_all(0, false);

	if (!error)
		error = write_all(1, true);
	for (unsigned step = 1; step < STEPS && !error; step++)
		error = write_all(step, false);
	for (uint32_t i = 0; i < hodo_engine_nplans; i++)
		end(&hodo_engine_plans[i], error);
	return error;
}

static bool is_on_anywhere(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		if (p->state[i] & HODO_ENGINE_ON)
			return true;
	}
	return false;
}

int hodo_engine_apply(void)
{
	int error = 0;
	bool later = hodo_engine_guarded;

	for (unsigned round = 0; later && round < ROUNDS_MAX && !error; round++) {
		later = false;
		for (uint32_t i = 0; i < hodo_engine_nplans; i++)
			hodo_engine_plans[i].on = is_on_anywhere(&hodo_engine_plans[i]);
		error = begin(&later) ? change() : 0;
	}
	return error;
}

/* Of the youngest plan that has it: slots of older plans may lead to code that is gone. */
void hodo_engine_want(uintptr_t window, uint8_t what, bool on)
{
	const unsigned stays = HODO_PLAN_ALWAYS | HODO_PLAN_STAYS;
	uint32_t age = 0;
	uint8_t *state = 0;

	hodo_rest(400);
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

/* Functions may have the same windows: on after them, off before them. */
void hodo_engine_want_landings(bool on)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];

		for (uint32_t k = 0; k < p->head->windows.n && (p->present || !on); k++) {
			if (p->windows[k].flags & HODO_PLAN_LANDING)
				hodo_engine_want(p->windows[k].addr, HODO_ENGINE_WANTED, on);
		}
	}
}

/* Of a plan without windows. */
static bool has_all_functions_in(const struct hodo_engine_plan *p, uintptr_t start, uintptr_t end)
{
	uint32_t n = p->head->functions.n;

	return n && p->functions[0].addr >= start && p->functions[n - 1].addr < end;
}

void hodo_engine_forget(uintptr_t start, uintptr_t end)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];

		bool all = p->head->windows.n > 0 || has_all_functions_in(p, start, end);

		for (uint32_t k = 0; k < p->head->windows.n; k++) {
			if (p->windows[k].addr >= start && p->windows[k].addr < end)
				p->state[k] = HODO_ENGINE_REFUSED | HODO_ENGINE_GONE;
			all = all && p->state[k] & HODO_ENGINE_GONE;
		}
		p->gone |= all;
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
 * The thread that was writing stayed in the parent. The forked thread is in no window, but it may have
 * started others before it came here.
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
