/* SPDX-License-Identifier: MIT */
/* graph_json.c - hodo graph --json: an object a line, of each call at its end. */
#include "graph.h"

#include <string.h>

#include <base/json.h>

void graph_json_call(struct graph *g, const struct graph_call *c, const struct hodo_read_call *call)
{
	static const char *const names[] = { "left", "open", "no_exit", "whole" };
	struct hodo_json j = { .text = &g->out };

	hodo_json_object(&j, NULL);
	hodo_json_i64(&j, "ts", call->entry_ns);
	hodo_json_u64(&j, "pid", call->process->pid);
	hodo_json_u64(&j, "tid", call->tid);
	hodo_json_string(&j, "comm", call->comm);
	hodo_json_u64(&j, "depth", call->depth);
	hodo_json_string(&j, "function", c->name);
	hodo_json_i64(&j, "duration_ns", call->end_ns - call->entry_ns);
	hodo_json_u64(&j, "self_ns", call->self_ns);
	hodo_json_array(&j, "flags");
	for (unsigned i = 0; i < 4; i++)
		if (call->flags & 1u << i)
			hodo_json_string(&j, NULL, names[i]);
	hodo_json_end(&j);
	hodo_json_finish(&j);
}

/* As print has it, with the depth. */
void graph_json_event(struct graph *g, const struct hodo_read_event *e, uint32_t depth)
{
	const char *text;
	size_t len;

	hodo_read_text_clear(g->text);
	if (hodo_read_text_json(g->text, e) < 0)
		g->no_memory = true;
	text = hodo_read_text_data(g->text, &len);
	hodo_text_bytes(&g->out, text, len > 2 ? len - 2 : 0);
	hodo_text_printf(&g->out, ",\"depth\":%u}\n", depth);
}

void graph_json_summary(struct graph *g, const struct hodo_read *r)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };
	struct hodo_read_lost lost = hodo_read_lost(r, NULL);
	struct hodo_json j = { .text = &g->out };

	hodo_read_calls_totals(g->calls, &t);
	hodo_json_object(&j, NULL);
	hodo_json_object(&j, "summary");
	hodo_json_u64(&j, "calls", t.calls);
	hodo_json_u64(&j, "returned", t.returned);
	hodo_json_u64(&j, "left", t.left);
	hodo_json_u64(&j, "open", t.open);
	hodo_json_u64(&j, "orphans", t.orphans);
	hodo_json_u64(&j, "lost", hodo_lost_all(&lost));
	hodo_json_end(&j);
	hodo_json_finish(&j);
}
