/* SPDX-License-Identifier: MIT */
/* target.c - a program with nested spans, pairs of two threads, labels, marks, and a text that is not UTF-8. */
#include <hodo/trace.h>
#include <pthread.h>

#define ROUNDS 300

enum { IDLE, BUSY };

static void *finish(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		HODO_END(job, request, HODO_F(id, i));
	return NULL;
}

static void inner(int i)
{
	HODO_SPAN(job, inner, HODO_F(i, i));
	HODO_MARK(job, round, "round %d of %s", i, i % 7 ? "many" : "a week");
}

int main(void)
{
	pthread_t thread;

	HODO_LABELS(job, state, IDLE, BUSY);

	for (int i = 0; i < ROUNDS; i++) {
		HODO_BEGIN(job, request, HODO_F(id, i), HODO_F(what, i % 3 ? "read" : "wr\xefte"));
		HODO_SPAN(job, outer, HODO_F(i, i), HODO_F(half, i / 2.0));
		inner(i);
		if (i % 2)
			inner(-i);
		HODO_EVENT(job, state, HODO_F(state, i % 3));
	}
	pthread_create(&thread, NULL, finish, NULL);
	pthread_join(thread, NULL);
	return 0;
}
