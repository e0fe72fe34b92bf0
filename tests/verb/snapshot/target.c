/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program whose flight recorder is read while the program writes.
 *
 * Usage: target HOW [NUMBER [FILE]]; FILE is created once the program is ready. For ask, it is the recording's path.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hodo/control.h>
#include <hodo/trace.h>

static volatile sig_atomic_t over;
static const char *file;

static void on_term(int sig)
{
	over = sig;
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void touch(void)
{
	if (file)
		close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

/* Binds the thread to the n-th of the CPUs that this process may use. */
static void pin(long n)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	n %= CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Each event has the number of events that the thread wrote before it. */
static void *writer(void *arg)
{
	long thread = (long)arg;

	pin(thread);
	for (unsigned long n = 0; !over; n++)
		HODO_EVENT(snap, tick, HODO_F(thread, thread), HODO_F(n, n));
	return NULL;
}

/* Wanders from CPU to CPU. */
static void *wanderer(void *arg)
{
	long thread = (long)arg;

	for (unsigned long n = 0; !over; n++) {
		if (n % 1000 == 0)
			pin(thread + (long)(n / 1000));
		HODO_EVENT(snap, tick, HODO_F(thread, thread), HODO_F(n, n));
	}
	return NULL;
}

/* Threads that write without a pause, until a signal asks the program to end. */
static int flood(long n, void *(*how)(void *))
{
	pthread_t t[64];

	for (long i = 0; i < n && i < 64; i++)
		pthread_create(&t[i], NULL, how, (void *)i);
	touch();
	for (long i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static void count(long n)
{
	static unsigned long counted;

	for (long i = 0; i < n; i++, counted++)
		HODO_EVENT(snap, tick, HODO_F(thread, 0L), HODO_F(n, counted));
}

/* Whether the n-th snapshot has its process: that is written when the buffers have been copied. */
static int has_copied(long n)
{
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/snapshot-%04ld/*", file, n);
	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	globfree(&found);
	return 1;
}

/* Asks n times, and waits each time until the answer has been made. */
static int ask(long n)
{
	char why[32];

	pin(0);
	for (long i = 1; i <= n; i++) {
		HODO_EVENT(snap, asked, HODO_F(i, i));
		snprintf(why, sizeof(why), "reason %ld, \"%%\"", i);
		if (hodo_snapshot(why) != i)
			return 3;
		for (int left = 12000; !has_copied(i); left--) {
			if (left == 0)
				return 4;
			sleep_ms(10);
		}
	}
	return 0;
}

/* Asks, and ends at once. */
static int last_words(long n)
{
	for (long i = 0; i < n; i++)
		HODO_EVENT(snap, asked, HODO_F(i, i));
	hodo_snapshot("last words");
	_exit(0);
}

/* A child that crashes and one that does not, while the parent does not wait for them. */
static int children(void)
{
	pid_t bad = fork(), good;

	if (bad == 0) {
		prctl(PR_SET_NAME, "bad");
		HODO_EVENT(snap, bad);
		abort();
	}
	good = fork();
	if (good == 0) {
		prctl(PR_SET_NAME, "good");
		HODO_EVENT(snap, good);
		_exit(0);
	}
	waitpid(good, NULL, 0);
	waitpid(bad, NULL, 0);
	count(10);
	return 0;
}

/* Children that write, fork, exec and end, all the time. */
static int family(char **argv)
{
	touch();
	while (!over) {
		pid_t child = fork();

		if (child == 0) {
			count(20000);
			execl("/proc/self/exe", argv[0], "count", "20000", (char *)NULL);
			_exit(1);
		}
		count(1000);
		waitpid(child, NULL, 0);
	}
	return 0;
}

static int run(const char *how, long n, char **argv)
{
	if (strcmp(how, "flood") == 0)
		return flood(n, writer);
	if (strcmp(how, "wander") == 0)
		return flood(n, wanderer);
	if (strcmp(how, "ask") == 0)
		return ask(n);
	if (strcmp(how, "last") == 0)
		return last_words(n);
	if (strcmp(how, "children") == 0)
		return children();
	if (strcmp(how, "family") == 0)
		return family(argv);
	count(strcmp(how, "count") == 0 ? n : 1000);
	if (strcmp(how, "signal") == 0)
		raise((int)n);
	if (strcmp(how, "thread") == 0) { /* the first thread has ended, another one crashes */
		pthread_t t;

		pthread_create(&t, NULL, (void *(*)(void *))abort, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "wait") == 0) {
		touch();
		while (!over)
			sleep_ms(1);
	}
	return strcmp(how, "exit") == 0 ? (int)n : 0;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_term };

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* so that an interrupted test leaves nothing behind */
	sigaction(SIGTERM, &sa, NULL);
	file = argc > 3 ? argv[3] : NULL;
	return run(argc > 1 ? argv[1] : "", argc > 2 ? atol(argv[2]) : 0, argv);
}
