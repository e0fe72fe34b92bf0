/* SPDX-License-Identifier: MIT */
/* cmd_graph.c - hodo graph. */
#include "graph.h"
#include <cli/selection.h>

#include <errno.h>
#include <read/event/runs.h>
#include <read/event/select.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX UINT32_MAX

/* ---------------------------------------------------------------------- threads */

/* Whether a process's calls are all late: after hodo_read_count(). */
static bool is_late(const struct hodo_read_process *p)
{
	uint64_t late = 0, parts = 0;

	for (uint32_t i = 0; i < p->nclasses; i++) {
		const struct hodo_read_class *c = p->classes[i];

		if (c->role == HODO_READ_ROLE_CALL_ENTRY || strcmp(c->name, "func:reached") == 0)
			parts += c->count;
		else if (strcmp(c->name, "func:call") == 0 || strcmp(c->name, "func:open") == 0)
			late += c->count;
	}
	return late > 0 && parts == 0;
}

static struct graph_thread *thread_of(struct graph *g, const struct hodo_read_process *p, uint32_t tid,
				      const char *comm)
{
	const struct graph_thread_key key = { p, tid };
	struct graph_thread *t = g->last;

	if (t && t->key.process == p && t->key.tid == tid)
		return t;
	t = g->last = hodo_must(hodo_map_keep(&g->threads, &key, sizeof(*t)));
	if (!t->comm) {
		t->key = key;
		t->comm = comm;
		t->wanted = hodo_select_has_thread(hodo_selection_of(&g->o->args), p, p->kernel ? 0 : p->pid, tid,
						   comm);
		t->late = !g->o->args.look.json && is_late(p);
	}
	return t;
}

static void free_threads(struct graph *g)
{
	for (uint32_t i = 0; i < g->threads.n; i++) {
		struct graph_thread *t = hodo_map_kept_at(&g->threads, i);

		for (uint32_t k = t->shown; k < t->nevents; k++)
			free(t->events[k].text);
		free(t->events);
		graph_values_free(t);
		free(t->held);
		free(t->spans);
	}
	hodo_map_free(&g->threads);
}

/* ------------------------------------------------------------------------ calls */

static void on_enter(void *data, struct hodo_read_call *call)
{
	struct graph *g = data;
	struct graph_thread *t = thread_of(g, call->process, call->tid, call->comm);

	if (t->late)
		graph_late_enter(g, t, call);
	else if (t->wanted)
		graph_enter(g, t, call);
}

/* The call's result, if the current record is its exit. */
static struct graph_values *result_of(struct graph *g, const struct hodo_read_call *call)
{
	if (!g->now || g->now->cls->role != HODO_READ_ROLE_CALL_EXIT || call->flags)
		return NULL;
	return &thread_of(g, g->now->process, g->now->tid, g->now->comm)->result;
}

static void on_leave(void *data, const struct hodo_read_call *call)
{
	struct graph *g = data;
	bool late = call->flags & HODO_READ_CALL_WHOLE;
	struct graph_thread *t = late ? thread_of(g, call->process, call->tid, call->comm) : NULL;

	if (t && t->late)
		graph_late_leave(g, t, call);
	else
		graph_leave(g, call, result_of(g, call));
}

static enum hodo_late on_late(void *data, const struct hodo_late_call *late)
{
	struct graph *g = data;
	struct graph_thread *t = thread_of(g, late->pub.process, late->pub.tid, late->pub.comm);

	return t->late ? graph_late_choose(g, t, late) : HODO_LATE_NOW;
}

static bool on_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct graph *g = data;

	return hodo_function_same(g->symbols, process, ts_ns, a, b);
}

/* ----------------------------------------------------------------------- events */

/* Events that are calls themselves, and what the recorder wrote at the end. */
static bool is_call(const struct hodo_read_class *cls)
{
	return cls->kind == HODO_KIND_FUNCTION &&
	       (cls->role >= HODO_READ_ROLE_CALL_ENTRY ? strcmp(cls->name, "func:callee") != 0
						       : strcmp(cls->name, "func:profile") == 0);
}

/* Of record --off-cpu: each line has what follows from them, and they would be most of the lines. */
static bool is_means(const struct graph *g, const struct hodo_read_event *e)
{
	struct hodo_sched_class is;

	if (!g->off_cpu || !e->process->kernel || g->o->args.look.json || hodo_selection_names(&g->o->args))
		return false;
	hodo_sched_bind(&is, e->cls);
	return is.kind == HODO_SCHED_SWITCH_OUT || is.kind == HODO_SCHED_SWITCH_IN || is.kind == HODO_SCHED_WATCHED;
}

static void show(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		 const struct hodo_read_event *e, uint32_t depth)
{
	if (t->late)
		graph_late_event(g, t, event);
	else
		graph_show_event(g, t, event, e, depth);
}

