/* SPDX-License-Identifier: MIT */
/* graph_calls.c - calls and events as lines, in the order in which they come. */
#include "graph.h"

#include <base/vec.h>
#include <stdlib.h>
#include <string.h>

static void begin(struct graph *g, struct graph_call *c)
{
	c->begun = true;
	if (c->thread->complete || graph_in_time(g, c->entry_ns))
		graph_line(g, c, GRAPH_OPENS, graph_depth(c->thread, c->depth), c->entry_ns, -1, NULL, NULL);
}

/* Writes the opening lines of those that are held and have lasted long enough by now. */
static void release(struct graph *g, struct graph_thread *t, int64_t now_ns, bool all)
{
	uint32_t n = 0;

	while (n < t->nheld && (all || now_ns - t->held[n]->entry_ns >= (int64_t)g->o->min_time_ns))
		begin(g, t->held[n++]);
	if (n == 0)
		return;
	memmove(t->held, t->held + n, (t->nheld - n) * sizeof(t->held[0]));
	t->nheld -= n;
}

static void hold(struct graph_thread *t, struct graph_call *c)
{
	hodo_must(hodo_vec_reserve(t->held, t->held_room, t->nheld + 1) == 0);
	t->held[t->nheld++] = c;
}

static void unhold(struct graph_thread *t, const struct graph_call *c)
{
	for (uint32_t i = t->nheld; i-- > 0;) {
		if (t->held[i] != c)
			continue;
		memmove(t->held + i, t->held + i + 1, (t->nheld - i - 1) * sizeof(t->held[0]));
		t->nheld--;
		return;
	}
}

void graph_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call)
{
	/* Known at its end only, where others are not: it gets its line there. */
	bool alone = (call->flags & HODO_READ_CALL_WHOLE) && !t->complete;
	struct graph_call *c = g->free;
	struct hodo_place place;
	const char *arguments;

	hodo_symbols_find(g->symbols, call->process, call->entry_ns, call->function, &place);
	arguments = graph_values_take(&t->arguments, place.name);
	if (t->root && call->depth <= t->root->depth)
		t->root = NULL;
	if (g->o->function && !t->root && !hodo_function_is(g->o->function, place.name))
		return;
	if (graph_depth(t, call->depth) >= g->o->depth && !(g->o->function && !t->root))
		return;
	if (c)
		g->free = c->next;
	else
		c = hodo_must(hodo_arena_alloc(&g->calls_kept, sizeof(*c)));
	*c = (struct graph_call){ .thread = t, .name = place.name, .entry_ns = call->entry_ns, .depth = call->depth,
				  .flags = call->flags };
	if (arguments)
		c->arguments = hodo_must(strdup(arguments));
	call->user = (uintptr_t)c;
	if (g->o->function && !t->root && !alone)
		t->root = c;
	if (g->o->args.look.json || alone)
		return;
	release(g, t, call->entry_ns, t->complete);
	hold(t, c);
}

/* The last line of a call, or its only one. */
static void end_line(struct graph *g, struct graph_call *c, const struct hodo_read_call *call, const char *note,
		     const char *result)
{
	uint32_t depth = g->o->function && !c->thread->root ? 0 : graph_depth(c->thread, c->depth);
	int64_t duration = call->end_ns - call->entry_ns;
	bool no_exit = call->flags & HODO_READ_CALL_NO_EXIT;

	if (!c->begun) {
		unhold(c->thread, c);
		if (duration < (int64_t)g->o->min_time_ns && !no_exit)
			return;
		release(g, c->thread, call->end_ns, false);
	}
	if (!graph_in_time(g, call->end_ns))
		return;
	graph_line(g, c, c->begun ? GRAPH_CLOSES : GRAPH_LEAF, depth, c->begun ? call->end_ns : call->entry_ns,
		   no_exit ? -1 : duration, note, result);
}

static const char *note_of(const struct hodo_read_call *call, const char *otherwise)
{
	if (call->flags & HODO_READ_CALL_NO_EXIT)
		return NULL;
	return call->flags & HODO_READ_CALL_LEFT ? "left" : call->flags & HODO_READ_CALL_EXIT_LOST ? "exit lost" :
	       otherwise;
}

void graph_away(void *data, const struct hodo_read_call *call)
{
	struct graph *g = data;
	struct graph_call *c = (struct graph_call *)(uintptr_t)call->user;

	if (!c || g->o->args.look.json)
		return;
	end_line(g, c, call, note_of(call, "waits"), NULL);
	c->away = true;
	if (c->thread->root == c)
		c->thread->root = NULL;
}

void graph_leave(struct graph *g, const struct hodo_read_call *call, struct graph_values *values)
{
	struct graph_call *c = (struct graph_call *)(uintptr_t)call->user;
	const char *result;

	if (!c)
		return;
	result = values ? graph_values_take(values, c->name) : NULL;
	if (g->o->args.look.json) {
		if (call->end_ns - call->entry_ns >= (int64_t)g->o->min_time_ns && graph_in_time(g, call->end_ns))
			graph_json_call(g, c, call, result);
	} else if (c->away) {
		/* It waited, or seemed to be left, and went on. */
		if (!(call->flags & ~HODO_READ_CALL_WHOLE) && graph_in_time(g, call->end_ns) &&
		    call->end_ns - call->entry_ns >= (int64_t)g->o->min_time_ns)
			graph_line(g, c, GRAPH_ONLY_END, graph_depth(c->thread, c->depth), call->end_ns,
				   call->end_ns - call->entry_ns, "went on and returned", result);
	} else {
		end_line(g, c, call, note_of(call, call->flags & HODO_READ_CALL_OPEN ? "still open" : NULL), result);
	}
	if (c->thread->root == c)
		c->thread->root = NULL;
	free(c->arguments);
	c->next = g->free;
	g->free = c;
}

void graph_comment(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e, int64_t ts_ns,
		   const char *text, uint32_t depth)
{
	size_t len = e ? 0 : strlen(text);

	if ((g->o->function && !t->root) || graph_depth(t, depth) > g->o->depth)
		return;
	release(g, t, ts_ns, true);
	if (e)
		text = graph_event_text(g, e, &len);
	graph_comment_line(g, t, ts_ns, text, len, graph_depth(t, depth));
}
