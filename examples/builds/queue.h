/* SPDX-License-Identifier: MIT */
/* queue.h - a queue of numbers: the part of the project whose functions are built to be traced. */
#ifndef QUEUE_H
#define QUEUE_H

enum { QUEUE_ROOM = 16 };

struct queue {
	int jobs[QUEUE_ROOM];
	unsigned head, tail;
};

/* 0, or -1 where the queue is full. */
int queue_put(struct queue *q, int job);
/* The oldest job, or -1 where the queue is empty. */
int queue_take(struct queue *q);

#endif
