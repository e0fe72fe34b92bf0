/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* writer.h - the rings' side of emit.h: attaching them, and closing packets from outside. */
#pragma once

#include "memory.h"
#include <core/ring.h>

/* The writers write to this memory from now on. No event is on. The caller keeps config. */
void hodo_writers_attach(struct hodo_memory *memory, const struct hodo_ring_config *config, bool monotonic);
/* The writers write nowhere any more. No event is on, and no writer is inside. */
void hodo_writers_detach(void);

/* Closes non-empty packets begun more than age ticks ago. Sleeps. */
void hodo_writers_flush(uint64_t age);

/* Advances what may be reused in a memory's ring; see <hodo/abi_kernel.h>. 0 or -EINVAL. */
int hodo_ring_put_consumed(struct hodo_memory *memory, uint32_t ring, uint64_t packets);
uint64_t hodo_ring_consumed(struct hodo_memory *memory, uint32_t ring);
uint64_t hodo_ring_produced(struct hodo_memory *memory, uint32_t ring); /* bytes */
/* For poll(): wakes when a packet was closed. */
extern struct wait_queue_head hodo_ring_wait;
extern bool hodo_ring_waited; /* somebody waits, or will: set before waiting */

/* Whether ticks can come from the time stamp counter, which must be the same on all CPUs and never stop. */
bool hodo_tsc_usable(void);
