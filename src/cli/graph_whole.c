/* SPDX-License-Identifier: MIT */
/*
 * graph_whole.c - recordings that tell of a call at its end only, inner calls
 * first: a thread's are kept as a tree until one ends that nothing was around.
 *
 * Depths tell what is inside of what, for times are not exact to the ns: a call that
 * was left ended when the event was written.
 */
#define _GNU_SOURCE
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX (1u << 20)  /* of all threads; beyond that a thread's are shown as they are */
#define SKEW_NS 1000000       /* events that much before a call's entry are certainly before it */
#define COMMENTS_MAX 4096u    /* looked through for those inside of a call */
#define NONE UINT32_MAX

struct graph_item {
	int64_t entry_ns, end_ns;
	const char *name;
	char *comment; /* an event's text; NULL: a call */
	uint32_t depth;
	uint32_t child, next; /* first one inside of it, next one beside it; NONE */
	bool left;
};

static bool make_room(struct graph *g, struct graph_thread *t)
{
	uint32_t room = t->items_room ? 2 * t->items_room : 64;
	struct graph_item *items;
	uint32_t *roots;

	if (t->nitems < t->items_room)
		return true;
	items = reallocarray(t->items, room, sizeof(*items));
	if (items)
		t->items = items;
	roots = reallocarray(t->roots, room, sizeof(*roots));
	if (roots)
		t->roots = roots;
	g->no_memory |= !items || !roots;
	if (!items || !roots)
		return false;
	t->items_room = room;
	return true;
}

/* A new item that is inside of no other as yet. */
static struct graph_item *add(struct graph *g, struct graph_thread *t)
{
	struct graph_item *i;

	if (!make_room(g, t))
		return NULL;
	i = &t->items[t->nitems];
	*i = (struct graph_item){ .child = NONE, .next = NONE };
	t->roots[t->nroots++] = t->nitems++;
	g->nitems++;
	return i;
}

/* Puts the last root around those before it that it holds. */
static void adopt(struct graph_thread *t)
{
	uint32_t self = t->roots[t->nroots - 1], n = t->nroots - 1, comments = 0;
	struct graph_item *call = &t->items[self];

	while (n > 0) {
		const struct graph_item *i = &t->items[t->roots[n - 1]];

		if (i->comment ? i->entry_ns < call->entry_ns - SKEW_NS || ++comments > COMMENTS_MAX
			       : i->depth <= call->depth || i->end_ns < call->entry_ns)
			break;
		n--;
	}
	while (n < t->nroots - 1 && t->items[t->roots[n]].comment && t->items[t->roots[n]].entry_ns < call->entry_ns)
		n++;
	for (uint32_t k = t->nroots - 1; k-- > n;) {
		t->items[t->roots[k]].next = call->child;
		call->child = t->roots[k];
	}
	t->roots[n] = self;
	t->nroots = n + 1;
}

/* ------------------------------------------------------------------------- lines */

/* The way from a root to the item at hand. */
struct way {
	uint32_t *item;
	uint32_t n;
	uint32_t scope; /* --function: length of the way to the outermost of it; NONE: not in any */
};

/* Whether it is to have a line, and at which depth. Calls as deep as --depth have none. */
static bool shown(const struct graph *g, const struct way *w, const struct graph_item *items,
		  const struct graph_item *i, uint32_t *depth)
{
	const struct graph_item *outer = w->n ? &items[w->item[w->n - 1]] : NULL;
	uint32_t base = g->o->function && w->scope != NONE ? items[w->item[w->scope]].depth : 0;

	if (g->o->function && w->scope == NONE) {
		*depth = 0;
		return false;
	}
	*depth = i->comment ? (outer ? outer->depth + 1 : base) : i->depth;
	*depth -= *depth > base ? base : *depth;
	return i->comment ? *depth <= g->o->depth : *depth < g->o->depth;
}

static bool has_lines(const struct graph *g, const struct graph_thread *t, const struct graph_item *i, uint32_t depth)
{
	for (uint32_t k = i->child; k != NONE; k = t->items[k].next)
		if (t->items[k].comment || depth + 1 < g->o->depth)
			return true;
	return false;
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

/* The way leads to the item's place; the item itself is not in it. */
static void show_item(struct graph *g, struct graph_thread *t, struct way *w, uint32_t index, bool end)
{
	const struct graph_item *i = &t->items[index];
	uint32_t depth;

	if (g->o->function && w->scope == NONE && !i->comment && hodo_function_is(g->o->function, i->name)) {
		w->item[w->n] = index;
		w->scope = w->n;
	}
	if (!shown(g, w, t->items, i, &depth))
		return;
	if (i->comment)
		graph_comment_text(g, t, i->entry_ns, i->comment, depth);
	else if (!end)
		line(g, t, i, has_lines(g, t, i, depth) ? GRAPH_OPENS : GRAPH_LEAF, depth);
	else if (has_lines(g, t, i, depth))
		line(g, t, i, GRAPH_CLOSES, depth);
}

static void show_tree(struct graph *g, struct graph_thread *t, struct way *w, uint32_t root)
{
	uint32_t at = root;

	for (;;) {
		show_item(g, t, w, at, false);
		if (t->items[at].child != NONE) {
			w->item[w->n++] = at;
			at = t->items[at].child;
			continue;
		}
		/* Up to the first that has one beside it. */
		for (;;) {
			if (w->scope == w->n)
				w->scope = NONE;
			if (at == root)
				return;
			if (t->items[at].next != NONE)
				break;
			at = w->item[--w->n];
			show_item(g, t, w, at, true);
		}
		at = t->items[at].next;
	}
}

void graph_whole_show(struct graph *g, struct graph_thread *t)
{
	struct way w = { .item = calloc(t->nitems + 1u, sizeof(*w.item)), .scope = NONE };

	g->no_memory |= !w.item;
	for (uint32_t i = 0; w.item && i < t->nroots; i++)
		show_tree(g, t, &w, t->roots[i]);
	free(w.item);
	graph_whole_drop(g, t);
}

void graph_whole_drop(struct graph *g, struct graph_thread *t)
{
	for (uint32_t i = 0; i < t->nitems; i++)
		free(t->items[i].comment);
	g->nitems -= t->nitems;
	t->nitems = t->nroots = 0;
}

/* -------------------------------------------------------------------------- what comes */

void graph_whole_call(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call, const char *name)
{
	struct graph_item *i;

	if (call->end_ns - call->entry_ns < (int64_t)g->o->min_time_ns || call->end_ns < g->o->since_ns)
		return;
	i = add(g, t);
	if (!i)
		return;
	i->entry_ns = call->entry_ns;
	i->end_ns = call->end_ns;
	i->name = name;
	i->depth = call->depth;
	i->left = call->flags & HODO_READ_CALL_LEFT;
	adopt(t);
	if (call->depth == 0 || g->nitems > ITEMS_MAX)
		graph_whole_show(g, t);
}

void graph_whole_event(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e)
{
	struct graph_item *i = add(g, t);
	const char *text;
	size_t len;

	if (!i)
		return;
	text = graph_event_text(g, e, &len);
	i->entry_ns = i->end_ns = e->ts_ns;
	i->comment = strndup(text, len);
	if (!i->comment) {
		t->nroots--;
		t->nitems--;
		g->nitems--;
		g->no_memory = true;
	} else if (g->nitems > ITEMS_MAX) {
		graph_whole_show(g, t);
	}
}
