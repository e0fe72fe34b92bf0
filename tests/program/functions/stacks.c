/* SPDX-License-Identifier: MIT */
/* stacks.c - coroutines and signal handlers on separate stacks, and a very deep stack. */
#define _GNU_SOURCE
#include "hazards.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK (128u << 10)
#define COROUTINES 6

COUNT(co_body);
COUNT(co_level);
COUNT(co_switch);
COUNT(co_rounds);
COUNT(co_thread);
COUNT(alt_handler);
COUNT(alt_level);
COUNT(alt_down);
COUNT(deep_down);
COUNT(deep_thread);

struct coroutine {
	ucontext_t self, caller;
	int depth, rounds, ended;
	long sum;
};

TRACED static void co_switch(struct coroutine *co)
{
	ENTER(co_switch);
	swapcontext(&co->self, &co->caller);
	LEAVE(co_switch);
}

/* Switches away at every third level on the way in, and at every second on the way out. */
TRACED static long co_level(struct coroutine *co, int n)
{
	ENTER(co_level);
	long sum = n;

	if (n % 3 == 0)
		co_switch(co);
	if (n > 0)
		sum += co_level(co, n - 1);
	if (n % 2 == 0)
		co_switch(co);
	LEAVE(co_level);
	return sum;
}

TRACED static void co_body(unsigned low, unsigned high)
{
	ENTER(co_body);
	struct coroutine *co = (void *)((uintptr_t)high << 32 | low);

	for (int i = 0; i < co->rounds; i++)
		co->sum += co_level(co, co->depth + i % 3);
	co->ended = 1;
	LEAVE(co_body);
}

static void co_init(struct coroutine *co, void *stack, size_t size, int depth, int rounds)
{
	memset(co, 0, sizeof(*co));
	getcontext(&co->self);
	co->self.uc_stack.ss_sp = stack;
	co->self.uc_stack.ss_size = size;
	co->self.uc_link = &co->caller;
	co->depth = depth;
	co->rounds = rounds;
	makecontext(&co->self, (void (*)(void))co_body, 2, (unsigned)(uintptr_t)co, (unsigned)((uintptr_t)co >> 32));
}

/* Resumes them in turn until all but the first have ended; the first is never resumed. */
TRACED static long co_rounds(char *stacks, size_t apart)
{
	ENTER(co_rounds);
	static struct coroutine co[COROUTINES];
	long sum = 0;
	int alive = 1;

	for (int i = 0; i < COROUTINES; i++)
		co_init(&co[i], stacks + (size_t)i * apart, STACK, 2 + 3 * i, 20);
	for (int turn = 0; alive; turn++) {
		alive = 0;
		for (int i = 0; i < COROUTINES; i++) {
			if (co[i].ended || (i == 0 && turn > 12))
				continue;
			swapcontext(&co[i].caller, &co[i].self);
			alive++;
		}
	}
	for (int i = 0; i < COROUTINES; i++)
		sum += co[i].sum;
	LEAVE(co_rounds);
	return sum;
}

static char own_array[COROUTINES * STACK] __attribute__((aligned(64)));

__attribute__((noinline)) static long on_main_stack(void)
{
	char array[COROUTINES * STACK] __attribute__((aligned(64)));

	array[0] = 0;
	__asm__ volatile("" : : "r"(array) : "memory");
	return co_rounds(array, STACK);
}

int scene_coroutines(void)
{
	size_t all = COROUTINES * (STACK + 4096);
	char *adjacent = malloc(all);
	char *mapped = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("coroutines: malloc'd %ld\n", co_rounds(adjacent, STACK));
	printf("coroutines: mmapped %ld\n", co_rounds(mapped, STACK + 4096));
	printf("coroutines: static %ld\n", co_rounds(own_array, STACK));
	printf("coroutines: on the main stack %ld\n", on_main_stack());
	printf("coroutines: malloc'd again %ld\n", co_rounds(adjacent, STACK));
	free(adjacent);
	munmap(mapped, all);
	return 0;
}

/* Whichever thread comes first resumes a coroutine. */
static struct coroutine shared[COROUTINES];
static pthread_mutex_t locks[COROUTINES];

