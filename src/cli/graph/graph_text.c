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

static void put_duration(struct graph *g, int64_t ns)
{
	char buf[32] = "          ";

	put(g, ns >= 0 ? hodo_duration((uint64_t)ns, buf) : buf);
}

static void put_host(struct graph *g, const char *name)
{
	char buf[4 * GRAPH_HOST_MAX + 1];

	snprintf(buf, sizeof(buf), "  %-*.*s", g->host_width, GRAPH_HOST_MAX, name ? name : "");
	put_style(g, HODO_DIM);
	hodo_text_plain(&g->out, buf, strlen(buf));
	put_style(g, HODO_PLAIN);
}

/* All that stands to the left of the function. */
static void put_head(struct graph *g, const struct graph_thread *t, int64_t ts_ns, struct graph_took took,
		     uint32_t depth)
{
	static const char spaces[] = "                                                                ";
	uint32_t indent = 2 * (depth < INDENT_MAX ? depth : INDENT_MAX);
	char buf[64];

	if (g->o->times)
		put_time(g, ts_ns);
	put_duration(g, took.ns);
	if (g->off_cpu) {
		put(g, " ");
		put_duration(g, took.off_ns);
	}
	if (g->host_width)
		put_host(g, t->key.process->hostname);
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
	if (g->off_cpu)
		put(g, g->o->times ? " OFF CPU   " : "    OFF CPU");
	if (g->host_width)
		hodo_text_printf(&g->out, "  %-*s", g->host_width, "HOST");
	if (g->columns)
		put(g, "      TID COMM           ");
	put(g, " | FUNCTION\n");
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

/* What a line begins with, and its note if it has one. */
static void put_call(struct graph *g, const struct graph_open *c, const char *result)
{
	size_t types = types_at(c->name), len = c->text ? types : strlen(c->name); /* values say more */

	hodo_text_plain(&g->out, c->name, len);
	if (c->text) {
		put(g, "(");
		put(g, c->text);
		put(g, ")");
	} else {
		put(g, c->name[types] ? "" : "()");
	}
	put_result(g, result);
}

/* Its fields are escaped. */
static void put_span(struct graph *g, const struct graph_open *s)
{
	put_style(g, HODO_NAME);
	hodo_text_plain(&g->out, s->name, strlen(s->name));
	put_style(g, HODO_PLAIN);
	put(g, s->text ? s->text : "");
}

/* "f: left", "kv:put bytes=12: not nested" */
static void put_name_note(struct graph *g, const char *name, const char *fields, const char *note)
{
	put_style(g, note ? HODO_NOTE : HODO_DIM);
	put(g, "/* ");
	hodo_text_plain(&g->out, name, strlen(name));
	put(g, fields ? fields : "");
	put(g, (name[0] || fields) && note ? ": " : "");
	put(g, note ? note : "");
	put(g, " */");
	put_style(g, HODO_PLAIN);
}

void graph_line(struct graph *g, const struct graph_open *c, enum graph_line line, uint32_t level, int64_t ts_ns,
		struct graph_took took, const char *note, const char *result)
{
	const char *fields = c->span ? result : NULL;

	put_head(g, c->thread, ts_ns, took, level);
	if (line == GRAPH_CLOSES || line == GRAPH_ONLY_END) {
		put(g, line == GRAPH_CLOSES ? "}" : "");
		put_result(g, c->span ? NULL : result);
		put(g, line == GRAPH_CLOSES ? " " : "");
		put_name_note(g, c->name, fields, note);
		put(g, "\n");
		return;
	}
	if (c->span)
		put_span(g, c);
	else
		put_call(g, c, result);
	put(g, line == GRAPH_OPENS ? " {" : ";");
	if (note || fields) {
		put(g, " ");
		put_name_note(g, "", fields ? fields + 1 : NULL, note);
	}
	put(g, "\n");
}

/* The part of print's line behind the thread's name. */
void graph_event_text(struct graph *g, const struct hodo_read_event *e, struct graph_event *event)
{
	unsigned flags = HODO_READ_FIELDS | (event->took.ns >= 0 ? HODO_READ_UNTIMED : 0);
	struct hodo_read_event own = *e;

	if (event->kind == GRAPH_SPAN_END)
		own.begin = NULL;
	hodo_read_text_clear(g->text);
	hodo_must(hodo_read_text_plain(g->text, e->cls->name, strlen(e->cls->name)) == 0);
	hodo_read_text_data(g->text, &event->fields);
	hodo_must(hodo_read_text_line(g->text, &own, flags) == 0);
	/* A terminator, where print has the newline. */
	event->text = (char *)(uintptr_t)hodo_read_text_data(g->text, &event->len);
	event->len -= event->len > 0 && event->text[event->len - 1] == '\n';
	event->text[event->len] = 0;
}

void graph_event_line(struct graph *g, const struct graph_thread *t, const struct graph_event *event, uint32_t level)
{
	put_head(g, t, event->ts_ns, event->took, level);
	put_style(g, HODO_NAME);
	put(g, "/* ");
	hodo_text_bytes(&g->out, event->text, event->len);
	put(g, " */");
	put_style(g, HODO_PLAIN);
	put(g, "\n");
}

/* -------------------------------------------------------------------------- JSON */

void graph_json_call(struct graph *g, const struct graph_open *c, const struct hodo_read_call *call,
		     const struct hodo_read_off_cpu *off, const char *result)
{
	static const char *const names[] = { "left", "open", "no_exit", "whole", "exit_lost" };
	struct hodo_json j = { .text = &g->out };

	hodo_json_object(&j, NULL);
	hodo_json_i64(&j, "ts", call->entry_ns);
	if (g->host_width && call->process->hostname)
		hodo_json_string(&j, "host", call->process->hostname);
	hodo_json_u64(&j, "pid", call->process->pid);
	hodo_json_u64(&j, "tid", call->tid);
	hodo_json_string(&j, "comm", call->comm);
	hodo_json_u64(&j, "depth", call->depth);
	hodo_json_u64(&j, "level", c->level);
	hodo_json_string(&j, "function", c->name);
	hodo_json_i64(&j, "duration_ns", call->end_ns - call->entry_ns);
	hodo_json_u64(&j, "self_ns", call->self_ns);
	if (off)
		hodo_json_u64(&j, "off_cpu_ns", off->ns);
	if (off && off->counted) {
		hodo_json_u64(&j, "waits", off->waits);
		hodo_json_u64(&j, "preempted", off->preempted);
	}
	if (c->text)
		hodo_text_add(hodo_json_value(&j, "args"), c->text);
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
void graph_json_event(struct graph *g, const struct hodo_read_event *e, uint32_t depth, uint32_t level,
		      int64_t duration_ns)
{
	const char *text;
	size_t len;

	hodo_read_text_clear(g->text);
	hodo_must(hodo_read_text_json(g->text, e) == 0);
	text = hodo_read_text_data(g->text, &len);
	hodo_text_bytes(&g->out, text, len > 2 ? len - 2 : 0);
	if (duration_ns >= 0 && !e->begin)
		hodo_text_printf(&g->out, ",\"duration_ns\":%lld", (long long)duration_ns);
	hodo_text_printf(&g->out, ",\"depth\":%u,\"level\":%u}\n", depth, level);
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
