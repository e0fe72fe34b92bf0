/* SPDX-License-Identifier: MIT */
/* report_lists.c - what the tracers stack, loop, thread and latency left: a list of each. */
#define _GNU_SOURCE
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const char *name_at(struct report *rep, const struct hodo_read_event *e, uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(rep->symbols, e->process, e->ts_ns, address, &place);
	return place.name;
}

static void take_chain(struct report *rep, const struct hodo_read_event *e, const struct hodo_read_value *v,
		       struct report_chain *chain)
{
	chain->n = 0;
	for (uint32_t i = 0; i < v->count && i < REPORT_CHAIN_MAX; i++) {
		uint64_t address;

		memcpy(&address, (const uint8_t *)v->data + 8 * (size_t)i, sizeof(address));
		chain->name[chain->n++] = name_at(rep, e, address);
	}
}

static void take_text(const struct hodo_read_value *v, char *to, size_t room)
{
	size_t len = v->count < room - 1 ? v->count : room - 1;

	if (v->null)
		len = 0;
	else
		memcpy(to, v->data, len);
	to[len] = 0;
}

/* Room for one more in a list that doubles at powers of two; false: full. */
static bool room_for(struct report *rep, void *list, uint32_t n, size_t element)
{
	void **l = list, *more;

	if (n >= REPORT_LIST_MAX)
		return false;
	if (n & (n - 1))
		return true;
	more = reallocarray(*l, n ? 2 * (size_t)n : 1, element);
	if (!more) {
		rep->no_memory = true;
		return false;
	}
	*l = more;
	return true;
}

static void add_stack(struct report *rep, const struct hodo_read_event *e)
{
	struct report_stack *s = rep->stacks;
	uint32_t i = 0;

	while (i < rep->nstacks && (s[i].process != e->process || s[i].tid != e->tid))
		i++;
	if (i == rep->nstacks) {
		if (!room_for(rep, &rep->stacks, rep->nstacks, sizeof(*s)))
			return;
		s = rep->stacks;
		s[i] = (struct report_stack){ .process = e->process, .pid = e->process->pid, .tid = e->tid };
		rep->nstacks++;
	}
	if (s[i].bytes >= e->values[0].u)
		return;
	s[i].comm = e->comm;
	s[i].bytes = e->values[0].u;
	s[i].depth = (uint32_t)e->values[1].u;
	take_chain(rep, e, &e->values[2], &s[i].chain);
}

static void add_held(struct report *rep, const struct hodo_read_event *e)
{
	const char *callback = name_at(rep, e, e->values[0].u), *loop = name_at(rep, e, e->values[1].u);
	uint64_t ns = report_ns(e->process, e->values[2].u);
	uint32_t i = 0;

	while (i < rep->nheld &&
	       (strcmp(rep->held[i].callback, callback) != 0 || strcmp(rep->held[i].loop, loop) != 0))
		i++;
	if (i == rep->nheld) {
		if (!room_for(rep, &rep->held, rep->nheld, sizeof(*rep->held)))
			return;
		rep->held[rep->nheld++] = (struct report_held){ .callback = callback, .loop = loop };
	}
	rep->held[i].times++;
	rep->held[i].total_ns += ns;
	if (ns > rep->held[i].max_ns)
		rep->held[i].max_ns = ns;
}

static void add_wrong(struct report *rep, const struct hodo_read_event *e)
{
	struct report_wrong w = { .name = name_at(rep, e, e->values[0].u), .times = 1 };
	uint32_t i = 0;

	take_text(&e->values[1], w.wanted, sizeof(w.wanted));
	take_text(&e->values[2], w.role, sizeof(w.role));
	take_chain(rep, e, &e->values[3], &w.chain);
	for (; i < rep->nwrong; i++) {
		struct report_wrong *o = &rep->wrong[i];

		if (strcmp(o->name, w.name) == 0 && strcmp(o->wanted, w.wanted) == 0 &&
		    strcmp(o->role, w.role) == 0 && o->chain.n == w.chain.n &&
		    memcmp(o->chain.name, w.chain.name, w.chain.n * sizeof(w.chain.name[0])) == 0) {
			o->times++;
			rep->last_wrong = o;
			return;
		}
	}
	if (!room_for(rep, &rep->wrong, rep->nwrong, sizeof(w)))
		return;
	rep->last_wrong = &rep->wrong[rep->nwrong++];
	*rep->last_wrong = w;
}

/* Before the func:call of the same frame. */
static void add_callee(struct report *rep, const struct hodo_read_event *e)
{
	struct report_slow *s = &rep->next;

	if (rep->next_frame != e->values[1].u || s->tid != e->tid)
		s->ncallees = 0;
	rep->next_frame = (uint32_t)e->values[1].u;
	s->tid = e->tid;
	if (s->ncallees == REPORT_CALLEES_MAX)
		return;
	s->callee[s->ncallees++] = (struct report_callee){
		.name = e->values[0].u ? name_at(rep, e, e->values[0].u) : NULL,
		.calls = e->values[2].u,
		.total_ns = report_ns(e->process, e->values[3].u),
		.max_ns = report_ns(e->process, e->values[4].u),
	};
}

