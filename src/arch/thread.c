/* SPDX-License-Identifier: MIT */
/* thread.c - what the writers need to know of a thread and of the machine. */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include "writer.h"

__thread struct hodo_tls hodo_tls __attribute__((tls_model("initial-exec"))) = { hodo_no_views, 0, 0, 0 };
struct hodo_view hodo_zero_views[HODO_VIEWS_ALL];
long hodo_rseq_offset;
static void nothing(void) { }
void (*hodo_x86_shares)(void) = nothing;
void (*hodo_x86_slow)(struct hodo_state *state, const void *data, size_t len);

#ifdef __x86_64__
void (*hodo_x86_gather_slow)(struct hodo_state *state, const uint8_t *values, const uintptr_t *frame);
void (*hodo_x86_probes)(struct hodo_state *state, const void *values, const uintptr_t *frame);
uint64_t hodo_x86_xsave_bytes = 512;
uint32_t hodo_x86_xsave_mask;
uint32_t hodo_x86_moves;

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

void hodo_x86_keep_init(void)
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
}
#endif
