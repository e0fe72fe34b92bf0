/* SPDX-License-Identifier: MIT */
/*
 * callgrind.c - Callgrind's profile, version 1: for each function its self time, and for each pair of caller
 * and callee the calls and their time. Threads are functions "[comm]" that call what begins them.
 *
 * The time of a call counts where its function is first entered: even with recursion, the calls of a function
 * add up to its total time.
 */
#define _GNU_SOURCE
#include "call_tree.h"
#include <base/intern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct arc {
	uint32_t from, to;
	uint64_t calls, ns;
};

enum kind { OBJECT, SOURCE, NAME, KINDS };

/* Of a frame, or of a thread: numbers nframes + root. */
struct function {
	uint32_t id[KINDS]; /* of texts */
	uint32_t line;
	uint32_t active; /* how many times it is on the path */
	uint64_t self_ns;
};

struct callgrind {
	const struct hodo_call_tree *tree;
	struct hodo_text *out;
	struct hodo_strings texts[KINDS];
	bool *written[KINDS]; /* by id */
	struct function *functions;
	struct arc *arcs;
	uint32_t nfunctions, narcs, root;
	uint64_t all_ns;
};

/* ------------------------------------------------------------------------- arcs */

static int visit(void *data, uint32_t node, bool leave)
{
	struct callgrind *c = data;
	const struct hodo_call_node *n = &c->tree->nodes[node], *parent = &c->tree->nodes[n->parent];
	uint32_t from = n->depth == 1 ? c->root : parent->frame;

	if (leave) {
		c->functions[n->frame].active--;
		return 0;
	}
	c->functions[n->frame].self_ns += n->self_ns;
	c->all_ns += n->self_ns;
	c->arcs[c->narcs++] = (struct arc){ from, n->frame, n->calls,
					    c->functions[n->frame].active++ ? 0 : n->total_ns };
	return 0;
}

