/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* writer.h - the rings' side of emit.h: attaching them, and closing packets from outside. */
#ifndef HODO_KMOD_WRITER_H
#define HODO_KMOD_WRITER_H

#include "memory.h"
#include <core/ring.h>

/* The writers write to this memory from now on. No event is on. The caller keeps config. */
void hodo_writers_attach(struct hodo_memory *memory, const struct hodo_ring_config *config, bool monotonic);
/* … and nowhere any more. No event is on, and no writer is inside. */
void hodo_writers_detach(void);

/* Closes non-empty packets begun more than age ticks ago. Sleeps. */
void hodo_writers_flush(uint64_t age);

/* Whether ticks can come from the time stamp counter, which must be the same on all CPUs and never stop. */
bool hodo_tsc_usable(void);

#endif
