/* SPDX-License-Identifier: MIT */
/* cmd_graph.c - hodo graph. */
#define _GNU_SOURCE
#include "graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: hodo graph [options] [DIR]\n\n"
	"Shows the calls of functions in a recording (hodo.data) as an indented graph\n"
	"with their durations, and events where they happened. Lines of several threads\n"
	"stand between each other, as they come.\n\n"
	"  --thread TID|COMM  of this thread, or of threads whose name matches a glob\n"
	"  --function GLOB    of these functions only, with what they call\n"
	"  --depth N          the N outermost calls of calls inside of calls\n"
	"  --min-time TIME    calls that took TIME at least: 10us, 5ms, 1s\n"
	"  --since TIME       from this time on, in seconds\n"
	"  --until TIME       before this time\n"
	"  -t, --times        with the time of day\n"
	"  --json             one JSON object a line, of each call at its end\n"
	"  --color WHEN       auto, always or never\n"
	"  --no-pager         also on a terminal\n"
	"  -q, --quiet        no warnings, no word about lost events\n"
	"  -h, --help\n\n"
	"--since and --until count from the recording's begin (0.25), or since the epoch\n"
	"(1795000123.5) if they are 1000000000 or more.\n";

#define FLUSH_BYTES (128u << 10)
#define DEPTH_MAX UINT32_MAX

enum { OPT_THREAD = HODO_OPT_VERB, OPT_FUNCTION, OPT_DEPTH, OPT_MIN_TIME };

/* Values of options. The exit status, or -1 to go on. */
static int set_option(struct graph_options *o, const char *verb, int c)
{
	switch (c) {
	case OPT_DEPTH:
		if (hodo_parse_number(optarg, DEPTH_MAX, &o->depth) < 0 || o->depth == 0)
			return hodo_usage(verb, "--depth is a number from 1 on, not '%s'", optarg);
		return -1;
	case OPT_MIN_TIME:
		if (hodo_parse_duration(optarg, &o->min_time_ns) < 0)
			return hodo_usage(verb, "--min-time is a time such as 10us, 5ms or 1s, not '%s'", optarg);
		return -1;
	case HODO_OPT_COLOR:
		c = hodo_set_color(&o->color, verb, optarg);
		return c ? c : -1;
	case HODO_OPT_NO_PAGER:
		o->no_pager = true;
		return -1;
	case OPT_THREAD:
		o->thread = optarg;
		return -1;
	case OPT_FUNCTION:
		o->function = optarg;
		return -1;
	case HODO_OPT_SINCE:
		o->since = optarg;
		return -1;
	case HODO_OPT_UNTIL:
		o->until = optarg;
		return -1;
	case HODO_OPT_JSON:
		o->json = true;
		return -1;
	case 't':
		o->times = true;
		return -1;
	case 'q':
		o->quiet = true;
		return -1;
	case 'h':
		return 0;
	default:
		return HODO_EXIT_USAGE;
	}
}

static int parse_args(int argc, char **argv, struct graph_options *o)
{
	static const struct option options[] = {
		{ "thread", required_argument, NULL, OPT_THREAD },
		{ "function", required_argument, NULL, OPT_FUNCTION },
		{ "depth", required_argument, NULL, OPT_DEPTH },
		{ "min-time", required_argument, NULL, OPT_MIN_TIME },
		{ "since", required_argument, NULL, HODO_OPT_SINCE },
		{ "until", required_argument, NULL, HODO_OPT_UNTIL },
		{ "times", no_argument, NULL, 't' },
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "color", required_argument, NULL, HODO_OPT_COLOR },
		{ "no-pager", no_argument, NULL, HODO_OPT_NO_PAGER },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = hodo_getopt(argc, argv, ":tqh", options, help)) != -1) {
		int status = set_option(o, argv[0], c);

		if (status >= 0)
			return status;
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording at a time, not '%s' too", argv[optind + 1]);
	o->dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	return -1;
}

/* ---------------------------------------------------------------------- threads */

