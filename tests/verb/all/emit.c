/* SPDX-License-Identifier: MIT */
/* emit ROUNDS - events of all kinds, ten a round, from two threads, no faster than a recorder writes. */
#include <hodo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static unsigned long rounds;

static void one_round(unsigned long i)
{
	HODO_SPAN(big, round);
	HODO_BEGIN(big, job, i, HODO_F(shard, (int)(i % 16)));
	HODO_EVENT(big, put, HODO_F(key, "user-1234567"), HODO_F(bytes, i % 4096));
	HODO_MARK(big, note, "round %lu of %s", i, "many");
	HODO_COUNTER(big, level, i % 1000);
	{
		HODO_SPAN(big, inner);
		HODO_EVENT(big, get, i);
	}
	HODO_END(big, job, i);
}

static void *work(void *arg)
{
	struct timespec pause = { 0, 2000000 };

	(void)arg;
	for (unsigned long i = 0; i < rounds; i++) {
		one_round(i * 2 + (arg != NULL));
		if (i % 1000 == 0)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	if (pthread_create(&other, NULL, work, &rounds) != 0)
		return 1;
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