/* The end of a span will not come. */
static void on_unfinished(void *data, uintptr_t user, int64_t ts_ns, bool given_up)
{
	struct graph_open *s = (struct graph_open *)user;
	const struct graph_event end = { .kind = GRAPH_SPAN_END, .ts_ns = ts_ns, .span = s, .took = GRAPH_NOT_KNOWN };

	s->pair = GRAPH_NO_PAIR;
	s->ends = true;
	show(data, s->thread, &end, NULL, 0);
}

static void show_event(struct graph *g, const struct hodo_read_event *e)
{
	struct graph_thread *t = thread_of(g, e->process, e->tid, e->comm);
	uint32_t depth = hodo_read_calls_depth(g->calls, e->process, e->tid);
	bool json = g->o->args.look.json;
	struct graph_event event;

	if (!t->wanted || is_means(g, e) || graph_values_keep(g, t, e))
		return;
	event = graph_span_pair(g, t, e);
	/* A span shown at its end also needs its start. */
	if (event.kind == GRAPH_EVENT && !graph_in_time(g, e->ts_ns))
		return;
	if (!json)
		graph_event_text(g, e, &event);
	show(g, t, &event, json ? e : NULL, depth);
}

/* Where lines go, while more are wanted. */
struct sink {
	struct hodo_out *out;
	uint64_t left; /* lines */
};

static int write_lines(void *data, const void *lines, size_t len)
{
	struct sink *sink = data;
	const char *end = lines;

	while (sink->left && (end = memchr(end, '\n', len - (size_t)(end - (const char *)lines))) != NULL) {
		sink->left--;
		end++;
	}
	if (!sink->left)
		len = (size_t)(end - (const char *)lines);
	return hodo_out_write(sink->out, lines, len) < 0 || !sink->left ? -EPIPE : 0;
}

/* 0, 1 if the output is closed or has lines enough, or a negative errno. */
static int go(struct graph *g, struct hodo_read *r, int64_t *last_ns)
{
	const struct hodo_read_event *e;
	int got;

	while ((got = hodo_read_next(r, &e)) > 0) {
		int err = 0;

		*last_ns = e->ts_ns;
		g->now = e;
		if (e->cls->kind == HODO_KIND_FUNCTION)
			err = hodo_read_calls_event(g->calls, e);
		if (!is_call(e->cls))
			show_event(g, e);
		if (err)
			return err;
		if (g->out.error)
			return 1;
	}
	if (got < 0)
		return got;
	g->now = NULL;
	got = hodo_read_calls_end(g->calls, *last_ns);
	for (uint32_t i = 0; i < g->threads.n; i++) {
		graph_late_show(g, hodo_map_kept_at(&g->threads, i));
		graph_spans_close(g, hodo_map_kept_at(&g->threads, i), NULL, *last_ns);
	}
	return got;
}

static void print_summary(const struct graph *g)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };

	char lost[64] = "";

	hodo_read_calls_totals(g->calls, &t);
	if (t.exit_lost)
		snprintf(lost, sizeof(lost), ", exit lost %llu", (unsigned long long)t.exit_lost);
	if (t.calls == 0 && t.orphans == 0 && !g->o->args.look.json && !g->o->args.quiet)
		hodo_warning("%s has no calls of functions: record with --functions", g->o->args.dir);
	if (t.orphans && !g->o->args.quiet)
		hodo_warning("calls %llu: returned %llu, left %llu, open %llu%s; exits of calls that are not in the "
			     "recording: %llu", (unsigned long long)t.calls, (unsigned long long)t.returned,
			     (unsigned long long)t.left, (unsigned long long)t.open, lost,
			     (unsigned long long)t.orphans);
}

static bool many_threads(const struct hodo_read *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hodo_read_nprocesses(r) && n < 2; i++)
		n += hodo_read_process(r, i)->nthreads ? hodo_read_process(r, i)->nthreads : 1;
	return n > 1;
}

/* Of the longest name; 0: there is no need of a column. */
static int host_width(const struct hodo_read *r)
{
	const struct hodo_read_host *h;
	size_t width = 4;

	for (uint32_t i = 0; (h = hodo_read_host(r, i)) != NULL; i++)
		if (h->name && strlen(h->name) > width)
			width = strlen(h->name);
	return hodo_read_nhosts(r) < 2 ? 0 : width < GRAPH_HOST_MAX ? (int)width : GRAPH_HOST_MAX;
}

