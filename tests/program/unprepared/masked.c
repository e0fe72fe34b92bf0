/* SPDX-License-Identifier: MIT */
/*
 * masked.c - a program that nobody prepared, whose threads block signals of all kinds, in all ways, while a recorder
 * comes to patch it. Ends when its standard input does, and prints how much it did; exits with 1 if anything is wrong.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 5

static atomic_bool stop, wrong;
static bool slowly; /* most of the time it waits */
static atomic_ulong done;

/* The function that is recorded. */
__attribute__((noinline)) static unsigned long mix(unsigned long x, unsigned long y)
{
	__asm__ volatile("" : "+r"(x));
	return x * 31 + (y ^ x >> 7);
}

static unsigned long work(unsigned long seed)
{
	char text[64];

	for (int i = 0; i < 50; i++)
		seed = mix(seed, (unsigned long)i);
	snprintf(text, sizeof(text), "%lx", seed);
	return strtoul(text, NULL, 16);
}

static void check(unsigned long seed)
{
	static _Atomic unsigned long expected[2];
	unsigned long now = work(seed), none = 0;

	if (!atomic_compare_exchange_strong(&expected[seed & 1], &none, now) && none != now)
		wrong = true;
	done++;
	if (slowly)
		usleep(2000);
}

static void *block(void *arg)
{
	sigset_t all, old;

	sigfillset(&all);
	while (!stop) {
		pthread_sigmask(SIG_SETMASK, &all, &old);
		check(0);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		check(1);
	}
	return arg;
}

static void *wait_blocked(void *arg)
{
	struct timespec soon = { 0, 3000000 };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;
	sigset_t all;

	sigfillset(&all);
	while (!stop) {
		ppoll(NULL, 0, &soon, &all);
		check(0);
		epoll_pwait(epoll, &event, 1, 2, &all);
		check(1);
	}
	close(epoll);
	return arg;
}

/* Blocks signals all its life. */
static void *never(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!stop) {
		check(0);
		usleep(100);
	}
	return arg;
}

/* The handler was set before any recorder came; it runs with all signals blocked. */
static atomic_int seen;

static void on_usr(int signal)
{
	sigset_t now;

	(void)signal;
	check(0);
	sigprocmask(SIG_BLOCK, NULL, &now);
	seen = sigismember(&now, SIGTRAP) + sigismember(&now, SIGILL);
	if (!sigismember(&now, SIGTERM))
		wrong = true;
	check(1);
}

static bool handle(void)
{
	struct sigaction action = { .sa_handler = on_usr };

	sigfillset(&action.sa_mask);
	return sigaction(SIGUSR1, &action, NULL) == 0;
}

/* Children that no fork() handler sees. */
static void *clone_children(void *arg)
{
	while (!stop) {
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		int status;

		if (child == 0) {
			check(0);
			check(1);
			_exit(wrong);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			wrong = true;
		usleep(1000);
	}
	return arg;
}

static void *brief(void *arg)
{
	check(0);
	return arg;
}

/* Threads and processes that come and go: libc blocks all signals while it creates them. */
static void *start(void *arg)
{
	char *const argv[] = { (char *)"/bin/true", NULL }, *const envp[] = { NULL };

	while (!stop) {
		pthread_t thread;
		pid_t child;
		int status;

		if (pthread_create(&thread, NULL, brief, NULL) != 0 || pthread_join(thread, NULL) != 0 ||
		    posix_spawn(&child, argv[0], NULL, NULL, argv, envp) != 0 || waitpid(child, &status, 0) != child ||
		    status != 0)
			wrong = true;
	}
	return arg;
}

int main(int argc, char **argv)
{
	void *(*const threads[])(void *) = { block, wait_blocked, never, start, clone_children };
	pthread_t thread[THREADS];
	char c;

	slowly = argc > 1 && !strcmp(argv[1], "slowly");
	if (!handle())
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, threads[i], NULL) != 0)
			return 1;
	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0) {
		check(1);
		raise(SIGUSR1);
		printf("%d\n", seen);
		fflush(stdout);
	}
	stop = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%lu\n", (unsigned long)done);
	return wrong;
}
