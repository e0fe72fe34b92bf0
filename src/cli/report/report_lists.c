/* SPDX-License-Identifier: MIT */
/* report_lists.c - results of the tracers stack, loop, thread and latency. */
#include "report.h"
#include <cli/selection.h>

#include <string.h>

#define LIST_MAX 1000u /* entries of each list but slow */

void report_lists_start(struct report_lists *l, struct hodo_symbols *symbols, const struct hodo_args *args)
{
	*l = (struct report_lists){ .symbols = symbols, .args = args,
				    .stacks = HODO_MAP_BYTES(struct report_stack),
				    .held = HODO_MAP_BYTES(struct report_held),
				    .wrong = HODO_MAP_BYTES(struct report_wrong) };
}

void report_lists_free(struct report_lists *l)
{
	hodo_map_free(&l->stacks);
	hodo_map_free(&l->held);
	hodo_map_free(&l->wrong);
	hodo_text_free(&l->key);
}

static void take_chain(struct report_lists *l, const struct hodo_read_event *e, const struct hodo_read_value *v,
		       struct report_chain *chain)
{
	chain->n = 0;
	for (uint32_t i = 0; i < v->count && i < REPORT_CHAIN_MAX; i++) {
		uint64_t address;

		memcpy(&address, (const uint8_t *)v->data + 8 * (size_t)i, sizeof(address));
		chain->name[chain->n++] = hodo_symbols_name_at(l->symbols, e, address);
	}
}

static void take_text(const struct hodo_read_value *v, char to[64])
{
	memset(to, 0, 64);
	if (!v->null)
		memcpy(to, v->data, v->count < 63 ? v->count : 63);
}

/* The entry of l->key, created if necessary; NULL: the list is full. */
static void *entry_of(struct report_lists *l, struct hodo_map *list, bool *is_new)
{
	void *entry = hodo_map_find_bytes(list, report_key(&l->key), l->key.len);

	*is_new = !entry;
	if (entry || list->n >= LIST_MAX)
		return entry;
	return hodo_must(hodo_map_add_bytes(list, report_key(&l->key), l->key.len, NULL));
}

static void add_stack(struct report_lists *l, const struct hodo_read_event *e)
{
	struct report_stack *s;
	bool is_new;

	hodo_key_start(&l->key);
	hodo_key_add_number(&l->key, (uintptr_t)e->process);
	hodo_key_add_number(&l->key, e->tid);
	s = entry_of(l, &l->stacks, &is_new);
	if (!s || (!is_new && s->bytes >= e->values[0].u))
		return;
	s->pid = e->process->pid;
	s->tid = e->tid;
	s->comm = e->comm;
	s->bytes = e->values[0].u;
	s->depth = (uint32_t)e->values[1].u;
	take_chain(l, e, &e->values[2], &s->chain);
}

static void add_held(struct report_lists *l, const struct hodo_read_event *e)
{
	const char *callback = hodo_symbols_name_at(l->symbols, e, e->values[0].u);
	const char *loop = hodo_symbols_name_at(l->symbols, e, e->values[1].u);
	uint64_t ns = report_ns(e->process, e->values[2].u);
	struct report_held *held;
	bool is_new;

	hodo_key_start(&l->key);
	hodo_text_bytes(&l->key, callback, strlen(callback) + 1);
	hodo_text_bytes(&l->key, loop, strlen(loop));
	held = entry_of(l, &l->held, &is_new);
	if (!held)
		return;
	held->callback = callback;
	held->loop = loop;
	held->times++;
	held->total_ns += ns;
	held->max_ns = ns > held->max_ns ? ns : held->max_ns;
}

