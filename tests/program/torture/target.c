/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program that is hard to trace: threads at full speed, signal
 * handlers that trace in the middle of events, forced migration.
 *
 *	target FILE THREADS EVENTS SIGNAL_US MIGRATE [SECONDS]
 *
 * FILE is a mapped struct shared. EVENTS 0: run until killed. SIGNAL_US: each thread gets a signal every so many
 * microseconds, 0: none. MIGRATE 1: some threads move themselves from CPU to CPU; 2: in addition, all yield after few
 * events and in each signal handler, so that a ring's events come from many threads; 3: they rest at times, for longer
 * than an epoch (hodo/abi.h). SECONDS: all threads end when these have passed, however few events they have written.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "program.h"

static struct shared *shared;
static uint64_t events, signal_us;
static volatile sig_atomic_t time_is_up;
static int migrate;
static __thread int me = -1;
static __thread uint32_t tid;
static __thread uint64_t handler_seq, turns;

static void put(uint32_t stream, uint64_t seq)
{
	unsigned len = filler_len(seq);
	uint64_t ticks, ns;
	uint8_t filler[64];

	read_clocks(&ticks, &ns);
	__atomic_store_n(&shared->begun[stream], seq, __ATOMIC_RELAXED);
	if (len) {
		for (unsigned i = 0; i < len; i++)
			filler[i] = filler_byte(seq, i);
		HODO_EVENT(torture, filled, stream, seq, tid, ticks, ns, HODO_BYTES(filler, len));
	} else {
		HODO_EVENT(torture, plain, stream, seq, tid, ticks, ns);
	}
	__atomic_store_n(&shared->done[stream], seq, __ATOMIC_RELAXED);
}

static void handler(int sig)
{
	if (me < 0 || time_is_up) /* a thread that is always in its handler must come to its end, too */
		return;
	if (migrate == 2) {
		sched_yield();
		if (++turns % 2)
			return; /* to an event after other threads' events */
	}
	put(HANDLER + (uint32_t)me, ++handler_seq);
}

static void end_all(int sig) { time_is_up = 1; }

static void move(uint64_t n)
{
	cpu_set_t set;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	CPU_ZERO(&set);
	CPU_SET((size_t)(n % (uint64_t)cpus), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void rest(void)
{
	struct timespec left = { 0, 400000000 };

	while (nanosleep(&left, &left) != 0)
		;
}

static void *run(void *arg)
{
	timer_t timer = NULL;

	tid = (uint32_t)syscall(SYS_gettid);
	me = (int)(intptr_t)arg;
	start_timer(&timer, signal_us);
	for (uint64_t seq = 1; (!events || seq <= events) && !time_is_up; seq++) {
		put((uint32_t)me, seq);
		if (migrate && seq % 4096 == 0 && me % 3 == 0)
			move(seq / 4096);
		if (migrate == 2 && seq % 8 == 0)
			sched_yield();
		if (migrate == 3 && seq % 4096 == 0)
			rest();
	}
	stop_timer(timer, signal_us);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigaction end = { .sa_handler = end_all, .sa_flags = SA_RESTART };
	int n;

	if (argc < 6 || (n = atoi(argv[2])) < 1 || n > HANDLER)
		return 2;
	events = strtoull(argv[3], NULL, 10);
	signal_us = strtoull(argv[4], NULL, 10);
	migrate = atoi(argv[5]);
	shared = map_shared(argv[1]);
	if (!shared)
		return 1;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &end, NULL);
	if (argc > 6)
		alarm((unsigned)atoi(argv[6]));
	run_threads(n, run);
	return 0;
}
