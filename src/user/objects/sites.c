/* SPDX-License-Identifier: MIT */
/*
 * sites.c - turning sites on and off in running code.
 *
 * A site is A9 rel32 (test $imm32,%eax) when off and E9 rel32 (jmp) when on: one byte differs, and the other four are
 * the same in both. A store of one byte is atomic wherever the instruction lies, and any mix of old and new
 * bytes that a core fetches is one of the two instructions, so nothing must be stopped, aligned or trapped.
 * Cores may keep executing the old one until they serialise, which membarrier's SYNC_CORE makes them do
 * (patch.c).
 *
 * Intel processors up to Core 2 have an erratum (called unsynchronised cross-modifying code): a core may
 * misbehave when another changes an instruction that it has fetched. There, sites are made to jump once,
 * before their object's code can run, and stay so; only the on word decides. The same applies to an Intel
 * processor that does not report its model.
 */
#include "objects.h"

#define JUMP 0xe9
#define TEST 0xa9

static bool is_wanted(const struct hodo_event *e)
{
	return (hodo_recording.on && ((e->matched && !e->disabled) || e->rules)) || e->nprobes;
}

/*
 * A semaphore is incremented while the event is on: the program, and other tools that count in it, test
 * whether it is 0. A state may have several records of it, from copies of inlined code: it counts once.
 * Returns the state's flag.
 */
static uint8_t raise(uint16_t *semaphore, uint8_t flag, bool on)
{
	if (on != !!(flag & HODO_FLAG_RAISED))
		__atomic_fetch_add(semaphore, on ? 1 : -1, __ATOMIC_RELAXED);
	return (uint8_t)(on ? flag | HODO_FLAG_RAISED : flag & ~HODO_FLAG_RAISED);
}

static void update(const struct hodo_site *site, struct hodo_state *state, void *data)
{
	bool on = is_wanted(state->event);
	uint8_t flag = state->flag;

	if (!site->addr && site->cold)
		flag = raise((uint16_t *)HODO_TARGET(site->cold), flag, on);
	if (site->addr) {
		uint8_t byte = on || !hodo_patch_possible() ? JUMP : TEST;

		if (*(volatile uint8_t *)HODO_TARGET(site->addr) != byte)
			hodo_patch_byte(data, HODO_TARGET(site->addr), byte);
	}
	hodo_store(&state->flag, (uint8_t)((flag & HODO_FLAG_RAISED) | (on ? HODO_FLAG_ON : 0)));
}

int hodo_sites_patch(void)
{
	static struct hodo_patch p; /* under the control lock; too large for small stacks */
	int error;

	hodo_patch_begin(&p);
	hodo_objects_each(update, &p);
	error = hodo_patch_end(&p);
	if (error)
		hodo_catalog_warn("events of it are missing: neither /proc/self/mem nor mprotect(2) lets its code "
				  "be changed");
	return error;
}

static void rebind(const struct hodo_site *site, struct hodo_state *state, void *data)
{
	hodo_store_release(&state->on, hodo_recording.on ? &hodo_on_words()[state->id] : &hodo_zero_on);
}

void hodo_sites_rebind(void)
{
	hodo_objects_each(rebind, 0);
}
