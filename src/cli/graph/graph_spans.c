/* SPDX-License-Identifier: MIT */
/*
 * graph_spans.c - spans and events. A span, and a system call, is shown like a call: it begins and ends in one thread,
 * and its end is that of the latest start of its name there (read/event/pairs.h). One that is paired by an id may end
 * in another thread, and many of them can be open at once: its start and its end stay events, and the end says how
 * long it took.
 *
 * Ends need not nest like starts. The one that ends first gets a note, and the other continues; but if events
 * were lost since that began, its end is probably among them, and once HODO_TIMELINE_SPLITS_MAX others have
 * ended before it, it is given up: the rule of read/time/timeline.h.
 */
#include "graph.h"

#include <base/vec.h>
#include <read/time/timeline.h>
#include <read/event/losses.h>
#include <string.h>

/* ----------------------------------------------------------------------- the thread's */

static void put(struct graph *g, struct graph_open *s, uint32_t depth)
{
	struct graph_thread *t = s->thread;

	s->number = g->nspans++;
	s->depth = depth;
	s->level = graph_level(g, t, depth);
	hodo_must(hodo_vec_reserve(t->spans, t->spans_room, t->nspans + 1) == 0);
	s->place = t->nspans;
	s->shown = true;
	t->spans[t->nspans++] = s;
}

static void take_out(struct graph_open *s)
{
	struct graph_thread *t = s->thread;

	memmove(t->spans + s->place, t->spans + s->place + 1, (t->nspans - s->place - 1) * sizeof(t->spans[0]));
	t->nspans--;
	for (uint32_t i = s->place; i < t->nspans; i++)
		t->spans[i]->place = i;
	s->shown = false;
}

/* A kept end still refers to it. */
static void forget(struct graph *g, struct graph_open *s)
{
	if (s->pair != GRAPH_NO_PAIR)
		hodo_read_pair_remove(g->r, s->pair);
	s->pair = GRAPH_NO_PAIR;
	if (!s->ends)
		graph_open_free(g, s);
}

/* The line of a span that is over; depth: calls around it. off_ns: as in struct graph_took. */
static void close_span(struct graph *g, struct graph_open *s, int64_t end_ns, int64_t off_ns, uint32_t depth,
		       const char *note, const char *fields)
{
	struct graph_took took = { end_ns > s->entry_ns ? end_ns - s->entry_ns : 0, off_ns };

	take_out(s);
	if (!g->o->args.look.json)
		graph_open_end(g, s, graph_level(g, s->thread, depth), end_ns, took, note, fields);
}

static bool may_have_ended(const struct graph_open *s, int64_t now_ns)
{
	return hodo_losses_between(s->thread->key.process, HODO_LOSSES_ANY_CPU, s->entry_ns, now_ns);
}

/* What encloses the spans that began after a number ends now. depth, outside: calls around them before, and
 * from now on. True: one of them continues. */
static bool pass(struct graph *g, struct graph_thread *t, uint64_t number, int64_t end_ns, uint32_t depth,
		 uint32_t outside, bool left)
{
	bool goes_on = false;

	for (uint32_t i = t->nspans; i-- > 0 && t->spans[i]->number >= number;) {
		struct graph_open *s = t->spans[i];
		bool lost = may_have_ended(s, end_ns);

		if (!lost && !left && ++s->passed <= HODO_TIMELINE_SPLITS_MAX) {
			s->depth = s->depth < outside ? s->depth : outside;
			goes_on = true;
			continue;
		}
		close_span(g, s, end_ns, -1, depth, lost ? "end lost" : "left", NULL);
		forget(g, s);
	}
	return goes_on;
}

bool graph_spans_pass(struct graph *g, const struct graph_open *call, int64_t end_ns, bool left)
{
	return pass(g, call->thread, call->number, end_ns, call->depth + 1, call->depth, left);
}

