/* SPDX-License-Identifier: MIT */
/*
 * unloaded.c - frees plans whose code is no longer mapped.
 *
 * A thread that is in a slot, or returns to one, is logically in the code that the slot's instructions were
 * copied from: no thread can be in a library that has been closed, or the program would crash anyway. So the
 * slots go with the code. What remains are readers of the tables, for a trap or a system call elsewhere:
 * those are counted.
 */
#include "engine.h"

#define TRIES    20
#define PAUSE_NS 50000

static bool nobody_reads(void)
{
	for (int i = 0; __atomic_load_n(&hodo_engine_readers, __ATOMIC_SEQ_CST); i++) {
		if (i == TRIES)
			return false;
		hodo_sleep_ns(PAUSE_NS);
	}
	return true;
}

/* head: its own, which is no longer published. */
static void unmap(struct hodo_engine_plan *p, const struct hodo_plan *head)
{
	hodo_engine_events_gone(p, head);
	for (uint32_t i = 0; i < head->pages.n; i++)
		hodo_sys2(SYS_munmap, p->pages[i].addr, p->pages[i].bytes);
	hodo_sys2(SYS_munmap, p->heat, hodo_engine_state_bytes(head));
	hodo_sys2(SYS_munmap, head, head->bytes);
}

static void give_back(struct hodo_engine_plan *p)
{
	const struct hodo_plan *head = p->head;

	/* Unpublished before readers are counted: later readers see that. */
	__atomic_store_n(&p->head, &hodo_engine_nothing, __ATOMIC_SEQ_CST);
	if (nobody_reads()) {
		p->gone = p->present = false;
		p->nalways = 0;
		unmap(p, head);
	} else {
		__atomic_store_n(&p->head, head, __ATOMIC_SEQ_CST);
	}
}

void hodo_engine_give_back(void)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		if (hodo_engine_plans[i].gone)
			give_back(&hodo_engine_plans[i]);
	}
}
