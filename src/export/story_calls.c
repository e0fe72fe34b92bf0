/* SPDX-License-Identifier: MIT */
/*
 * story_calls.c - calls of functions as slices. Of calls that are known at their end only, inner ones come before those
 * that they are inside of: they are kept until the outermost has come, or many are there, and then told in order.
 */
#define _GNU_SOURCE
#include "story_impl.h"

#include <errno.h>
#include <stdlib.h>

#define WHOLES_MAX (1u << 16) /* of a thread */

static struct story_thread *thread_of(struct hodo_story *s, const struct hodo_read_call *call)
{
	struct story_process *p = story_process(s, call->process);

	return p ? story_thread(s, p, call->process->pid, call->tid, call->comm) : NULL;
}

static struct story_node *push_call(struct hodo_story *s, struct story_thread *t, uint64_t function, int64_t begin_ns)
{
	struct story_node *node = story_push(s, t, HODO_SLICE_CALL, NULL, begin_ns);

	if (!node)
		return NULL;
	hodo_symbols_find(s->symbols, t->process->pub, begin_ns, function, &node->place);
	node->slice.place = &node->place;
	node->slice.name = node->place.name;
	return node;
}

/* By begin; of those that begin together, outer ones first. */
static int by_begin(const void *a, const void *b)
{
	const struct story_whole *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

void story_wholes(struct hodo_story *s, struct story_thread *t)
{
	uint32_t bottom = t->nstack, n = t->nwholes;

	if (n == 0)
		return;
	t->nwholes = 0; /* an op may end the reading */
	qsort(t->wholes, n, sizeof(*t->wholes), by_begin);
	for (uint32_t i = 0; i < n && !s->error; i++) {
		const struct story_whole *w = &t->wholes[i];
		struct story_node *node;

		while (t->nstack > bottom && t->stack[t->nstack - 1]->slice.end_ns <= w->begin_ns)
			story_pop(s, t, t->stack[t->nstack - 1], t->stack[t->nstack - 1]->slice.end_ns, 0, NULL);
		node = push_call(s, t, w->function, w->begin_ns);
		if (!node)
			continue;
		/* Within what it is inside of, also where clocks of two CPUs differ. */
		node->slice.end_ns = w->end_ns;
		if (t->nstack > bottom + 1 && t->stack[t->nstack - 2]->slice.end_ns < w->end_ns)
			node->slice.end_ns = t->stack[t->nstack - 2]->slice.end_ns;
		node->slice.flags = w->flags;
		story_begin(s, node, NULL);
	}
	while (t->nstack > bottom)
		story_pop(s, t, t->stack[t->nstack - 1], t->stack[t->nstack - 1]->slice.end_ns, 0, NULL);
}

static void keep_whole(struct hodo_story *s, struct story_thread *t, const struct hodo_read_call *call, uint32_t flags)
{
	if (t->nwholes == t->wholes_room) {
		uint32_t room = t->wholes_room ? t->wholes_room * 2 : 64;
		struct story_whole *more = realloc(t->wholes, room * sizeof(*more));

		if (!more) {
			story_fail(s, -ENOMEM);
			return;
		}
		t->wholes = more;
		t->wholes_room = room;
	}
	t->wholes[t->nwholes++] = (struct story_whole){ call->entry_ns, call->end_ns, call->function, call->depth,
							flags };
	if (call->depth == 0 || t->nwholes == WHOLES_MAX)
		story_wholes(s, t);
}

static void enter(void *data, struct hodo_read_call *call)
{
	struct hodo_story *s = data;
	struct story_thread *t;
	struct story_node *node;

	call->user = 0;
	if (s->error || (call->flags & HODO_READ_CALL_WHOLE))
		return;
	t = thread_of(s, call);
	node = t ? push_call(s, t, call->function, call->entry_ns) : NULL;
	if (!node)
		return;
	node->slice.cls = s->event ? s->event->cls : NULL;
	call->user = (uint64_t)(uintptr_t)node;
	t->told_ns = call->entry_ns;
	story_begin(s, node, s->event);
	if (call->flags & HODO_READ_CALL_NO_EXIT) {
		call->user = 0;
		story_pop(s, t, node, call->entry_ns, HODO_SLICE_NO_EXIT, NULL);
	}
}

static void leave(void *data, const struct hodo_read_call *call)
{
	struct hodo_story *s = data;
	struct story_thread *t;
	struct story_node *node = (struct story_node *)(uintptr_t)call->user;
	uint32_t flags = (call->flags & HODO_READ_CALL_LEFT ? HODO_SLICE_LEFT : 0) |
			 (call->flags & HODO_READ_CALL_OPEN ? HODO_SLICE_OPEN : 0);

	if (s->error)
		return;
	if (node) {
		t = (struct story_thread *)node->slice.track; /* its first member */
		/* That a call was left is known later than it was. */
		story_pop(s, t, node, call->end_ns > t->told_ns ? call->end_ns : t->told_ns, flags,
			  flags & HODO_SLICE_OPEN ? NULL : s->event);
		t->told_ns = call->end_ns > t->told_ns ? call->end_ns : t->told_ns;
	} else if (call->flags & HODO_READ_CALL_WHOLE) {
		t = thread_of(s, call);
		if (t)
			keep_whole(s, t, call, flags);
	}
}

static bool is_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct hodo_story *s = data;

	return hodo_function_same(s->symbols, process, ts_ns, a, b);
}

int story_calls_open(struct hodo_story *s)
{
	const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = enter, .leave = leave, .same = is_same };

	s->calls = hodo_read_calls_new(&ops, s);
	return s->calls ? 0 : -ENOMEM;
}
