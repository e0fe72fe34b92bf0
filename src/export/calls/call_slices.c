/* SPDX-License-Identifier: MIT */
/* call_slices.c - walks the slices of a call tree one by one, and warns of what it does not hold. */
#define _GNU_SOURCE
#include "call_tree.h"

#include <base/vec.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
