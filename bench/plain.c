/* SPDX-License-Identifier: MIT */
/*
 * plain.c - the cost of probes in an unprepared program, beside the clock.
 *
 *	plain [-r ROUNDS] [-c CHUNKS] [-n CALLS] [-w WARM-UP CHUNKS] [-p PAUSE_US] [-k KINDS]
 *
 * KINDS is a text of letters: c the clock loop, p a loop that calls a function with two integer arguments, s one that
 * meets a static probe (USDT) with the same two. Prints a line a round, "ROUND KIND=NS …": the median chunk's
 * nanoseconds a turn, everything in it. At the end "plain p=COUNT s=COUNT": the turns of all rounds.
 */
#include "clock.h"
#include "loop.h"

static struct bench_options options = { .rounds = 1, .chunks = 50, .iterations = 20000, .warmup = 40, .kinds = "cps" };

static struct bench_slot clock_slots[BENCH_SLOTS] __attribute__((aligned(4096)));
static unsigned long counted[256];

int bench_latest;

/* noipa: gcc may leave the stack unaligned where it knows what is called; calls are records of the long form then. */
__attribute__((noipa, aligned(64))) void bench_taken(int number, uint64_t value)
{
	bench_latest = number + (int)value;
}

static __attribute__((noinline)) void call_loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		bench_taken((int)i, (uint64_t)i * 7);
}

/* As systemtap's header leaves it: a nop, and a note that says where the two values are. */
static __attribute__((noinline)) void static_loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n"
				 ".balign 4\n.4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n"
				 "992: .balign 4\n993: .8byte 990b,0,0\n.asciz \"bench\"\n.asciz \"point\"\n"
				 ".asciz \"-4@%k[number] 8@%[value]\"\n994: .balign 4\n.popsection\n"
				 :
				 : [number] "r"((int)i), [value] "r"((uint64_t)i * 7));
}

static void run_chunk(char kind)
{
	if (kind == 'c')
		bench_clock_loop(clock_slots, options.iterations);
	else if (kind == 'p')
		call_loop(options.iterations);
	else
		static_loop(options.iterations);
	counted[(unsigned char)kind] += options.iterations;
}

static double measure(char kind)
{
	static double chunks[CHUNKS_MAX];

	for (unsigned long i = 0; i < options.warmup + options.chunks; i++) {
		uint64_t start_ns = bench_now_ns();

		run_chunk(kind);
		if (i >= options.warmup)
			chunks[i - options.warmup] =
				(double)(bench_now_ns() - start_ns) / (double)options.iterations;
		if (options.pause_us)
			usleep((useconds_t)options.pause_us);
	}
	return bench_median(chunks, options.chunks);
}

int main(int argc, char **argv)
{
	bench_options(&options, argc, argv, "r:c:n:w:p:k:", "cps");
	bench_pin(bench_cpu(0));
	for (unsigned long round = 0; round < options.rounds; round++) {
		printf("%lu", round);
		for (const char *k = options.kinds; *k; k++)
			printf(" %c=%.4f", *k, measure(*k));
		putchar('\n');
		fflush(stdout);
	}
	printf("plain p=%lu s=%lu\n", counted['p'], counted['s']);
	return 0;
}
