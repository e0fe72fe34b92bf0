/* SPDX-License-Identifier: MIT */
/* probed.c - a program that links libhodo to have its own tracepoint probed, recorded or not. */
#include <stdio.h>
#include <hodo/trace.h>

HODO_TRACEPOINT(consumer, step, (int, n));

static void add(void *data, int n)
{
	*(long *)data += n;
}

int main(void)
{
	long sum = 0;
	int error;

	trace_consumer_step(1000);
	error = register_trace_consumer_step(add, &sum);
	if (error) {
		fprintf(stderr, "register: %d\n", error);
		return 1;
	}
	for (int i = 1; i <= 10; i++)
		trace_consumer_step(i);
	error = unregister_trace_consumer_step(add, &sum);
	trace_consumer_step(1000);
	printf("%d %ld\n", error, sum);
	return error || sum != 55;
}
