/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* writer.h - the rings' side of emit.h: whose they are, and closing packets from outside. */
#ifndef HODO_KMOD_WRITER_H
#define HODO_KMOD_WRITER_H

#include "memory.h"
#include <core/ring.h>

/* The writers write to this memory from now on. No event is on. config stays the caller's. */
void hodo_writers_attach(struct hodo_memory *memory, const struct hodo_ring_config *config, bool monotonic);
/* … and nowhere any more. No event is on, and no writer is inside. */
void hodo_writers_detach(void);

/* Closes packets with events that were begun more than age ticks ago. Sleeps. */
void hodo_writers_flush(uint64_t age);

/* Whether ticks can be those of the time stamp counter, which is the same on all CPUs and never stands still. */
bool hodo_tsc_usable(void);

#endif
