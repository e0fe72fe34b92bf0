/* SPDX-License-Identifier: MIT */
/* jumps.c - functions that are left by longjmp. */
#define _GNU_SOURCE
#include "hazards.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

COUNT(jump_down);
COUNT(jump_round);
COUNT(jump_after);
COUNT(jump_handler);
COUNT(jump_raise);
COUNT(storm_after);

static jmp_buf back;
static sigjmp_buf sigback;
static volatile int reached;

TRACED static int jump_down(int n)
{
	ENTER(jump_down);
	if (n == 0)
		longjmp(back, ++reached);
	int r = jump_down(n - 1) + 1;
	LEAVE(jump_down);
	return r;
}

TRACED static int jump_after(int n)
{
	ENTER(jump_after);
	int r = n > 0 ? jump_after(n - 1) + 1 : 1;
	LEAVE(jump_after);
	return r;
}

/* Jumps out of `depth` calls; the frames of the calls after that are at the same place, higher or lower. */
TRACED static int jump_round(int depth)
{
	ENTER(jump_round);
	int r = setjmp(back);

	if (r == 0)
		jump_down(depth);
	r = jump_after(depth / 3) + jump_after(depth + 2);
	LEAVE(jump_round);
	return r;
}

int scene_longjmp(void)
{
	long sum = 0;

	for (int i = 0; i < 300; i++)
		sum += jump_round(i % 40);
	printf("longjmp: %d jumps, sum %ld\n", reached, sum);
	return 0;
}

TRACED static void jump_handler(int sig)
{
	ENTER(jump_handler);
	jump_after(3);
	siglongjmp(sigback, sig);
}

TRACED static int jump_raise(int n)
{
	ENTER(jump_raise);
	if (n == 0)
		raise(SIGUSR1);
	int r = jump_raise(n - 1) + 1;
	LEAVE(jump_raise);
	return r;
}

static int raise_rounds(int flags)
{
	struct sigaction action = {.sa_handler = jump_handler, .sa_flags = flags};
	volatile int sum = 0;

	sigaction(SIGUSR1, &action, NULL);
	for (volatile int i = 0; i < 200; i++) {
		if (sigsetjmp(sigback, 1) == SIGUSR1)
			sum += jump_after(i % 20);
		else
			jump_raise(i % 30);
	}
	return sum;
}

int scene_longjmp_handler(void)
{
	printf("longjmp out of a handler: sum %d\n", raise_rounds(0));
	return 0;
}

int scene_longjmp_altstack(void)
{
	stack_t stack = {.ss_size = 256 << 10};

	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	printf("longjmp out of a handler on its own stack: sum %d\n", raise_rounds(SA_ONSTACK));
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
	return 0;
}

/*
 * A storm of signals whose handler jumps out of whatever runs, which may be a tracer at work: the trace must show
 * the calls after it as if nothing had happened. storm_work() and the handler do not count themselves: a
 * jump between a slot and its count would make the counts wrong.
 */
#define STORMS 400
static volatile sig_atomic_t storm_armed;

TRACED static void storm_handler(int sig)
{
	if (storm_armed) {
		storm_armed = 0;
		siglongjmp(sigback, sig);
	}
}

TRACED static int storm_work(int n)
{
	int sum = 1;

	for (volatile int i = 0; i < 500; i++)
		; /* fewer events */
	for (int i = 0; i < 3 && n > 0; i++)
		sum += storm_work(n - 1);
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

TRACED static int storm_after(int n)
{
	ENTER(storm_after);
	int r = n > 0 ? storm_after(n - 1) + 1 : 1;
	LEAVE(storm_after);
	return r;
}

static volatile int storm_sum;

static void storm(void)
{
	for (volatile int i = 0; i < STORMS; i++) {
		if (sigsetjmp(sigback, 1) == 0) {
			storm_armed = 1;
			while (storm_armed)
				storm_work(5);
		}
		storm_sum += storm_after(i % 7);
	}
}

static ucontext_t storm_main, storm_other;

int scene_storm(void)
{
	static char stack[256 << 10];

	counts_ticks(100, storm_handler);
	storm();
	printf("storm: %d\n", storm_sum);
	getcontext(&storm_other);
	storm_other.uc_stack.ss_sp = stack;
	storm_other.uc_stack.ss_size = sizeof(stack);
	storm_other.uc_link = &storm_main;
	makecontext(&storm_other, storm, 0);
	swapcontext(&storm_main, &storm_other);
	printf("storm on a coroutine's stack: %d, after it %d\n", storm_sum, storm_after(5));
	return 0;
}
