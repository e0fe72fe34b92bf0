/* SPDX-License-Identifier: MIT */
/* clock.c - time: by the recording's clock, by the processor's counter, in nanoseconds. */
#include <user/libc/sys.h>
#include "rings.h"

uint64_t hodo_ticks_per_s;
static uint64_t start_ns, start_ticks; /* when the library started */

int64_t hodo_clock_ns(clockid_t id)
{
	struct timespec now = { 0 };

	hodo_sys2(SYS_clock_gettime, id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t hodo_clock_read(uint32_t clock)
{
#ifdef __x86_64__
	if (clock == HODO_CLOCK_TSC) {
		/* Not before the load of the word that decides which packet this closes: a time stamp taken
		 * earlier could be older than an event that another CPU's thread has committed since. */
		__asm__ volatile("lfence" : : : "memory");
		return __builtin_ia32_rdtsc();
	}
#endif
	return (uint64_t)hodo_clock_ns(CLOCK_MONOTONIC);
}

uint64_t hodo_clock_now(void)
{
	return hodo_clock_read(hodo_recording.config.clock);
}

uint64_t hodo_ticks_now(void)
{
#ifdef __x86_64__
	if (!hodo_recording.on || hodo_recording.config.clock == HODO_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#endif
	return hodo_clock_now();
}

void hodo_clock_init(void)
{
	start_ns = (uint64_t)hodo_clock_ns(CLOCK_MONOTONIC);
	start_ticks = hodo_ticks_now();
}

/* a * b / c. Not by libgcc's division, which a static program has, too: calls of it may be traced. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 product = (unsigned __int128)a * b;
#ifdef __x86_64__
	uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64) % c; /* so that the quotient fits */

	__asm__("divq %2" : "+a"(low), "+d"(high) : "r"(c) : "cc");
	return low;
#else
	return (uint64_t)(product / c);
#endif
}

/*
 * The recorder knows the frequency; else two readings of both clocks, at least 5 ms apart, give it well
 * enough. It is measured only once: times would not compare if it changed.
 */
static uint64_t ticks_per_s(void)
{
	static uint64_t measured;
	uint64_t ns, passed, known = hodo_load(&measured);

	if (hodo_ticks_per_s)
		return hodo_ticks_per_s;
	while (!known) {
		ns = (uint64_t)hodo_clock_ns(CLOCK_MONOTONIC) - start_ns;
		passed = hodo_ticks_now() - start_ticks;
		if (ns < 5000000)
			continue;
		known = scale(passed, 1000000000, ns);
		hodo_store(&measured, known);
	}
	return known;
}

HODO_PUBLIC uint64_t hodo_ticks_ns(uint64_t ticks)
{
	if (hodo_recording.on && hodo_recording.config.clock != HODO_CLOCK_TSC)
		return ticks;
	return scale(ticks, 1000000000, ticks_per_s());
}
