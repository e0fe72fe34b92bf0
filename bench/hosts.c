/* SPDX-License-Identifier: MIT */
/*
 * hosts.c - one of many hosts that talk to the first of them, for bench/hosts.py:
 *
 *	hosts NUMBER HOSTS EVENTS
 *
 * In each of 200 steps, a millisecond apart, host 0 sends a message to each other host, which receives it 50 steps
 * later and answers; host 0 receives the answer another 50 steps later. They run one after the other: only their
 * clocks, as they are recorded, say when that was. The rest of EVENTS is written in between.
 */
#include <hodo/trace.h>

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define STEPS  200u
#define STEP_NS 1000000
#define LATER  50u /* steps on the way, so that uneven steps contradict nothing */

static void wait_until(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void talk(uint64_t number, uint64_t hosts, uint64_t step)
{
	if (number) {
		if (step >= LATER)
			HODO_EVENT(net, received, HODO_F(key, number << 16 | step));
		HODO_EVENT(net, answered, HODO_F(key, number << 16 | step));
		return;
	}
	for (uint64_t k = 1; k < hosts; k++) {
		HODO_EVENT(net, sent, HODO_F(key, k << 16 | (step + LATER)));
		if (step >= LATER)
			HODO_EVENT(net, got, HODO_F(key, k << 16 | (step - LATER)));
	}
}

int main(int argc, char **argv)
{
	uint64_t number, hosts, events, talking;
	struct timespec now;
	int64_t begin_ns;

	if (argc != 4)
		return 2;
	number = strtoull(argv[1], NULL, 10);
	hosts = strtoull(argv[2], NULL, 10);
	events = strtoull(argv[3], NULL, 10);
	talking = number ? 2 : 2 * hosts;
	clock_gettime(CLOCK_MONOTONIC, &now);
	begin_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	for (uint64_t step = 0; step < STEPS; step++) {
		wait_until(begin_ns + (int64_t)step * STEP_NS);
		talk(number, hosts, step);
		for (uint64_t i = talking; i < events / STEPS; i++)
			HODO_EVENT(kv, put, HODO_F(key, i), HODO_F(shard, (int)(i & 7)));
	}
	return 0;
}
