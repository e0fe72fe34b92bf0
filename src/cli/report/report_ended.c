/* SPDX-License-Identifier: MIT */
/*
 * report_ended.c - calls known only at their end: how much of a function's time is inside another call of it.
 *
 * A call's callees end before it, and are deeper. A call is inside the next one in its thread that ends at a
 * smaller depth, whatever else ends in between: so we keep sums of a function's calls by depth, and a sum's
 * depth falls to the least at which a call has ended since. Where events were lost, a sum may be of calls that had
 * ended before a call began.
 */
#include "report.h"

#include <base/vec.h>
#include <read/time/complete_calls.h>

/* The least depth at which a call of the thread has ended after the one with this number. */
static uint32_t least_since(const struct report_ended_thread *t, uint64_t number)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->latest[mid].number > number)
			high = mid;
		else
			low = mid + 1;
	}
	return low < t->n ? t->latest[low].depth : UINT32_MAX;
}

static void note_end(struct report_ended_thread *t, uint32_t depth)
{
	while (t->n && t->latest[t->n - 1].depth >= depth)
		t->n--;
	hodo_must(hodo_vec_reserve(t->latest, t->room, t->n + 1) == 0);
	t->latest[t->n++] = (struct report_latest){ depth, ++t->calls };
}

static uint32_t depth_now(const struct report_ended_thread *t, const struct report_ended_part *part)
{
	uint32_t least = least_since(t, part->number);

	return part->depth < least ? part->depth : least;
}

static bool lost_between(const struct hodo_read_call *call, const struct report_ended_part *part, int64_t until_ns)
{
	return hodo_losses_between(call->process, HODO_LOSSES_ANY_CPU, part->until_ns, until_ns);
}

/*
 * Removes the parts inside of a call, which are no longer needed, and returns their time. The rest have distinct
 * depths, except where events were lost between them.
 */
static uint64_t take_inside(const struct report_ended_thread *t, struct report_ended *e,
			    const struct hodo_read_call *call)
{
	uint64_t ns = 0;

	for (; e->n; e->n--) {
		struct report_ended_part *last = &e->parts[e->n - 1];

		last->depth = depth_now(t, last);
		if (last->depth > call->depth) {
			if (!hodo_complete_inside(call->process, last->until_ns, call->entry_ns, call->end_ns))
				break;
			ns += last->ns;
			continue;
		}
		if (e->n == 1 || depth_now(t, last - 1) < last->depth || lost_between(call, last - 1, last->until_ns))
			break;
		last[-1] = (struct report_ended_part){ last->depth, last->number, last[-1].ns + last->ns,
						       last->until_ns };
	}
	return ns;
}

static void free_rows(struct report_ended_thread *t)
{
	for (uint32_t i = 0; i < t->rows.n; i++)
		free(((struct report_ended *)hodo_map_at(&t->rows, i))->parts);
	hodo_map_free(&t->rows);
}

uint64_t report_ended_call(struct hodo_map *threads, const struct hodo_read_call *call, uint32_t row)
{
	const struct report_ended_key key = { call->process, call->tid };
	struct report_ended_thread *t = hodo_must(hodo_map_keep(threads, &key, sizeof(*t)));
	uint64_t ns = (uint64_t)(call->end_ns - call->entry_ns), inside;
	struct report_ended_part *part;
	struct report_ended *e;

	if (!t->rows.entry_bytes)
		t->rows = (struct hodo_map)HODO_MAP(struct report_ended, row);
	e = call->depth ? hodo_must(hodo_map_add(&t->rows, &row, NULL)) : hodo_map_find(&t->rows, &row);
	inside = e ? take_inside(t, e, call) : 0;
	note_end(t, call->depth);
	if (!call->depth) {
		/* Neither it nor anything that has ended before is inside another. */
		free_rows(t);
		return inside;
	}
	if (!e->n || e->parts[e->n - 1].depth < call->depth ||
	    lost_between(call, &e->parts[e->n - 1], call->end_ns)) {
		hodo_must(hodo_vec_reserve(e->parts, e->room, e->n + 1) == 0);
		e->parts[e->n++] = (struct report_ended_part){ .depth = call->depth };
	}
	part = &e->parts[e->n - 1];
	part->number = t->calls;
	part->ns += call->flags & HODO_READ_CALL_OPEN ? inside : ns; /* what is in the total */
	part->until_ns = call->end_ns;
	return inside;
}

void report_ended_free(struct hodo_map *threads)
{
	for (uint32_t i = 0; i < threads->n; i++) {
		struct report_ended_thread *t = hodo_map_kept_at(threads, i);

		free_rows(t);
		free(t->latest);
	}
	hodo_map_free(threads);
}
