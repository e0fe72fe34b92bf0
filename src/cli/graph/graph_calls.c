/* SPDX-License-Identifier: MIT */
/* graph_calls.c - calls as lines, in the order in which they come. */
#include "graph.h"

#include <string.h>

void graph_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call)
{
	/* A late call among others gets its line at its end. */
	bool alone = (call->flags & HODO_READ_CALL_WHOLE) && !t->late;
	struct graph_open *c;
	struct hodo_place place;
	const char *arguments;

	hodo_symbols_find(g->symbols, call->process, call->entry_ns, call->function, &place);
	arguments = graph_values_take(&t->arguments, place.name);
	if (t->root && call->depth <= t->root->depth)
		t->root = NULL;
	if (g->o->function && !t->root && !hodo_function_is(g->o->function, &place))
		return;
	if (graph_depth(t, call->depth) >= g->o->depth && !(g->o->function && !t->root))
		return;
	c = graph_open_new(g);
	c->thread = t;
	c->name = place.name;
	c->entry_ns = call->entry_ns;
	c->depth = call->depth;
	c->flags = call->flags;
	c->number = g->nspans;
	if (arguments)
		c->text = hodo_must(strdup(arguments));
	call->user = (uintptr_t)c;
	if (g->o->function && !t->root && !alone)
		t->root = c;
	c->level = graph_level(g, t, call->depth);
	if (!g->o->args.look.json && !alone)
		graph_open_hold(g, c);
}

/* Calls around the line of an end: --function's selection may be over. */
static uint32_t level_of(const struct graph *g, const struct graph_open *c)
{
	return graph_level(g, c->thread, g->o->function && !c->thread->root ? 0 : c->depth);
}

/* How long the call's thread did not run in it, if the record of now is its exit; NULL: not known. */
static const struct hodo_read_off_cpu *off_cpu_of(const struct graph *g, const struct hodo_read_call *call)
{
	const struct hodo_read_event *e = g->now;

	return e && e->off_cpu && e->cls->role == HODO_READ_ROLE_CALL_EXIT && !call->flags &&
	       e->begin->ts_ns == call->entry_ns ? e->off_cpu : NULL;
}

static struct graph_took took(const struct hodo_read_call *call, const struct hodo_read_off_cpu *off)
{
	return (struct graph_took){ call->end_ns - call->entry_ns, off ? (int64_t)off->ns : -1 };
}

/* The last line of a call, or its only one. */
static void end_line(struct graph *g, struct graph_open *c, const struct hodo_read_call *call,
		     const struct hodo_read_off_cpu *off, const char *note, const char *result)
{
	bool no_exit = call->flags & HODO_READ_CALL_NO_EXIT, crossed = false;

	if (call->flags & HODO_READ_CALL_OPEN)
		graph_spans_close(g, c->thread, c, call->end_ns);
	else
		crossed = graph_spans_pass(g, c, call->end_ns, call->flags & HODO_READ_CALL_LEFT);
	graph_open_end(g, c, level_of(g, c), call->end_ns, no_exit ? GRAPH_NOT_KNOWN : took(call, off),
		       note || !crossed ? note : "not nested", result);
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
	struct graph_open *c = (struct graph_open *)(uintptr_t)call->user;

	if (!c || g->o->args.look.json)
		return;
	end_line(g, c, call, NULL, note_of(call, "waits"), NULL);
	c->away = true;
	if (c->thread->root == c)
		c->thread->root = NULL;
}

void graph_leave(struct graph *g, const struct hodo_read_call *call, struct graph_values *values)
{
	struct graph_open *c = (struct graph_open *)(uintptr_t)call->user;
	const struct hodo_read_off_cpu *off = off_cpu_of(g, call);
	const char *result;

	if (!c)
		return;
	result = values ? graph_values_take(values, c->name) : NULL;
	if (g->o->args.look.json) {
		if (call->end_ns - call->entry_ns >= (int64_t)g->o->min_time_ns && graph_in_time(g, call->end_ns))
			graph_json_call(g, c, call, off, result);
	} else if (c->away) {
		/* It waited, or seemed to be left, but continued. */
		if (!(call->flags & ~HODO_READ_CALL_WHOLE) && graph_in_time(g, call->end_ns) &&
		    call->end_ns - call->entry_ns >= (int64_t)g->o->min_time_ns)
			graph_line(g, c, GRAPH_ONLY_END, graph_level(g, c->thread, c->depth), call->end_ns,
				   took(call, off), "went on and returned", result);
	} else {
		end_line(g, c, call, off, note_of(call, call->flags & HODO_READ_CALL_OPEN ? "still open" : NULL),
			 result);
	}
	if (c->thread->root == c)
		c->thread->root = NULL;
	graph_open_free(g, c);
}
