/* SPDX-License-Identifier: MIT */
/*
 * callgrind.c - Callgrind's profile, version 1: for each function the time of its own, and for each pair of caller and
 * callee the calls and their time. Threads are functions "[comm]" that call what begins them.
 *
 * The time of a call counts where its function is entered first: with recursion, what calls say of a function adds up
 * to its time in all.
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

/* Of a frame, or of a thread: numbers nframes + root. */
struct function {
	const char *name;
	uint32_t file, object, line;
	uint32_t active; /* how many times it is on the path */
	uint64_t self_ns;
	bool written;
};

struct callgrind {
	const struct hodo_call_tree *tree;
	struct hodo_text *out;
	struct hodo_strings names, files, objects;
	bool *file_written, *object_written;
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
	uint32_t from = parent->frame == HODO_CALL_NONE ? c->root : parent->frame;

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

/* A name that is not blank: a number without a name stands for one that was written before. */
static const char *shown(struct callgrind *c, const char *name)
{
	uint32_t i = hodo_strings_add_plain(&c->names, name[strspn(name, " ")] ? name : "?");

	return i == HODO_STRINGS_NONE ? "?" : hodo_strings_at(&c->names, i);
}

static int name_functions(struct callgrind *c)
{
	const struct hodo_call_tree *t = c->tree;

	for (uint32_t i = 0; i < t->nframes; i++) {
		const struct hodo_call_frame *f = &t->frames[i];

		c->functions[i].name = f->name;
		c->functions[i].line = f->line;
		c->functions[i].file = hodo_strings_add_plain(&c->files, f->file ? f->file : "???");
		c->functions[i].object = hodo_strings_add_plain(&c->objects, f->object[0] ? f->object : "???");
	}
	for (uint32_t i = 0; i < t->nroots; i++) {
		struct function *f = &c->functions[t->nframes + i];
		char name[80] = "[";

		strncat(name, t->groups[i]->name, sizeof(name) - 3);
		strcat(name, "]");
		f->name = shown(c, name);
		f->file = hodo_strings_add_plain(&c->files, "???");
		f->object = hodo_strings_add_plain(&c->objects, "???");
	}
	for (uint32_t i = 0; i < c->nfunctions; i++)
		if (c->functions[i].file == HODO_STRINGS_NONE || c->functions[i].object == HODO_STRINGS_NONE)
			return -ENOMEM;
	c->file_written = calloc((size_t)c->files.map.n + 1, sizeof(bool));
	c->object_written = calloc((size_t)c->objects.map.n + 1, sizeof(bool));
	return c->file_written && c->object_written ? 0 : -ENOMEM;
}

/* "fn=(3) name", and without the name the next time. */
static void put_position(struct callgrind *c, const char *key, uint32_t number, const char *name, bool *written)
{
	hodo_text_add(c->out, key);
	hodo_text_bytes(c->out, "=(", 2);
	hodo_text_u64(c->out, (uint64_t)number + 1);
	hodo_text_char(c->out, ')');
	if (!*written) {
		hodo_text_char(c->out, ' ');
		hodo_text_add(c->out, name);
	}
	hodo_text_bytes(c->out, "\n", 1);
	*written = true;
}

static void put_function(struct callgrind *c, uint32_t i, bool called)
{
	struct function *f = &c->functions[i];

	put_position(c, called ? "cob" : "ob", f->object, hodo_strings_at(&c->objects, f->object),
		     &c->object_written[f->object]);
	put_position(c, called ? "cfl" : "fl", f->file, hodo_strings_at(&c->files, f->file), &c->file_written[f->file]);
	put_position(c, called ? "cfn" : "fn", i, f->written ? "" : shown(c, f->name), &f->written);
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

	hodo_text_add(c->out, "# callgrind format\nversion: 1\ncreator: hodo\n");
	if (p && hodo_read_nprocesses(e->reader) == 1) {
		hodo_text_printf(c->out, "pid: %u\n", p->pid);
		hodo_text_printf(c->out, "cmd: %s\n", shown(c, p->exe ? p->exe : ""));
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
			continue; /* a thread that did nothing that shows */
		hodo_text_bytes(c->out, "\n", 1);
		put_function(c, i, false);
		put_cost(c, f->line, f->self_ns);
		for (; arc < c->narcs && c->arcs[arc].from == i; arc++) {
			const struct arc *a = &c->arcs[arc];

			put_function(c, a->to, true);
			/* None would make the cost that of the caller itself. */
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

	hodo_strings_free(&c->names);
	hodo_strings_free(&c->files);
	hodo_strings_free(&c->objects);
	free(c->file_written);
	free(c->object_written);
	free(c->functions);
	free(c->arcs);
}

static const struct hodo_call_options options = { .group = HODO_CALL_BY_COMM, .lines = true };

const struct hodo_export_format hodo_export_callgrind = {
	.name = "callgrind",
	.suffix = "callgrind",
	.does = "who called whom, how often, how long: KCachegrind",
	.state_bytes = sizeof(struct callgrind),
	.tree = &options,
	.write = write_callgrind,
	.free = free_callgrind,
};
