/* SPDX-License-Identifier: MIT */
/*
 * paced.c - a service that sleeps between its requests; each is a span with fields, and two events inside.
 *
 *	paced SECONDS REQUESTS_PER_S
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <hodo/trace.h>

int main(int argc, char **argv)
{
	unsigned long seconds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long rate = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct timespec now;
	uint64_t random = 88172645463325252u;

	if (!seconds || !rate || rate > 1000000)
		return fprintf(stderr, "usage: paced SECONDS REQUESTS_PER_S\n"), 2;
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (unsigned long i = 0; i < seconds * rate; i++) {
		char key[24];
		uint32_t shard, bytes;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		shard = (uint32_t)(random % 16);
		bytes = (uint32_t)(random >> 32) % 4096;
		snprintf(key, sizeof(key), "user:%u", (unsigned int)(random >> 40) % 100000);
		{
			HODO_SPAN(service, request, shard);
			HODO_EVENT(service, lookup, key, shard);
			HODO_EVENT(service, answer, bytes);
		}
		/* The sleeps are short of time: so many requests a second, whatever they take. */
		now.tv_nsec += 1000000000L / (long)rate;
		if (now.tv_nsec >= 1000000000L) {
			now.tv_sec++;
			now.tv_nsec -= 1000000000L;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
	}
	return 0;
}