TRACED static void *co_thread(void *arg)
{
	ENTER(co_thread);
	int left = 1;

	for (unsigned turn = (unsigned)(uintptr_t)arg; left; turn++) {
		left = 0;
		for (unsigned i = 0; i < COROUTINES; i++) {
			unsigned k = (i + turn) % COROUTINES;

			pthread_mutex_lock(&locks[k]);
			if (!shared[k].ended) {
				left = 1;
				swapcontext(&shared[k].caller, &shared[k].self);
			}
			pthread_mutex_unlock(&locks[k]);
		}
	}
	LEAVE(co_thread);
	return NULL;
}

int scene_coroutines_threads(void)
{
	char *stacks = malloc(COROUTINES * (size_t)STACK);
	pthread_t threads[4];
	long sum = 0;

	for (int i = 0; i < COROUTINES; i++) {
		pthread_mutex_init(&locks[i], NULL);
		co_init(&shared[i], stacks + (size_t)i * STACK, STACK, 5 + i, 60);
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, co_thread, (void *)(uintptr_t)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < COROUTINES; i++)
		sum += shared[i].sum;
	printf("coroutines that change threads: %ld\n", sum);
	free(stacks);
	return 0;
}

static volatile long alt_sum;

TRACED static long alt_level(int n)
{
	ENTER(alt_level);
	long r = n ? alt_level(n - 1) + n : 0;

	LEAVE(alt_level);
	return r;
}

TRACED static void alt_handler(int sig)
{
	ENTER(alt_handler);
	alt_sum += alt_level(sig % 8);
	LEAVE(alt_handler);
}

TRACED static long alt_down(int n)
{
	ENTER(alt_down);
	long r = n;

	if (n % 4 == 0)
		raise(SIGUSR2);
	if (n > 0)
		r += alt_down(n - 1);
	if (n % 5 == 0)
		raise(SIGUSR2);
	LEAVE(alt_down);
	return r;
}

static void on_stack(const char *what, void *base, size_t size)
{
	stack_t stack = {.ss_sp = base, .ss_size = size};
	struct sigaction action = {.sa_handler = alt_handler, .sa_flags = SA_ONSTACK};
	long r = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	alt_sum = 0;
	for (int i = 0; i < 30; i++)
		r += alt_down(i);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	printf("handlers on a stack %s: %ld %ld\n", what, r, alt_sum);
}

__attribute__((noinline)) static void alt_in_frame(void)
{
	char above[STACK] __attribute__((aligned(64)));

	above[0] = 0;
	__asm__ volatile("" : : "r"(above) : "memory");
	on_stack("above, in an outer frame", above, sizeof(above));
}

int scene_altstack(void)
{
	char *below = __builtin_frame_address(0);
	char *mapped = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	on_stack("that is mmapped", mapped, STACK);
	on_stack("that is static", own_array, STACK);
	alt_in_frame();
	/* Far below all that is in use, but within the limit of 8 MiB, to which the kernel lets a stack grow. */
	below -= 4u << 20;
	for (char *page = __builtin_frame_address(0); page > below; page -= 4096)
		*(volatile char *)page = *(volatile char *)page;
	on_stack("below, in the same mapping", (char *)((uintptr_t)below & ~63ul), STACK);
	munmap(mapped, STACK);
	return 0;
}

#define DEEP 1000000

/* A frame is less than 256 bytes at every level of optimization. */
TRACED static long deep_down(long n)
{
	ENTER(deep_down);
	long r = n > 0 ? deep_down(n - 1) + (n & 3) : 0;

	LEAVE(deep_down);
	return r;
}

TRACED static void *deep_thread(void *arg)
{
	ENTER(deep_thread);
	*(long *)arg = deep_down(*(long *)arg - 1);
	LEAVE(deep_thread);
	return NULL;
}

int scene_deep(void)
{
	size_t size = 512u << 20;
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	long depth = getenv("DEEP") ? atol(getenv("DEEP")) : DEEP, sum = depth;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, size);
	if (pthread_create(&thread, &attr, deep_thread, &sum))
		return 1;
	pthread_join(thread, NULL);
	printf("%ld deep: %ld\n", depth, sum);
	return munmap(stack, size) != 0;
}
