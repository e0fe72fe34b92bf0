/* SPDX-License-Identifier: MIT */
/* cloned.c - see scenes.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "scenes.h"

#include <unit/probe/workload.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include <core/atomic.h>
#include <user/process/process.h>

#define STACK_BYTES (256u << 10)
#define SEEN_EXIT 3

static uint64_t expected, made;
static bool stop;
static struct {
	char bytes[STACK_BYTES];
} __attribute__((aligned(64))) stack;

static uint32_t half_written(void)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < hodo_engine_nplans; p++) {
		const struct hodo_engine_plan *plan = &hodo_engine_plans[p];

		for (uint32_t i = 0; i < plan->head->windows.n; i++)
			n += !hodo_engine_is(&plan->windows[i], true) && !hodo_engine_is(&plan->windows[i], false);
	}
	return n;
}

/* Runs with the code as the parent was writing it; then as the child's first event leaves it: completely written. */
static void run_child(bool set_up)
{
	uint32_t half = half_written();
	int status = half ? SEEN_EXIT : 0;

	if (workload_math() != expected)
		status = 1;
	if (set_up) {
		hodo_process_check_fork();
		if (half_written() != 0)
			status = 2;
		if (workload_math() != expected)
			status = 1;
	}
	_exit(status);
}

static int run_sharing(void *arg)
{
	(void)arg;
	return workload_math() == expected ? 0 : 1;
}

static pid_t make(unsigned kind)
{
	pid_t child;

	switch (kind) {
	case 0:
	case 1:
		child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (child == 0)
			run_child(kind == 1);
		return child;
	case 2:
		child = vfork();
		if (child == 0)
			_exit(workload_math() == expected ? 0 : 1);
		return child;
	default:
		return clone(run_sharing, &stack + 1, CLONE_VM | SIGCHLD, NULL);
	}
}

/* Children of all kinds, one after the other. */
static void *run_clones(void *arg)
{
	uint64_t *seen = arg;

	for (unsigned i = 0; !hodo_load(&stop); i++) {
		pid_t child = make(i % 4);
		int status;

		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != SEEN_EXIT))
			fprintf(stderr, "a child of kind %u: status %x\n", i % 4, status);
		CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SEEN_EXIT));
		hodo_add(seen, WEXITSTATUS(status) == SEEN_EXIT);
		hodo_add(&made, 1);
	}
	return NULL;
}

void scene_clone(unsigned wanted)
{
	const char *const ends[] = { "/libc.so.6", "/libm.so.6" };
	struct hodo_probe_built built;
	uint64_t seed = 1, seen = 0, toggles = 0;
	pthread_t thread;

	workload_math();
	expected = workload_math();
	built = load_plan(ends, 2);
	CHECK(built.windows > 10000);
	CHECK(pthread_create(&thread, NULL, run_clones, &seen) == 0);
	while (hodo_load(&seen) < wanted) {
		load_switch(true, 100, &seed);
		toggles += load_windows();
		load_switch(false, 100, &seed);
	}
	hodo_store(&stop, true);
	CHECK(pthread_join(thread, NULL) == 0);
	printf("functions %u refused %u calls %u windows %u\n", built.functions, built.refused, built.calls, built.windows);
	printf("children %llu seen %llu toggles %llu entries %llu exits %llu traps %llu others %llu\n",
	       (unsigned long long)made, (unsigned long long)seen, (unsigned long long)toggles,
	       (unsigned long long)entries, (unsigned long long)exits, (unsigned long long)hodo_engine_counts.served,
	       (unsigned long long)hodo_engine_counts.others);
}
