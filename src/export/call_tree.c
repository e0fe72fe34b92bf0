/* SPDX-License-Identifier: MIT */
/* call_tree.c - see call_tree.h. */
#define _GNU_SOURCE
#include "call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 1024u /* keys of spans' names that are kept */

struct table {
	uint32_t *slots; /* index + 1; 0: free */
	uint32_t mask, n;
};

struct tree {
	struct hodo_call_tree pub; /* first */
	const struct hodo_call_options *o;
	struct hodo_story *story;
	struct hodo_symbols *symbols;
	struct table frame_table, node_table, root_table;
	uint32_t frames_room, nodes_room, threads_room, roots_room, ordinary;
	uint64_t nslices, slices_max;
	uint32_t nodes_max;
	int64_t begin_ns; /* of the first slice */
	struct {
		const char *name;
		uint64_t key;
	} names[NAMES];
};

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	return h ^ h >> 32;
}

static uint64_t text_key(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return mix(h);
}

/* Room for one more in an array. */
static bool room(void **array, uint32_t *have, uint32_t n, size_t bytes)
{
	uint32_t more = *have ? *have * 2 : 64;
	void *grown;

	if (n < *have)
		return true;
	grown = reallocarray(*array, more, bytes);
	if (!grown)
		return false;
	*array = grown;
	*have = more;
	return true;
}

