/* SPDX-License-Identifier: MIT */
/* graph_open.c - calls and spans that are open, and when they get their lines. */
#include "graph.h"

#include <base/vec.h>
#include <stdlib.h>
#include <string.h>

struct graph_open *graph_open_new(struct graph *g)
{
	struct graph_open *c = g->free, *all = g->all;

	if (c) {
		g->free = c->next;
		all = c->other;
	} else {
		g->all = c = hodo_must(hodo_arena_alloc(&g->opens, sizeof(*c)));
	}
	*c = (struct graph_open){ .other = all, .pair = GRAPH_NO_PAIR };
	return c;
}

void graph_open_free(struct graph *g, struct graph_open *c)
{
	free(c->text);
	c->text = NULL;
	c->next = g->free;
	g->free = c;
}

static void begin(struct graph *g, struct graph_open *c)
{
	c->begun = true;
	if (c->thread->late || graph_in_time(g, c->entry_ns))
		graph_line(g, c, GRAPH_OPENS, c->level, c->entry_ns, GRAPH_NOT_KNOWN, NULL, NULL);
}

void graph_open_release(struct graph *g, struct graph_thread *t, int64_t now_ns, bool all)
{
	uint32_t n = 0;

	while (n < t->nheld && (all || now_ns - t->held[n]->entry_ns >= (int64_t)g->o->min_time_ns))
		begin(g, t->held[n++]);
	if (n == 0)
		return;
	memmove(t->held, t->held + n, (t->nheld - n) * sizeof(t->held[0]));
	t->nheld -= n;
}

void graph_open_hold(struct graph *g, struct graph_open *c)
{
	struct graph_thread *t = c->thread;

	graph_open_release(g, t, c->entry_ns, t->late);
	hodo_must(hodo_vec_reserve(t->held, t->held_room, t->nheld + 1) == 0);
	t->held[t->nheld++] = c;
}

/* False: what began in it is held, too. */
static bool unhold(struct graph_thread *t, const struct graph_open *c)
{
	if (!t->nheld || t->held[t->nheld - 1] != c)
		return false;
	t->nheld--;
	return true;
}

void graph_open_end(struct graph *g, struct graph_open *c, uint32_t level, int64_t end_ns, struct graph_took took,
		    const char *note, const char *result)
{
	/* What goes on without it began inside of it, and is shown so. */
	if (c->begun || !unhold(c->thread, c))
		graph_open_release(g, c->thread, end_ns, true);
	if (!c->begun) {
		if (took.ns >= 0 && took.ns < (int64_t)g->o->min_time_ns)
			return;
		graph_open_release(g, c->thread, end_ns, false);
	}
	if (graph_in_time(g, end_ns))
		graph_line(g, c, c->begun ? GRAPH_CLOSES : GRAPH_LEAF, level, c->begun ? end_ns : c->entry_ns,
			   took, note, result);
}
