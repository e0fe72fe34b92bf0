/* SPDX-License-Identifier: MIT */
/*
 * cli_target.c - a running process that can be recorded, and that does what its standard input says.
 *
 * Each line is a command, which it answers by a line when it has finished:
 *   note N          N events at:note, i from 0
 *   fork            makes a child, which makes 3 events at:child and ends; the answer is its pid
 *   exec            becomes this program again
 *   stop            hodo_stop()
 *   closefrom       closes all descriptors from 3 on
 *   setuid UID      in all threads, by libc
 *   chroot DIR
 *   thread NAME     makes a thread of that name, which makes an event at:thread at each "poke"
 *   poke            see thread
 *   exit N          ends with status N
 *   abort           dies of SIGABRT
 * Usage: cli_target [busy MICROSECONDS]
 *   busy: four threads make events at full speed, one after each MICROSECONDS of work, and so does a
 *   signal handler that interrupts them, until standard input ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hodo/trace.h>

#define THREADS 4

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------------ busy */

static volatile int over;
static long work_ns;
static __thread int number = -1;
static __thread uint64_t interrupts;

/* A text whose length and letter follow from the number, so that a torn event shows. */
static const char *text_of(uint64_t n, char *buffer)
{
	size_t len = n % 23;

	memset(buffer, 'a' + (int)(n % 26), len);
	buffer[len] = 0;
	return buffer;
}

static void on_alarm(int sig)
{
	char text[32];
	uint64_t n;

	(void)sig;
	if (number < 0)
		return;
	n = interrupts++;
	HODO_EVENT(at, signal, HODO_F(thread, number), HODO_F(n, n), HODO_F(check, n * 2654435761u),
		   HODO_F(text, text_of(n, text)));
}

static void *busy(void *arg)
{
	char text[32];

	number = (int)(long)arg;
	for (uint64_t n = 0; !over; n++) {
		uint64_t end = now_ns() + (uint64_t)work_ns;

		HODO_EVENT(at, work, HODO_F(thread, number), HODO_F(n, n), HODO_F(check, n * 2654435761u),
			   HODO_F(text, text_of(n, text)));
		while (now_ns() < end)
			;
	}
	return NULL;
}

static int be_busy(long microseconds)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t thread[THREADS];
	sigset_t alarm;
	char c;

	work_ns = microseconds * 1000;
	sigaction(SIGALRM, &sa, NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, busy, (void *)i);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* -------------------------------------------------------------------- commands */

static volatile unsigned pokes;
static unsigned poked[8];
static unsigned threads;

static void *named(void *arg)
{
	unsigned *mine = arg, seen = *mine;

	for (;;) {
		while (pokes == seen)
			usleep(500);
		seen = pokes;
		HODO_EVENT(at, thread, HODO_F(poke, seen));
		__atomic_store_n(mine, seen, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void start_thread(const char *name)
{
	pthread_t t;

	poked[threads] = pokes;
	pthread_create(&t, NULL, named, &poked[threads++]);
	pthread_setname_np(t, name);
}

static void poke(void)
{
	pokes++;
	for (unsigned i = 0; i < threads; i++)
		while (__atomic_load_n(&poked[i], __ATOMIC_ACQUIRE) != pokes)
			usleep(500);
}

static int make_child(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		for (int i = 0; i < 3; i++)
			HODO_EVENT(at, child, HODO_F(i, i));
		_exit(0);
	}
	waitpid(child, &status, 0);
	return child;
}

static int stop(void)
{
	int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "hodo_stop");

	return f ? f() : -1;
}

/* Obeys a command; returns the answer. */
static long obey(char **argv, const char *what, const char *argument)
{
	long n = atol(argument);

	if (strcmp(what, "note") == 0) {
		for (long i = 0; i < n; i++)
			HODO_EVENT(at, note, HODO_F(i, i));
	} else if (strcmp(what, "fork") == 0) {
		return make_child();
	} else if (strcmp(what, "exec") == 0) {
		execv("/proc/self/exe", argv);
	} else if (strcmp(what, "stop") == 0) {
		return stop();
	} else if (strcmp(what, "closefrom") == 0) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	} else if (strcmp(what, "setuid") == 0) {
		return setuid((uid_t)n);
	} else if (strcmp(what, "chroot") == 0) {
		return chroot(argument);
	} else if (strcmp(what, "thread") == 0) {
		start_thread(argument);
	} else if (strcmp(what, "poke") == 0) {
		poke();
	} else if (strcmp(what, "exit") == 0) {
		exit((int)n);
	} else if (strcmp(what, "abort") == 0) {
		abort();
	} else {
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char line[256], what[64], argument[64];

	if (argc > 2 && strcmp(argv[1], "busy") == 0)
		return be_busy(atol(argv[2]));
	HODO_MARK(at, begin, "with %d arguments", argc);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		argument[0] = 0;
		if (sscanf(line, "%63s %63s", what, argument) < 1)
			continue;
		printf("%ld\n", obey(argv, what, argument));
		fflush(stdout);
	}
	return 0;
}
