/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program with events that lives, ends and has children in the
 * ways that a recorder must follow.
 *
 * Usage: target HOW [NUMBER [FILE]]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hodo/trace.h>

static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
	signalled = sig;
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void count(long n)
{
	for (long i = 0; i < n; i++) {
		HODO_EVENT(rt, tick, HODO_F(i, i));
		if (i % 1000 == 999) /* slow enough for any recorder */
			sleep_ms(1);
	}
}

static void touch(const char *file)
{
	if (file)
		close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

static void flood(long n)
{
	for (long i = 0; i < n; i++)
		HODO_EVENT(rt, tick, HODO_F(i, i));
}

/* Stops the recorder and writes n events; somebody else lets the recorder go on. */
static void burst(long n)
{
	char path[32], stat[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getppid());
	HODO_EVENT(rt, tick, HODO_F(i, -1l)); /* so that there is a ring */
	sleep_ms(100);
	kill(getppid(), SIGSTOP);
	while (!strstr(stat, ") T ")) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || read(fd, stat, sizeof(stat) - 1) <= 0)
			abort();
		close(fd);
	}
	flood(n);
}

/* On one CPU: two seconds that are almost quiet, then a flood, then quiet again for good. */
static void awake(long n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		abort();
	for (int i = 0;; i++) {
		flood(i == 2 ? n : n / 10);
		if (i == 2)
			touch("done");
		sleep_ms(1100);
	}
}

/* The same bytes as the one field of an event: first as a text, then as bytes. */
static void large(long bytes)
{
	char *text = malloc((size_t)bytes + 1);

	if (!text)
		abort();
	memset(text, 'x', (size_t)bytes);
	text[bytes] = 0;
	HODO_EVENT(rt, large_text, HODO_F(text, text));
	HODO_EVENT(rt, large_bytes, HODO_F(bytes, HODO_BYTES(text, bytes)));
	HODO_EVENT(rt, tick, HODO_F(i, bytes));
	free(text);
}

static int fork_tree(long n)
{
	int status = 0;
	pid_t child;

	count(n);
	child = fork();
	if (child == 0) {
		pid_t grandchild = fork();

		count(n);
		if (grandchild > 0)
			waitpid(grandchild, &status, 0);
		_exit(status != 0);
	}
	waitpid(child, &status, 0);
	return status != 0;
}

/* Forks a child at the last moment. */
static int orphan(long n)
{
	if (fork() == 0)
		count(n);
	return 0;
}

static int daemon_life(long n, const char *file)
{
	if (fork() != 0)
		return 0;
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int fd = 0; fd < 1024; fd++) /* a daemon's closefrom() */
		close(fd);
	touch(file);
	for (long i = 0; i < n; i++) {
		HODO_EVENT(rt, daemon, HODO_F(i, i));
		sleep_ms(1);
	}
	return 0;
}

/* Runs until a signal arrives, which decides the exit status. */
static int forever(const char *file)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	count(10);
	touch(file);
	for (long i = 0; !signalled && i < 60000; i++) {
		HODO_EVENT(rt, tock, HODO_F(i, i));
		sleep_ms(1);
	}
	return 40 + signalled;
}

/* An event, a pause, an event, on one CPU. */
static int pause_between(long ms)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; i < 3; i++) {
		HODO_EVENT(rt, slow, HODO_F(i, i));
		sleep_ms(ms);
	}
	return 0;
}

static void *named_thread(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %ld", (long)arg);
	pthread_setname_np(pthread_self(), name);
	count(100);
	return NULL;
}

static int threads(long n)
{
	pthread_t t[64];

	for (long i = 0; i < n && i < 64; i++)
		pthread_create(&t[i], NULL, named_thread, (void *)i);
	for (long i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *file = argc > 3 ? argv[3] : NULL;
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(how, "count") == 0)
		count(n);
	else if (strcmp(how, "flood") == 0)
		flood(n);
	else if (strcmp(how, "burst") == 0) {
		burst(n);
		touch("done");
	} else if (strcmp(how, "awake") == 0)
		awake(n);
	else if (strcmp(how, "large") == 0)
		large(n);
	else if (strcmp(how, "exit") == 0)
		return (int)n;
	else if (strcmp(how, "signal") == 0) {
		count(5);
		raise((int)n);
	} else if (strcmp(how, "fork") == 0)
		return fork_tree(n);
	else if (strcmp(how, "orphan") == 0)
		return orphan(n);
	else if (strcmp(how, "exec") == 0) {
		count(n);
		execl(argv[0], argv[0], "count", argv[2], (char *)NULL);
		return 1;
	} else if (strcmp(how, "daemon") == 0)
		return daemon_life(n, file);
	else if (strcmp(how, "forever") == 0)
		return forever(file);
	else if (strcmp(how, "pause") == 0)
		return pause_between(n);
	else if (strcmp(how, "threads") == 0)
		return threads(n);
	else
		return 98;
	return 0;
}
