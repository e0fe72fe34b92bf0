/* SPDX-License-Identifier: MIT */
/*
 * graph_whole.c - recordings that tell of a call at its end only, inner calls
 * first: a thread's are kept, each before those inside of it, until one ends that
 * nothing was around.
 */
#define _GNU_SOURCE
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX (1u << 20) /* of all threads; beyond that a thread's are shown as they are */

struct graph_item {
	int64_t entry_ns, end_ns;
	const char *name;
	char *comment; /* an event's lines; NULL: a call */
	uint32_t depth;
	bool left;
};

static struct graph_item *add(struct graph *g, struct graph_thread *t, uint32_t at)
{
	if (t->nitems == t->items_room) {
		uint32_t room = t->items_room ? 2 * t->items_room : 64;
		struct graph_item *more = reallocarray(t->items, room, sizeof(*more));

		if (!more) {
			g->no_memory = true;
			return NULL;
		}
		t->items = more;
		t->items_room = room;
	}
	g->nitems++;
	memmove(&t->items[at + 1], &t->items[at], (t->nitems - at) * sizeof(*t->items));
	t->nitems++;
	t->items[at] = (struct graph_item){ 0 };
	return &t->items[at];
}

/*
 * Where a call that ended goes: before all that was inside of it. Depths tell that, for times are not exact to the
 * ns: a call that was left ended when the event was written.
 */
static uint32_t place_of(const struct graph_thread *t, uint32_t depth, int64_t entry_ns)
{
	uint32_t i = t->nitems;

	while (i > 0 && (t->items[i - 1].comment ||
			 (t->items[i - 1].depth > depth && t->items[i - 1].end_ns >= entry_ns)))
		i--;
	while (i < t->nitems && t->items[i].comment && t->items[i].entry_ns < entry_ns)
		i++;
	return i;
}

struct open_items {
	const struct graph_item **item;
	uint32_t n;
	uint32_t root; /* depth of the outermost of --function */
};

static uint32_t shown_depth(const struct graph *g, const struct open_items *open, uint32_t depth)
{
	return g->o->function && open->n && depth >= open->root ? depth - open->root : g->o->function ? 0 : depth;
}

static void line(struct graph *g, struct graph_thread *t, const struct graph_item *i, enum graph_line what,
		 uint32_t depth)
{
	struct graph_call c = { .thread = t, .name = i->name };

	if (what == GRAPH_OPENS)
		graph_line(g, &c, what, depth, i->entry_ns, -1, NULL);
	else
		graph_line(g, &c, what, depth, what == GRAPH_LEAF ? i->entry_ns : i->end_ns, i->end_ns - i->entry_ns,
			   i->left ? "left" : NULL);
}

/* Closes what is over before an item, or all. */
static void close_items(struct graph *g, struct graph_thread *t, struct open_items *open, const struct graph_item *before)
{
	while (open->n) {
		const struct graph_item *i = open->item[open->n - 1];

		if (before && (before->comment ? before->entry_ns <= i->end_ns : before->depth > i->depth))
			return;
		line(g, t, i, GRAPH_CLOSES, shown_depth(g, open, i->depth));
		open->n--;
	}
}

static void show_item(struct graph *g, struct graph_thread *t, struct open_items *open, const struct graph_item *i,
		      const struct graph_item *next)
{
	const struct graph_item *outer;
	uint32_t depth;

	close_items(g, t, open, i);
	outer = open->n ? open->item[open->n - 1] : NULL;
	if (i->comment) {
		if (outer || !g->o->function)
			graph_comment_text(g, t, i->entry_ns, i->comment,
					   outer ? shown_depth(g, open, outer->depth) + 1 : 0);
		return;
	}
	if (g->o->function && !outer) {
		if (!graph_function_is(g->o->function, i->name))
			return;
		open->root = i->depth;
	}
	depth = g->o->function && !outer ? 0 : shown_depth(g, open, i->depth);
	if (depth >= g->o->depth)
		return;
	/* What follows and is inside of it may be left out by --depth. */
	if (next && (next->comment ? next->entry_ns <= i->end_ns : next->depth > i->depth && depth + 1 < g->o->depth)) {
		line(g, t, i, GRAPH_OPENS, depth);
		open->item[open->n++] = i;
	} else {
		line(g, t, i, GRAPH_LEAF, depth);
	}
}

void graph_whole_show(struct graph *g, struct graph_thread *t)
{
	struct open_items open = { .item = calloc(t->nitems + 1u, sizeof(*open.item)) };

	g->no_memory |= !open.item;
	for (uint32_t i = 0; i < t->nitems; i++) {
		if (open.item)
			show_item(g, t, &open, &t->items[i], i + 1 < t->nitems ? &t->items[i + 1] : NULL);
	}
	if (open.item)
		close_items(g, t, &open, NULL);
	for (uint32_t i = 0; i < t->nitems; i++)
		free(t->items[i].comment);
	free(open.item);
	g->nitems -= t->nitems;
	t->nitems = 0;
}

void graph_whole_call(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call, const char *name)
{
	struct graph_item *i;

	if (call->end_ns - call->entry_ns < (int64_t)g->o->min_time_ns || call->end_ns < g->o->since_ns)
		return;
	i = add(g, t, place_of(t, call->depth, call->entry_ns));
	if (!i)
		return;
	i->entry_ns = call->entry_ns;
	i->end_ns = call->end_ns;
	i->name = name;
	i->depth = call->depth;
	i->left = call->flags & HODO_READ_CALL_LEFT;
	if (call->depth == 0 || g->nitems > ITEMS_MAX)
		graph_whole_show(g, t);
}

void graph_whole_event(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e)
{
	struct graph_item *i = add(g, t, t->nitems);
	const char *text;
	size_t len;

	if (!i)
		return;
	text = graph_event_text(g, e, &len);
	i->entry_ns = i->end_ns = e->ts_ns;
	i->comment = strndup(text, len);
	if (!i->comment) {
		t->nitems--;
		g->nitems--;
		g->no_memory = true;
		return;
	}
	if (g->nitems > ITEMS_MAX)
		graph_whole_show(g, t);
}
