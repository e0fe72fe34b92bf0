/* SPDX-License-Identifier: MIT */
/*
 * functions.c - how long switching on 50,000 functions takes in a running process.
 *
 *	functions [-r ROUNDS]
 *
 * Registers a tracer that takes all functions, and unregisters it; with BENCH_XRAY
 * the same by XRay's own library. Runs all functions before, between and after, and fails
 * unless the tracer sees each of them once then and only then. Prints "ROUND on=MS off=MS", the
 * first round being the one that makes the touched pages of code private, and
 * "functions n=COUNT".
 */
#include "loop.h"
#include "many_functions.h"

#include <unistd.h>
#ifndef BENCH_XRAY
#include <hodo/tracer.h>
#endif

#define FUNCTIONS 50000

#define DECLARE(n) void many_run_##n(uint32_t x, uint32_t *table);
#define RUN(n) many_run_##n(x, table);
#define FIVE(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4)
MANY_RUN_TEN(DECLARE, 0)
MANY_RUN_TEN(DECLARE, 1)
FIVE(DECLARE, 2)

static unsigned long entries, exits;

static void run_all(uint32_t x)
{
	static uint32_t table[MANY_TABLE];

	MANY_RUN_TEN(RUN, 0)
	MANY_RUN_TEN(RUN, 1)
	FIVE(RUN, 2)
}

#ifdef BENCH_XRAY
/* Of compiler-rt's xray_interface.h, which is C++. */
enum { XRAY_ENTRY, XRAY_EXIT };
int __xray_patch(void);
int __xray_unpatch(void);
int __xray_set_handler(void (*handler)(int32_t id, int what));

#define XRAY_SUCCESS 1

__attribute__((xray_never_instrument)) static void handle(int32_t id, int what)
{
	(void)id;
	entries += what == XRAY_ENTRY;
	exits += what == XRAY_EXIT;
}

static void switch_on(void)
{
	if (!__xray_set_handler(handle) || __xray_patch() != XRAY_SUCCESS)
		bench_fail("__xray_patch");
}

static void switch_off(void)
{
	if (__xray_unpatch() != XRAY_SUCCESS)
		bench_fail("__xray_unpatch");
}
#else
static void count_entry(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	(void)call;
	entries++;
}

static void count_exit(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	(void)call;
	exits++;
}

static struct hodo_tracer tracer = { .size = sizeof(tracer), .name = "bench", .enter = count_entry,
				     .exit = count_exit };

static void check(int result, const char *what)
{
	if (result < 0) {
		errno = -result;
		bench_fail(what);
	}
}

static void switch_on(void)
{
	check(hodo_tracer_register(&tracer), "hodo_tracer_register");
}

static void switch_off(void)
{
	check(hodo_tracer_unregister(&tracer), "hodo_tracer_unregister");
}
#endif

static void expect(unsigned long want, const char *when)
{
	if (entries != want || exits != want) {
		fprintf(stderr, "bench: %s: %lu entries and %lu exits, not %lu\n", when, entries, exits, want);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = bench_rounds(argc, argv);

	for (unsigned long round = 0; round < rounds; round++) {
		double on_ms, off_ms;
		uint64_t start_ns;

		run_all(1);
		expect(round * FUNCTIONS, "before");
		start_ns = bench_now_ns();
		switch_on();
		on_ms = bench_ms_since(start_ns);
		run_all(2);
		expect((round + 1) * FUNCTIONS, "switched on");
		start_ns = bench_now_ns();
		switch_off();
		off_ms = bench_ms_since(start_ns);
		run_all(3);
		expect((round + 1) * FUNCTIONS, "switched off");
		printf("%lu on=%.4f off=%.4f\n", round, on_ms, off_ms);
		fflush(stdout);
	}
	printf("functions n=%d\n", FUNCTIONS);
	return 0;
}
