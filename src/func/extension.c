/* SPDX-License-Identifier: MIT */
/* extension.c - libhodo-func as libhodo knows it: one table. */
#include <cpuid.h>
#include "func.h"

#define XCR0_AVX 0x04u
#define XCR0_AVX512 0xe0u

/* How hodo_x86_keep() may save by moves: of AVX-512 all and with BW (kmovq), or not at all. */
static uint32_t moves(uint32_t xcr0)
{
	unsigned a, b, c, d;

	if (!(xcr0 & XCR0_AVX512))
		return xcr0 & XCR0_AVX ? 1 : 0;
	if ((xcr0 & XCR0_AVX512) != XCR0_AVX512 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX512BW))
		return 0;
	return 2;
}

static void init(void)
{
	unsigned a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
		uint32_t low, high;

		__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
		/* x87, SSE, AVX and the three parts of AVX-512: what a C function may change. */
		hodo_x86_xsave_mask = low & 0xe7;
		hodo_x86_moves = moves(low);
		hodo_x86_xsave_bytes = 576;
		for (unsigned i = 2; i < 8; i++) {
			if (!(hodo_x86_xsave_mask >> i & 1))
				continue;
			__cpuid_count(0xd, i, a, b, c, d);
			if (a + b > hodo_x86_xsave_bytes)
				hodo_x86_xsave_bytes = a + b;
		}
	}
	hodo_func_rseq_offset = hodo_rseq_offset;
	hodo_func_threads_init();
	hodo_func_threads_watch(hodo_dispatch_thread_ends);
}

static void scan_end(void)
{
	hodo_slots_scan_end();
	hodo_tracers_objects_changed();
}

const struct hodo_extension hodo_extension = {
	.init = init,
	.scan_begin = hodo_slots_scan_begin,
	.object = hodo_slots_object,
	.scan_end = scan_end,
	.forked = hodo_func_threads_after_fork,
	.recording = hodo_events_recording,
	.inside = hodo_dispatch_inside,
	.settle = hodo_grace_recording,
	.tracer_register = hodo_tracers_register,
	.tracer_unregister = hodo_tracers_unregister,
	.function_name = hodo_names_function,
};

#ifndef HODO_SPLIT /* in one library; else user/functions.c */
HODO_PUBLIC int hodo_tracer_register(struct hodo_tracer *tracer)
{
	return hodo_tracers_register(tracer);
}

HODO_PUBLIC int hodo_tracer_unregister(struct hodo_tracer *tracer)
{
	return hodo_tracers_unregister(tracer);
}

HODO_PUBLIC int hodo_function_name(const void *address, char *name, size_t bytes)
{
	return hodo_names_function(address, name, bytes);
}
#endif
