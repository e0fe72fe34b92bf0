/* SPDX-License-Identifier: MIT */
/* target.c - the program that is recorded: nested spans, requests that change threads, values, marks. */
#include <hodo/trace.h>

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define REQUESTS 300

static int queue[REQUESTS];

static void spin(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static void compact(int depth)
{
	HODO_SPAN(kv, compact, depth);
	spin(100);
	if (depth)
		compact(depth - 1);
}

static void *worker(void *arg)
{
	int shard = (int)(intptr_t)arg;

	for (int i = shard; i < REQUESTS; i += 2) {
		while (!__atomic_load_n(&queue[i], __ATOMIC_ACQUIRE))
			usleep(50);
		HODO_EVENT(kv, taken, HODO_F(id, i), shard);
		if (i % 10 == 0)
			compact(2);
		spin(1000u * (unsigned)(i % 7));
		HODO_END(kv, request, i, shard);
		HODO_EVENT(kv, done, HODO_F(id, i), HODO_F(bytes, (uint64_t)i * i));
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
	for (int i = 0; i < REQUESTS; i++) {
		HODO_BEGIN(kv, request, i);
		HODO_COUNTER(kv, queued, i - REQUESTS / 2);
		HODO_MARK(kv, put, "request %d", i);
		__atomic_store_n(&queue[i], 1, __ATOMIC_RELEASE);
		if (i % 50 == 0)
			usleep(1000);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