static int by_ends(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* One for each pair. */
static void merge(struct callgrind *c)
{
	uint32_t n = 0;

	qsort(c->arcs, c->narcs, sizeof(*c->arcs), by_ends);
	for (uint32_t i = 0; i < c->narcs; i++) {
		if (n > 0 && by_ends(&c->arcs[n - 1], &c->arcs[i]) == 0) {
			c->arcs[n - 1].calls += c->arcs[i].calls;
			c->arcs[n - 1].ns += c->arcs[i].ns;
		} else {
			c->arcs[n++] = c->arcs[i];
		}
	}
	c->narcs = n;
}

/* ------------------------------------------------------------------------ names */

static int name_functions(struct callgrind *c)
{
	const struct hodo_call_tree *t = c->tree;

	for (uint32_t i = 0; i < c->nfunctions; i++) {
		const struct hodo_call_frame *f = i < t->nframes ? &t->frames[i] : NULL;
		const char *texts[KINDS] = { "???", "???" };
		char thread[80] = "[";

		if (f && f->object[0])
			texts[OBJECT] = f->object;
		if (f && f->file)
			texts[SOURCE] = f->file;
		if (!f)
			strcat(strncat(thread, t->groups[i - t->nframes]->name, sizeof(thread) - 3), "]");
		texts[NAME] = f ? f->name : thread;
		/* Not blank: a number without a name refers to a name written earlier. */
		if (!texts[NAME][strspn(texts[NAME], " ")])
			texts[NAME] = "?";
		for (unsigned k = 0; k < KINDS; k++) {
			c->functions[i].id[k] = hodo_strings_add_plain(&c->texts[k], texts[k]);
			if (c->functions[i].id[k] == HODO_STRINGS_NONE)
				return -ENOMEM;
		}
		c->functions[i].line = f ? f->line : 0;
	}
	for (unsigned k = 0; k < KINDS; k++) {
		c->written[k] = calloc((size_t)c->texts[k].map.n + 1, sizeof(bool));
		if (!c->written[k])
			return -ENOMEM;
	}
	return 0;
}

/* "fn=(3) name", later without the name; object, file and name. */
static void put_function(struct callgrind *c, uint32_t i, bool called)
{
	static const char *const keys[KINDS] = { "cob", "cfl", "cfn" };

	for (unsigned k = 0; k < KINDS; k++) {
		uint32_t id = c->functions[i].id[k];

		hodo_text_add(c->out, keys[k] + !called);
		hodo_text_bytes(c->out, "=(", 2);
		hodo_text_u64(c->out, (uint64_t)id + 1);
		hodo_text_char(c->out, ')');
		if (!c->written[k][id]) {
			hodo_text_char(c->out, ' ');
			hodo_text_add(c->out, hodo_strings_at(&c->texts[k], id));
		}
		hodo_text_char(c->out, '\n');
		c->written[k][id] = true;
	}
}

static void put_cost(struct callgrind *c, uint32_t line, uint64_t ns)
{
	hodo_text_u64(c->out, line);
	hodo_text_char(c->out, ' ');
	hodo_text_u64(c->out, ns);
	hodo_text_bytes(c->out, "\n", 1);
}

/* ------------------------------------------------------------------------- file */

static void put_head(struct callgrind *c, const struct hodo_export *e)
{
	const struct hodo_read_process *p = hodo_read_process(e->reader, 0);
	const char *exe = p && p->exe && p->exe[0] ? p->exe : "?";

	hodo_text_add(c->out, "# callgrind format\nversion: 1\ncreator: hodo\n");
	if (p && hodo_read_nprocesses(e->reader) == 1) {
		hodo_text_printf(c->out, "pid: %u\n", p->pid);
		hodo_text_add(c->out, "cmd: ");
		hodo_text_plain(c->out, exe, strlen(exe));
		hodo_text_char(c->out, '\n');
	}
	hodo_text_add(c->out, "desc: Trigger: end of the recording\npositions: line\n"
				 "event: ns : Time in ns\nevents: ns\n");
	hodo_text_printf(c->out, "summary: %llu\n", (unsigned long long)c->all_ns);
}

static int put_functions(struct callgrind *c)
{
	uint32_t arc = 0;

	for (uint32_t i = 0; i < c->nfunctions && !c->out->error; i++) {
		struct function *f = &c->functions[i];

		if (i >= c->tree->nframes && (arc == c->narcs || c->arcs[arc].from != i))
			continue; /* a thread without any visible activity */
		hodo_text_bytes(c->out, "\n", 1);
		put_function(c, i, false);
		put_cost(c, f->line, f->self_ns);
		for (; arc < c->narcs && c->arcs[arc].from == i; arc++) {
			const struct arc *a = &c->arcs[arc];

			put_function(c, a->to, true);
			/* With 0, the cost would count as the caller's own. */
			hodo_text_printf(c->out, "calls=%llu %u\n", (unsigned long long)(a->calls ? a->calls : 1),
					   c->functions[a->to].line);
			put_cost(c, f->line, a->ns);
		}
	}
	hodo_text_printf(c->out, "\ntotals: %llu\n", (unsigned long long)c->all_ns);
	return c->out->error;
}

static int write_callgrind(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct callgrind *c = state;
	const struct hodo_call_tree *t = tree;
	int err;

	c->tree = t;
	c->out = e->out;
	c->nfunctions = t->nframes + t->nroots;
	c->functions = calloc((size_t)c->nfunctions + 1, sizeof(*c->functions));
	c->arcs = calloc((size_t)t->nnodes + 1, sizeof(*c->arcs));
	if (!c->functions || !c->arcs)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nroots; i++) {
		c->root = t->nframes + i;
		hodo_call_tree_walk(t, t->roots[i], visit, c);
	}
	merge(c);
	err = name_functions(c);
	if (err)
		return err;
	put_head(c, e);
	return put_functions(c);
}

static void free_callgrind(void *state)
{
	struct callgrind *c = state;

	for (unsigned k = 0; k < KINDS; k++) {
		hodo_strings_free(&c->texts[k]);
		free(c->written[k]);
	}
	free(c->functions);
	free(c->arcs);
}

const struct hodo_export_format hodo_export_callgrind = {
	.name = "callgrind",
	.suffix = "callgrind",
	.does = "who called whom, how often, how long: KCachegrind",
	.state_bytes = sizeof(struct callgrind),
	.tree = &(const struct hodo_call_options){ .group = HODO_CALL_BY_COMM, .lines = true },
	.write = write_callgrind,
	.free = free_callgrind,
};
