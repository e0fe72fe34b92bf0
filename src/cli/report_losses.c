/* SPDX-License-Identifier: MIT */
/*
 * report_losses.c - when events were lost. A thread that is seen to leave a CPU before, and to come to one after it,
 * may have been on others meanwhile; a begin before and an end after it may be of two spans.
 */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <stdlib.h>

#define GAPS_MAX (1u << 20) /* beyond, all is unsure from the first that is left out */

struct report_gap {
	const struct hodo_read_process *process;
	int64_t from_ns, until_ns;
};

static int found(void *data, const struct hodo_read_loss *loss)
{
	struct report_events *ev = data;
	struct report_gap *more;

	if (ev->ngaps == GAPS_MAX) {
		ev->untold_ns = loss->from_ns < ev->untold_ns ? loss->from_ns : ev->untold_ns;
		return 0;
	}
	if (!(ev->ngaps & (ev->ngaps - 1))) {
		more = reallocarray(ev->gaps, ev->ngaps ? 2 * (size_t)ev->ngaps : 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		ev->gaps = more;
	}
	ev->gaps[ev->ngaps++] = (struct report_gap){ loss->process, loss->from_ns, loss->until_ns };
	return 0;
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct report_gap *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

int report_losses_read(struct report_events *ev, struct hodo_read *reader)
{
	uint32_t n = 0;
	int err;

	ev->untold_ns = INT64_MAX;
	err = hodo_read_losses(reader, found, ev);
	if (err || !ev->ngaps)
		return err;
	qsort(ev->gaps, ev->ngaps, sizeof(*ev->gaps), by_process_and_time);
	for (uint32_t i = 1; i < ev->ngaps; i++) {
		struct report_gap *last = &ev->gaps[n];

		if (ev->gaps[i].process != last->process || ev->gaps[i].from_ns > last->until_ns)
			ev->gaps[++n] = ev->gaps[i];
		else if (ev->gaps[i].until_ns > last->until_ns)
			last->until_ns = ev->gaps[i].until_ns;
	}
	ev->ngaps = n + 1;
	return 0;
}

bool report_losses_between(const struct report_events *ev, const struct hodo_read_process *process, int64_t from_ns,
			   int64_t until_ns)
{
	uint32_t low = 0, high = ev->ngaps;

	if (until_ns >= ev->untold_ns)
		return true;
	/* The first of the process that ends behind the beginning. */
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct report_gap *gap = &ev->gaps[mid];

		if (gap->process < process || (gap->process == process && gap->until_ns < from_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low < ev->ngaps && ev->gaps[low].process == process && ev->gaps[low].from_ns <= until_ns;
}
