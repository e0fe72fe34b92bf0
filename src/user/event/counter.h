/* SPDX-License-Identifier: MIT */
/* counter.h - reads a hardware counter of the calling thread through the kernel's page for it (perf_event_open(2)). */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

#define HODO_COUNTER_TRIES 100

/*
 * The kernel changes the page when it puts the thread on a CPU, takes it off, or moves the event to another
 * of the processor's counters, and increments lock before and after. The value is what was counted until then
 * (offset) plus the processor's counter, a signed number of width bits. If lock changed around rdpmc, it may
 * have read another event's counter: read again. index 0: the event is on no counter now; offset is the whole
 * value. Gives 0 after too many tries (the page is not the kernel's).
 */
static inline uint64_t hodo_counter_read(const volatile struct perf_event_mmap_page *page,
					 uint64_t (*rdpmc)(uint32_t counter))
{
	for (int tries = 0; tries < HODO_COUNTER_TRIES; tries++) {
		uint32_t lock = page->lock, index;
		uint64_t value;

		/* Only the compiler could reorder this: the kernel writes the page on this thread's CPU,
		 * while the thread does not run. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		index = page->index;
		value = (uint64_t)page->offset;
		if (page->cap_user_rdpmc && index) {
			unsigned width = page->pmc_width;

			if (width < 1 || width > 64)
				return 0;
			value += (uint64_t)((int64_t)(rdpmc(index - 1) << (64 - width)) >> (64 - width));
		}
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (page->lock == lock)
			return value;
	}
	return 0;
}