static int by_time(const void *a, const void *b)
{
	const struct report_callee *x = a, *y = b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

void report_slow_call(struct report *rep, const struct hodo_read_call *call)
{
	struct report_slow *s = &rep->next;
	uint32_t at = rep->nslow;
	struct hodo_place place;

	if (s->tid != call->tid)
		s->ncallees = 0;
	s->duration_ns = (uint64_t)(call->end_ns - call->entry_ns);
	while (at > 0 && rep->slow[at - 1].duration_ns < s->duration_ns)
		at--;
	if (at < REPORT_SLOW_MAX) {
		uint32_t behind = (rep->nslow < REPORT_SLOW_MAX ? rep->nslow : REPORT_SLOW_MAX - 1) - at;

		hodo_symbols_find(rep->symbols, call->process, call->entry_ns, call->function, &place);
		s->name = place.name;
		s->comm = call->comm;
		s->tid = call->tid;
		s->entry_ns = call->entry_ns;
		qsort(s->callee, s->ncallees, sizeof(s->callee[0]), by_time);
		memmove(&rep->slow[at + 1], &rep->slow[at], behind * sizeof(*s));
		rep->slow[at] = *s;
		rep->nslow += rep->nslow < REPORT_SLOW_MAX;
	}
	s->ncallees = 0;
	s->tid = 0;
}

void report_list_event(struct report *rep, const struct hodo_read_event *e)
{
	static const struct {
		const char *name;
		uint32_t nfields;
		uint8_t types[5];
		void (*add)(struct report *rep, const struct hodo_read_event *e);
	} kinds[] = {
		{ "func:stack", 3, { HODO_TYPE_U64, HODO_TYPE_U32, HODO_TYPE_PTR | HODO_TYPE_ARRAY }, add_stack },
		{ "func:held", 3, { HODO_TYPE_PTR, HODO_TYPE_PTR, HODO_TYPE_U64 }, add_held },
		{ "func:wrong_thread", 4, { HODO_TYPE_PTR, HODO_TYPE_STR, HODO_TYPE_STR,
					    HODO_TYPE_PTR | HODO_TYPE_ARRAY }, add_wrong },
		{ "func:callee", 5, { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64 },
		  add_callee },
	};

	rep->last_wrong = NULL;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(e->cls->name, kinds[i].name) != 0)
			continue;
		if (e->cls->nfields != kinds[i].nfields || !hodo_thread_is(rep->thread, e->tid, e->comm))
			return;
		for (unsigned k = 0; k < kinds[i].nfields; k++)
			if (e->cls->fields[k].type != kinds[i].types[k])
				return;
		kinds[i].add(rep, e);
		return;
	}
}

/* ------------------------------------------------------------------------- text */

static void put_chain(struct hodo_text *to, const struct report_chain *chain)
{
	for (uint32_t i = 0; i < chain->n; i++) {
		hodo_text_add(to, i ? " < " : "");
		hodo_add_plain(to, chain->name[i]);
	}
}

static void put_slow(struct hodo_text *to, const struct report_slow *s)
{
	char a[32], b[32], n[32];

	hodo_text_printf(to, "  %s  ", hodo_duration(s->duration_ns, a));
	hodo_add_plain(to, s->name);
	hodo_text_add(to, "  in ");
	hodo_add_plain(to, s->comm);
	hodo_text_printf(to, "[%u]\n", s->tid);
	for (uint32_t i = 0; i < s->ncallees; i++) {
		hodo_text_printf(to, "      %s  ", hodo_duration(s->callee[i].total_ns, a));
		hodo_add_plain(to, s->callee[i].name ? s->callee[i].name : "others");
		hodo_text_printf(to, "  %s call%s, at most %s\n", hodo_grouped(s->callee[i].calls, n),
			s->callee[i].calls == 1 ? "" : "s", hodo_duration(s->callee[i].max_ns, b) + strspn(b, " "));
	}
}

