/* SPDX-License-Identifier: MIT */
/* hazards.c - programs with an additional thread and what that endangers: hazards.py runs them. A line is a step. */
#define _GNU_SOURCE
#include <errno.h>
#include <hodo/control.h>
#include <hodo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *text, long n)
{
	printf("%s %ld\n", text, n);
	fflush(stdout);
}

static void step(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

static __attribute__((noinline)) void event(uint64_t n)
{
	HODO_EVENT(hazard, tick, HODO_F(n, n));
}

static double seconds(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The process ends with its last thread, not with the first. */
static void *last_thread(void *arg)
{
	step();
	return NULL;
}

static int leader_leaves(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, last_thread, NULL);
	say("ready", 0);
	pthread_exit(NULL);
}

/* A child that ran no fork handler and goes through exit() is not the process that listens. */
static int bare_child_exits(void)
{
	pid_t child;
	int status = 0;

	say("ready", 0);
	step();
	child = _Fork();
	if (child == 0)
		exit(hodo_listen() == 0 ? 7 : 8);
	waitpid(child, &status, 0);
	say("child", WEXITSTATUS(status));
	step();
	return 0;
}

/* A program that limits itself to no more descriptors does not keep a processor busy. */
static int no_descriptors(void)
{
	struct rlimit none = { 4, 4 };

	say("ready", 0);
	step();
	setrlimit(RLIMIT_NOFILE, &none);
	say("limited", (long)(seconds(CLOCK_PROCESS_CPUTIME_ID) * 1000));
	step();
	say("cpu_ms", (long)(seconds(CLOCK_PROCESS_CPUTIME_ID) * 1000));
	step();
	return 0;
}

/* The end of a connection ends its recording, but not one that the program has started since. */
static int own_recording(void)
{
	struct hodo_flight_options options = { .size = sizeof(options), .directory = getenv("FLIGHT") };
	struct hodo_statistics s = { .size = sizeof(s) };

	say("ready", 0);
	step();
	say("stop", hodo_stop());
	say("start", hodo_flight_start(&options));
	step();
	say("recorded", hodo_statistics(&s) == 0 && s.flight);
	return 0;
}

/* A client that requests a recording and then says nothing keeps nobody waiting. */
static int silent_client(void)
{
	say("ready", 0);
	for (int i = 0; i < 100; i++) {
		pid_t child;

		step();
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		if (setuid(getuid()) != 0) /* libc signals all threads */
			return 3;
		say("forked", i);
	}
	return 0;
}

/* A handler forks wherever it interrupts, and the child continues there. */
static volatile sig_atomic_t is_child, forks;

static void fork_here(int signal)
{
	int saved = errno;
	pid_t child;

	if (is_child)
		return;
	child = fork();
	if (child == 0)
		is_child = 1;
	else
		forks++;
	errno = saved;
}

static void *fork_at_times(void *arg)
{
	pthread_t *main_thread = arg;
	long bad = 0, good = 0;
	int status;

	for (int i = 0; i < 600; i++) {
		int before = forks;

		usleep(50 + (unsigned)(i * 7919) % 100);
		pthread_kill(*main_thread, SIGUSR1);
		while (forks == before)
			usleep(20);
		while (waitpid(-1, &status, 0) < 0 && errno == EINTR)
			;
		if (status == 0)
			good++;
		else
			bad++;
	}
	say("good", good);
	say("bad", bad);
	exit(0);
}

static int handler_forks(void)
{
	struct sigaction action = { .sa_handler = fork_here, .sa_flags = SA_RESTART };
	pthread_t self = pthread_self(), thread;

	sigaction(SIGUSR1, &action, NULL);
	say("ready", 0);
	step();
	pthread_create(&thread, NULL, fork_at_times, &self);
	for (uint64_t n = 0, after = 0;; n++) {
		event(n);
		if (is_child && after++ == 100)
			break;
	}
	_exit(0);
}

/* Runs on, whatever its recorder writes to the memory that they share. */
static int runs_on(void)
{
	static char text[900];

	memset(text, 'x', sizeof(text) - 1);
	say("ready", 0);
	step();
	for (double until = seconds(CLOCK_MONOTONIC) + 3; seconds(CLOCK_MONOTONIC) < until;) {
		for (uint64_t n = 0; n < 1000; n++) {
			event(n);
			HODO_EVENT(hazard, text, HODO_F(n, n), HODO_F(text, text));
		}
	}
	say("alive", 0);
	return 0;
}

/* The program listens if that was its last request, even while a client makes it stop listening. */
void hodo_attach_(int64_t answer[3]); /* as hodo record -p calls it */

static int listens_again(void)
{
	int64_t answer[3];

	hodo_attach_(answer);
	say("ready", (long)answer[0]);
	for (unsigned n = 0; n < 1000; n++) {
		step();
		if (getenv("BY_ITSELF")) {
			usleep((unsigned)getpid() * 211 % 3000);
			answer[0] = hodo_listen();
		} else {
			usleep(n % 8 * 10);
			hodo_attach_(answer);
		}
		say("listen", (long)answer[0]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(void); } cases[] = {
		{ "leader_leaves", leader_leaves }, { "bare_child_exits", bare_child_exits },
		{ "no_descriptors", no_descriptors }, { "own_recording", own_recording },
		{ "silent_client", silent_client }, { "handler_forks", handler_forks },
		{ "listens_again", listens_again }, { "runs_on", runs_on },
	};

	alarm(120);
	event(0);
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) == 0)
			return cases[i].run();
	}
	return 2;
}
