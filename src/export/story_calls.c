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

/*
 * Who is inside of whom, from the order of ends and the depths: read backwards, a call is inside of the last one
 * before it with a smaller depth. Times do not tell: a thread that was preempted between reading the clock and writing
 * has its call begin and end late. Returns the first root; the others follow as siblings, all in order of time.
 */
static uint32_t make_tree(struct story_whole *w, uint32_t n, bool lossy)
{
	uint32_t root = STORY_NO_CALL, top = STORY_NO_CALL;

	for (uint32_t i = n; i-- > 0;) {
		/* Where events were lost: one that had begun later than this one ended did not call it. */
		while (top != STORY_NO_CALL &&
		       (w[top].depth >= w[i].depth || (lossy && w[top].begin_ns >= w[i].end_ns)))
			top = w[top].parent;
		w[i].parent = top;
		w[i].child = STORY_NO_CALL;
		w[i].next = top == STORY_NO_CALL ? root : w[top].child;
		*(top == STORY_NO_CALL ? &root : &w[top].child) = i;
		top = i;
	}
	return root;
}

/* Begins it, within what it is inside of and behind what came before it there. */
static bool begin_whole(struct hodo_story *s, struct story_thread *t, const struct story_whole *w, int64_t before_ns)
{
	struct story_node *outer = w->parent == STORY_NO_CALL || t->nstack == 0 ? NULL : t->stack[t->nstack - 1];
	int64_t begin_ns = w->begin_ns > before_ns ? w->begin_ns : before_ns, end_ns = w->end_ns;
	struct story_node *node;

	if (outer && end_ns > outer->slice.end_ns)
		end_ns = outer->slice.end_ns;
	if (begin_ns > end_ns)
		begin_ns = end_ns > before_ns ? end_ns : before_ns;
	node = push_call(s, t, w->function, begin_ns);
	if (!node)
		return false;
	node->slice.end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	node->slice.flags = w->flags;
	story_begin(s, node, NULL);
	return true;
}

void story_wholes(struct hodo_story *s, struct story_thread *t)
{
	uint32_t bottom = t->nstack, n = t->nwholes, i;
	int64_t before_ns = INT64_MIN;

	if (n == 0)
		return;
	t->nwholes = 0; /* an op may end the reading */
	i = make_tree(t->wholes, n, t->process->lossy);
	while (i != STORY_NO_CALL && !s->error) {
		const struct story_whole *w = &t->wholes[i];
		bool begun = begin_whole(s, t, w, before_ns);

		if (begun && w->child != STORY_NO_CALL) {
			before_ns = t->stack[t->nstack - 1]->slice.begin_ns;
			i = w->child;
			continue;
		}
		/* It and those that it was the last in. Without room for it, what is inside of it is left out too. */
		for (; i != STORY_NO_CALL && !s->error; i = t->wholes[i].parent, begun = true) {
			if (begun && t->nstack > bottom) {
				struct story_node *top = t->stack[t->nstack - 1];

				before_ns = top->slice.end_ns;
				story_pop(s, t, top, before_ns, 0, NULL);
			}
			if (t->wholes[i].next != STORY_NO_CALL) {
				i = t->wholes[i].next;
				break;
			}
		}
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
							flags, 0, 0, 0 };
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
	if (node && node->gone) {
		story_forget(s, node);
	} else if (node) {
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