void report_put_lists(struct hodo_text *to, const struct report *rep)
{
	char a[32], b[32], n[32];

	if (rep->nslow)
		hodo_text_add(to, "\nThe slowest calls, and what they called:\n");
	for (uint32_t i = 0; i < rep->nslow; i++)
		put_slow(to, &rep->slow[i]);
	if (rep->nstacks)
		hodo_text_add(to, "\nThe deepest stack of each thread, innermost function first:\n");
	for (uint32_t i = 0; i < rep->nstacks; i++) {
		hodo_text_printf(to, "  %10s  ", hodo_human_bytes(rep->stacks[i].bytes, a));
		hodo_add_plain(to, rep->stacks[i].comm);
		hodo_text_printf(to, "[%u], depth %u: ", rep->stacks[i].tid, rep->stacks[i].depth);
		put_chain(to, &rep->stacks[i].chain);
		hodo_text_char(to, '\n');
	}
	if (rep->nheld)
		hodo_text_add(to, "\nEvent loops that were held:\n  LONGEST     TOTAL             TIMES  CALLBACK\n");
	for (uint32_t i = 0; i < rep->nheld; i++) {
		hodo_text_printf(to, "  %s  %s  %9s  ", hodo_duration(rep->held[i].max_ns, a),
			hodo_duration(rep->held[i].total_ns, b), hodo_grouped(rep->held[i].times, n));
		hodo_add_plain(to, rep->held[i].callback);
		hodo_text_add(to, " in ");
		hodo_add_plain(to, rep->held[i].loop);
		hodo_text_char(to, '\n');
	}
	if (rep->nwrong)
		hodo_text_add(to, "\nCalls in the wrong thread:\n");
	for (uint32_t i = 0; i < rep->nwrong; i++) {
		const struct report_wrong *w = &rep->wrong[i];

		hodo_text_add(to, "  ");
		hodo_add_plain(to, w->name);
		hodo_text_add(to, ": for ");
		hodo_add_plain(to, w->wanted);
		hodo_text_add(to, ", called by ");
		hodo_add_plain(to, w->role[0] ? w->role : "a thread without a role");
		hodo_text_printf(to, ", %s time%s: ", hodo_grouped(w->times, n), w->times == 1 ? "" : "s");
		put_chain(to, &w->chain);
		hodo_text_char(to, '\n');
	}
}

/* ------------------------------------------------------------------------- JSON */

/* Names of a chain, innermost first. */
#define CHAIN(row) { "chain", HODO_POINTERS(row, chain.name, chain.n, &hodo_texts), .inlined = true }

#define ROW(name) HODO_MEMBER(struct report_callee, name)
static const struct hodo_column callee[] = {
	{ "function", ROW(name) }, { "calls", ROW(calls) }, { "total_ns", ROW(total_ns) }, { "max_ns", ROW(max_ns) },
};
#undef ROW
static const struct hodo_columns callees = { "callees", HODO_COLUMNS(callee) };

#define ROW(name) HODO_MEMBER(struct report_slow, name)
static const struct hodo_column slow[] = {
	{ "function", ROW(name) }, { "comm", ROW(comm) }, { "tid", ROW(tid) }, { "ts", ROW(entry_ns) },
	{ "duration_ns", ROW(duration_ns) },
	{ "callees", HODO_ARRAY(struct report_slow, callee, ncallees, &callees), .inlined = true },
};
#undef ROW

#define ROW(name) HODO_MEMBER(struct report_stack, name)
static const struct hodo_column stack[] = {
	{ "pid", ROW(pid) }, { "tid", ROW(tid) }, { "comm", ROW(comm) }, { "bytes", ROW(bytes) },
	{ "depth", ROW(depth) }, CHAIN(struct report_stack),
};
#undef ROW

#define ROW(name) HODO_MEMBER(struct report_held, name)
static const struct hodo_column held[] = {
	{ "function", ROW(callback) }, { "loop", ROW(loop) }, { "times", ROW(times) }, { "total_ns", ROW(total_ns) },
	{ "max_ns", ROW(max_ns) },
};
#undef ROW

#define ROW(name) HODO_MEMBER(struct report_wrong, name)
static const struct hodo_column wrong[] = {
	{ "function", ROW(name) }, { "wanted", ROW(wanted) }, { "role", ROW(role) }, { "times", ROW(times) },
	CHAIN(struct report_wrong),
};
#undef ROW

void report_put_lists_json(struct hodo_json *j, const struct report *rep)
{
	static const struct hodo_columns columns[] = {
		{ "slow", HODO_COLUMNS(slow) }, { "stacks", HODO_COLUMNS(stack) }, { "held", HODO_COLUMNS(held) },
		{ "wrong_thread", HODO_COLUMNS(wrong) },
	};
	const struct {
		const void *first;
		uint32_t n;
		size_t stride;
	} lists[] = {
		{ rep->slow, rep->nslow, sizeof(*rep->slow) }, { rep->stacks, rep->nstacks, sizeof(*rep->stacks) },
		{ rep->held, rep->nheld, sizeof(*rep->held) }, { rep->wrong, rep->nwrong, sizeof(*rep->wrong) },
	};

	for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const struct hodo_table t = { .columns = &columns[i], .first = lists[i].first, .n = lists[i].n,
					      .stride = lists[i].stride };

		hodo_table_put_json(j, columns[i].name, &t);
	}
}
