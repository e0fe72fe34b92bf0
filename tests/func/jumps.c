/* SPDX-License-Identifier: MIT */
/* jumps.c - functions that are left by longjmp. */
#define _GNU_SOURCE
#include "hazards.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

COUNT(jump_down);
COUNT(jump_round);
COUNT(jump_after);
COUNT(jump_handler);
COUNT(jump_raise);

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

/* Jumps out of `depth` calls; the calls after that lie where those were, higher or lower. */
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