void graph_spans_close(struct graph *g, struct graph_thread *t, const struct graph_open *call, int64_t end_ns)
{
	while (t->nspans > 0 && (!call || t->spans[t->nspans - 1]->number >= call->number)) {
		struct graph_open *s = t->spans[t->nspans - 1];

		close_span(g, s, end_ns, -1, call ? call->depth + 1 : 0,
			   may_have_ended(s, end_ns) ? "end lost" : "still open", NULL);
		forget(g, s);
	}
}

/* --------------------------------------------------------------------------- pairs */

static bool nests(const struct hodo_read_class *cls)
{
	return cls->role == HODO_READ_ROLE_SPAN_BEGIN || cls->role == HODO_READ_ROLE_SYSCALL_BEGIN;
}

struct graph_event graph_span_pair(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e)
{
	struct graph_event event = { .kind = GRAPH_EVENT, .ts_ns = e->ts_ns, .took = GRAPH_NOT_KNOWN };
	struct graph_open *s = nests(e->cls) && t->nspans < GRAPH_SPANS_MAX ? graph_open_new(g) : NULL;
	struct hodo_pair begin;

	if (s) {
		event.kind = GRAPH_SPAN_BEGIN;
		event.span = s;
		s->thread = t;
		s->span = true;
		s->name = e->cls->base;
		s->entry_ns = e->ts_ns;
		s->pair = hodo_read_pair_put(g->r, (uintptr_t)s);
	}
	if (!hodo_read_pair_of(g->r, &begin))
		return event;
	event.took.ns = e->ts_ns > begin.begin_ns ? e->ts_ns - begin.begin_ns : 0;
	if (e->off_cpu)
		event.took.off_ns = (int64_t)e->off_cpu->ns;
	if (begin.user) {
		event.kind = GRAPH_SPAN_END;
		event.span = (struct graph_open *)begin.user;
		event.span->pair = GRAPH_NO_PAIR;
		event.span->ends = true;
	}
	return event;
}

/* --------------------------------------------------------------------------- lines */

static void show_begin(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		       const struct hodo_read_event *e, uint32_t depth)
{
	struct graph_open *s = event->span;

	if (!graph_shows(g, t, depth))
		return;
	put(g, s, depth);
	if (e) {
		if (graph_in_time(g, event->ts_ns))
			graph_json_event(g, e, depth, s->level, -1);
		return;
	}
	s->text = hodo_must(strndup(event->text + event->fields, event->len - event->fields));
	graph_open_hold(g, s);
}

static void show_plain(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		       const struct hodo_read_event *e, uint32_t depth)
{
	if (!graph_shows(g, t, depth) || !graph_in_time(g, event->ts_ns))
		return;
	if (e) {
		graph_json_event(g, e, depth, graph_level(g, t, depth), event->took.ns);
		return;
	}
	graph_open_release(g, t, event->ts_ns, true);
	graph_event_line(g, t, event, graph_level(g, t, depth));
}

static void show_end(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		     const struct hodo_read_event *e, uint32_t depth)
{
	struct graph_open *s = event->span;
	bool known = e || event->text;

	s->ends = false;
	if (s->shown) {
		bool lost = !known && may_have_ended(s, event->ts_ns);
		bool crossed = pass(g, t, s->number + 1, event->ts_ns, depth, depth, false) || depth > s->depth;

		close_span(g, s, event->ts_ns, event->took.off_ns, known ? depth : s->depth,
			   !known ? lost ? "end lost" : "left" : crossed ? "not nested" : NULL,
			   event->text && event->len > event->fields ? event->text + event->fields : NULL);
		if (e && graph_in_time(g, event->ts_ns))
			graph_json_event(g, e, depth, graph_level(g, t, depth), event->took.ns);
	} else if (known) {
		show_plain(g, t, event, e, depth);
	}
	forget(g, s);
}

void graph_show_event(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		      const struct hodo_read_event *e, uint32_t depth)
{
	if (event->kind == GRAPH_SPAN_BEGIN)
		show_begin(g, t, event, e, depth);
	else if (event->kind == GRAPH_SPAN_END)
		show_end(g, t, event, e, depth);
	else
		show_plain(g, t, event, e, depth);
}
