/* SPDX-License-Identifier: MIT */
/*
 * waiting.c WAY [LINGER] - a program of one thread, which nobody prepared, and which waits in a system call with a
 * signal mask. LINGER: its handlers take so many ms, the one of SIGUSR2 on a separate stack.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

static long linger;
static volatile sig_atomic_t stopped;
static volatile int count;

/* The function that is recorded. */
__attribute__((noinline)) static void woken(int signal)
{
	struct timespec now, begun;

	count++;
	stopped |= signal == SIGTERM;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < linger);
}

static void handle(int signal, int flags)
{
	struct sigaction action = { .sa_handler = woken, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

int main(int argc, char **argv)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), way = argc > 1 ? atoi(argv[1]) : 0;
	struct epoll_event event;
	static char stack[65536];
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_BLOCK, &all, NULL);
	linger = argc > 2 ? atol(argv[2]) : 0;
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) }, NULL);
	handle(SIGUSR1, 0);
	handle(SIGUSR2, SA_ONSTACK);
	handle(SIGTERM, 0);
	puts("ready");
	fflush(stdout);
	while (!stopped) {
		if (way == 0)
			sigsuspend(&none);
		else if (way == 1)
			ppoll(NULL, 0, NULL, &none);
		else if (way == 2)
			pselect(0, NULL, NULL, NULL, NULL, &none);
		else
			epoll_pwait(epoll, &event, 1, -1, &none);
	}
	printf("%d\n", count);
	return 0;
}
