/* SPDX-License-Identifier: MIT */
/* state.c - what the parts of the engine share; engine.h says of each what it is. It needs none of them. */
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

size_t hodo_engine_state_bytes(const struct hodo_plan *head)
{
	return head->windows.n * (sizeof(struct hodo_engine_heat) + sizeof(uint32_t) + sizeof(uint8_t)) + 1;
}
