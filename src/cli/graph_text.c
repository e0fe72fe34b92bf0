/* SPDX-License-Identifier: MIT */
/* graph_text.c - the lines of hodo graph. */
#define _GNU_SOURCE
#include "graph.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIM        "\033[2m"
#define NAME_COLOR "\033[36m"
#define NOTE_COLOR "\033[33m"
#define PLAIN      "\033[0m"
#define INDENT_MAX 100u /* deeper calls stand there, with their depth as a number */
#define NS_PER_S   1000000000

static void put(struct graph *g, const char *s)
{
	hodo_text_add(&g->out, s);
}

static void put_time(struct graph *g, int64_t ts_ns)
{
	int64_t ns = ts_ns % NS_PER_S;
	time_t second = (time_t)(ts_ns / NS_PER_S) - (ns < 0);
	char buf[64], hms[16] = "??:??:??";
	struct tm tm;

	if (localtime_r(&second, &tm))
		strftime(hms, sizeof(hms), "%H:%M:%S", &tm);
	snprintf(buf, sizeof(buf), "[%s.%09d] ", hms, (int)(ns < 0 ? ns + NS_PER_S : ns));
	if (g->color)
		put(g, DIM);
	put(g, buf);
	if (g->color)
		put(g, PLAIN);
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
		if (g->color)
			put(g, DIM);
		snprintf(buf, sizeof(buf), "  %7u ", t->tid);
		put(g, buf);
		snprintf(buf, sizeof(buf), "%-15.15s", t->comm);
		hodo_text_plain(&g->out, buf, strlen(buf));
		if (g->color)
			put(g, PLAIN);
	}
	put(g, " | ");
	for (; indent > 0; indent -= indent < 64 ? indent : 64)
		hodo_text_bytes(&g->out, spaces, indent < 64 ? indent : 64);
	if (depth > INDENT_MAX) {
		snprintf(buf, sizeof(buf), "(%u) ", depth);
		put(g, buf);
	}
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
	if (g->color)
		put(g, note ? NOTE_COLOR : DIM);
	put(g, before);
	if (name)
		hodo_text_plain(&g->out, name, strlen(name));
	if (name && note)
		put(g, ": ");
	if (note)
		put(g, note);
	put(g, " */");
	if (g->color)
		put(g, PLAIN);
}

void graph_line(struct graph *g, const struct graph_call *c, enum graph_line line, uint32_t depth, int64_t ts_ns,
		int64_t duration_ns, const char *note)
{
	size_t len = strlen(c->name);
	bool parameters = len > 0 && memchr(c->name, '(', len) != NULL;
	char buf[32] = "          ";

	if (duration_ns >= 0)
		hodo_duration((uint64_t)duration_ns, buf);
	put_head(g, c->thread, ts_ns, buf, depth);
	if (line == GRAPH_CLOSES || line == GRAPH_ONLY_END) {
		put(g, line == GRAPH_CLOSES ? "} " : "");
		put_note(g, "/* ", c->name, note);
		put(g, "\n");
		return;
	}
	hodo_text_plain(&g->out, c->name, strlen(c->name));
	put(g, parameters ? "" : "()");
	put(g, line == GRAPH_OPENS ? " {" : ";");
	if (note)
		put_note(g, " /* ", NULL, note);
	put(g, "\n");
}

/* The part of print's line behind the thread's name. */
const char *graph_event_text(struct graph *g, const struct hodo_read_event *e, size_t *len)
{
	const char *data;
	size_t skip, comm;

	hodo_read_text_clear(g->text);
	if (hodo_read_text_plain(g->text, e->comm, strlen(e->comm)) < 0)
		g->no_memory = true;
	hodo_read_text_data(g->text, &comm);
	hodo_read_text_clear(g->text);
	if (hodo_read_text_line(g->text, e, 0) < 0)
		g->no_memory = true;
	data = hodo_read_text_data(g->text, len);
	/* "[HH:MM:SS.nnnnnnnnn] CPU TID COMM " */
	for (skip = 0; skip < *len && data[skip] != ' '; skip++)
		;
	for (skip++; skip < *len && data[skip] != ' '; skip++)
		;
	for (skip++; skip < *len && data[skip] != ' '; skip++)
		;
	skip += comm + 2;
	if (*len > 0 && data[*len - 1] == '\n')
		(*len)--;
	if (skip > *len)
		skip = *len;
	*len -= skip;
	return data + skip;
}

void graph_comment_line(struct graph *g, const struct graph_thread *t, const struct hodo_read_event *e, int64_t ts_ns,
			const char *text, uint32_t depth)
{
	size_t len = text ? strlen(text) : 0;

	put_head(g, t, ts_ns, "          ", depth);
	if (!text)
		text = graph_event_text(g, e, &len);
	if (g->color)
		put(g, NAME_COLOR);
	put(g, "/* ");
	hodo_text_bytes(&g->out, text, len);
	put(g, " */");
	if (g->color)
		put(g, PLAIN);
	put(g, "\n");
}
