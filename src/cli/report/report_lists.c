/* SPDX-License-Identifier: MIT */
/* report_lists.c - what the tracers stack, loop, thread and latency found, as text and JSON. */
#include "report.h"

#include <string.h>

/* ------------------------------------------------------------------------- text */

static void put_chain(struct hodo_text *to, const struct hodo_stats_chain *chain)
{
	for (uint32_t i = 0; i < chain->n; i++) {
		hodo_text_add(to, i ? " < " : "");
		hodo_add_plain(to, chain->name[i]);
	}
	hodo_text_char(to, '\n');
}

static void put_slow(struct hodo_text *to, const struct hodo_stats_slow *s)
{
	char a[32], b[32], n[32];

	hodo_text_printf(to, "  %s  ", hodo_duration(s->duration_ns, a));
	hodo_add_plain(to, s->name);
	hodo_text_add(to, "  in ");
	hodo_add_plain(to, s->comm);
	hodo_text_printf(to, "[%u]%s\n", s->tid, s->open ? "  still open" : s->left ? "  left" : "");
	for (uint32_t i = 0; i < s->ncallees; i++) {
		hodo_text_printf(to, "      %s  ", hodo_duration(s->callee[i].total_ns, a));
		hodo_add_plain(to, s->callee[i].name ? s->callee[i].name : "others");
		hodo_text_printf(to, "  %s call%s, at most %s\n", hodo_grouped(s->callee[i].calls, n),
			s->callee[i].calls == 1 ? "" : "s", hodo_duration(s->callee[i].max_ns, b) + strspn(b, " "));
	}
}

static void put_stack(struct hodo_text *to, const struct hodo_stats_stack *s)
{
	char buf[32];

	hodo_text_printf(to, "  %10s  ", hodo_human_bytes(s->bytes, buf));
	hodo_add_plain(to, s->comm);
	hodo_text_printf(to, "[%u], depth %u: ", s->tid, s->depth);
	put_chain(to, &s->chain);
}

static void put_held(struct hodo_text *to, const struct hodo_stats_held *h)
{
	char a[32], b[32], n[32];

	hodo_text_printf(to, "  %s  %s  %9s  ", hodo_duration(h->max_ns, a), hodo_duration(h->total_ns, b),
			 hodo_grouped(h->times, n));
	hodo_add_plain(to, h->callback);
	hodo_text_add(to, " in ");
	hodo_add_plain(to, h->loop);
	hodo_text_char(to, '\n');
}

static void put_wrong(struct hodo_text *to, const struct hodo_stats_wrong *w)
{
	char n[32];

	hodo_text_add(to, "  ");
	hodo_add_plain(to, w->name);
	hodo_text_add(to, ": for ");
	hodo_add_plain(to, w->wanted);
	hodo_text_add(to, ", called by ");
	hodo_add_plain(to, w->role[0] ? w->role : "a thread without a role");
	hodo_text_printf(to, ", %s time%s: ", hodo_grouped(w->times, n), w->times == 1 ? "" : "s");
	put_chain(to, &w->chain);
}

void report_lists_put(struct hodo_text *to, const struct hodo_stats_lists *l)
{
	hodo_text_add(to, l->nslow ? "\nThe slowest calls, and what they called:\n" : "");
	for (uint32_t i = 0; i < l->nslow; i++)
		put_slow(to, &l->slow[i]);
	hodo_text_add(to, l->stacks.n ? "\nThe deepest stack of each thread, innermost function first:\n" : "");
	for (uint32_t i = 0; i < l->stacks.n; i++)
		put_stack(to, hodo_map_at(&l->stacks, i));
	hodo_text_add(to, !l->held.n ? "" : "\nEvent loops that were held:\n"
						"  LONGEST     TOTAL             TIMES  CALLBACK\n");
	for (uint32_t i = 0; i < l->held.n; i++)
		put_held(to, hodo_map_at(&l->held, i));
	hodo_text_add(to, l->wrong.n ? "\nCalls in the wrong thread:\n" : "");
	for (uint32_t i = 0; i < l->wrong.n; i++)
		put_wrong(to, hodo_map_at(&l->wrong, i));
}

/* ------------------------------------------------------------------------- JSON */

/* Names of a chain, innermost first. */
#define CHAIN(row) { "chain", HODO_POINTERS(row, chain.name, chain.n, &hodo_texts), .inlined = true }

#define CALLEE(name) HODO_MEMBER(struct hodo_stats_callee, name)
static const struct hodo_column callee[] = {
	{ "function", CALLEE(name) }, { "calls", CALLEE(calls) }, { "total_ns", CALLEE(total_ns) },
	{ "max_ns", CALLEE(max_ns) },
};
static const struct hodo_columns callees = { "callees", HODO_COLUMNS(callee) };

#define SLOW(name) HODO_MEMBER(struct hodo_stats_slow, name)
static const struct hodo_column slow[] = {
	{ "function", SLOW(name) }, { "comm", SLOW(comm) }, { "tid", SLOW(tid) }, { "ts", SLOW(entry_ns) },
	{ "duration_ns", SLOW(duration_ns) }, { "open", SLOW(open) },
	{ "left", SLOW(left) },
	{ "callees", HODO_ARRAY(struct hodo_stats_slow, callee, ncallees, &callees), .inlined = true },
};

#define STACK(name) HODO_MEMBER(struct hodo_stats_stack, name)
static const struct hodo_column stack[] = {
	{ "pid", STACK(pid) }, { "tid", STACK(tid) }, { "comm", STACK(comm) }, { "bytes", STACK(bytes) },
	{ "depth", STACK(depth) }, CHAIN(struct hodo_stats_stack),
};

#define HELD(name) HODO_MEMBER(struct hodo_stats_held, name)
static const struct hodo_column held[] = {
	{ "function", HELD(callback) }, { "loop", HELD(loop) }, { "times", HELD(times) },
	{ "total_ns", HELD(total_ns) }, { "max_ns", HELD(max_ns) },
};

#define WRONG(name) HODO_MEMBER(struct hodo_stats_wrong, name)
static const struct hodo_column wrong[] = {
	{ "function", WRONG(name) }, { "wanted", WRONG(wanted) }, { "role", WRONG(role) }, { "times", WRONG(times) },
	CHAIN(struct hodo_stats_wrong),
};

void report_lists_put_json(struct hodo_json *j, const struct hodo_stats_lists *l)
{
	static const struct hodo_columns slows = { "slow", HODO_COLUMNS(slow) };
	static const struct hodo_columns stacks = { "stacks", HODO_COLUMNS(stack) };
	static const struct hodo_columns helds = { "held", HODO_COLUMNS(held) };
	static const struct hodo_columns wrongs = { "wrong_thread", HODO_COLUMNS(wrong) };
	const struct hodo_table tables[] = {
		{ &slows, .first = l->slow, .n = l->nslow, .stride = sizeof(l->slow[0]) },
		{ &stacks, .first = l->stacks.entries, .n = l->stacks.n, .stride = sizeof(struct hodo_stats_stack) },
		{ &helds, .first = l->held.entries, .n = l->held.n, .stride = sizeof(struct hodo_stats_held) },
		{ &wrongs, .first = l->wrong.entries, .n = l->wrong.n, .stride = sizeof(struct hodo_stats_wrong) },
	};

	for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		hodo_table_put_json(j, tables[i].columns->name, &tables[i]);
}
