/* SPDX-License-Identifier: MIT */
/* build_item.c - a window of a plan, before it has a place. */
#include <errno.h>

#include <base/vec.h>

#include "build_impl.h"

static bool has_syscall(const struct hodo_probe_recipe *r)
{
	for (unsigned k = 0; k < r->n; k++)
		if (r->instruction[k].kind == HODO_INSTRUCTION_SYSCALL)
			return true;
	return false;
}

int hodo_build_add_item(struct hodo_build *b, const struct hodo_probe_planned *p, uint64_t function, uint8_t flags,
			unsigned hook)
{
	struct hodo_plan_item *x = hodo_vec_add(b->items, b->nitems);
	uint64_t end;
	int err;

	if (!x)
		return -ENOMEM;
	*x = (struct hodo_plan_item){ .window = p->window, .entry = p->entry, .exits = p->exits, .flags = flags,
				      .function = function, .pool = b->data->addr, .bias = b->target->bias };
	err = hodo_probe_recipe_make(&x->recipe, &p->window, b->target->bias, (uint16_t)hook);
	x->recipe.low = x->pool < x->recipe.low ? x->pool : x->recipe.low;
	end = x->pool + (uint64_t)b->data->pages * HODO_PROBE_PAGE_BYTES;
	x->recipe.high = end > x->recipe.high ? end : x->recipe.high;
	/* A thread that sleeps in a system call of a slot would be where no unwinder knows it. */
	return err ? err : !(flags & HODO_PLAN_ALWAYS) && has_syscall(&x->recipe) ? -EAGAIN : 0;
}
