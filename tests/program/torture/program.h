/* SPDX-License-Identifier: MIT */
/* program.h - what the tortured programs have in common: threads with signals, and a mapped struct shared. */
#ifndef TESTS_TORTURE_PROGRAM_H
#define TESTS_TORTURE_PROGRAM_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shared.h"

/* The file, mapped, with that size; NULL: not possible. */
static inline struct shared *map_shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	void *p;

	if (fd < 0 || ftruncate(fd, sizeof(struct shared)) != 0)
		return NULL;
	p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* Processor time of the thread. */
static inline uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * SIGUSR1 to the calling thread every so many microseconds, 0: never; less often where its handler, which is recorded,
 * takes longer: the thread would do nothing else.
 */
static inline void start_timer(timer_t *timer, uint64_t us)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { .it_interval.tv_nsec = (long)us * 1000 };
	uint64_t ns = 0;

	if (!us)
		return;
	for (int i = 0; i < 40; i++) {
		if (i == 20) /* what is used for the first time has been used */
			ns = cpu_ns();
		raise(SIGUSR1);
	}
	ns = (cpu_ns() - ns) / 20 * 4;
	if (ns > us * 1000)
		every.it_interval.tv_nsec = (long)(ns < 500000000 ? ns : 500000000);
	every.it_value = every.it_interval;
	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0 || timer_settime(*timer, 0, &every, NULL) != 0) {
		perror("timer");
		exit(1);
	}
}

static inline void stop_timer(timer_t timer, uint64_t us)
{
	if (us)
		timer_delete(timer);
}

/* Runs n of them, HANDLER at most, from begin to end; each gets its number. */
static inline void run_threads(int n, void *(*run)(void *number))
{
	pthread_t threads[HANDLER];

	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

#endif
