/* SPDX-License-Identifier: MIT */
/* losses.c - see losses.h. Intervals that do not overlap, by process and CPU, and of each process for all its CPUs. */
#include "losses.h"

#include <base/vec.h>
#include <core/search.h>
#include <errno.h>
#include <stdlib.h>

#define LOSSES_MAX (2u << 20) /* intervals, two for a loss */

struct interval {
	const struct hodo_read_process *process;
	int32_t cpu; /* or HODO_LOSSES_ANY_CPU */
	int64_t from_ns, until_ns;
};

struct hodo_losses {
	struct interval *intervals;
	uint32_t n;
	int64_t complete_until_ns; /* from here on there are more */
};

static int found(void *data, const struct hodo_read_loss *loss)
{
	struct hodo_losses *l = data;

	if (l->n >= LOSSES_MAX) {
		if (loss->from_ns < l->complete_until_ns)
			l->complete_until_ns = loss->from_ns;
		return 0;
	}
	for (unsigned i = 0; i < 2; i++) {
		struct interval *one = hodo_vec_add(l->intervals, l->n);

		if (!one)
			return -ENOMEM;
		*one = (struct interval){ loss->process, i ? loss->stream->cpu : HODO_LOSSES_ANY_CPU, loss->from_ns,
					  loss->until_ns };
	}
	return 0;
}

static int by_owner(const struct interval *a, const struct interval *b)
{
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static int by_owner_and_time(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	int owner = by_owner(x, y);

	return owner ? owner : x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

int hodo_losses_read(struct hodo_losses **losses, struct hodo_read *reader)
{
	struct hodo_losses *l = *losses = calloc(1, sizeof(*l));
	uint32_t n = 0;
	int err;

	if (!l)
		return -ENOMEM;
	l->complete_until_ns = INT64_MAX;
	err = hodo_read_losses(reader, found, l);
	if (err) {
		hodo_losses_free(l);
		*losses = NULL;
		return err;
	}
	if (l->n)
		qsort(l->intervals, l->n, sizeof(*l->intervals), by_owner_and_time);
	for (uint32_t i = 0; i < l->n; i++) {
		struct interval *one = &l->intervals[i], *last = n ? &l->intervals[n - 1] : NULL;

		if (!last || by_owner(one, last) != 0 || one->from_ns > last->until_ns)
			l->intervals[n++] = *one;
		else if (one->until_ns > last->until_ns)
			last->until_ns = one->until_ns;
	}
	l->n = n;
	return 0;
}

void hodo_losses_free(struct hodo_losses *l)
{
	if (!l)
		return;
	free(l->intervals);
	free(l);
}

/* Whether it is of an owner before, or ends before the beginning. */
static bool is_before(const struct interval *one, const struct interval *time)
{
	int owner = by_owner(one, time);

	return owner < 0 || (owner == 0 && one->until_ns < time->from_ns);
}

static bool is_between(const struct hodo_losses *l, const struct interval *time)
{
	uint32_t at = hodo_search(i, l->n, !is_before(&l->intervals[i], time));

	return at < l->n && by_owner(&l->intervals[at], time) == 0 && l->intervals[at].from_ns <= time->until_ns;
}

bool hodo_losses_between(const struct hodo_losses *l, const struct hodo_read_process *process, int32_t cpu,
			 int64_t from_ns, int64_t until_ns)
{
	struct interval time = { process, cpu, from_ns, until_ns };

	if (l->n == 0)
		return false;
	if (until_ns >= l->complete_until_ns || is_between(l, &time))
		return true;
	time.cpu = -1;
	return cpu != HODO_LOSSES_ANY_CPU && is_between(l, &time);
}
