/* SPDX-License-Identifier: MIT */
/* survey.c - see survey.h. */
#include "survey.h"

#include <base/scope.h>

#include "whole_functions.h"

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
	hodo_probe_plan_forget(o);
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