/* Whether a process's calls are told of at their end: after hodo_read_count(). */
static bool knows_ends_only(const struct hodo_read_process *p)
{
	uint64_t whole = 0, parts = 0;

	for (uint32_t i = 0; i < p->nclasses; i++) {
		const struct hodo_read_class *c = p->classes[i];

		if (c->kind != HODO_KIND_FUNCTION)
			continue;
		if (strcmp(c->name, "func:call") == 0)
			whole += c->count;
		else if (strcmp(c->name, "func:entry") == 0 || strcmp(c->name, "func:entry_sp") == 0 ||
			 strcmp(c->name, "func:reached") == 0)
			parts += c->count;
	}
	return whole > 0 && parts == 0;
}

static struct graph_thread *thread_of(struct graph *g, const struct hodo_read_process *p, uint32_t tid,
				      const char *comm)
{
	struct graph_thread **head = &g->hash[((uintptr_t)p / 64 ^ tid * 0x9e3779b1u >> 16) % GRAPH_HASH], *t;

	for (t = *head; t; t = t->next)
		if (t->tid == tid && t->process == p)
			return t;
	t = calloc(1, sizeof(*t));
	if (!t) {
		g->no_memory = true;
		return NULL;
	}
	t->process = p;
	t->tid = tid;
	t->comm = comm;
	t->wanted = hodo_thread_is(g->o->thread, tid, comm);
	t->whole = !g->o->json && knows_ends_only(p);
	t->next = *head;
	*head = t;
	return t;
}

static void free_threads(struct graph *g)
{
	for (uint32_t i = 0; i < GRAPH_HASH; i++) {
		for (struct graph_thread *t = g->hash[i], *next; t; t = next) {
			next = t->next;
			graph_whole_drop(g, t);
			free(t->items);
			free(t->roots);
			free(t->held);
			free(t);
		}
	}
}

/* ------------------------------------------------------------------------ calls */

static struct graph_call *new_call(struct graph *g)
{
	struct graph_call *c = g->free;

	if (c) {
		g->free = c->next;
		return c;
	}
	c = malloc(sizeof(*c));
	g->no_memory |= !c;
	return c;
}

static void free_call(struct graph *g, struct graph_call *c)
{
	c->next = g->free;
	g->free = c;
}

static bool in_time(const struct graph *g, int64_t ts_ns)
{
	return ts_ns >= g->o->since_ns;
}

/* The depth that is shown: with --function that function's is 0. */
static uint32_t depth_in(const struct graph_thread *t, uint32_t depth)
{
	return t->root && depth >= t->root->depth ? depth - t->root->depth : depth;
}

static void begin(struct graph *g, struct graph_call *c)
{
	c->begun = true;
	if (in_time(g, c->entry_ns))
		graph_line(g, c, GRAPH_OPENS, depth_in(c->thread, c->depth), c->entry_ns, -1, NULL);
}

/* Writes the opening lines of those that are held and have lasted long enough by now. */
static void release(struct graph *g, struct graph_thread *t, int64_t now_ns, bool all)
{
	uint32_t n = 0;

	while (n < t->nheld && (all || now_ns - t->held[n]->entry_ns >= (int64_t)g->o->min_time_ns))
		begin(g, t->held[n++]);
	if (n == 0)
		return;
	memmove(t->held, t->held + n, (t->nheld - n) * sizeof(t->held[0]));
	t->nheld -= n;
}

static void hold(struct graph *g, struct graph_thread *t, struct graph_call *c)
{
	if (t->nheld == t->held_room) {
		uint32_t room = t->held_room ? 2 * t->held_room : 16;
		struct graph_call **more = reallocarray(t->held, room, sizeof(*more));

		if (!more) {
			g->no_memory = true;
			return;
		}
		t->held = more;
		t->held_room = room;
	}
	t->held[t->nheld++] = c;
}

static void unhold(struct graph_thread *t, const struct graph_call *c)
{
	for (uint32_t i = t->nheld; i-- > 0;) {
		if (t->held[i] != c)
			continue;
		memmove(t->held + i, t->held + i + 1, (t->nheld - i - 1) * sizeof(t->held[0]));
		t->nheld--;
		return;
	}
}

