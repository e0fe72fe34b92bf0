/* SPDX-License-Identifier: MIT */
/* whole_functions.c - see whole_functions.h. */
#include "whole_functions.h"

#include <errno.h>
#include <stdlib.h>

#include <base/vec.h>

static struct hodo_probe_planned *add(struct hodo_probe_plan *p, uint32_t function)
{
	struct hodo_probe_planned *x = hodo_vec_add(p->list, p->n);

	if (x) {
		x->function = function;
		x->entry = HODO_PROBE_NO_ENTRY;
	}
	return x;
}

/* Whether a jump's window in the function contains the exit. */
static bool join(struct hodo_probe_plan *p, uint32_t first, uint64_t addr)
{
	for (uint32_t i = first; i < p->n; i++) {
		struct hodo_probe_window *w = &p->list[i].window;

		if (w->kind == HODO_PROBE_NONE || !hodo_probe_window_hook(w, addr))
			continue;
		for (unsigned k = 0; k < w->n; k++)
			if (w->addr + w->at[k] == addr)
				p->list[i].exits |= (uint8_t)(1u << k);
		return true;
	}
	return false;
}

int hodo_probe_plan_function(struct hodo_probe_plan *p, const struct hodo_probe_object *o, uint32_t function,
			     bool entry, bool exits)
{
	const struct hodo_probe_function *f = &o->functions[function];
	uint32_t first = p->n;

	if (entry && !f->part) {
		struct hodo_probe_planned *x = add(p, function);

		if (!x)
			return -ENOMEM;
		hodo_probe_window_entry(o, f, &x->window);
		x->entry = 0;
		hodo_probe_window_keep(o, &x->window);
	}
	for (uint32_t i = 0; exits && i < f->nexits; i++) {
		const struct hodo_probe_exit *exit = &o->exits[f->exit + i];
		struct hodo_probe_planned *x;

		if (join(p, first, exit->addr))
			continue;
		x = add(p, function);
		if (!x)
			return -ENOMEM;
		hodo_probe_window_exit(o, exit, &x->window);
		x->exits = x->window.hooks;
		hodo_probe_window_keep(o, &x->window);
	}
	return 0;
}

void hodo_probe_plan_forget(const struct hodo_probe_object *o)
{
	for (uint32_t i = 0; i < o->nsegments; i++)
		for (uint64_t k = 0; k < o->segments[i].end - o->segments[i].start; k++)
			o->segments[i].marks[k] &= (uint8_t)~HODO_PROBE_MARK_TAKEN;
}

void hodo_probe_plan_free(struct hodo_probe_plan *p)
{
	free(p->list);
	*p = (struct hodo_probe_plan){ 0 };
}
