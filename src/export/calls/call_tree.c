/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "call_tree.h"

#include <base/intern.h>
#include <base/vec.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct tree {
	struct hodo_call_tree pub; /* first */
	const struct hodo_call_options *o;
	struct hodo_timeline *timeline;
	struct hodo_symbols *symbols;
	struct hodo_map frames, nodes; /* indexes of pub's: by key; by parent and frame */
	struct hodo_strings names; /* of spans and threads */
	struct hodo_strings paths; /* of objects */
	uint32_t ordinary; /* nodes other than HODO_CALL_OTHER */
	uint64_t nslices, slices_max;
	uint32_t nodes_max;
	int64_t begin_ns; /* of the first slice */
};

#define OTHER 0ull /* key of HODO_CALL_OTHER */

/* ----------------------------------------------------------------------- frames */

/* For a function, its id doubled; for a span, an odd number from its name's. OTHER: no memory. */
static uint64_t slice_key(struct tree *t, const struct hodo_slice *slice)
{
	uint32_t name;

	if (slice->place)
		return slice->place->id << 1;
	name = hodo_strings_add_fixed(&t->names, slice->name);
	return name != HODO_STRINGS_NONE ? (uint64_t)name << 1 | 1 : OTHER;
}

/* NONE: there is no memory for it. */
static uint32_t number_of(struct tree *t, const struct hodo_read_object *object)
{
	uint32_t i = hodo_strings_add(&t->paths, object->path);

	if (i == t->pub.nobjects && hodo_vec_push(t->pub.objects, t->pub.nobjects, object) < 0)
		return HODO_CALL_NONE;
	return i;
}

static void fill_frame(struct tree *t, struct hodo_call_frame *f, const struct hodo_slice *slice)
{
	f->name = slice->name;
	f->object = "";
	if (slice->place) {
		f->kind = HODO_CALL_FUNCTION;
		f->object = slice->place->object;
		if (slice->place->mapped) {
			f->mapped = number_of(t, slice->place->mapped);
			f->address = slice->place->start - slice->place->mapped->base;
		}
		if (t->o->lines && !hodo_symbols_line(t->symbols, slice->track->process, slice->begin_ns,
						      slice->place->start, &f->file, &f->line))
			f->file = NULL;
	} else if (slice->cls) {
		f->object = slice->cls->object;
		f->file = slice->cls->file[0] ? slice->cls->file : NULL;
		f->line = slice->cls->line;
	}
}

/* slice: NULL for HODO_CALL_OTHER. NONE: no memory. */
static uint32_t frame_of(struct tree *t, uint64_t key, const struct hodo_slice *slice)
{
	bool is_new;
	struct hodo_call_frame *f = hodo_map_add_u64(&t->frames, key, &is_new);

	if (!f)
		return HODO_CALL_NONE;
	t->pub.frames = t->frames.entries;
	t->pub.nframes = t->frames.n;
	if (is_new) {
		*f = (struct hodo_call_frame){ .key = key, .kind = slice ? HODO_CALL_SPAN : HODO_CALL_OTHER,
					       .name = "[other]", .object = "", .mapped = HODO_CALL_NONE };
		if (slice)
			fill_frame(t, f, slice);
	}
	return (uint32_t)(f - t->pub.frames);
}

/* ------------------------------------------------------------------------ nodes */

/* Adds a node unless it exists. NONE: no memory. */
static uint32_t add_node(struct tree *t, uint32_t parent, uint32_t frame)
{
	const struct hodo_call_node path = { .parent = parent, .frame = frame };
	bool is_new;
	struct hodo_call_node *n = hodo_map_add_u64(&t->nodes, path.key, &is_new);

	if (!n)
		return HODO_CALL_NONE;
	t->pub.nodes = t->nodes.entries;
	t->pub.nnodes = t->nodes.n;
	if (is_new) {
		n->child = n->next = HODO_CALL_NONE;
		n->depth = parent == HODO_CALL_NONE ? 0 : t->pub.nodes[parent].depth + 1;
	}
	return (uint32_t)(n - t->pub.nodes);
}

/* NONE: not yet. During reading, a node's child is the last one found, which is usually also the next. */
static uint32_t find_node(struct tree *t, uint32_t parent, uint64_t key)
{
	uint32_t *child = &t->pub.nodes[parent].child;
	struct hodo_call_node path = { .parent = parent };
	const struct hodo_call_frame *frame;
	const struct hodo_call_node *node;

	if (*child != HODO_CALL_NONE && t->pub.frames[t->pub.nodes[*child].frame].key == key)
		return *child;
	frame = hodo_map_find_u64(&t->frames, key);
	path.frame = frame ? (uint32_t)(frame - t->pub.frames) : 0;
	node = frame ? hodo_map_find_u64(&t->nodes, path.key) : NULL;
	return node ? *child = (uint32_t)(node - t->pub.nodes) : HODO_CALL_NONE;
}