static void on_enter(void *data, struct hodo_read_call *call)
{
	struct graph *g = data;
	struct graph_thread *t = thread_of(g, call->process, call->tid, call->comm);
	struct hodo_place place;
	struct graph_call *c;

	if (!t || !t->wanted)
		return;
	hodo_symbols_find(g->symbols, call->process, call->entry_ns, call->function, &place);
	if (t->whole) {
		call->user = (uintptr_t)place.name;
		return;
	}
	if (t->root && call->depth <= t->root->depth)
		t->root = NULL;
	if (g->o->function && !t->root && !hodo_function_is(g->o->function, place.name))
		return;
	if (depth_in(t, call->depth) >= g->o->depth && !(g->o->function && !t->root))
		return;
	c = new_call(g);
	if (!c)
		return;
	*c = (struct graph_call){ .thread = t, .name = place.name, .entry_ns = call->entry_ns, .depth = call->depth,
				  .flags = call->flags };
	call->user = (uintptr_t)c;
	if (g->o->function && !t->root && !(call->flags & HODO_READ_CALL_WHOLE))
		t->root = c;
	if (g->o->json || (call->flags & HODO_READ_CALL_WHOLE))
		return;
	release(g, t, call->entry_ns, false);
	hold(g, t, c);
}

/* The last line of a call, or its only one. */
static void end_line(struct graph *g, struct graph_call *c, const struct hodo_read_call *call, const char *note)
{
	uint32_t depth = g->o->function && !c->thread->root ? 0 : depth_in(c->thread, c->depth);
	int64_t duration = call->end_ns - call->entry_ns;
	bool no_exit = call->flags & HODO_READ_CALL_NO_EXIT;

	if (!c->begun) {
		unhold(c->thread, c);
		if (duration < (int64_t)g->o->min_time_ns && !no_exit)
			return;
		release(g, c->thread, call->end_ns, false);
	}
	if (!in_time(g, call->end_ns))
		return;
	graph_line(g, c, c->begun ? GRAPH_CLOSES : GRAPH_LEAF, depth, c->begun ? call->end_ns : call->entry_ns,
		   no_exit ? -1 : duration, note);
}

static const char *flag_note(uint32_t flags)
{
	return flags & HODO_READ_CALL_NO_EXIT ? NULL :
	       flags & HODO_READ_CALL_LEFT    ? "left" :
	       flags & HODO_READ_CALL_OPEN    ? "still open" : NULL;
}

static void on_away(void *data, const struct hodo_read_call *call)
{
	struct graph_call *c = (struct graph_call *)(uintptr_t)call->user;
	struct graph *g = data;

	if (!c || g->o->json)
		return;
	end_line(g, c, call, call->flags & HODO_READ_CALL_NO_EXIT ? NULL :
			     call->flags & HODO_READ_CALL_LEFT    ? "left" : "waits");
	c->away = true;
	if (c->thread->root == c)
		c->thread->root = NULL;
}

static void put_number(struct graph *g, const char *before, int64_t n)
{
	char buf[64];

	graph_put(g, buf, (size_t)snprintf(buf, sizeof(buf), "%s%lld", before, (long long)n));
}

static void put_json_text(struct graph *g, const char *before, const char *text)
{
	const char *data;
	size_t len;

	hodo_read_text_clear(g->text);
	if (hodo_read_text_json_string(g->text, text, strlen(text)) < 0)
		g->no_memory = true;
	data = hodo_read_text_data(g->text, &len);
	graph_put(g, before, strlen(before));
	graph_put(g, data, len);
}

static void json_call(struct graph *g, const struct graph_call *c, const struct hodo_read_call *call)
{
	static const char *const names[] = { "left", "open", "no_exit", "whole" };
	bool first = true;

	if (call->end_ns - call->entry_ns < (int64_t)g->o->min_time_ns || !in_time(g, call->end_ns))
		return;
	put_number(g, "{\"ts\":", call->entry_ns);
	put_number(g, ",\"pid\":", call->process->pid);
	put_number(g, ",\"tid\":", call->tid);
	put_json_text(g, ",\"comm\":", call->comm);
	put_number(g, ",\"depth\":", call->depth);
	put_json_text(g, ",\"function\":", c->name);
	put_number(g, ",\"duration_ns\":", call->end_ns - call->entry_ns);
	put_number(g, ",\"self_ns\":", (int64_t)call->self_ns);
	graph_put(g, ",\"flags\":[", 10);
	for (unsigned i = 0; i < 4; i++) {
		if (!(call->flags & 1u << i))
			continue;
		graph_put(g, first ? "\"" : ",\"", first ? 1 : 2);
		graph_put(g, names[i], strlen(names[i]));
		graph_put(g, "\"", 1);
		first = false;
	}
	graph_put(g, "]}\n", 3);
}

