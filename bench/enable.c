/* SPDX-License-Identifier: MIT */
/*
 * enable.c - how long enabling 10,000 sites takes in a running process.
 *
 *	enable [-r ROUNDS]
 *
 * Runs all sites before, after and after disabling them again, so that the trace shows whether the change
 * took effect: ROUNDS times 10,000 events. Prints "ROUND enable=MS disable=MS barrier=US"; the first round is
 * the one that makes the touched pages of code private. barrier is one system call
 * membarrier(PRIVATE_EXPEDITED_SYNC_CORE) alone, the least a change can cost.
 */
#include "loop.h"

#include <hodo/control.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BARRIERS 1000
#define EVENTS 10000

#define MANY_ALL(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9)
#define MANY_DECLARE(n) void run_many_##n(int x);
#define MANY_RUN(n) run_many_##n(x);
MANY_ALL(MANY_DECLARE)

static void run_all(int x)
{
	MANY_ALL(MANY_RUN)
}

static double barrier_us(void)
{
	static double us[BARRIERS];

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) < 0)
		bench_fail("membarrier");
	for (int i = 0; i < BARRIERS; i++) {
		uint64_t start_ns = bench_now_ns();

		if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) < 0)
			bench_fail("membarrier");
		us[i] = (double)(bench_now_ns() - start_ns) / 1000;
	}
	return bench_median(us, BARRIERS);
}

/* Both return the number of events that they matched. */
static void check(int result, const char *what)
{
	if (result < 0) {
		errno = -result;
		bench_fail(what);
	}
	if (result != EVENTS) {
		fprintf(stderr, "bench: %s: matched %d events, not %d\n", what, result, EVENTS);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = bench_rounds(argc, argv);

	for (unsigned long round = 0; round < rounds; round++) {
		double enable_ms, disable_ms;
		uint64_t start_ns;

		run_all(1);
		start_ns = bench_now_ns();
		check(hodo_enable("many:*"), "hodo_enable");
		enable_ms = bench_ms_since(start_ns);
		run_all(2);
		start_ns = bench_now_ns();
		check(hodo_disable("many:*"), "hodo_disable");
		disable_ms = bench_ms_since(start_ns);
		run_all(3);
		printf("%lu enable=%.4f disable=%.4f barrier=%.4f\n", round, enable_ms, disable_ms, barrier_us());
		fflush(stdout);
	}
	return 0;
}
