/* SPDX-License-Identifier: MIT */
/*
 * patched.c - this process patches itself while threads run the patched code, which must do what it did before.
 *
 *	patched SCENE [ROUNDS]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "load.h"
#include "scenes.h"

#include <errno.h>
#include <poll.h>
#include <unit/probe/workload.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>
#include <core/atomic.h>

#define THREADS 2

static uint64_t (*work)(void);
static uint64_t expected;
static uint64_t rounds_done;
static bool stop;

static void *run(void *arg)
{
	(void)arg;
	while (!hodo_load(&stop)) {
		CHECK(work() == expected);
		hodo_add(&rounds_done, 1);
	}
	return NULL;
}

static void report(const struct hodo_probe_built *b, uint64_t toggles)
{
	printf("functions %u refused %u exits %u missed %u calls %u windows %u bytes %llu\n", b->functions, b->refused,
	       b->exits, b->missed, b->calls, b->windows, (unsigned long long)b->bytes);
	printf("entries %llu exits %llu traps %llu others %llu toggles %llu rounds %llu\n", (unsigned long long)entries,
	       (unsigned long long)exits, (unsigned long long)hodo_engine_counts.served,
	       (unsigned long long)hodo_engine_counts.others, (unsigned long long)toggles,
	       (unsigned long long)rounds_done);
}

enum { ENOUGH_ENTRIES = 200, ENOUGH_EXITS = 100 };

/*
 * Goes on for at least this many rounds, and until each thread has done its work at least twice more and there were
 * enough entries and exits, which on a busy machine may take many more rounds.
 */
static uint64_t toggle(unsigned rounds)
{
	uint64_t seed = 1, toggles = 0, since = hodo_load(&rounds_done);

	for (unsigned i = 0; i < rounds || hodo_load(&rounds_done) < since + 2 * THREADS ||
			     hodo_load(&entries) < ENOUGH_ENTRIES || hodo_load(&exits) < ENOUGH_EXITS;
	     i++) {
		unsigned percent = 1 + (unsigned)(seed >> 40) % 100;

		load_switch(true, percent, &seed);
		toggles += load_windows();
		load_switch(false, i % 16 == 15 ? 100 : 60, &seed);
	}
	return toggles;
}

static void library(const char *name, uint64_t (*its)(void), unsigned rounds)
{
	const char *const ends[] = { name };
	struct hodo_probe_built built;
	pthread_t threads[THREADS];
	uint64_t seed = 1, toggles, before;

	work = its;
	work();
	expected = work();
	built = load_plan(ends, 1);
	load_switch(true, 100, &seed);
	CHECK(load_windows() > built.windows - built.windows / 50 - 1);
	before = entries;
	CHECK(work() == expected);
	CHECK(entries > before + 10);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0);
	toggles = toggle(rounds);
	stop = true;
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	load_switch(false, 100, &seed);
	CHECK(load_windows() == built.calls + built.finders);
	before = entries;
	CHECK(work() == expected);
	CHECK(entries == before);
	report(&built, toggles);
}

/* -------------------------------------------------------------------- signal masks */

static uint64_t signals;

static void on_usr(int signal)
{
	char text[64];

	/* Patched code of libc runs here, with the mask that the thread's call has asked for. */
	snprintf(text, sizeof(text), "%d %s", signal, "x");
	hodo_add(&signals, strlen(text) > 0);
}

static void *send(void *arg)
{
	pthread_t to = *(pthread_t *)arg;

	while (!hodo_load(&stop)) {
		pthread_kill(to, SIGUSR1);
		usleep(50);
	}
	return NULL;
}

static uint64_t mask_work(void)
{
	struct timespec now = { 0, 0 }, soon = { 0, 200000 };
	sigset_t all, but_usr, old, seen;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	sigfillset(&all);
	sigfillset(&but_usr);
	sigdelset(&but_usr, SIGUSR1);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &old) == 0);
	free(malloc(100));
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &seen) == 0);
	CHECK(sigismember(&seen, SIGTERM) && sigismember(&seen, SIGUSR1));
	CHECK(!sigismember(&seen, SIGTRAP) && !sigismember(&seen, SIGILL));
	pselect(0, NULL, NULL, NULL, &now, &all);
	ppoll(NULL, 0, &soon, &but_usr);
	epoll_pwait(epoll, &event, 1, 0, &but_usr);
	pselect(0, NULL, NULL, NULL, &soon, &but_usr);
	sigsuspend(&but_usr); /* until a signal comes */
	CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
	close(epoll);
	return 1;
}

static void masks(unsigned rounds)
{
	const char *const ends[] = { "/libc.so.6" };
	struct sigaction action = { .sa_handler = on_usr };
	struct hodo_probe_built built = load_plan(ends, 1);
	pthread_t worker, sender;
	uint64_t toggles;

	sigfillset(&action.sa_mask);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == on_usr);
	work = mask_work;
	expected = 1;
	CHECK(pthread_create(&worker, NULL, run, NULL) == 0);
	CHECK(pthread_create(&sender, NULL, send, &worker) == 0);
	toggles = toggle(rounds);
	stop = true;
	pthread_join(sender, NULL);
	for (unsigned i = 0; i < 1000 && pthread_tryjoin_np(worker, NULL) != 0; i++) {
		pthread_kill(worker, SIGUSR1);
		usleep(10000);
	}
	CHECK(hodo_load(&signals) > 0);
	report(&built, toggles);
}

