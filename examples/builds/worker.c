/* SPDX-License-Identifier: MIT */
/* worker.c - a program with events. It needs the header alone, and runs where Hodoscope is not installed. */
#include <stdio.h>
#include <hodo/trace.h>

#include "queue.h"

int main(void)
{
	struct queue q = { .head = 0 };
	int sum = 0;

	for (int job = 1; job <= 10; job++)
		queue_put(&q, job);
	for (int job; (job = queue_take(&q)) > 0; sum += job)
		HODO_EVENT(worker, job, job);
	printf("sum %d\n", sum);
	return sum != 55;
}
