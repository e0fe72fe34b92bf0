/* SPDX-License-Identifier: MIT */
/*
 * rules.c - a program to be recorded with filters, triggers and rates; see rules.py.
 *
 *	rules sequence COUNT            g:tick by one thread, and g:other between them
 *	rules threads N COUNT           g:tick by N threads at once, whose signal handlers trace g:signal
 *	rules fork COUNT                g:tick in a child, a grandchild and here
 *	rules plugin FILE COUNT         an event of a library that is opened, closed and opened again
 *	rules named                     g:tick by threads of different names
 *	rules labels                    fields with labels, texts, bytes and arrays
 *	rules types COUNT               fields of all types with random values, with and without a text
 *	rules ids MS                    spans whose ids are easily confused
 *	rules limited N                 N spans, each within one of another name, and N pairs of which two are open
 *	rules spans MS...               spans and pairs that take this long, one after another, also within each other
 */
#define _GNU_SOURCE
#include <hodo/trace.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum state { IDLE, RUNNING, DONE = 7 };

static void tick(int n, int thread)
{
	HODO_EVENT(g, tick, n, thread, HODO_F(key, n % 2 ? "user:1" : "admin"));
}

static void sequence(int count)
{
	for (int n = 0; n < count; n++) {
		tick(n, 0);
		HODO_EVENT(g, other, n);
	}
}

/* ----------------------------------------------------------------- threads */

static int thread_count;
static _Atomic int running;
static _Atomic unsigned handled;

static void on_signal(int number)
{
	HODO_EVENT(g, signal, HODO_F(n, (unsigned)handled++), number);
}

static void *thread(void *arg)
{
	for (int n = 0; n < thread_count; n++)
		tick(n, (int)(intptr_t)arg);
	running--;
	return NULL;
}

/* Signals the threads as long as they run. */
static void threads(int n, int count)
{
	pthread_t ids[64];

	signal(SIGUSR1, on_signal);
	thread_count = count;
	running = n;
	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, thread, (void *)(intptr_t)i);
	for (int i = 0; running > 0; i++) {
		struct timespec pause = { 0, 100000 };

		pthread_kill(ids[i % n], SIGUSR1);
		nanosleep(&pause, NULL);
	}
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	printf("signals %u\n", handled);
}

static void *named_thread(void *arg)
{
	pthread_setname_np(pthread_self(), arg);
	printf("%s %d\n", (char *)arg, (int)gettid());
	tick(1, 0);
	return NULL;
}

static void named(void)
{
	static const char *const names[] = { "reader", "writer", "reaper" };

	for (int i = 0; i < 3; i++) {
		pthread_t id;

		pthread_create(&id, NULL, named_thread, (void *)(uintptr_t)names[i]);
		pthread_join(id, NULL);
	}
}

/* ------------------------------------------------------- processes, objects */

static void processes(int count)
{
	pid_t child = fork();

	if (child == 0) {
		pid_t grandchild = fork();

		for (int n = 0; n < count; n++)
			tick(n, 1);
		if (grandchild)
			waitpid(grandchild, NULL, 0);
		exit(0);
	}
	for (int n = 0; n < count; n++)
		tick(n, 0);
	waitpid(child, NULL, 0);
}

static void plugin(const char *file, int count)
{
	for (int round = 0; round < 3; round++) {
		void *object = dlopen(file, RTLD_NOW);
		void (*event)(int n) = object ? (void (*)(int))dlsym(object, "plugin_event") : NULL;

		if (!event) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		for (int n = 0; n < count; n++)
			event(n);
		dlclose(object);
	}
}

/* ------------------------------------------------------------ fields, spans */

static void labels(void)
{
	static const int values[] = { IDLE, RUNNING, DONE, 3 };
	unsigned char data[4] = { 1, 2, 200, 4 };
	short list[3] = { -1, 5, 300 };

	for (int i = 0; i < 4; i++) {
		enum state state = (enum state)values[i];
		const char *name = i == 1 ? "RUNNING" : i == 2 ? NULL : "other";

		HODO_EVENT(g, state, state, name, i);
		HODO_EVENT(g, blob, i, HODO_F(data, HODO_BYTES(data, i + 1)), HODO_F(list, HODO_ARRAY(list, i)));
	}
	HODO_LABELS(g, state, IDLE, RUNNING, DONE);
}

