/* SPDX-License-Identifier: MIT */
/*
 * folded.c - "comm;outer;inner NANOSECONDS": a line for each path with self time, for flamegraph.pl, inferno
 * and speedscope. Threads with the same comm are merged.
 */
#define _GNU_SOURCE
#include "call_tree.h"

#include <string.h>

struct folded {
	const struct hodo_call_tree *tree;
	struct hodo_text *out;
	struct hodo_text path;
	size_t ends[HODO_CALL_DEPTH_MAX + 2]; /* of the path, by depth */
};

/* Appends a name without the separators of names and lines. */
static int append(struct folded *f, const char *name)
{
	size_t start;

	if (f->path.len)
		hodo_text_char(&f->path, ';');
	start = f->path.len;
	hodo_text_plain(&f->path, name[0] ? name : "?", name[0] ? strlen(name) : 1);
	for (size_t i = start; i < f->path.len; i++)
		if (f->path.data[i] == ';')
			f->path.data[i] = ':';
	return f->path.error;
}

static int visit(void *data, uint32_t node, bool leave)
{
	struct folded *f = data;
	const struct hodo_call_node *n = &f->tree->nodes[node];
	int err;

	if (leave)
		return f->out->error;
	f->path.len = f->ends[n->depth - 1];
	err = append(f, f->tree->frames[n->frame].name);
	f->ends[n->depth] = f->path.len;
	if (err || !n->self_ns)
		return err;
	hodo_text_bytes(f->out, f->path.data, f->path.len);
	hodo_text_char(f->out, ' ');
	hodo_text_u64(f->out, n->self_ns);
	hodo_text_bytes(f->out, "\n", 1);
	return f->out->error;
}

static int write_folded(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct folded *f = state;
	int err = 0;

	f->tree = tree;
	f->out = e->out;
	for (uint32_t i = 0; i < tree->nroots && !err; i++) {
		f->path.len = 0;
		err = append(f, tree->groups[i]->name);
		f->ends[0] = f->path.len;
		if (!err)
			err = hodo_call_tree_walk(tree, tree->roots[i], visit, f);
	}
	return err;
}

static void free_folded(void *state)
{
	hodo_text_free(&((struct folded *)state)->path);
}

const struct hodo_export_format hodo_export_folded = {
	.name = "folded",
	.suffix = "folded",
	.does = "a line for each path, with its time: flamegraph.pl, inferno",
	.state_bytes = sizeof(struct folded),
	.tree = &(const struct hodo_call_options){ .group = HODO_CALL_BY_COMM },
	.write = write_folded,
	.free = free_folded,
};
