/* SPDX-License-Identifier: MIT */
/* traps.c - see scenes.h. The functions are in a library of their own, odd.S. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "scenes.h"

#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#include "load.h"

#define SECOND 2 /* where the second instruction of odd_sum() begins */
#define TIMES 100000

int odd_sum(int x);
int odd_jump(int x, const void *to);
int odd_break(int x);
int odd_step(int x);

static bool is_patched(const void *code)
{
	return *(const volatile uint8_t *)code == 0xe9;
}

static void plan(void)
{
	const char *const ends[] = { "/libengine_odd.so" };
	uint64_t seed = 1;

	load_plan(ends, 1);
	load_switch(true, 100, &seed);
	CHECK(is_patched((const void *)odd_sum));
}

void scene_hot(void)
{
	const char *second = (const char *)odd_sum + SECOND;
	uint64_t seed = 1, served;

	plan();
	for (int i = 0; i < 100; i++)
		CHECK(odd_jump(i, second) == i + 3);
	CHECK(hodo_engine_counts.served == 100 && is_patched((const void *)odd_sum));
	for (int i = 0; i < TIMES; i++)
		CHECK(odd_jump(i, second) == i + 3);
	served = hodo_engine_counts.served;
	printf("hot %llu\n", (unsigned long long)served);
	CHECK(served >= 1000 && served < TIMES / 2);
	CHECK(!is_patched((const void *)odd_sum) && is_patched((const void *)odd_jump));
	/* For good. */
	load_switch(false, 100, &seed);
	load_switch(true, 100, &seed);
	CHECK(!is_patched((const void *)odd_sum) && is_patched((const void *)odd_jump));
	CHECK(odd_sum(1) == 4 && odd_jump(1, second) == 4 && hodo_engine_counts.served == served);
	CHECK(hodo_engine_counts.others == 0);
}

static volatile int trapped, stepped, at_window;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	uintptr_t rip = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	if (info->si_code == TRAP_TRACE) {
		stepped++;
		at_window += rip == (uintptr_t)odd_sum;
	} else {
		trapped++;
	}
}

/* Behind its own int3, and where it steps to, the program has a window: its traps are not ours. */
void scene_steps(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	plan();
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	CHECK(odd_break(0) == 5 && trapped == 0);
	CHECK(odd_break(1) == 6 && trapped == 1);
	CHECK(odd_step(1) == 4);
	printf("stepped %d\n", stepped);
	CHECK(stepped > 5 && at_window == 1 && trapped == 1);
	CHECK(hodo_engine_counts.served == 0);
}
