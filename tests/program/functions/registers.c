/* SPDX-License-Identifier: MIT */
/*
 * registers.c - registers ROUNDS: calls traced functions with every register filled (registers.S), and checks whether
 * any has changed. CLOBBER in the environment: with a registered tracer that uses vector and x87 registers itself.
 * NO_SLOTS: the code that the engine puts there preserves the flags as well.
 */
#include "counts.h"
#include <hodo/tracer.h>
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef NO_SLOTS
#define FLAGS 0xcd5ul /* carry, parity, adjust, zero, sign, direction, overflow */
#else
#define FLAGS 0ul
#endif

COUNT(registers_leaf);
COUNT(registers_outer);
COUNT(on_tick);

struct registers {
	uint64_t gprs[16];
	uint8_t vectors[32][64];
	uint64_t masks[8];
	uint8_t x87[8][16];
	uint16_t control, reserved;
	uint32_t mxcsr;
	uint64_t flags;
};

extern struct registers registers_want, registers_got;
void registers_round_sse(void (*function)(void));
void registers_round_avx(void (*function)(void));
void registers_round_avx512(void (*function)(void));
void registers_leaf(void);
void registers_outer(void);

static const char *const gpr_names[] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",
					"r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static int wrong;

static uint64_t seed = 88172645463325252ull;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Patterns: any bits; all zero, a state that processors track for registers; and the same bits everywhere. */
static void fill(unsigned round)
{
	struct registers *w = &registers_want;
	uint64_t *word = (uint64_t *)w;

	for (size_t i = 0; i < sizeof(*w) / sizeof(*word); i++)
		word[i] = round % 5 == 3 ? 0 : any();
	for (int i = 0; i < 8; i++) {
		long double x = (long double)(int64_t)any() / 3;

		memset(w->x87[i], 0, sizeof(w->x87[i]));
		memcpy(w->x87[i], &x, 10);
	}
	/* All exceptions masked; any precision and rounding. */
	w->control = (uint16_t)(0x7f | (any() & 3) << 10 | 0x300);
	w->mxcsr = (uint32_t)(0x1f80 | (any() & 3) << 13 | (any() & 1) << 15 | (any() & 0x3f));
	w->flags = 0x202 | (any() & FLAGS);
}

static void differ(const char *what, int i, const void *want, const void *got, size_t size)
{
	if (memcmp(want, got, size) == 0)
		return;
	if (wrong++ < 20)
		printf("registers: %s%d changed from %016lx to %016lx\n", what, i, *(const unsigned long *)want,
		       *(const unsigned long *)got);
}

static void check(size_t vector_bytes, int vectors)
{
	const struct registers *w = &registers_want, *g = &registers_got;

	for (int i = 0; i < 15; i++)
		differ(gpr_names[i], 0, &w->gprs[i], &g->gprs[i], 8);
	for (int i = 0; i < vectors; i++)
		differ("vector register ", i, w->vectors[i], g->vectors[i], vector_bytes);
	for (int i = 0; vectors == 32 && i < 8; i++)
		differ("k", i, &w->masks[i], &g->masks[i], 8);
	for (int i = 0; i < 8; i++)
		differ("st", i, w->x87[i], g->x87[i], 10);
	if (w->control != g->control || w->mxcsr != g->mxcsr) {
		wrong++;
		printf("registers: control word %x %x, mxcsr %x %x\n", w->control, g->control, w->mxcsr, g->mxcsr);
	}
	if ((w->flags ^ g->flags) & FLAGS) {
		wrong++;
		printf("registers: flags %lx %lx\n", (unsigned long)w->flags, (unsigned long)g->flags);
	}
}

static int clobber_avx, clobber_avx512;

__attribute__((target("avx512f"))) static void clobber_512(void)
{
	__m512i ones = _mm512_set1_epi64(-1);

	__asm__ volatile("vmovdqa64 %0, %%zmm0; vmovdqa64 %0, %%zmm7; vmovdqa64 %0, %%zmm31; kxnorw %%k1, %%k1, %%k1"
			 : : "v"(ones) : "xmm0", "xmm7", "xmm31", "k1");
}

/* What a tracer compiled without care does: uses vector registers and x87, and calls the mathematical library. */
static void clobber(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	volatile long double x = (long double)call->depth + 1.5L;
	volatile double y = (double)x * 2;
	char text[64];

	x = x * x + sqrtl(x);
	y = sin(y) + pow(y, 1.5);
	snprintf(text, sizeof(text), "%g %Lg", y, (long double)x);
	memset(text, 0xff, sizeof(text));
	__asm__ volatile("pcmpeqb %%xmm0, %%xmm0; pcmpeqb %%xmm15, %%xmm15" : : : "xmm0", "xmm15");
	if (clobber_avx)
		__asm__ volatile("vzeroall" : : : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
				 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	if (clobber_avx512)
		clobber_512();
	*(volatile unsigned long *)tracer->data += 1;
}

static unsigned long clobbered;
static struct hodo_tracer tracer = {.size = sizeof(tracer), .name = "clobber", .enter = clobber, .exit = clobber,
				    .data = &clobbered};

static volatile int ticks;

TRACED static void on_tick(int sig)
{
	ENTER(on_tick);
	ticks = sig;
	LEAVE(on_tick);
}

static void rounds(unsigned n, void (*round)(void (*)(void)), size_t bytes, int vectors)
{
	for (unsigned i = 0; i < n; i++) {
		fill(i);
		memset(&registers_got, 0x55, sizeof(registers_got));
		if (i & 1) {
			ENTER(registers_leaf);
			LEAVE(registers_leaf);
			round(registers_leaf);
		} else {
			ENTER(registers_outer);
			LEAVE(registers_outer);
			for (int k = 0; k < 2; k++) {
				ENTER(registers_leaf);
				LEAVE(registers_leaf);
			}
			round(registers_outer);
		}
		check(bytes, vectors);
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	int avx, avx512;

	__builtin_cpu_init();
	avx = __builtin_cpu_supports("avx");
	avx512 = __builtin_cpu_supports("avx512bw");
	if (getenv("TICK_US"))
		counts_ticks(atol(getenv("TICK_US")), on_tick);
	if (getenv("CLOBBER")) {
		clobber_avx = avx, clobber_avx512 = avx512;
		if (hodo_tracer_register(&tracer)) {
			printf("registers: no tracer\n");
			return 2;
		}
	}
	rounds(n, registers_round_sse, 16, 16);
	if (avx)
		rounds(n, registers_round_avx, 32, 16);
	if (avx512)
		rounds(n, registers_round_avx512, 64, 32);
	if (getenv("CLOBBER") && (hodo_tracer_unregister(&tracer) || !clobbered)) {
		printf("registers: the tracer was not called\n");
		return 2;
	}
	printf("registers: %d wrong%s%s\n", wrong, avx ? "" : ", no AVX here", avx512 ? "" : ", no AVX-512 here");
	return wrong != 0;
}