static void add_wrong(struct report_lists *l, const struct hodo_read_event *e)
{
	struct report_wrong new = { .name = hodo_symbols_name_at(l->symbols, e, e->values[0].u) }, *wrong;
	bool is_new;

	take_text(&e->values[1], new.wanted);
	take_text(&e->values[2], new.role);
	take_chain(l, e, &e->values[3], &new.chain);
	hodo_key_start(&l->key);
	hodo_text_bytes(&l->key, new.wanted, sizeof(new.wanted));
	hodo_text_bytes(&l->key, new.role, sizeof(new.role));
	hodo_text_bytes(&l->key, new.chain.name, new.chain.n * sizeof(new.chain.name[0]));
	hodo_text_bytes(&l->key, new.name, strlen(new.name));
	wrong = entry_of(l, &l->wrong, &is_new);
	if (wrong && is_new) {
		new.key = wrong->key;
		*wrong = new;
	}
	if (wrong)
		wrong->times++;
	l->last_wrong = wrong;
}

/* Before the func:call of the same frame. */
static void add_callee(struct report_lists *l, const struct hodo_read_event *e)
{
	struct report_slow *s = &l->next;

	if (l->next_frame != e->values[1].u || s->tid != e->tid)
		s->ncallees = 0;
	l->next_frame = (uint32_t)e->values[1].u;
	s->tid = e->tid;
	if (s->ncallees == REPORT_CALLEES_MAX)
		return;
	s->callee[s->ncallees++] = (struct report_callee){
		.name = e->values[0].u ? hodo_symbols_name_at(l->symbols, e, e->values[0].u) : NULL,
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

void report_lists_call(struct report_lists *l, const struct hodo_read_call *call)
{
	struct report_slow *s = &l->next;
	uint32_t at = l->nslow;
	struct hodo_place place;

	if (s->tid != call->tid)
		s->ncallees = 0;
	s->duration_ns = (uint64_t)(call->end_ns - call->entry_ns);
	while (at > 0 && l->slow[at - 1].duration_ns < s->duration_ns)
		at--;
	if (at < REPORT_SLOW_MAX) {
		uint32_t behind = (l->nslow < REPORT_SLOW_MAX ? l->nslow : REPORT_SLOW_MAX - 1) - at;

		hodo_symbols_find(l->symbols, call->process, call->entry_ns, call->function, &place);
		s->name = place.name;
		s->comm = call->comm;
		s->tid = call->tid;
		s->open = call->flags & HODO_READ_CALL_OPEN;
		s->left = call->flags & HODO_READ_CALL_LEFT;
		s->entry_ns = call->entry_ns;
		qsort(s->callee, s->ncallees, sizeof(s->callee[0]), by_time);
		memmove(&l->slow[at + 1], &l->slow[at], behind * sizeof(*s));
		l->slow[at] = *s;
		l->nslow += l->nslow < REPORT_SLOW_MAX;
	}
	s->ncallees = 0;
	s->tid = 0;
}

bool report_class_is(const struct hodo_read_class *cls, const char *name, uint32_t nfields, const uint8_t *types)
{
	if (cls->nfields != nfields || strcmp(cls->name, name) != 0)
		return false;
	for (uint32_t i = 0; i < nfields; i++)
		if (cls->fields[i].type != types[i])
			return false;
	return true;
}

void report_lists_event(struct report_lists *l, const struct hodo_read_event *e)
{
	static const struct {
		const char *name;
		uint32_t nfields;
		uint8_t types[5];
		void (*add)(struct report_lists *l, const struct hodo_read_event *e);
	} kinds[] = {
		{ "func:stack", 3, { HODO_TYPE_U64, HODO_TYPE_U32, HODO_TYPE_PTR | HODO_TYPE_ARRAY }, add_stack },
		{ "func:held", 3, { HODO_TYPE_PTR, HODO_TYPE_PTR, HODO_TYPE_U64 }, add_held },
		{ "func:wrong_thread", 4, { HODO_TYPE_PTR, HODO_TYPE_STR, HODO_TYPE_STR,
					    HODO_TYPE_PTR | HODO_TYPE_ARRAY }, add_wrong },
		{ "func:callee", 5, { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64 },
		  add_callee },
	};

	l->last_wrong = NULL;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!report_class_is(e->cls, kinds[i].name, kinds[i].nfields, kinds[i].types))
			continue;
		if (!l->args || hodo_selects_event(l->args, e))
			kinds[i].add(l, e);
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
	hodo_text_char(to, '\n');
}

static void put_slow(struct hodo_text *to, const struct report_slow *s)
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

static void put_stack(struct hodo_text *to, const struct report_stack *s)
{
	char buf[32];

	hodo_text_printf(to, "  %10s  ", hodo_human_bytes(s->bytes, buf));
	hodo_add_plain(to, s->comm);
	hodo_text_printf(to, "[%u], depth %u: ", s->tid, s->depth);
	put_chain(to, &s->chain);
}

static void put_held(struct hodo_text *to, const struct report_held *h)
{
	char a[32], b[32], n[32];

	hodo_text_printf(to, "  %s  %s  %9s  ", hodo_duration(h->max_ns, a), hodo_duration(h->total_ns, b),
			 hodo_grouped(h->times, n));
	hodo_add_plain(to, h->callback);
	hodo_text_add(to, " in ");
	hodo_add_plain(to, h->loop);
	hodo_text_char(to, '\n');
}

static void put_wrong(struct hodo_text *to, const struct report_wrong *w)
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

void report_lists_put(struct hodo_text *to, const struct report_lists *l)
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

#define CALLEE(name) HODO_MEMBER(struct report_callee, name)
static const struct hodo_column callee[] = {
	{ "function", CALLEE(name) }, { "calls", CALLEE(calls) }, { "total_ns", CALLEE(total_ns) },
	{ "max_ns", CALLEE(max_ns) },
};
static const struct hodo_columns callees = { "callees", HODO_COLUMNS(callee) };

#define SLOW(name) HODO_MEMBER(struct report_slow, name)
static const struct hodo_column slow[] = {
	{ "function", SLOW(name) }, { "comm", SLOW(comm) }, { "tid", SLOW(tid) }, { "ts", SLOW(entry_ns) },
	{ "duration_ns", SLOW(duration_ns) }, { "open", SLOW(open) },
	{ "left", SLOW(left) },
	{ "callees", HODO_ARRAY(struct report_slow, callee, ncallees, &callees), .inlined = true },
};

#define STACK(name) HODO_MEMBER(struct report_stack, name)
static const struct hodo_column stack[] = {
	{ "pid", STACK(pid) }, { "tid", STACK(tid) }, { "comm", STACK(comm) }, { "bytes", STACK(bytes) },
	{ "depth", STACK(depth) }, CHAIN(struct report_stack),
};

#define HELD(name) HODO_MEMBER(struct report_held, name)
static const struct hodo_column held[] = {
	{ "function", HELD(callback) }, { "loop", HELD(loop) }, { "times", HELD(times) },
	{ "total_ns", HELD(total_ns) }, { "max_ns", HELD(max_ns) },
};

#define WRONG(name) HODO_MEMBER(struct report_wrong, name)
static const struct hodo_column wrong[] = {
	{ "function", WRONG(name) }, { "wanted", WRONG(wanted) }, { "role", WRONG(role) }, { "times", WRONG(times) },
	CHAIN(struct report_wrong),
};

void report_lists_put_json(struct hodo_json *j, const struct report_lists *l)
{
	static const struct hodo_columns slows = { "slow", HODO_COLUMNS(slow) };
	static const struct hodo_columns stacks = { "stacks", HODO_COLUMNS(stack) };
	static const struct hodo_columns helds = { "held", HODO_COLUMNS(held) };
	static const struct hodo_columns wrongs = { "wrong_thread", HODO_COLUMNS(wrong) };
	const struct hodo_table tables[] = {
		{ &slows, .first = l->slow, .n = l->nslow, .stride = sizeof(l->slow[0]) },
		{ &stacks, .first = l->stacks.entries, .n = l->stacks.n, .stride = sizeof(struct report_stack) },
		{ &helds, .first = l->held.entries, .n = l->held.n, .stride = sizeof(struct report_held) },
		{ &wrongs, .first = l->wrong.entries, .n = l->wrong.n, .stride = sizeof(struct report_wrong) },
	};

	for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		hodo_table_put_json(j, tables[i].columns->name, &tables[i]);
}
