/* SPDX-License-Identifier: MIT */
/* waiting.c N - a program of one thread, which nobody prepared, and which waits in a system call with a signal mask. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile sig_atomic_t stopped;
static volatile int count;

/* What is recorded. */
__attribute__((noinline)) static void woken(int signal)
{
	count++;
	stopped = signal == SIGTERM;
}

int main(int argc, char **argv)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), way = argc > 1 ? atoi(argv[1]) : 0;
	struct epoll_event event;
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGUSR1, woken);
	signal(SIGTERM, woken);
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
