/* SPDX-License-Identifier: MIT */
/* graph_text.c - the lines of hodo graph; with --json an object a line, of each call at its end. */
#include "graph.h"

#include <string.h>

#define INDENT_MAX 100u /* deeper calls are indented no further, and show their depth as a number */

static void put(struct graph *g, const char *s)
{
	hodo_text_add(&g->out, s);
}

static void put_style(struct graph *g, enum hodo_style style)
{
	put(g, hodo_style(g->color, style));
}

static void put_time(struct graph *g, int64_t ts_ns)
{
	char when[32];

	put_style(g, HODO_DIM);
	hodo_text_printf(&g->out, "[%s] ", hodo_clock_text(ts_ns, when));
	put_style(g, HODO_PLAIN);
}

/* All that stands to the left of the function. duration: 10 columns. */
static void put_head(struct graph *g, const struct graph_thread *t, int64_t ts_ns, const char *duration, uint32_t depth)
{
	static const char spaces[] = "                                                                ";
	uint32_t indent = 2 * (depth < INDENT_MAX ? depth : INDENT_MAX);
	char buf[64];

	if (g->o->times)
		put_time(g, ts_ns);
	put(g, duration);
	if (g->columns) {
		put_style(g, HODO_DIM);
		hodo_text_printf(&g->out, "  %7u ", (unsigned)t->key.tid);
		snprintf(buf, sizeof(buf), "%-15.15s", t->comm);
		hodo_text_plain(&g->out, buf, strlen(buf));
		put_style(g, HODO_PLAIN);
	}
	put(g, " | ");
	for (; indent > 0; indent -= indent < 64 ? indent : 64)
		hodo_text_bytes(&g->out, spaces, indent < 64 ? indent : 64);
	if (depth > INDENT_MAX)
		hodo_text_printf(&g->out, "(%u) ", depth);
}

void graph_title(struct graph *g)
{
	if (g->o->times)
		put(g, "#TIME                ");
	put(g, g->o->times ? "DURATION  " : "# DURATION");
	if (g->columns)
		put(g, "      TID COMM           ");
	put(g, " | FUNCTION\n");
}

static void put_note(struct graph *g, const char *before, const char *name, const char *note)
{
	put_style(g, note ? HODO_NOTE : HODO_DIM);
	put(g, before);
	if (name)
		hodo_text_plain(&g->out, name, strlen(name));
	if (name && note)
		put(g, ": ");
	if (note)
		put(g, note);
	put(g, " */");
	put_style(g, HODO_PLAIN);
}

/* Where the types of parameters begin in a name, "f(int) const"; its length: there are none. */
static size_t types_at(const char *name)
{
	const char *last = strrchr(name, ')');
	size_t open = 0, at = last && !strstr(last, "::") ? (size_t)(last - name) + 1 : 0;

	while (at > 0) {
		at--;
		open += name[at] == ')';
		open -= name[at] == '(';
		if (!open)
			return at;
	}
	return strlen(name);
}

static void put_result(struct graph *g, const char *result)
{
	if (!result)
		return;
	put(g, " = ");
	put(g, result);
}

void graph_line(struct graph *g, const struct graph_call *c, enum graph_line line, uint32_t depth, int64_t ts_ns,
		int64_t duration_ns, const char *note, const char *result)
{
	size_t types = types_at(c->name), len = c->arguments ? types : strlen(c->name); /* values say more */
	char buf[32] = "          ";

	if (duration_ns >= 0)
		hodo_duration((uint64_t)duration_ns, buf);
	put_head(g, c->thread, ts_ns, buf, depth);
	if (line == GRAPH_CLOSES || line == GRAPH_ONLY_END) {
		put(g, line == GRAPH_CLOSES ? "}" : "");
		put_result(g, result);
		put(g, line == GRAPH_CLOSES ? " " : "");
		put_note(g, "/* ", c->name, note);
		put(g, "\n");
		return;
	}
	hodo_text_plain(&g->out, c->name, len);
	if (c->arguments) {
		put(g, "(");
		put(g, c->arguments);
		put(g, ")");
	} else {
		put(g, c->name[types] ? "" : "()");
	}
	put_result(g, result);
	put(g, line == GRAPH_OPENS ? " {" : ";");
	if (note)
		put_note(g, " /* ", NULL, note);
	put(g, "\n");
}

/* The part of print's line behind the thread's name. */
const char *graph_event_text(struct graph *g, const struct hodo_read_event *e, size_t *len)
{
	const char *data;

	hodo_read_text_clear(g->text);
	hodo_must(hodo_read_text_plain(g->text, e->cls->name, strlen(e->cls->name)) == 0 &&
		  hodo_read_text_line(g->text, e, HODO_READ_FIELDS) == 0);
	data = hodo_read_text_data(g->text, len);
	*len -= *len > 0 && data[*len - 1] == '\n';
	return data;
}

void graph_comment_line(struct graph *g, const struct graph_thread *t, int64_t ts_ns, const char *text, size_t len,
			uint32_t depth)
{
	put_head(g, t, ts_ns, "          ", depth);
	put_style(g, HODO_NAME);
	put(g, "/* ");
	hodo_text_bytes(&g->out, text, len);
	put(g, " */");
	put_style(g, HODO_PLAIN);
	put(g, "\n");
}

/* -------------------------------------------------------------------------- JSON */

void graph_json_call(struct graph *g, const struct graph_call *c, const struct hodo_read_call *call,
		     const char *result)
{
	static const char *const names[] = { "left", "open", "no_exit", "whole", "exit_lost" };
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
	if (c->arguments)
		hodo_text_add(hodo_json_value(&j, "args"), c->arguments);
	if (result)
		hodo_text_add(hodo_json_value(&j, "result"), result);
	hodo_json_array(&j, "flags");
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
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
	hodo_must(hodo_read_text_json(g->text, e) == 0);
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
	hodo_json_u64(&j, "exit_lost", t.exit_lost);
	hodo_json_u64(&j, "orphans", t.orphans);
	hodo_json_u64(&j, "lost", hodo_lost_all(&lost));
	hodo_json_end(&j);
	hodo_json_finish(&j);
}
