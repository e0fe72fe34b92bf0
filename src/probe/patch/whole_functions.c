/* SPDX-License-Identifier: MIT */
/* whole_functions.c - plans the windows of whole functions, and counts them. */
#include "whole_functions.h"

#include <errno.h>
#include <stdlib.h>

#include <base/scope.h>
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

/* Forgets everything planned for the object, so that all of it can be planned again. */
static void forget(const struct hodo_probe_object *o)
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

/* ------------------------------------------------------------------------- counts */

static void count(struct hodo_probe_count *all, struct hodo_probe_count *reasons, const struct hodo_probe_window *w,
		  unsigned n)
{
	struct hodo_probe_count *one = &reasons[w->reason];

	all->jump += w->kind == HODO_PROBE_JUMP ? n : 0;
	all->trap += w->kind == HODO_PROBE_TRAP ? n : 0;
	all->none += w->kind == HODO_PROBE_NONE ? n : 0;
	one->trap += w->kind == HODO_PROBE_TRAP ? n : 0;
	one->none += w->kind == HODO_PROBE_NONE ? n : 0;
}

int hodo_probe_survey(struct hodo_probe_survey *s, const struct hodo_probe_object *o)
{
	int err = 0;

	*s = (struct hodo_probe_survey){ .instructions = o->ninstructions };
	for (uint32_t i = 0; i < o->nfunctions && !err; i++) {
		HODO_AUTO(hodo_probe_plan_free) struct hodo_probe_plan p = { 0 };

		s->functions += !o->functions[i].part;
		err = hodo_probe_plan_function(&p, o, i, true, true);
		for (uint32_t k = 0; k < p.n; k++) {
			const struct hodo_probe_planned *x = &p.list[k];

			if (x->entry != HODO_PROBE_NO_ENTRY)
				count(&s->entries, s->entry_reason, &x->window, 1);
			/* An impossible exit has no hook. */
			if (x->entry == HODO_PROBE_NO_ENTRY || x->exits)
				count(&s->exits, s->exit_reason, &x->window,
				      x->exits ? (unsigned)__builtin_popcount(x->exits) : 1);
		}
	}
	forget(o);
	return err;
}

int hodo_probe_survey_file(struct hodo_probe_survey *s, const char *path, enum hodo_probe_reason *why)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;
	HODO_AUTO(hodo_probe_object_close) struct hodo_probe_object o = { 0 };
	int err = hodo_elf_open(&e, path);

	*s = (struct hodo_probe_survey){ 0 };
	*why = HODO_PROBE_FINE;
	if (!err)
		err = hodo_probe_object_open(&o, &e, why);
	return err ? err : hodo_probe_survey(s, &o);
}