/* -------------------------------------------------------------------------- handlers */

static volatile int trapped, code;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)context;
	trapped = signal;
	code = info->si_code;
}

/* What the program does with the signals that libhodo uses appears to it as it would without libhodo. */
static void handlers(unsigned rounds)
{
	const char *const ends[] = { "/libc.so.6" };
	struct sigaction ours = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, was;
	struct hodo_probe_built built = load_plan(ends, 1);
	uint64_t seed = 1;
	int status;
	pid_t child;

	(void)rounds;
	load_switch(true, 100, &seed);
	CHECK(sigaction(SIGTRAP, &ours, &was) == 0 && was.sa_handler == SIG_DFL);
	CHECK(sigaction(SIGTRAP, NULL, &was) == 0 && was.sa_sigaction == on_trap && was.sa_flags & SA_SIGINFO);
	__asm__ volatile("int3");
	CHECK(trapped == SIGTRAP && code > 0);
	trapped = 0;
	CHECK(raise(SIGTRAP) == 0);
	CHECK(trapped == SIGTRAP && code <= 0);
	trapped = 0;
	ours.sa_flags |= SA_RESETHAND;
	CHECK(sigaction(SIGTRAP, &ours, NULL) == 0);
	raise(SIGTRAP);
	CHECK(trapped == SIGTRAP);
	CHECK(sigaction(SIGTRAP, NULL, &was) == 0 && was.sa_handler == SIG_DFL);
	CHECK(syscall(SYS_rt_sigaction, SIGILL, 8l, NULL, 8l) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_rt_sigaction, SIGILL, NULL, 8l, 8l) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, 8l, NULL, 8l) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 4l) == -1 && errno == EINVAL);
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	signal(SIGTRAP, SIG_DFL);
	for (int which = 0; which < 3; which++) {
		child = fork();
		if (child == 0) {
			if (which == 0)
				__asm__ volatile("int3");
			if (which == 1)
				__asm__ volatile("ud2");
			raise(SIGTRAP);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == (which == 1 ? SIGILL : SIGTRAP));
	}
	report(&built, 0);
}

/* ------------------------------------------------------------------------------ fork */

static uint64_t fork_work(void)
{
	char *const argv[] = { (char *)"/bin/true", NULL };
	char *const envp[] = { NULL };
	posix_spawnattr_t attr;
	sigset_t all;
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(workload_math() == expected ? 0 : 1);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	sigfillset(&all);
	CHECK(posix_spawnattr_init(&attr) == 0 && posix_spawnattr_setsigdefault(&attr, &all) == 0 &&
	      posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF) == 0);
	CHECK(posix_spawn(&child, argv[0], NULL, &attr, argv, envp) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	posix_spawnattr_destroy(&attr);
	return expected;
}

static void forks(unsigned rounds)
{
	const char *const ends[] = { "/libc.so.6", "/libm.so.6" };
	struct hodo_probe_built built;
	pthread_t threads[THREADS];
	uint64_t toggles;

	workload_math();
	expected = workload_math();
	work = fork_work;
	built = load_plan(ends, 2);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0);
	toggles = toggle(rounds);
	stop = true;
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	report(&built, toggles);
}

/* ---------------------------------------------------------------------------- cancel */

static uint64_t cleaned;

static void clean(void *arg)
{
	(void)arg;
	hodo_add(&cleaned, 1);
}

static void *wait_for_ever(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_cleanup_push(clean, NULL);
	if (arg)
		for (;;)
			ppoll(NULL, 0, NULL, &none);
	for (;;)
		sigsuspend(&none);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(unsigned rounds)
{
	const char *const ends[] = { "/libc.so.6" };
	struct hodo_probe_built built = load_plan(ends, 1);
	uint64_t seed = 1;

	for (unsigned i = 0; i < rounds; i++) {
		pthread_t thread;
		void *result;

		load_switch(i % 2, 50, &seed);
		CHECK(pthread_create(&thread, NULL, wait_for_ever, i % 4 < 2 ? &seed : NULL) == 0);
		usleep(i % 3 * 1000);
		CHECK(pthread_cancel(thread) == 0);
		CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	}
	printf("cleaned %llu\n", (unsigned long long)cleaned);
	report(&built, rounds);
}

/* ------------------------------------------------------------------------------ main */

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "";
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(scene, "zlib"))
		library("/libz.so.1", workload_zlib, rounds);
	else if (!strcmp(scene, "libc"))
		library("/libc.so.6", workload_libc, rounds);
	else if (!strcmp(scene, "cxx"))
		library("/libstdc++.so.6", workload_cxx, rounds);
	else if (!strcmp(scene, "crypto"))
		library("/libcrypto.so.3", workload_crypto, rounds);
	else if (!strcmp(scene, "masks"))
		masks(rounds);
	else if (!strcmp(scene, "handlers"))
		handlers(rounds);
	else if (!strcmp(scene, "fork"))
		forks(rounds);
	else if (!strcmp(scene, "cancel"))
		cancel(rounds);
	else if (!strcmp(scene, "hot"))
		scene_hot();
	else if (!strcmp(scene, "refused"))
		scene_refused();
	else if (!strcmp(scene, "steps"))
		scene_steps();
	else if (!strcmp(scene, "clone"))
		scene_clone(rounds);
	else if (!strcmp(scene, "torture"))
		scene_torture(rounds);
	else
		return 2;
	printf("well\n");
	return 0;
}
