/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - a program that is linked with libhodo: a probe of its own is called at its tracepoint, recorded or not,
 * and HODO_FLIGHT records it without `hodo record`.
 */
#include <stdio.h>
#include <hodo/trace.h>

HODO_TRACEPOINT(monitor, job, (int, n));

static void add(void *data, int n)
{
	*(int *)data += n;
}

int main(void)
{
	int sum = 0, error = register_trace_monitor_job(add, &sum);

	if (error) {
		fprintf(stderr, "monitor: no libhodo: %d\n", error);
		return 1;
	}
	for (int job = 1; job <= 10; job++)
		trace_monitor_job(job);
	unregister_trace_monitor_job(add, &sum);
	printf("sum %d\n", sum);
	return sum != 55;
}