static bool is_other(const struct tree *t, uint32_t node)
{
	const struct hodo_call_node *n = &t->pub.nodes[node];

	return n->parent != HODO_CALL_NONE && t->pub.frames[n->frame].kind == HODO_CALL_OTHER;
}

/* NONE: no memory. */
static uint32_t node_of(struct tree *t, uint32_t parent, const struct hodo_slice *slice)
{
	uint64_t key = slice_key(t, slice);
	uint32_t node, frame;

	if (is_other(t, parent))
		return parent;
	if (key == OTHER)
		return HODO_CALL_NONE;
	node = find_node(t, parent, key);
	if (node != HODO_CALL_NONE)
		return node;
	if (t->pub.nodes[parent].depth >= HODO_CALL_DEPTH_MAX || t->ordinary >= t->nodes_max) {
		slice = NULL;
		key = OTHER;
	}
	frame = frame_of(t, key, slice);
	if (frame == HODO_CALL_NONE)
		return HODO_CALL_NONE;
	t->ordinary += slice != NULL;
	return add_node(t, parent, frame);
}

/* ---------------------------------------------------------------------- threads */

/* The node, or NONE: no memory. */
static uint32_t root_of(struct tree *t, const struct hodo_track *track)
{
	uint32_t key = t->o->group == HODO_CALL_BY_COMM ? hodo_strings_add(&t->names, track->name) : track->id;
	uint32_t have = t->pub.nnodes, root = key == HODO_STRINGS_NONE ? key : add_node(t, HODO_CALL_NONE, key);
	uint32_t n = t->pub.nroots;

	if (root < have || root == HODO_CALL_NONE)
		return root;
	return hodo_vec_push(t->pub.groups, n, track) < 0 || hodo_vec_push(t->pub.roots, t->pub.nroots, root) < 0
		       ? HODO_CALL_NONE : root;
}

static int on_track(void *data, struct hodo_track *track)
{
	struct tree *t = data;
	struct hodo_call_thread *thread, **place;

	if (track->kind != HODO_TRACK_THREAD)
		return t->o->also.track ? t->o->also.track(t->o->data, track) : 0;
	thread = calloc(1, sizeof(*thread));
	place = thread ? hodo_vec_add(t->pub.threads, t->pub.nthreads) : NULL;
	if (!place) {
		free(thread);
		return -ENOMEM;
	}
	*place = thread;
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
	if (hodo_vec_reserve(thread->slices, thread->room, thread->nslices + 1) < 0)
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
	/* Late calls may begin before the first event. */
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
	t->pub.end_lost += slice->flags & HODO_SLICE_END_LOST ? 1 : 0;
	n->self_ns += slice->self_ns;
	/* Inside HODO_CALL_OTHER everything is HODO_CALL_OTHER. */
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

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	struct tree *t = data;

	return t->o->also.loss(t->o->data, loss);
}

/* --------------------------------------------------------------------------- all */

