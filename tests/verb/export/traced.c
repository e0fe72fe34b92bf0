/* SPDX-License-Identifier: MIT */
/*
 * traced.c - a program with everything that an export can show: traced REQUESTS.
 *
 * Each request is a span that is paired by its number; the main thread begins it and the worker ends it, with three
 * open at a time. The worker's calls, spans, events, marks and counters nest in each. One request stays open.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define KEEP __attribute__((noinline))
#define QUEUED 3
#ifdef __clang__
#define UNTRACED __attribute__((noinline, xray_never))
#else
#define UNTRACED __attribute__((noinline, no_instrument_function))
#endif

enum state { IDLE, BUSY };

volatile int sink;
static int requests;
static sem_t queued, room, begin;

/* Not UTF-8, not plain, and part of other languages. */
static const char hostile[] = "\"</script>'\\,;\n\r\t\x1b[31m\x7f=1+1\xff\xc3\xbc";

KEEP int leaf(int n)
{
	HODO_EVENT(kv, lookup, n, HODO_F(key, "user:1747"), HODO_F(ratio, n / 8.0));
	return sink += n;
}

KEEP int middle(int n)
{
	sink += leaf(n);
	HODO_MARK(kv, note, "request %d of %s", n, "somebody");
	return leaf(n + 1);
}

KEEP void work(int n)
{
	static const short sizes[] = { 10, 200, -3000 };

	HODO_SPAN(kv, handle, n);
	{
		HODO_SPAN(kv, parse);
		sink += middle(n);
	}
	{
		HODO_SPAN(kv, store, HODO_F(bytes, 4096ull * n));
		HODO_COUNTER(kv, cache_bytes, 4096l * n - 10);
		HODO_COUNTER(kv, load, n * 0.5);
		HODO_EVENT(kv, all, HODO_F(state, n % 2 ? BUSY : IDLE), HODO_F(flag, (bool)(n % 3 == 0)),
			   HODO_F(huge, ~0ull - n), HODO_F(small, (signed char)-n), HODO_F(sizes, HODO_ARRAY(sizes, 3)),
			   HODO_F(raw, HODO_BYTES("\x00\x7f\xff", 3)), HODO_F(nothing, (const char *)NULL),
			   HODO_F(place, (void *)&sink), HODO_F(name, hostile), HODO_F(empty, ""));
	}
}

KEEP void *worker(void *arg)
{
	sem_wait(&begin); /* at any time, as many requests are open as there is room for */
	for (int n = 0; n < requests; n++) {
		sem_wait(&queued);
		work(n);
		HODO_END(kv, request, n, HODO_F(ok, true));
		sem_post(&room);
	}
	return arg;
}

/* Has no events, so that the thread has its name before its first event. */
UNTRACED static void *start(void *arg)
{
	prctl(PR_SET_NAME, "w\"<b>\n\xff,");
	return worker(arg);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	HODO_LABELS(kv, state, IDLE, BUSY);
	requests = argc > 1 ? atoi(argv[1]) : 50;
	sem_init(&queued, 0, 0);
	sem_init(&room, 0, QUEUED);
	sem_init(&begin, 0, 0);
	HODO_EVENT(kv, start, requests);
	if (pthread_create(&thread, NULL, start, NULL) != 0)
		return 1;
	for (int n = 0; n < requests; n++) {
		sem_wait(&room);
		HODO_BEGIN(kv, request, n, HODO_F(from, "client"));
		sem_post(&queued);
		if (n + 1 == QUEUED)
			sem_post(&begin);
	}
	sem_post(&begin);
	HODO_BEGIN(kv, request, HODO_F(n, requests), HODO_F(from, "nobody"));
	pthread_join(thread, NULL);
	return 0;
}