/* Room for one more in a table; hash: of the i-th. */
static bool spread(struct tree *t, struct table *table, uint64_t (*hash)(const struct tree *t, uint32_t i))
{
	uint32_t mask = table->slots ? table->mask * 2 + 1 : 255, *slots;

	if (table->slots && table->n <= table->mask / 2)
		return true;
	slots = calloc((size_t)mask + 1, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; table->slots && i <= table->mask; i++) {
		uint64_t h = table->slots[i] ? hash(t, table->slots[i] - 1) : 0;

		if (!table->slots[i])
			continue;
		while (slots[h & mask])
			h++;
		slots[h & mask] = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->mask = mask;
	return true;
}

/* ----------------------------------------------------------------------- frames */

static uint64_t frame_hash(const struct tree *t, uint32_t i)
{
	return mix(t->pub.frames[i].key);
}

static uint64_t slice_key(struct tree *t, const struct hodo_slice *slice)
{
	uint32_t i;

	if (slice->place)
		return slice->place->id;
	i = (uint32_t)mix((uintptr_t)slice->name) & (NAMES - 1);
	if (t->names[i].name != slice->name) {
		t->names[i].name = slice->name;
		t->names[i].key = text_key(slice->name);
	}
	return t->names[i].key;
}

static void fill_frame(struct tree *t, struct hodo_call_frame *f, const struct hodo_slice *slice)
{
	f->name = slice->name;
	f->object = "";
	if (slice->place) {
		f->kind = HODO_CALL_FUNCTION;
		f->object = slice->place->object;
		f->process = slice->track->process;
		f->start = slice->place->start;
		f->ts_ns = slice->begin_ns;
		if (t->o->lines && !hodo_symbols_line(t->symbols, f->process, f->ts_ns, f->start, &f->file, &f->line))
			f->file = NULL;
	} else if (slice->cls) {
		f->object = slice->cls->object;
		f->file = slice->cls->file[0] ? slice->cls->file : NULL;
		f->line = slice->cls->line;
	}
}

/* slice: NULL for what has no place of its own. NONE: no memory. */
static uint32_t frame_of(struct tree *t, uint64_t key, const struct hodo_slice *slice)
{
	struct hodo_call_frame *f;
	uint64_t h = mix(key);

	if (!spread(t, &t->frame_table, frame_hash) ||
	    !room((void **)&t->pub.frames, &t->frames_room, t->pub.nframes, sizeof(*f)))
		return HODO_CALL_NONE;
	for (uint32_t i; (i = t->frame_table.slots[h & t->frame_table.mask]) != 0; h++)
		if (t->pub.frames[i - 1].key == key)
			return i - 1;
	f = &t->pub.frames[t->pub.nframes];
	*f = (struct hodo_call_frame){ .key = key, .kind = HODO_CALL_SPAN, .name = "[other]", .object = "" };
	if (slice)
		fill_frame(t, f, slice);
	else
		f->kind = HODO_CALL_OTHER;
	t->frame_table.slots[h & t->frame_table.mask] = ++t->pub.nframes;
	t->frame_table.n++;
	return t->pub.nframes - 1;
}

/* ------------------------------------------------------------------------ nodes */

static uint64_t path_hash(uint32_t parent, uint64_t key)
{
	return mix(key ^ (uint64_t)(parent + 1) * 0x9e3779b97f4a7c15ull);
}

static uint64_t node_hash(const struct tree *t, uint32_t i)
{
	const struct hodo_call_node *n = &t->pub.nodes[i];

	return path_hash(n->parent, t->pub.frames[n->frame].key);
}

static uint32_t add_node(struct tree *t, uint32_t parent, uint32_t frame)
{
	struct hodo_call_node *n;

	if (!room((void **)&t->pub.nodes, &t->nodes_room, t->pub.nnodes, sizeof(*n)))
		return HODO_CALL_NONE;
	n = &t->pub.nodes[t->pub.nnodes];
	*n = (struct hodo_call_node){ .parent = parent, .frame = frame, .child = HODO_CALL_NONE,
				      .next = HODO_CALL_NONE };
	if (parent != HODO_CALL_NONE)
		n->depth = t->pub.nodes[parent].depth + 1;
	return t->pub.nnodes++;
}

static uint32_t find_node(const struct tree *t, uint32_t parent, uint64_t key, uint64_t *hash)
{
	for (uint32_t i; (i = t->node_table.slots[*hash & t->node_table.mask]) != 0; (*hash)++)
		if (t->pub.nodes[i - 1].parent == parent && t->pub.frames[t->pub.nodes[i - 1].frame].key == key)
			return i - 1;
	return HODO_CALL_NONE;
}

static bool is_other(const struct tree *t, uint32_t node)
{
	uint32_t frame = t->pub.nodes[node].frame;

	return frame != HODO_CALL_NONE && t->pub.frames[frame].kind == HODO_CALL_OTHER;
}

/* NONE: no memory. */
static uint32_t node_of(struct tree *t, uint32_t parent, const struct hodo_slice *slice)
{
	uint64_t key = slice_key(t, slice), hash = path_hash(parent, key);
	uint32_t node, frame;

	if (is_other(t, parent))
		return parent;
	if (!spread(t, &t->node_table, node_hash))
		return HODO_CALL_NONE;
	node = find_node(t, parent, key, &hash);
	if (node != HODO_CALL_NONE)
		return node;
	if (t->pub.nodes[parent].depth >= HODO_CALL_DEPTH_MAX || t->ordinary >= t->nodes_max) {
		slice = NULL;
		key = 0;
		hash = path_hash(parent, 0);
		node = find_node(t, parent, 0, &hash);
		if (node != HODO_CALL_NONE)
			return node;
	}
	frame = frame_of(t, key, slice);
	node = frame == HODO_CALL_NONE ? HODO_CALL_NONE : add_node(t, parent, frame);
	if (node == HODO_CALL_NONE)
		return node;
	t->ordinary += slice != NULL;
	t->node_table.slots[hash & t->node_table.mask] = node + 1;
	t->node_table.n++;
	return node;
}

/* ---------------------------------------------------------------------- threads */

static uint64_t root_key(const struct tree *t, const struct hodo_track *track)
{
	return t->o->group == HODO_CALL_BY_COMM ? text_key(track->name) : (uint64_t)track->id;
}

static uint64_t root_hash(const struct tree *t, uint32_t i)
{
	return mix(root_key(t, t->pub.groups[i]));
}

/* The node, or NONE: no memory. */
static uint32_t root_of(struct tree *t, const struct hodo_track *track)
{
	uint64_t key = root_key(t, track), h = mix(key);
	uint32_t have = t->roots_room, node;

	if (!spread(t, &t->root_table, root_hash) ||
	    !room((void **)&t->pub.groups, &have, t->pub.nroots, sizeof(*t->pub.groups)) ||
	    !room((void **)&t->pub.roots, &t->roots_room, t->pub.nroots, sizeof(*t->pub.roots)))
		return HODO_CALL_NONE;
	for (uint32_t i; (i = t->root_table.slots[h & t->root_table.mask]) != 0; h++)
		if (root_key(t, t->pub.groups[i - 1]) == key)
			return t->pub.roots[i - 1];
	node = add_node(t, HODO_CALL_NONE, HODO_CALL_NONE);
	if (node == HODO_CALL_NONE)
		return node;
	t->pub.groups[t->pub.nroots] = track;
	t->pub.roots[t->pub.nroots] = node;
	t->root_table.slots[h & t->root_table.mask] = ++t->pub.nroots;
	t->root_table.n++;
	return node;
}

static int on_track(void *data, struct hodo_track *track)
{
	struct tree *t = data;
	struct hodo_call_thread *thread;

	if (track->kind != HODO_TRACK_THREAD)
		return t->o->also.track ? t->o->also.track(t->o->data, track) : 0;
	if (!room((void **)&t->pub.threads, &t->threads_room, t->pub.nthreads, sizeof(*t->pub.threads)))
		return -ENOMEM;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	t->pub.threads[t->pub.nthreads++] = thread;
	track->user = thread;
	thread->track = track;
	thread->root = root_of(t, track);
	return thread->root == HODO_CALL_NONE ? -ENOMEM : 0;
}

/* ----------------------------------------------------------------------- slices */

/* A slice's user: its node, and in the upper half its index among those kept, or NONE. */
static void *slice_user(uint32_t node, uint32_t index)
{
	return (void *)(uintptr_t)((uint64_t)index << 32 | node);
}

static void drop_slices(struct tree *t)
{
	t->pub.whole = false;
	for (uint32_t i = 0; i < t->pub.nthreads; i++) {
		struct hodo_call_thread *thread = t->pub.threads[i];

		free(thread->slices);
		thread->slices = NULL;
		thread->nslices = thread->room = 0;
	}
}

static int keep_slice(struct tree *t, struct hodo_call_thread *thread, const struct hodo_slice *slice,
		      const struct hodo_read_event *event, uint32_t node)
{
	struct hodo_call_slice *kept;

	if (++t->nslices > t->slices_max) {
		drop_slices(t);
		return 0;
	}
	if (!room((void **)&thread->slices, &thread->room, thread->nslices, sizeof(*kept)))
		return -ENOMEM;
	kept = &thread->slices[thread->nslices];
	*kept = (struct hodo_call_slice){ .begin_ns = slice->begin_ns, .end_ns = INT64_MIN, .node = node,
					  .depth = (uint16_t)slice->depth, .span = !slice->place };
	if (thread->nslices > 0 && kept[-1].begin_ns > kept->begin_ns)
		thread->unsorted = true;
	thread->nslices++;
	return t->o->extra ? t->o->extra(t->o->data, slice, event, &kept->extra) : 0;
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct tree *t = data;
	struct hodo_call_thread *thread;
	uint32_t parent, node, index = HODO_CALL_NONE;
	int err = 0;

	if (slice->track->kind != HODO_TRACK_THREAD) {
		t->pub.async += slice->kind == HODO_SLICE_ASYNC;
		t->pub.running += slice->kind == HODO_SLICE_RUNNING;
		return t->o->also.begin ? t->o->also.begin(t->o->data, slice, event) : 0;
	}
	/* Calls that are known at their end only may begin before the first event. */
	if (slice->begin_ns < t->begin_ns)
		t->begin_ns = slice->begin_ns;
	thread = slice->track->user;
	parent = slice->parent ? (uint32_t)(uintptr_t)slice->parent->user : thread->root;
	node = node_of(t, parent, slice);
	if (node == HODO_CALL_NONE)
		return -ENOMEM;
	if (is_other(t, node)) {
		if (t->pub.nodes[node].depth > HODO_CALL_DEPTH_MAX)
			t->pub.deep++;
		else
			t->pub.many++;
	}
	if (!(slice->flags & HODO_SLICE_CONTINUED)) {
		t->pub.nodes[node].calls++;
		thread->total++;
	}
	if (t->pub.whole) {
		index = thread->nslices;
		err = keep_slice(t, thread, slice, event, node);
	}
	slice->user = slice_user(node, index);
	return err;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct tree *t = data;
	struct hodo_call_thread *thread;
	struct hodo_call_node *n;
	uint32_t node, index;

	if (slice->track->kind != HODO_TRACK_THREAD)
		return t->o->also.end ? t->o->also.end(t->o->data, slice, event) : 0;
	thread = slice->track->user;
	node = (uint32_t)(uintptr_t)slice->user;
	index = (uint32_t)((uintptr_t)slice->user >> 32);
	n = &t->pub.nodes[node];
	n->self_ns += slice->self_ns;
	/* Within what has no place of its own lies more of the same. */
	if (!slice->parent || (uint32_t)(uintptr_t)slice->parent->user != node)
		n->total_ns += (uint64_t)(slice->end_ns - slice->begin_ns);
	if (index < thread->nslices)
		thread->slices[index].end_ns = slice->end_ns;
	return 0;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct tree *t = data;

	t->pub.instants++;
	return t->o->also.instant ? t->o->also.instant(t->o->data, track, event, depth) : 0;
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct tree *t = data;

	t->pub.values++;
	return t->o->also.counter ? t->o->also.counter(t->o->data, track, event, value) : 0;
}

/* ------------------------------------------------------------------------- whole */

static void link_children(struct hodo_call_tree *tree)
{
	for (uint32_t i = tree->nnodes; i-- > 0;) {
		struct hodo_call_node *n = &tree->nodes[i], *parent;

		if (n->parent == HODO_CALL_NONE)
			continue;
		parent = &tree->nodes[n->parent];
		n->next = parent->child;
		parent->child = i;
	}
}

int hodo_call_tree_read(struct hodo_call_tree **tree, struct hodo_export *e, const struct hodo_call_options *options)
{
	static const struct hodo_story_ops ops = { .track = on_track, .begin = on_begin, .end = on_end,
						   .instant = on_instant, .counter = on_counter };
	struct tree *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	*tree = NULL;
	if (!t)
		return err;
	t->o = options;
	t->symbols = e->symbols;
	t->pub.whole = options->slices;
	t->nodes_max = options->nodes_max ? options->nodes_max : HODO_CALL_NODES_MAX;
	t->slices_max = options->slices_max ? options->slices_max : HODO_CALL_SLICES_MAX;
	t->begin_ns = INT64_MAX;
	t->story = hodo_story_new(e->reader, e->symbols, &ops, t);
	if (t->story)
		err = hodo_story_read(t->story);
	if (err) {
		hodo_call_tree_free(&t->pub);
		return err;
	}
	hodo_story_totals(t->story, &t->pub.totals);
	if (t->begin_ns < t->pub.totals.begin_ns)
		t->pub.totals.begin_ns = t->begin_ns;
	link_children(&t->pub);
	*tree = &t->pub;
	return 0;
}

void hodo_call_tree_free(struct hodo_call_tree *tree)
{
	struct tree *t = (struct tree *)tree;

	if (!t)
		return;
	drop_slices(t);
	for (uint32_t i = 0; i < t->pub.nthreads; i++)
		free(t->pub.threads[i]);
	free(t->pub.threads);
	free(t->pub.groups);
	free(t->pub.roots);
	free(t->pub.nodes);
	free(t->pub.frames);
	free(t->frame_table.slots);
	free(t->node_table.slots);
	free(t->root_table.slots);
	/* The names of spans and threads are the story's. */
	hodo_story_free(t->story);
	free(t);
}

int hodo_call_tree_walk(const struct hodo_call_tree *tree, uint32_t root,
			int (*visit)(void *data, uint32_t node, bool leave), void *data)
{
	uint32_t at = tree->nodes[root].child;
	int err = 0;

	while (at != HODO_CALL_NONE && !err) {
		const struct hodo_call_node *n = &tree->nodes[at];

		err = visit(data, at, false);
		if (n->child != HODO_CALL_NONE) {
			at = n->child;
			continue;
		}
		while (!err) {
			err = visit(data, at, true);
			if (tree->nodes[at].next != HODO_CALL_NONE || tree->nodes[at].parent == root)
				break;
			at = tree->nodes[at].parent;
		}
		at = tree->nodes[at].next;
	}
	return err;
}
