/* SPDX-License-Identifier: MIT */
/* open_calls.c - see open_calls.h. A thread's calls are not a stack: it has coroutines. */
#include "open_calls.h"
#include <stdio.h>
#include <string.h>

#define THREADS 64
#define CALLS 1024
#define FUNCTION_BYTES 1024 /* of each function of calls.c, at most */

static struct thread {
	uint32_t tid, n;
	struct call {
		uint32_t frame;
		uint64_t entry;    /* the recorded address */
		uint64_t function; /* the address by the function's own account; 0: not yet known */
	} call[CALLS];
} threads[THREADS];
static unsigned nthreads;
unsigned wrong_calls;

static struct thread *thread_of(const struct hodo_read_event *e)
{
	unsigned i = 0;

	while (i < nthreads && threads[i].tid != e->tid)
		i++;
	if (i == THREADS)
		return NULL;
	if (i == nthreads)
		threads[nthreads++].tid = e->tid;
	return &threads[i];
}

/* The innermost call of that frame. */
static struct call *find(struct thread *t, uint32_t frame)
{
	for (uint32_t i = t->n; i > 0; i--) {
		if (t->call[i - 1].frame == frame)
			return &t->call[i - 1];
	}
	return NULL;
}

static void wrong(const struct hodo_read_event *e, const char *what)
{
	if (wrong_calls++ < 5)
		fprintf(stderr, "check: %s, tid %u, ticks %llu\n", what, e->tid, (unsigned long long)e->ticks);
}

void open_calls_take(const struct hodo_read_event *e)
{
	struct thread *t = thread_of(e);
	struct call *c;

	if (strcmp(e->cls->name, "func:entry") == 0 && t && t->n < CALLS) {
		t->call[t->n++] = (struct call){ (uint32_t)e->values[1].u, e->values[0].u, 0 };
		return;
	}
	c = t && strcmp(e->cls->name, "func:exit") == 0 ? find(t, (uint32_t)e->values[1].u) : NULL;
	if (!c) {
		wrong(e, "an exit without an entry");
		return;
	}
	if (c->function && e->values[0].u - c->function >= FUNCTION_BYTES)
		wrong(e, "an exit of another function");
	memmove(c, c + 1, (size_t)(&t->call[--t->n] - c) * sizeof(*c));
}

void open_calls_said(const struct hodo_read_event *e, uint64_t function, uint64_t at)
{
	struct thread *t = thread_of(e);
	struct call *c = t ? find(t, HODO_FRAME32(at)) : NULL;

	if (!c || c->function) {
		wrong(e, "a frame without a call");
		return;
	}
	c->function = function;
	if (c->entry - function >= 16)
		wrong(e, "an entry of another function");
}

void open_calls_end(void)
{
	for (unsigned i = 0; i < nthreads; i++)
		wrong_calls += threads[i].n;
}
