/* SPDX-License-Identifier: MIT */
/* complete_calls.c - see complete_calls.h. */
#include "complete_calls.h"

#include <stdlib.h>

#include <base/vec.h>

#define NONE UINT32_MAX

struct hodo_complete_call {
	struct hodo_read_call call;
	int64_t first_ns; /* the earliest entry of it and the calls inside it */
	uint32_t parent, child, next;
};

bool hodo_complete_calls_keep(struct hodo_complete_calls *kept, const struct hodo_read_call *call)
{
	if (hodo_vec_reserve(kept->calls, kept->room, kept->n + 1) < 0)
		return false;
	kept->calls[kept->n++].call = *call;
	return true;
}

static bool is_inside(const struct hodo_read_call *call, const struct hodo_read_call *outer)
{
	return hodo_complete_inside(call->process, call->end_ns, outer->entry_ns, outer->end_ns);
}

/*
 * Builds the tree from the order of ends and the depths: read backwards, a call is inside the last one before
 * it with a smaller depth. Returns the first root; the others follow as siblings, all in order of time.
 */
static uint32_t make_tree(struct hodo_complete_call *c, uint32_t n)
{
	uint32_t root = NONE, top = NONE;

	for (uint32_t i = n; i-- > 0;) {
		while (top != NONE && (c[top].call.depth >= c[i].call.depth || !is_inside(&c[i].call, &c[top].call)))
			top = c[top].parent;
		c[i].parent = top;
		c[i].child = NONE;
		c[i].next = top == NONE ? root : c[top].child;
		*(top == NONE ? &root : &c[top].child) = i;
		c[i].first_ns = c[i].call.entry_ns;
		top = i;
	}
	for (uint32_t i = 0; i < n; i++)
		if (c[i].parent != NONE && c[i].first_ns < c[c[i].parent].first_ns)
			c[c[i].parent].first_ns = c[i].first_ns;
	return root;
}

static const struct hodo_read_call *outer_of(const struct hodo_complete_call *c, uint32_t i)
{
	return c[i].parent == NONE ? NULL : &c[c[i].parent].call;
}

void hodo_complete_calls_visit(struct hodo_complete_calls *kept, const struct hodo_complete_ops *ops, void *data)
{
	struct hodo_complete_call *c = kept->calls;
	uint32_t i = make_tree(c, kept->n);

	kept->n = 0;
	while (i != NONE) {
		bool entered = ops->enter(data, &c[i].call, outer_of(c, i), c[i].first_ns);

		if (entered && c[i].child != NONE) {
			i = c[i].child;
			continue;
		}
		/* Leaves it, and those in which it was the last. */
		for (;; entered = true) {
			if (entered)
				ops->leave(data, &c[i].call, outer_of(c, i), i);
			if (c[i].next != NONE || c[i].parent == NONE)
				break;
			i = c[i].parent;
		}
		i = c[i].next;
	}
}

void hodo_complete_calls_free(struct hodo_complete_calls *kept)
{
	free(kept->calls);
	*kept = (struct hodo_complete_calls){ 0 };
}
