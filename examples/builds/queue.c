/* SPDX-License-Identifier: MIT */
/* queue.c - compiled with the flags of hodo-functions, which leave room for tracers in each function. */
#include "queue.h"

/* What is inlined is no function, and -flto inlines across files. */
#define FUNCTION __attribute__((noinline))

FUNCTION static int *queue_at(struct queue *q, unsigned n)
{
	return &q->jobs[n % QUEUE_ROOM];
}

FUNCTION int queue_put(struct queue *q, int job)
{
	if (q->tail - q->head == QUEUE_ROOM)
		return -1;
	*queue_at(q, q->tail++) = job;
	return 0;
}

FUNCTION int queue_take(struct queue *q)
{
	return q->head == q->tail ? -1 : *queue_at(q, q->head++);
}
