/* SPDX-License-Identifier: MIT */
/*
 * many.c - 50,000 functions, switched on and off: the tracer sees each once while it is on, none while it is off.
 * Prints how long that took; bench/ measures it.
 */
#include <hodo/tracer.h>
#include <stdio.h>
#include <time.h>

#define MANY 50000

extern int (*const many_all[MANY])(int);

static unsigned char entered[MANY], left[MANY];
static unsigned long events, strangers;

static unsigned index_of(const void *function)
{
	unsigned low = 0, high = MANY;

	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if ((const void *)many_all[middle] <= function)
			low = middle;
		else
			high = middle;
	}
	strangers += (const void *)many_all[low] != function;
	return low;
}

static void on_enter(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	entered[index_of(call->function)]++;
	events++;
}

static void on_exit_of(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	left[index_of(call->function)]++;
	events++;
}

static int call_all(void)
{
	int wrong = 0;

	for (int i = 0; i < MANY; i++)
		wrong += many_all[i](i) != i + 1;
	return wrong;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(void)
{
	struct hodo_tracer tracer = {.size = sizeof(tracer), .name = "many", .enter = on_enter, .exit = on_exit_of,
				     .functions = "many_*"};
	int faults = 0;

	for (int round = 1; round <= 3; round++) {
		double start = now_ms(), on, off;

		faults += hodo_tracer_register(&tracer) != 0;
		on = now_ms();
		faults += call_all();
		off = now_ms();
		faults += hodo_tracer_unregister(&tracer) != 0;
		printf("many: switched on in %.1f ms, off in %.1f ms\n", on - start, now_ms() - off);
		events = 0;
		faults += call_all() + (events != 0);
		for (int i = 0; i < MANY; i++)
			faults += entered[i] != round || left[i] != round;
	}
	printf("many: %d functions, %d faults, %lu strangers\n", MANY, faults, strangers);
	return faults || strangers;
}
