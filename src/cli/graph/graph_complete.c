/* SPDX-License-Identifier: MIT */
/*
 * graph_complete.c - threads whose calls are known only at their end: calls, and the events between them, are
 * kept until an outermost call ends.
 */
#include "graph.h"

#include <base/vec.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX (1u << 20) /* of all threads; beyond that a thread's are shown as they are */

/* The calls of a thread that are visited. */
struct visit {
	struct graph *g;
	struct graph_thread *t;
};

/* The lines of events before a time and a call's end. */
static void show_events(struct graph *g, struct graph_thread *t, int64_t before_ns, uint32_t index)
{
	for (; t->shown < t->nevents; t->shown++) {
		struct graph_event *e = &t->events[t->shown];

		if (e->ts_ns >= before_ns || e->after > index)
			return;
		graph_show_event(g, t, e, NULL, t->inside);
		free(e->text);
	}
}

static bool enter(void *data, struct hodo_read_call *call, const struct hodo_read_call *outer, int64_t first_ns)
{
	struct visit *v = data;

	show_events(v->g, v->t, first_ns, UINT32_MAX);
	graph_enter(v->g, v->t, call);
	v->t->inside = call->depth + 1;
	return true;
}

static void leave(void *data, const struct hodo_read_call *call, const struct hodo_read_call *outer, uint32_t index)
{
	struct visit *v = data;

	show_events(v->g, v->t, INT64_MAX, index);
	graph_leave(v->g, call, NULL);
	v->t->inside = outer ? outer->depth + 1 : 0;
}

void graph_complete_show(struct graph *g, struct graph_thread *t)
{
	static const struct hodo_complete_ops ops = { enter, leave };
	struct visit v = { g, t };

	g->kept -= t->calls.n + t->nevents;
	hodo_complete_calls_visit(&t->calls, &ops, &v);
	show_events(g, t, INT64_MAX, UINT32_MAX);
	t->nevents = t->shown = 0;
}

void graph_complete_free(struct graph_thread *t)
{
	for (uint32_t i = t->shown; i < t->nevents; i++)
		free(t->events[i].text);
	free(t->events);
	hodo_complete_calls_free(&t->calls);
}

void graph_complete_call(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call)
{
	if (call->end_ns - call->entry_ns < g->o->min_time_ns || call->end_ns < g->o->args.since_ns)
		return;
	hodo_must(hodo_complete_calls_keep(&t->calls, call));
	if (++g->kept > KEPT_MAX || call->depth == 0)
		graph_complete_show(g, t);
}

void graph_complete_event(struct graph *g, struct graph_thread *t, const struct graph_event *event)
{
	struct graph_event *kept;

	hodo_must(hodo_vec_reserve(t->events, t->events_room, t->nevents + 1) == 0);
	kept = &t->events[t->nevents++];
	*kept = *event;
	kept->after = t->calls.n;
	if (event->text)
		kept->text = hodo_must(strndup(event->text, event->len));
	if (++g->kept > KEPT_MAX)
		graph_complete_show(g, t);
}
