/* SPDX-License-Identifier: MIT */
/*
 * report_losses.c - when events of the kernel were lost: a thread that is seen to leave a CPU before, and to come to
 * one after it, may have been on others meanwhile.
 */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <stdlib.h>

#define GAPS_MAX 65536u /* beyond, the last one reaches to the end */

struct report_gap {
	int64_t from_ns, until_ns;
};

static int found(void *data, const struct hodo_read_loss *loss)
{
	struct report_events *ev = data;
	struct report_gap *more;

	if (!loss->process->kernel)
		return 0;
	if (ev->ngaps == GAPS_MAX) {
		ev->gaps[GAPS_MAX - 1].until_ns = INT64_MAX;
		return 0;
	}
	if (!(ev->ngaps & (ev->ngaps - 1))) {
		more = reallocarray(ev->gaps, ev->ngaps ? 2 * (size_t)ev->ngaps : 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		ev->gaps = more;
	}
	ev->gaps[ev->ngaps++] = (struct report_gap){ loss->from_ns, loss->until_ns };
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct report_gap *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

int report_losses_read(struct report_events *ev, struct hodo_read *reader)
{
	bool kernel = false;
	uint32_t n = 0;
	int err;

	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++)
		kernel |= hodo_read_process(reader, i)->kernel != NULL;
	err = kernel ? hodo_read_losses(reader, found, ev) : 0;
	if (err || !ev->ngaps)
		return err;
	qsort(ev->gaps, ev->ngaps, sizeof(*ev->gaps), by_time);
	for (uint32_t i = 1; i < ev->ngaps; i++) {
		struct report_gap *last = &ev->gaps[n];

		if (ev->gaps[i].from_ns > last->until_ns)
			ev->gaps[++n] = ev->gaps[i];
		else if (ev->gaps[i].until_ns > last->until_ns)
			last->until_ns = ev->gaps[i].until_ns;
	}
	ev->ngaps = n + 1;
	return 0;
}

bool report_losses_between(const struct report_events *ev, int64_t from_ns, int64_t until_ns)
{
	uint32_t low = 0, high = ev->ngaps;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (ev->gaps[mid].until_ns < from_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low < ev->ngaps && ev->gaps[low].from_ns <= until_ns;
}
