/* SPDX-License-Identifier: MIT */
/*
 * graph_late.c - threads that have late calls only (read/time/late_calls.h): the events between them are kept, too,
 * until these get their lines.
 */
#include "graph.h"

#include <base/vec.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX (1u << 20) /* events of all threads; beyond that a thread's are shown as they are */

/* The lines of events before a time and a call's end. */
static void show_events(struct graph *g, struct graph_thread *t, int64_t before_ns, uint32_t index)
{
	for (; t->shown < t->nevents; t->shown++, g->kept--) {
		struct graph_event *e = &t->events[t->shown];

		if (e->ts_ns >= before_ns || e->after > index)
			return;
		graph_show_event(g, t, e, NULL, t->inside);
		free(e->text);
	}
	t->nevents = t->shown = 0;
}

enum hodo_late graph_late_choose(const struct graph *g, struct graph_thread *t, const struct hodo_late_call *late)
{
	const struct hodo_read_call *call = &late->pub;

	if (!t->wanted || call->end_ns - call->entry_ns < g->o->min_time_ns || call->end_ns < g->o->args.since_ns)
		return HODO_LATE_SKIPPED;
	t->ended = late->index + 1;
	return HODO_LATE_KEPT;
}

void graph_late_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call)
{
	show_events(g, t, hodo_late_call(call)->first_ns, UINT32_MAX);
	graph_enter(g, t, call);
	t->inside = call->depth + 1;
}

void graph_late_leave(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call)
{
	const struct hodo_late_call *late = hodo_late_call(call);

	show_events(g, t, INT64_MAX, late->index);
	graph_leave(g, call, NULL);
	t->inside = late->outer ? late->outer->depth + 1 : 0;
	t->ended = 0;
}

void graph_late_show(struct graph *g, struct graph_thread *t)
{
	show_events(g, t, INT64_MAX, UINT32_MAX);
}

void graph_late_event(struct graph *g, struct graph_thread *t, const struct graph_event *event)
{
	struct graph_event *kept;

	hodo_must(hodo_vec_reserve(t->events, t->events_room, t->nevents + 1) == 0);
	kept = &t->events[t->nevents++];
	*kept = *event;
	kept->after = t->ended;
	if (event->text)
		kept->text = hodo_must(strndup(event->text, event->len));
	if (++g->kept > KEPT_MAX) {
		hodo_calls_late_pass(g->calls, t->key.process, (uint32_t)t->key.tid);
		graph_late_show(g, t);
	}
}