static void link_children(struct hodo_call_tree *tree)
{
	for (uint32_t i = 0; i < tree->nnodes; i++)
		tree->nodes[i].child = HODO_CALL_NONE;
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
	const struct hodo_timeline_ops ops = { .track = on_track, .begin = on_begin, .end = on_end,
					       .instant = on_instant, .counter = on_counter,
					       .loss = options->also.loss ? on_loss : NULL };
	struct tree *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	*tree = NULL;
	if (!t)
		return err;
	t->frames = (struct hodo_map)HODO_MAP(struct hodo_call_frame, key);
	t->nodes = (struct hodo_map)HODO_MAP(struct hodo_call_node, key);
	t->o = options;
	t->symbols = e->symbols;
	t->pub.whole = options->slices;
	t->nodes_max = options->nodes_max ? options->nodes_max : HODO_CALL_NODES_MAX;
	t->slices_max = options->slices_max ? options->slices_max : HODO_CALL_SLICES_MAX;
	t->begin_ns = INT64_MAX;
	t->timeline = hodo_timeline_new(e->reader, hodo_symbols_places(e->symbols), &ops, t);
	if (t->timeline)
		err = hodo_timeline_read(t->timeline, e->since_ns, e->until_ns);
	if (err) {
		hodo_call_tree_free(&t->pub);
		return err;
	}
	hodo_timeline_totals(t->timeline, &t->pub.totals);
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
	free(t->pub.objects);
	hodo_map_free(&t->frames);
	hodo_map_free(&t->nodes);
	hodo_strings_free(&t->names);
	hodo_strings_free(&t->paths);
	/* The timeline owns the names of spans and threads. */
	hodo_timeline_free(t->timeline);
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

/* ----------------------------------------------------------- slices, one by one */

/* By begin; of those that begin together, outer ones first, then in order of arrival. */
static int by_begin(const void *a, const void *b)
{
	const struct hodo_call_slice *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

struct walk {
	struct hodo_call_thread *thread;
	int (*op)(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin);
	void *data;
	uint32_t *open; /* indices */
	uint32_t nopen, room;
};

/* Whether the slice begun last is over when s begins. */
static bool is_over(const struct walk *w, const struct hodo_call_slice *s)
{
	const struct hodo_call_slice *top = &w->thread->slices[w->open[w->nopen - 1]];

	if (top->end_ns != s->begin_ns)
		return top->end_ns < s->begin_ns;
	/* A slice without duration may be at its very end. */
	return w->thread->unsorted || s->depth <= top->depth;
}

static int close_top(struct walk *w)
{
	const struct hodo_call_slice *s = &w->thread->slices[w->open[--w->nopen]];

	return w->op(w->data, s->end_ns, s, false);
}

int hodo_call_thread_walk(struct hodo_call_thread *thread,
			  int (*op)(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin),
			  void *data)
{
	struct walk w = { .thread = thread, .op = op, .data = data };
	int err = 0;

	if (thread->unsorted)
		qsort(thread->slices, thread->nslices, sizeof(*thread->slices), by_begin);
	for (uint32_t i = 0; i < thread->nslices && !err; i++) {
		struct hodo_call_slice *s = &thread->slices[i];

		while (!err && w.nopen > 0 && is_over(&w, s))
			err = close_top(&w);
		/* Late calls may overlap with spans. */
		if (w.nopen > 0 && s->end_ns > thread->slices[w.open[w.nopen - 1]].end_ns)
			s->end_ns = thread->slices[w.open[w.nopen - 1]].end_ns;
		if (s->end_ns < s->begin_ns)
			s->end_ns = s->begin_ns;
		if (!err && hodo_vec_reserve(w.open, w.room, w.nopen + 1) < 0)
			err = -ENOMEM;
		if (err)
			break;
		w.open[w.nopen++] = i;
		err = op(data, s->begin_ns, s, true);
	}
	while (!err && w.nopen > 0)
		err = close_top(&w);
	free(w.open);
	return err;
}

void hodo_call_build_id(const struct hodo_read_object *object, char text[HODO_CALL_BUILD_ID_TEXT])
{
	uint32_t len = object->build_id_len < sizeof(object->build_id) ? object->build_id_len
								       : (uint32_t)sizeof(object->build_id);

	*hodo_format_bytes(text, object->build_id, len) = 0;
}

static void add_text(char *text, size_t bytes, size_t *len, uint64_t n, const char *one, const char *many)
{
	if (n > 0 && *len < bytes)
		*len += (size_t)snprintf(text + *len, bytes - *len, "%s%llu %s", *len ? ", " : "",
					 (unsigned long long)n, n == 1 ? one : many);
}

void hodo_call_tree_warn(const struct hodo_call_tree *tree, const struct hodo_export *e, const char *format)
{
	char text[256] = "", line[512];
	size_t len = 0;

	if (!e->warn)
		return;
	if (tree->totals.slices == tree->async + tree->running)
		e->warn("the recording has no spans and no calls of functions, of which profiles are made: "
			"record with --functions, or see --to perfetto");
	add_text(text, sizeof(text), &len, tree->instants, "event or mark", "events and marks");
	add_text(text, sizeof(text), &len, tree->values, "value of a counter", "values of counters");
	add_text(text, sizeof(text), &len, tree->async, "span paired by its id", "spans paired by their ids");
	add_text(text, sizeof(text), &len, tree->running, "time on a CPU", "times on CPUs");
	if (len > 0) {
		snprintf(line, sizeof(line), "%s has no place for %s: --to perfetto shows them", format, text);
		e->warn(line);
	}
	len = 0;
	add_text(text, sizeof(text), &len, tree->end_lost, "call or span has", "calls and spans have");
	if (len > 0) {
		snprintf(line, sizeof(line), "%s lost the end: the time lasts until that was noticed, and may be too long",
			 text);
		e->warn(line);
	}
	len = 0;
	add_text(text, sizeof(text), &len, tree->deep, "call is too deep", "calls are too deep");
	add_text(text, sizeof(text), &len, tree->many, "call is on one path too many", "calls are on too many paths");
	if (len > 0) {
		snprintf(line, sizeof(line), "%s: their time is in [other]; --since and --until reduce it",
			 text);
		e->warn(line);
	}
}