static int show_all(struct graph *g, struct hodo_read *r)
{
	const uint64_t title = g->o->args.look.json ? 0 : 1, most = g->o->args.look.limit;
	struct hodo_out out;
	struct sink sink = { &out, most < UINT64_MAX ? most + title : UINT64_MAX };
	int64_t last_ns = 0;
	int got, status;

	got = g->o->args.look.json ? 0 : hodo_read_count(r, NULL);
	if (got < 0)
		return hodo_cannot_read(g->o->args.dir, got);
	hodo_read_limit(r, INT64_MIN, g->o->args.until_ns);
	g->off_cpu = hodo_off_cpu_recorded(r);
	if (g->off_cpu)
		hodo_must(hodo_read_spans(r) < 0 ? NULL : r);
	hodo_read_symbols(r, hodo_function_name_at, g->symbols);
	g->color = hodo_use_color(g->o->args.color, STDOUT_FILENO);
	g->columns = many_threads(r);
	g->host_width = host_width(r);
	hodo_out_start(&out, !g->o->args.no_pager);
	g->out = (struct hodo_text)HODO_TEXT_TO(write_lines, &sink);
	if (!g->o->args.look.json)
		graph_title(g);
	got = go(g, r, &last_ns);
	hodo_must(hodo_text_flush(&g->out) != -ENOMEM);
	if (got == 0 && !sink.left)
		got = 1; /* there may be more */
	sink.left = UINT64_MAX;
	if (got == 0 && g->o->args.look.json)
		graph_json_summary(g, r);
	hodo_must(hodo_text_flush(&g->out) != -ENOMEM);
	status = hodo_out_finish(&out);
	if (got == 0)
		print_summary(g);
	if (got < 0 && !status)
		status = hodo_cannot_read(g->o->args.dir, got);
	if (got >= 0 && !g->o->args.quiet)
		hodo_tell_unnamed(g->symbols);
	if (got == 0 && !g->o->args.quiet)
		hodo_tell_lost(r);
	return status;
}

static int run(void *args)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = graph_away };
	struct graph_options *o = args;
	struct graph g = { .o = o, .threads = HODO_MAP_KEPT(struct graph_thread_key) };
	HODO_AUTO_READ struct hodo_read *r = NULL;
	int status = hodo_open_selected(&r, &o->args);

	if (status)
		return status;
	g.symbols = hodo_open_symbols(&o->args, o->args.dir);
	g.text = hodo_must(hodo_read_text_new());
	g.calls = hodo_must(hodo_read_calls_new(&ops, &g));
	hodo_calls_late(g.calls, on_late, false);
	hodo_must(hodo_read_pairs(r, on_unfinished, &g) == 0);
	g.r = r;
	status = show_all(&g, r);
	hodo_read_calls_free(g.calls);
	free_threads(&g);
	for (struct graph_open *c = g.all; c; c = c->other)
		free(c->text);
	hodo_arena_free(&g.opens);
	hodo_text_free(&g.out);
	hodo_read_text_free(g.text);
	hodo_symbols_free(g.symbols);
	return status;
}

static const struct graph_options defaults = { .depth = DEPTH_MAX };

static const struct hodo_option options[] = {
	{ .name = "function", .kind = HODO_OPTION_TEXT, .arg = "GLOB", HODO_AT(struct graph_options, function),
	  .help = "only these functions, and what they call" },
	{ .name = "depth", .kind = HODO_OPTION_NUMBER, .arg = "N", HODO_AT(struct graph_options, depth), .min = 1,
	  .max = DEPTH_MAX, .wants = "a number from 1 on", .help = "only the N outermost of nested calls" },
	{ .name = "min-time", .kind = HODO_OPTION_TIME, .arg = "TIME", HODO_AT(struct graph_options, min_time_ns),
	  .min = 1, .max = INT64_MAX,
	  .help = "only calls and spans of at least TIME: 10us, 5ms, 1s" },
	{ .name = "times", .letter = 't', HODO_AT(struct graph_options, times),
	  .help = "with the time of day" },
	HODO_OPTION_FULL_NAMES,
	HODO_OPTION_DEBUGINFOD,
	HODO_OPTION_LIMIT("lines", "only the first N lines"),
	HODO_OPTIONS_SHOWN("one JSON object per line, for each call at its end"),
	HODO_OPTION_QUIET("do not report warnings or lost events"),
	HODO_OPTIONS_SELECTION,
	{ 0 },
};

const struct hodo_verb hodo_verb_graph = {
	.name = "graph", .does = "show calls of functions and spans as an indented graph with times",
	.usage = "[options] [DIR]",
	.about = "Shows calls of functions and spans of a recording (hodo.data) as an indented\n"
		 "graph with their durations, and events where they happened. Lines of several\n"
		 "threads are interleaved as they come.\n",
	.options = options, .column = 26, .word = HODO_WORD_DIR, .one = HODO_ONE_RECORDING,
	.args_bytes = sizeof(struct graph_options), .defaults = &defaults,
	.selects = HODO_SELECT | HODO_SELECT_SPANS | HODO_SELECT_ANY_THREAD | HODO_SELECT_ALL_CALLS, .run = run,
};
