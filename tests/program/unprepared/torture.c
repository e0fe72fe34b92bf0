/* SPDX-License-Identifier: MIT */
/* torture.c - see scenes.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "scenes.h"

#include <unit/probe/workload.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "load.h"
#include <core/atomic.h>
#include <user/process/process.h>

#define AT_ONCE 128u /* functions, at most */

struct worker {
	uint64_t (*work)(void);
	uint64_t expected, rounds;
	pthread_t thread;
};
static bool stop;

static void *run(void *arg)
{
	struct worker *w = arg;

	while (!hodo_load(&stop)) {
		CHECK(w->work() == w->expected);
		hodo_add(&w->rounds, 1);
	}
	return NULL;
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void want(const struct hodo_engine_plan *p, uint32_t function, bool on)
{
	const struct hodo_plan_function *f = &p->functions[function];

	if (f->entry != HODO_PLAN_NO_WINDOW)
		hodo_engine_want(p->windows[f->entry].addr, HODO_ENGINE_WANTED, on);
	for (uint32_t i = f->first; i < f->first + f->exits; i++)
		hodo_engine_want(p->windows[i].addr, HODO_ENGINE_WANTED, on);
}

/* Switches some functions on and off again; each is a cycle. */
static uint32_t cycle(uint64_t *seed)
{
	const struct hodo_engine_plan *p = &hodo_engine_plans[0];
	uint32_t function[AT_ONCE], n = 1 + (uint32_t)(draw(seed) % AT_ONCE);
	uint64_t mask = hodo_control_lock();

	for (uint32_t i = 0; i < n; i++) {
		function[i] = (uint32_t)(draw(seed) % p->head->functions.n);
		want(p, function[i], true);
	}
	CHECK(hodo_engine_apply() == 0);
	for (uint32_t i = 0; i < n; i++)
		want(p, function[i], false);
	CHECK(hodo_engine_apply() == 0);
	hodo_control_unlock(mask);
	return n;
}

void scene_torture(uint64_t cycles)
{
	static struct worker workers[] = {
		{ .work = workload_zlib }, { .work = workload_libc }, { .work = workload_cxx },
	};
	const char *const ends[] = { "/libc.so.6", "/libz.so.1", "/libstdc++.so.6" };
	const unsigned n = sizeof(workers) / sizeof(*workers);
	struct hodo_probe_built built;
	uint64_t seed = 1, done = 0, rounds = 0;

	for (unsigned i = 0; i < n; i++) {
		workers[i].work();
		workers[i].expected = workers[i].work();
	}
	built = load_plan(ends, 3);
	for (unsigned i = 0; i < n; i++)
		CHECK(pthread_create(&workers[i].thread, NULL, run, &workers[i]) == 0);
	while (done < cycles)
		done += cycle(&seed);
	hodo_store(&stop, true);
	for (unsigned i = 0; i < n; i++) {
		CHECK(pthread_join(workers[i].thread, NULL) == 0);
		rounds += workers[i].rounds;
	}
	CHECK(load_windows() == built.calls + built.finders);
	printf("functions %u refused %u calls %u windows %u\n", built.functions, built.refused, built.calls,
	       built.windows);
	printf("cycles %llu rounds %llu entries %llu exits %llu traps %llu others %llu\n", (unsigned long long)done,
	       (unsigned long long)rounds, (unsigned long long)entries, (unsigned long long)exits,
	       (unsigned long long)hodo_engine_counts.served, (unsigned long long)hodo_engine_counts.others);
}
