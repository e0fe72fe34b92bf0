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

static uint64_t ns_of(const struct hodo_read_event *e, uint64_t ticks)
{
	uint64_t freq = e->process->clock.freq_hz;

	return freq ? (uint64_t)((unsigned __int128)ticks * 1000000000u / freq) : 0;
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
		s[i] = (struct report_stack){ .process = e->process, .tid = e->tid };
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
	uint64_t ns = ns_of(e, e->values[2].u);
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
			return;
		}
	}
	if (room_for(rep, &rep->wrong, rep->nwrong, sizeof(w)))
		rep->wrong[rep->nwrong++] = w;
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
		.total_ns = ns_of(e, e->values[3].u),
		.max_ns = ns_of(e, e->values[4].u),
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

static void put_chain(FILE *f, const struct report_chain *chain)
{
	for (uint32_t i = 0; i < chain->n; i++) {
		fputs(i ? " < " : "", f);
		hodo_put_plain(f, chain->name[i]);
	}
}

static void put_slow(FILE *f, const struct report_slow *s)
{
	char a[32], b[32], n[32];

	fprintf(f, "  %s  ", hodo_duration(s->duration_ns, a));
	hodo_put_plain(f, s->name);
	fprintf(f, "  in ");
	hodo_put_plain(f, s->comm);
	fprintf(f, "[%u]\n", s->tid);
	for (uint32_t i = 0; i < s->ncallees; i++) {
		fprintf(f, "      %s  ", hodo_duration(s->callee[i].total_ns, a));
		hodo_put_plain(f, s->callee[i].name ? s->callee[i].name : "others");
		fprintf(f, "  %s call%s, at most %s\n", hodo_grouped(s->callee[i].calls, n),
			s->callee[i].calls == 1 ? "" : "s", hodo_duration(s->callee[i].max_ns, b) + strspn(b, " "));
	}
}

void report_put_lists(FILE *f, const struct report *rep)
{
	char a[32], b[32], n[32];

	if (rep->nslow)
		fputs("\nThe slowest calls, and what they called:\n", f);
	for (uint32_t i = 0; i < rep->nslow; i++)
		put_slow(f, &rep->slow[i]);
	if (rep->nstacks)
		fputs("\nThe deepest stack of each thread, innermost function first:\n", f);
	for (uint32_t i = 0; i < rep->nstacks; i++) {
		fprintf(f, "  %10s  ", hodo_human_bytes(rep->stacks[i].bytes, a));
		hodo_put_plain(f, rep->stacks[i].comm);
		fprintf(f, "[%u], depth %u: ", rep->stacks[i].tid, rep->stacks[i].depth);
		put_chain(f, &rep->stacks[i].chain);
		fputc('\n', f);
	}
	if (rep->nheld)
		fputs("\nEvent loops that were held:\n  LONGEST     TOTAL             TIMES  CALLBACK\n", f);
	for (uint32_t i = 0; i < rep->nheld; i++) {
		fprintf(f, "  %s  %s  %9s  ", hodo_duration(rep->held[i].max_ns, a),
			hodo_duration(rep->held[i].total_ns, b), hodo_grouped(rep->held[i].times, n));
		hodo_put_plain(f, rep->held[i].callback);
		fputs(" in ", f);
		hodo_put_plain(f, rep->held[i].loop);
		fputc('\n', f);
	}
	if (rep->nwrong)
		fputs("\nCalls in the wrong thread:\n", f);
	for (uint32_t i = 0; i < rep->nwrong; i++) {
		const struct report_wrong *w = &rep->wrong[i];

		fputs("  ", f);
		hodo_put_plain(f, w->name);
		fputs(": for ", f);
		hodo_put_plain(f, w->wanted);
		fputs(", called by ", f);
		hodo_put_plain(f, w->role[0] ? w->role : "a thread without a role");
		fprintf(f, ", %s time%s: ", hodo_grouped(w->times, n), w->times == 1 ? "" : "s");
		put_chain(f, &w->chain);
		fputc('\n', f);
	}
}

/* ------------------------------------------------------------------------- JSON */

static void put_chain_json(FILE *f, const struct report_chain *chain)
{
	fputs(",\"chain\":[", f);
	for (uint32_t i = 0; i < chain->n; i++) {
		fputs(i ? "," : "", f);
		hodo_put_json(f, chain->name[i]);
	}
	fputs("]}", f);
}

static void put_named(FILE *f, const char *before, const char *text)
{
	fputs(before, f);
	hodo_put_json(f, text);
}

static void put_slow_json(FILE *f, const struct report_slow *s)
{
	put_named(f, "{\"function\":", s->name);
	put_named(f, ",\"comm\":", s->comm);
	fprintf(f, ",\"tid\":%u,\"ts\":%lld,\"duration_ns\":%llu,\"callees\":[", s->tid, (long long)s->entry_ns,
		(unsigned long long)s->duration_ns);
	for (uint32_t i = 0; i < s->ncallees; i++) {
		fputs(i ? ",{\"function\":" : "{\"function\":", f);
		if (s->callee[i].name)
			hodo_put_json(f, s->callee[i].name);
		else
			fputs("null", f);
		fprintf(f, ",\"calls\":%llu,\"total_ns\":%llu,\"max_ns\":%llu}", (unsigned long long)s->callee[i].calls,
			(unsigned long long)s->callee[i].total_ns, (unsigned long long)s->callee[i].max_ns);
	}
	fputs("]}", f);
}

void report_put_lists_json(FILE *f, const struct report *rep)
{
	fputs(",\"slow\":[", f);
	for (uint32_t i = 0; i < rep->nslow; i++) {
		fputs(i ? "," : "", f);
		put_slow_json(f, &rep->slow[i]);
	}
	fputs("],\"stacks\":[", f);
	for (uint32_t i = 0; i < rep->nstacks; i++) {
		const struct report_stack *s = &rep->stacks[i];

		fprintf(f, "%s{\"pid\":%u,\"tid\":%u", i ? "," : "", s->process->pid, s->tid);
		put_named(f, ",\"comm\":", s->comm);
		fprintf(f, ",\"bytes\":%llu,\"depth\":%u", (unsigned long long)s->bytes, s->depth);
		put_chain_json(f, &s->chain);
	}
	fputs("],\"held\":[", f);
	for (uint32_t i = 0; i < rep->nheld; i++) {
		const struct report_held *h = &rep->held[i];

		put_named(f, i ? ",{\"function\":" : "{\"function\":", h->callback);
		put_named(f, ",\"loop\":", h->loop);
		fprintf(f, ",\"times\":%llu,\"total_ns\":%llu,\"max_ns\":%llu}", (unsigned long long)h->times,
			(unsigned long long)h->total_ns, (unsigned long long)h->max_ns);
	}
	fputs("],\"wrong_thread\":[", f);
	for (uint32_t i = 0; i < rep->nwrong; i++) {
		const struct report_wrong *w = &rep->wrong[i];

		put_named(f, i ? ",{\"function\":" : "{\"function\":", w->name);
		put_named(f, ",\"wanted\":", w->wanted);
		put_named(f, ",\"role\":", w->role);
		fprintf(f, ",\"times\":%llu", (unsigned long long)w->times);
		put_chain_json(f, &w->chain);
	}
	fputs("]", f);
}
