/* SPDX-License-Identifier: MIT */
/*
 * graph_values.c - arguments and results of calls (hodo record --args): separate events, args:FUNCTION
 * directly before a call's start in its thread, result:FUNCTION directly before its end. The first field is
 * the function's address.
 */
#include "graph.h"

#include <read/text/text.h>
#include <string.h>

/* NULL: the event is neither. */
static struct graph_values *values_of(struct graph_thread *t, const struct hodo_read_event *e)
{
	static const char arguments[] = "args:", result[] = "result:";
	const struct hodo_read_class *c = e->cls;
	bool is_result = strncmp(c->name, result, sizeof(result) - 1) == 0;

	/* A program's own event has a source location. */
	if (c->nfields < 2 || e->values[0].type != HODO_TYPE_PTR || *c->file ||
	    (!is_result && strncmp(c->name, arguments, sizeof(arguments) - 1) != 0) ||
	    strcmp(c->fields[0].name, "addr") != 0)
		return NULL;
	return is_result ? &t->result : &t->arguments;
}

bool graph_values_keep(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e)
{
	bool json = g->o->args.look.json;
	struct graph_values *v = values_of(t, e);
	struct hodo_place place;
	const char *data;
	size_t len;

	if (!v)
		return false;
	hodo_read_text_clear(g->text);
	hodo_must((v == &t->result ? hodo_read_text_field : hodo_read_text_arguments)(g->text, e, 1, json) == 0);
	data = hodo_read_text_data(g->text, &len);
	hodo_symbols_find(g->symbols, e->process, e->ts_ns, e->values[0].u, &place);
	v->function = place.name;
	v->text.len = 0;
	hodo_text_bytes(&v->text, data, len);
	hodo_must(!v->text.error);
	return true;
}

const char *graph_values_take(struct graph_values *v, const char *function)
{
	bool its = v->function && strcmp(v->function, function) == 0;

	v->function = NULL;
	return its ? hodo_must(hodo_text_string(&v->text)) : NULL;
}

void graph_values_free(struct graph_thread *t)
{
	hodo_text_free(&t->arguments.text);
	hodo_text_free(&t->result.text);
}
