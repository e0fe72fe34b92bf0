/* SPDX-License-Identifier: MIT */
#include "give_back.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring_reader.h"
#include "shm.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define QUIET_BYTES (16ull << 20) /* per second: their pages cost about 1 % of a CPU */
#define SECOND_NS   1000000000
#define PACKET_MIN  65536u        /* smaller packets, which cost a system call each, are in small rings */

static void *packet_at(const struct hodo_ring_reader *r, uint64_t number)
{
	return (void *)(r->packets + (number * r->packet_size & (r->ring_size - 1)));
}

/* The packet before r->next has been read: whether its ring is quiet, and was in the previous second. */
static bool is_quiet(struct hodo_ring_reader *r)
{
	struct hodo_ring_pages *p = &r->pages;
	uint64_t most = QUIET_BYTES / r->packet_size;
	int64_t passed_ns = p->round->now_ns - p->since_ns;

	if (passed_ns >= SECOND_NS) {
		p->quiet = p->since_ns && (p->taken <= most || passed_ns >= 2 * SECOND_NS);
		p->taken = 0;
		p->since_ns = p->round->now_ns;
	}
	p->taken++;
	return p->quiet && p->taken <= most;
}

void hodo_ring_wake(struct hodo_ring *ring)
{
	bool waiting = __atomic_exchange_n(&ring->waiters, 0, __ATOMIC_SEQ_CST);

	__atomic_add_fetch(&ring->space, 1, __ATOMIC_SEQ_CST);
	if (waiting)
		syscall(SYS_futex, &ring->space, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void hodo_ring_give_back(struct hodo_ring_reader *r, uint64_t current)
{
	uint64_t left = current - r->next;

	if (r->consume) {
		r->consume(r, r->next);
		return;
	}
	if (r->pages.round && r->packet_size >= PACKET_MIN && is_quiet(r))
		madvise(packet_at(r, r->next - 1), r->packet_size, MADV_REMOVE);
	__atomic_store_n(&r->ring->consumed, r->next, __ATOMIC_RELEASE);
	if (r->waits && (left == 0 || left * 2 == r->ring_size / r->packet_size))
		hodo_ring_wake(r->ring);
}

void hodo_ring_zero_ahead(struct hodo_ring_reader *r, uint64_t current, uint64_t used)
{
	struct hodo_ring_pages *p = &r->pages;
	uint64_t slots = r->ring_size / r->packet_size, until = current + 2 + used;

	/* The writer has touched the pages of the open packet and the next one. */
	if (p->zeroed < current + 2)
		p->zeroed = current + 2;
	if (!p->round || used < 2 || r->packet_size < PACKET_MIN)
		return;
	for (; p->zeroed < until && p->zeroed < slots && p->round->zero_bytes >= r->packet_size; p->zeroed++) {
		p->round->zero_bytes -= r->packet_size;
		hodo_drain_apart(r->drain);
		madvise(packet_at(r, p->zeroed), r->packet_size, MADV_POPULATE_WRITE);
		hodo_drain_back(r->drain);
	}
}
