/* SPDX-License-Identifier: MIT */
/* waiting.c - room in a process's rings: the recorder's side of waiting writers (user/ring/wait.c), and how much
 * would have been enough. */
#include <record/process.h>
#include "shm.h"

void hodo_process_begin_room(const struct hodo_process *p, struct hodo_ring_reader *r)
{
	r->waits = p->recorder->config.wait_ns != 0;
	r->pages.round = &p->recorder->give_back;
}

void hodo_process_wake(struct hodo_process *p)
{
	for (uint32_t i = 0; i < p->actives; i++)
		hodo_ring_wake(p->ring[p->active[i]]->reader.ring);
}

void hodo_process_let_go(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	uint32_t *waits_not = &((struct hodo_shm *)p->shm)->waits_not;

	if (!r->waits || !r->broken || hodo_shm_load32(waits_not))
		return;
	__atomic_store_n(waits_not, 1, __ATOMIC_SEQ_CST);
	hodo_process_wake(p);
}

void hodo_process_add_waited(struct hodo_process *p)
{
	uint64_t ns = p->kernel ? 0 : hodo_ring_count(&((const struct hodo_shm *)p->shm)->waited_ns);
	uint64_t *sum = &p->recorder->total.waited_ns;

	*sum = ns < HODO_RING_COUNT_MAX - *sum ? *sum + ns : HODO_RING_COUNT_MAX;
}

uint64_t hodo_process_room(const struct hodo_process *p, const struct hodo_ring_reader *r)
{
	return hodo_ring_size_hint_bytes(&r->size_hint, p->layout.ring_size, p->layout.packet_size);
}

void hodo_process_add_room(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	uint64_t room = hodo_process_room(p, r);

	if (room > p->recorder->total.room)
		p->recorder->total.room = room;
}
