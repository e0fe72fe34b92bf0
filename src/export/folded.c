/* SPDX-License-Identifier: MIT */
/*
 * folded.c - "comm;outer;inner NANOSECONDS": a line for each path with time of its own, as flamegraph.pl, inferno and
 * speedscope read it. Threads of one comm are one.
 */
#define _GNU_SOURCE
#include "call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct folded {
	const struct hodo_call_tree *tree;
	struct hodo_export_out *out;
	struct hodo_read_text *name;
	char *path;
	size_t len, room;
	size_t ends[HODO_CALL_DEPTH_MAX + 2]; /* of the path, by depth */
};

/* Appends a name: without what separates names, and lines. */
static int append(struct folded *f, const char *name)
{
	const char *plain;
	size_t len;

	hodo_read_text_clear(f->name);
	if (hodo_read_text_plain(f->name, name[0] ? name : "?", name[0] ? strlen(name) : 1) < 0)
		return -ENOMEM;
	plain = hodo_read_text_data(f->name, &len);
	if (f->len + len + 1 > f->room) {
		size_t room = 2 * (f->len + len + 1);
		char *more = realloc(f->path, room);

		if (!more)
			return -ENOMEM;
		f->path = more;
		f->room = room;
	}
	if (f->len)
		f->path[f->len++] = ';';
	for (size_t i = 0; i < len; i++)
		f->path[f->len++] = plain[i] == ';' ? ':' : plain[i];
	return 0;
}

static int visit(void *data, uint32_t node, bool leave)
{
	struct folded *f = data;
	const struct hodo_call_node *n = &f->tree->nodes[node];
	int err;

	if (leave)
		return f->out->error;
	f->len = f->ends[n->depth - 1];
	err = append(f, f->tree->frames[n->frame].name);
	f->ends[n->depth] = f->len;
	if (err || !n->self_ns)
		return err;
	hodo_export_put(f->out, f->path, f->len);
	hodo_export_put(f->out, " ", 1);
	hodo_export_put_u64(f->out, n->self_ns);
	hodo_export_put(f->out, "\n", 1);
	return f->out->error;
}

static int run(struct hodo_export *e)
{
	struct hodo_call_options o = { .group = HODO_CALL_BY_COMM };
	struct hodo_call_tree *tree;
	struct folded *f;
	int err = hodo_call_tree_read(&tree, e, &o);

	if (err)
		return err;
	f = calloc(1, sizeof(*f));
	if (f)
		f->name = hodo_read_text_new();
	err = f && f->name ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < tree->nroots && !err; i++) {
		f->tree = tree;
		f->out = e->out;
		f->len = 0;
		err = append(f, tree->groups[i]->name);
		f->ends[0] = f->len;
		if (!err)
			err = hodo_call_tree_walk(tree, tree->roots[i], visit, f);
	}
	if (!err)
		hodo_call_tree_tell(tree, e, "folded");
	if (f) {
		hodo_read_text_free(f->name);
		free(f->path);
	}
	free(f);
	hodo_call_tree_free(tree);
	return err;
}

const struct hodo_export_format hodo_export_folded = {
	.name = "folded",
	.suffix = "folded",
	.does = "a line for each path, with its time: flamegraph.pl, inferno",
	.run = run,
};