static void on_leave(void *data, const struct hodo_read_call *call)
{
	struct graph_call *c = (struct graph_call *)(uintptr_t)call->user;
	struct graph *g = data;

	if (!c)
		return;
	if ((call->flags & HODO_READ_CALL_WHOLE) && !g->o->json) {
		struct graph_thread *t = thread_of(g, call->process, call->tid, call->comm);

		if (t && t->whole) {
			graph_whole_call(g, t, call, (const char *)c);
			return;
		}
	}
	if (g->o->json) {
		json_call(g, c, call);
	} else if (c->away) {
		/* It waited, or seemed to be left, and went on. */
		if (!(call->flags & ~HODO_READ_CALL_WHOLE) && in_time(g, call->end_ns) &&
		    call->end_ns - call->entry_ns >= (int64_t)g->o->min_time_ns)
			graph_line(g, c, GRAPH_ONLY_END, depth_in(c->thread, c->depth), call->end_ns,
				   call->end_ns - call->entry_ns, "went on and returned");
	} else {
		end_line(g, c, call, flag_note(call->flags));
	}
	if (c->thread->root == c)
		c->thread->root = NULL;
	free_call(g, c);
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
	static const char *const names[] = { "entry", "exit", "entry_sp", "exit_sp", "reached", "call", "profile" };

	if (cls->kind != HODO_KIND_FUNCTION || strncmp(cls->name, "func:", 5) != 0)
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(cls->name + 5, names[i]) == 0)
			return true;
	return false;
}

static void show_event(struct graph *g, const struct hodo_read_event *e)
{
	struct graph_thread *t = thread_of(g, e->process, e->tid, e->comm);
	uint32_t depth = hodo_read_calls_depth(g->calls, e->process, e->tid);

	if (t && t->whole && t->wanted && in_time(g, e->ts_ns)) {
		graph_whole_event(g, t, e);
		return;
	}
	if (!t || !t->wanted || (g->o->function && !t->root) || !in_time(g, e->ts_ns) ||
	    depth_in(t, depth) > g->o->depth)
		return;
	if (g->o->json) {
		const char *data;
		size_t len;

		hodo_read_text_clear(g->text);
		if (hodo_read_text_json(g->text, e) < 0)
			g->no_memory = true;
		data = hodo_read_text_data(g->text, &len);
		graph_put(g, data, len > 2 ? len - 2 : 0);
		put_number(g, ",\"depth\":", depth);
		graph_put(g, "}\n", 2);
		return;
	}
	release(g, t, e->ts_ns, true);
	graph_comment(g, t, e, depth_in(t, depth));
}

static int flush(struct graph *g, struct hodo_out *out, size_t above)
{
	if (g->len > above) {
		hodo_out_write(out, g->out, g->len);
		g->len = 0;
	}
	return out->err;
}

/* 0, 1 if the output is closed, or a negative errno. */
static int go(struct graph *g, struct hodo_read *r, struct hodo_out *out, int64_t *last_ns)
{
	const struct hodo_read_event *e;
	int got;

	while ((got = hodo_read_next(r, &e)) > 0) {
		int err = 0;

		*last_ns = e->ts_ns;
		if (e->cls->kind == HODO_KIND_FUNCTION)
			err = hodo_read_calls_event(g->calls, e);
		if (!is_call(e->cls))
			show_event(g, e);
		if (err)
			return err;
		if (flush(g, out, FLUSH_BYTES))
			return 1;
	}
	if (got < 0)
		return got;
	got = hodo_read_calls_end(g->calls, *last_ns);
	for (uint32_t i = 0; i < GRAPH_HASH; i++)
		for (struct graph_thread *t = g->hash[i]; t; t = t->next)
			if (t->nitems)
				graph_whole_show(g, t);
	return got;
}