static uint64_t next_random(void)
{
	static uint64_t state = 20091;
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Often small, or at an end of a type's range. */
static uint64_t some_number(void)
{
	static const uint64_t ends[] = { 0, 1, 127, 128, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX,
					 1ull << 63, UINT64_MAX };

	switch (next_random() % 3) {
	case 0:
		return ends[next_random() % (sizeof(ends) / sizeof(ends[0]))];
	case 1:
		return next_random() % 8 - 4;
	}
	return next_random() >> next_random() % 64;
}

static void types(int count)
{
	static const char *const keys[] = { "user:1", "user:2", "use", "", "(null)", "(abcde)", "xuser:1", NULL, "1" };

	for (int n = 0; n < count; n++) {
		int8_t i8 = (int8_t)some_number();
		uint8_t u8 = (uint8_t)some_number();
		int16_t i16 = (int16_t)some_number();
		uint16_t u16 = (uint16_t)some_number();
		int32_t i32 = (int32_t)some_number();
		uint32_t u32 = (uint32_t)some_number();
		int64_t i64 = (int64_t)some_number();
		uint64_t u64 = some_number();
		bool yes = some_number() & 1;
		double real = next_random() % 4 ? (double)(int64_t)some_number() / 4 : 0.0 / (double)(n - n);
		const char *key = keys[next_random() % (sizeof(keys) / sizeof(keys[0]))];

		HODO_EVENT(g, numbers, n, i8, u8, i16, u16, i32, u32, i64, u64, yes, real);
		HODO_EVENT(g, texts, n, key, i16, u64, HODO_F(again, key), real);
	}
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/* Prints how long they took, measured inside and outside: "scope N INSIDE OUTSIDE". */
static void scope(int n, long ms, bool within)
{
	int64_t outside = now_ns(), inside;

	{
		HODO_SPAN(g, scope, n);
		inside = now_ns();
		sleep_ms(ms);
		if (within)
			scope(n + 1000, ms / 2, false);
		inside = now_ns() - inside;
	}
	printf("scope %d %lld %lld\n", n, (long long)inside, (long long)(now_ns() - outside));
}

static void limited(int n)
{
	for (int i = 0; i < n; i++) {
		char id[16];

		snprintf(id, sizeof(id), "id%d", i);
		HODO_SPAN(g, outer, HODO_F(n, i));
		HODO_SPAN(rated, scope, HODO_F(n, i));
		HODO_BEGIN(rated, number, HODO_F(id, i));
		if (i)
			HODO_END(rated, number, HODO_F(id, i - 1));
		HODO_BEGIN(rated, request, HODO_F(id, (const char *)id));
		HODO_END(rated, request, HODO_F(id, (const char *)id));
	}
}

static void pair(int n, long ms)
{
	char id[16];
	int64_t outside = now_ns(), inside;

	snprintf(id, sizeof(id), "id%d", n);
	HODO_BEGIN(g, request, HODO_F(id, (const char *)id));
	HODO_BEGIN(g, number, HODO_F(id, n));
	inside = now_ns();
	sleep_ms(ms);
	inside = now_ns() - inside;
	HODO_END(g, request, HODO_F(id, (const char *)id), n);
	HODO_END(g, number, HODO_F(id, (long)n), n);
	printf("pair %d %lld %lld\n", n, (long long)inside, (long long)(now_ns() - outside));
}

/*
 * Spans that begin in one order and end in it, with similar ids: texts with the same FNV-1a-64, bytes that
 * begin with NULs, a number of several widths; and two that differ in their last byte, the second of which has one more
 * byte than can be distinguished when recording. The first of each takes some milliseconds longer.
 */
static void ids(int ms)
{
	static const char *const text[] = { "8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ" };
	static const unsigned char blob[] = { 0, 0, 5 };
	char longest[64], longer[65];

	memset(longest, 'x', sizeof(longest));
	memset(longer, 'x', sizeof(longer));
	for (int n = 0; n < 2; n++) {
		longest[63] = longer[64] = (char)('a' + n);
		HODO_BEGIN(near, text, HODO_F(id, text[n]));
		HODO_BEGIN(near, bytes, HODO_F(id, HODO_BYTES(blob + 2 * n, 3 - 2 * n)));
		HODO_BEGIN(near, width, HODO_F(id, (short)(n - 1)));
		HODO_BEGIN(near, longest, HODO_F(id, HODO_STR(longest, sizeof(longest))));
		HODO_BEGIN(near, longer, HODO_F(id, HODO_STR(longer, sizeof(longer))));
		sleep_ms(ms);
	}
	for (int n = 0; n < 2; n++) {
		longest[63] = longer[64] = (char)('a' + n);
		HODO_END(near, text, HODO_F(id, text[n]), n);
		HODO_END(near, bytes, HODO_F(id, HODO_BYTES(blob + 2 * n, 3 - 2 * n)), n);
		HODO_END(near, width, HODO_F(id, (long)(n - 1)), n);
		HODO_END(near, longest, HODO_F(id, HODO_STR(longest, sizeof(longest))), n);
		HODO_END(near, longer, HODO_F(id, HODO_STR(longer, sizeof(longer))), n);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "sequence") == 0) {
		sequence(atoi(argv[2]));
	} else if (strcmp(what, "threads") == 0) {
		threads(atoi(argv[2]), atoi(argv[3]));
	} else if (strcmp(what, "fork") == 0) {
		processes(atoi(argv[2]));
	} else if (strcmp(what, "plugin") == 0) {
		plugin(argv[2], atoi(argv[3]));
	} else if (strcmp(what, "named") == 0) {
		named();
	} else if (strcmp(what, "labels") == 0) {
		labels();
	} else if (strcmp(what, "types") == 0) {
		types(atoi(argv[2]));
	} else if (strcmp(what, "ids") == 0) {
		ids(atoi(argv[2]));
	} else if (strcmp(what, "limited") == 0) {
		limited(atoi(argv[2]));
	} else if (strcmp(what, "spans") == 0) {
		for (int i = 2; i < argc; i++) {
			scope(i, atol(argv[i]), i % 2);
			pair(i, atol(argv[i]));
		}
	} else {
		return 2;
	}
	return 0;
}
