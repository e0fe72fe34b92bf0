/* SPDX-License-Identifier: MIT */
/*
 * calls.c - a program whose calls are hard to trace: threads that recurse deeply, with frames of all sizes, in
 * coroutines, and in signal handlers on a separate stack. Each function says the address of its frame.
 *
 *	calls FILE THREADS ROUNDS SIGNAL_US
 *
 * Arguments as for target.c; the streams are the same.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "program.h"

#define COROUTINES 3
#define STACK (256u << 10)
#define DEPTH 60

static struct shared *shared;
static uint64_t rounds, signal_us;
static __thread int me = -1;
static __thread uint32_t tid;
static __thread uint64_t seqs[2]; /* the thread's, and its handler's */
static __thread bool handling;

struct coroutine {
	ucontext_t self, caller;
	bool ended;
};
static __thread struct coroutine coroutines[COROUTINES];

/* Records the address of the caller's frame; function: the caller's address. */
static inline __attribute__((always_inline)) void say(void *function)
{
	uint32_t stream = (uint32_t)me + (handling ? HANDLER : 0);
	uint64_t seq = ++seqs[handling], at = (uintptr_t)__builtin_frame_address(0) + 8, ticks, ns;

	read_clocks(&ticks, &ns);
	__atomic_store_n(&shared->begun[stream], seq, __ATOMIC_RELAXED);
	HODO_EVENT(torture, call, stream, seq, tid, ticks, ns, at, function);
	__atomic_store_n(&shared->done[stream], seq, __ATOMIC_RELAXED);
}
#define TRACED __attribute__((noinline, noclone))

TRACED static int leaf(int n)
{
	say(leaf);
	return n + 1;
}

/* A frame that is larger by so many bytes. */
TRACED static int wide(int n, int bytes)
{
	volatile char room[bytes];

	say(wide);
	room[0] = room[bytes - 1] = (char)n;
	return leaf(n) + room[bytes - 1];
}

TRACED static int deep(int n)
{
	int sum = n;

	say(deep);
	if (n > 0)
		sum += n % 3 ? deep(n - 1) : wide(n, n * 150 % 3000 + 1) + deep(n - 1);
	return sum;
}

TRACED static int give_way(struct coroutine *c, int n)
{
	say(give_way);
	swapcontext(&c->self, &c->caller);
	return leaf(n);
}

TRACED static int level(struct coroutine *c, int n)
{
	int sum = n;

	say(level);
	if (n % 2)
		sum += give_way(c, n);
	if (n > 0)
		sum += level(c, n - 1);
	return sum;
}

TRACED static void body(int i)
{
	say(body);
	level(&coroutines[i], 9);
	coroutines[i].ended = true;
}

TRACED static void handler(int sig)
{
	if (me < 0 || handling)
		return;
	handling = true;
	say(handler);
	deep(3);
	handling = false;
}

static void run_coroutines(char *stacks)
{
	bool all = false;

	for (int i = 0; i < COROUTINES; i++) {
		struct coroutine *c = &coroutines[i];

		getcontext(&c->self);
		c->self.uc_stack.ss_sp = stacks + (size_t)i * STACK;
		c->self.uc_stack.ss_size = STACK;
		c->self.uc_link = &c->caller;
		c->ended = false;
		makecontext(&c->self, (void (*)(void))body, 1, i);
	}
	while (!all) {
		all = true;
		for (int i = 0; i < COROUTINES; i++) {
			if (coroutines[i].ended)
				continue;
			swapcontext(&coroutines[i].caller, &coroutines[i].self);
			all = false;
		}
	}
}

static void *run(void *arg)
{
	char *stacks = mmap(NULL, COROUTINES * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t own = { .ss_sp = malloc(STACK), .ss_size = STACK };
	timer_t timer = NULL;

	tid = (uint32_t)syscall(SYS_gettid);
	me = (int)(intptr_t)arg;
	sigaltstack(&own, NULL);
	start_timer(&timer, signal_us);
	for (uint64_t i = 0; i < rounds; i++) {
		deep(DEPTH);
		run_coroutines(stacks);
		if (i % 4 == 0)
			sched_yield();
	}
	stop_timer(timer, signal_us);
	return NULL;
}

/* Before anything is traced: from then on inject.c may send the signal at any time. */
__attribute__((constructor, no_instrument_function)) static void begin(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK };

	sigaction(SIGUSR1, &action, NULL);
}

int main(int argc, char **argv)
{
	int n;

	if (argc < 5 || (n = atoi(argv[2])) < 1 || n > HANDLER)
		return 2;
	rounds = strtoull(argv[3], NULL, 10);
	signal_us = strtoull(argv[4], NULL, 10);
	shared = map_shared(argv[1]);
	if (!shared)
		return 1;
	run_threads(n, run);
	return 0;
}