static void put_summary_json(struct graph *g, const struct hodo_read *r)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };
	struct hodo_read_lost lost = hodo_read_lost(r, NULL);

	hodo_read_calls_totals(g->calls, &t);
	put_number(g, "{\"summary\":{\"calls\":", (int64_t)t.calls);
	put_number(g, ",\"returned\":", (int64_t)t.returned);
	put_number(g, ",\"left\":", (int64_t)t.left);
	put_number(g, ",\"open\":", (int64_t)t.open);
	put_number(g, ",\"orphans\":", (int64_t)t.orphans);
	put_number(g, ",\"lost\":", (int64_t)hodo_lost_all(&lost));
	graph_put(g, "}}\n", 3);
}

static void tell_summary(const struct graph *g)
{
	struct hodo_read_calls_totals t = { .size = sizeof(t) };

	hodo_read_calls_totals(g->calls, &t);
	if (t.calls == 0 && t.orphans == 0 && !g->o->json && !g->o->quiet)
		hodo_warning("%s has no calls of functions: record with --functions", g->o->dir);
	if (t.orphans && !g->o->quiet)
		hodo_warning("calls %llu: returned %llu, left %llu, open %llu; exits of calls that are not in the "
			     "recording: %llu", (unsigned long long)t.calls, (unsigned long long)t.returned,
			     (unsigned long long)t.left, (unsigned long long)t.open, (unsigned long long)t.orphans);
}

static bool many_threads(const struct hodo_read *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hodo_read_nprocesses(r) && n < 2; i++)
		n += hodo_read_process(r, i)->nthreads ? hodo_read_process(r, i)->nthreads : 1;
	return n > 1;
}

static int show(struct graph *g, struct hodo_read *r)
{
	struct hodo_out out;
	int64_t last_ns = 0;
	int got, status;

	got = g->o->json ? 0 : hodo_read_count(r, NULL);
	if (got < 0)
		return hodo_cannot_read(g->o->dir, got);
	hodo_read_limit(r, INT64_MIN, g->o->until_ns);
	hodo_read_symbols(r, hodo_function_name_at, g->symbols);
	g->color = hodo_use_color(g->o->color, STDOUT_FILENO);
	g->columns = many_threads(r);
	hodo_out_start(&out, !g->o->no_pager);
	if (!g->o->json)
		graph_title(g);
	got = go(g, r, &out, &last_ns);
	if (got == 0 && g->o->json)
		put_summary_json(g, r);
	flush(g, &out, 0);
	status = hodo_out_finish(&out);
	if (got == 0)
		tell_summary(g);
	if (got == 0 && g->no_memory)
		got = -ENOMEM;
	if (got < 0 && !status)
		status = hodo_cannot_read(g->o->dir, got);
	if (got == 0 && !g->o->quiet)
		hodo_tell_lost(r);
	return status;
}

int hodo_cmd_graph(int argc, char **argv)
{
	static const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = on_enter, .leave = on_leave,
							.same = on_same, .away = on_away };
	struct graph_options o = { .depth = DEPTH_MAX };
	struct graph g = { .o = &o };
	struct hodo_read *r;
	int status = parse_args(argc, argv, &o);

	if (status >= 0)
		return status;
	r = hodo_open(o.dir, o.quiet);
	if (!r)
		return HODO_EXIT_FAILURE;
	status = hodo_parse_range(r, o.since, o.until, argv[0], &o.since_ns, &o.until_ns);
	if (status == 0) {
		g.symbols = hodo_symbols_new(o.dir);
		g.text = hodo_read_text_new();
		g.calls = hodo_read_calls_new(&ops, &g);
		if (g.symbols && g.text && g.calls) {
			status = show(&g, r);
		} else {
			status = hodo_no_memory();
		}
	}
	hodo_read_calls_free(g.calls);
	free_threads(&g);
	for (struct graph_call *c = g.free, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(g.out);
	hodo_read_text_free(g.text);
	hodo_symbols_free(g.symbols);
	hodo_read_close(r);
	return status;
}
