/* SPDX-License-Identifier: MIT */
/* objects.c - the executables and libraries that were mapped in a process, and when. */
#include "internal.h"

#include <stdlib.h>

int hodo_read_objects_add(struct hodo_trace *t, const struct hodo_read_object *o,
			  const struct hodo_object_times *times)
{
	uint32_t n = t->nobjects; /* one number for both */
	int err = hodo_vec_push(t->object_times, n, *times);

	return err ? err : hodo_vec_push(t->objects, t->nobjects, *o);
}

static int by_start(const void *a, const void *b)
{
	const struct hodo_read_object *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path); /* places in the metadata */
}

void hodo_read_objects_settle(struct hodo_trace *t)
{
	for (uint32_t i = 0; i < t->nobjects; i++) {
		const struct hodo_object_times *times = &t->object_times[i];
		struct hodo_read_object *o = &t->objects[i];

		o->from_ns = times->from ? hodo_read_clock_ns(&t->pub.clock, times->from) : INT64_MIN;
		o->until_ns = times->until != UINT64_MAX ? hodo_read_clock_ns(&t->pub.clock, times->until)
							 : INT64_MAX;
	}
	if (t->nobjects)
		qsort(t->objects, t->nobjects, sizeof(*t->objects), by_start);
	free(t->object_times);
	t->object_times = NULL;
}

void hodo_read_objects_free(struct hodo_trace *t)
{
	free(t->objects);
	free(t->object_times);
}
