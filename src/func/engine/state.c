/* SPDX-License-Identifier: MIT */
/* state.c - what the parts of the engine share, see engine.h. It depends on none of them. */
#include "engine.h"

#include <core/search.h>

const struct hodo_plan hodo_engine_nothing;
struct hodo_engine_plan hodo_engine_plans[HODO_ENGINE_PLANS_MAX];
uint32_t hodo_engine_nplans, hodo_engine_readers;
struct hodo_engine_counts hodo_engine_counts;
uint32_t hodo_engine_pid;
bool hodo_engine_guarded;

static struct hodo_engine_action trap_action, ill_action;

struct hodo_engine_action *hodo_engine_action(int signal)
{
	return signal == SIGTRAP ? &trap_action : &ill_action;
}

uint32_t hodo_engine_trap_index(const struct hodo_engine_plan *p, uint64_t from)
{
	return hodo_search(i, p->head->traps.n, p->traps[i].from >= from);
}

uint32_t hodo_engine_window_index(const struct hodo_engine_plan *p, uint64_t addr)
{
	uint32_t n = p->head->windows.n, i = hodo_search(k, n, p->windows[k].addr > addr);

	return i && addr - p->windows[i - 1].addr < p->windows[i - 1].len ? i - 1 : n;
}

bool hodo_engine_has(uintptr_t addr)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];
		uint32_t k = hodo_engine_window_index(p, addr);

		if (k < p->head->windows.n && p->state[k] & (HODO_ENGINE_ON | HODO_ENGINE_CHANGES))
			return true;
	}
	return false;
}

size_t hodo_engine_state_bytes(const struct hodo_plan *head)
{
	return head->windows.n * (sizeof(struct hodo_engine_heat) + sizeof(uint32_t) + sizeof(uint8_t)) + 1;
}
