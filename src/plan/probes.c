/* SPDX-License-Identifier: MIT */
/* probes.c - the probes of a recording, in files and in plans. */
#include "probes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <probe/value/events.h>
#include <probe/patch/reason.h>

#include "report.h"

#define PREFIX "probe:"

bool hodo_planner_probe_is(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

int hodo_planner_probes_add(struct hodo_planner_probes *p, const char *text, struct hodo_why *why)
{
	struct hodo_planner_probe *x = hodo_vec_add(p->list, p->n);
	int err;

	if (!x)
		return -ENOMEM;
	*x = (struct hodo_planner_probe){ .text = strdup(text) };
	err = x->text ? hodo_spec_parse(&x->spec, x->text + strlen(PREFIX), why) : -ENOMEM;
	if (err)
		return err;
	x->pattern = hodo_probe_events_pattern(&x->spec);
	return x->pattern ? 0 : -ENOMEM;
}

static const char *bare(const char *text)
{
	return hodo_planner_probe_is(text) ? text + strlen(PREFIX) : text;
}

uint32_t hodo_planner_probes_find(const struct hodo_planner_probes *p, const char *text)
{
	uint32_t i = 0;

	while (i < p->n && strcmp(bare(p->list[i].text), bare(text)) != 0 &&
	       strcmp(bare(p->list[i].pattern), bare(text)) != 0)
		i++;
	return i;
}

static void free_probe(struct hodo_planner_probe *x)
{
	hodo_spec_free(&x->spec);
	free(x->text);
	free(x->pattern);
	free(x->why);
}

void hodo_planner_probes_remove(struct hodo_planner_probes *p, uint32_t i)
{
	struct hodo_planner_probe *x = &p->list[i];

	free_probe(x);
	memmove(x, x + 1, (--p->n - i) * sizeof(*x));
}

void hodo_planner_probes_free(struct hodo_planner_probes *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free_probe(&p->list[i]);
	free(p->list);
	*p = (struct hodo_planner_probes){ 0 };
}

/* ---------------------------------------------------------------------------- a file */

bool hodo_planner_probes_may_be_in(const struct hodo_planner_probes *p, const char *path, const char *soname)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (hodo_spec_is_of(&p->list[i].spec, path, soname))
			return true;
	return false;
}

/* The first is usually the program's. */
static int keep_why(struct hodo_planner_probe *x, const char *path, const char *why)
{
	if (x->why)
		return 0;
	return asprintf(&x->why, "%s: %s", path, why) < 0 ? -ENOMEM : 0;
}

int hodo_planner_probes_resolve(struct hodo_planner_probes *p, const char *path, const char *soname,
			       const struct hodo_probe_image *image, const char *flaw, struct hodo_probe_target *t)
{
	struct hodo_why why;

	for (uint32_t i = 0; i < p->n; i++) {
		struct hodo_planner_probe *x = &p->list[i];
		int err = -EINVAL;

		if (!hodo_spec_is_of(&x->spec, path, soname))
			continue;
		if (image && t)
			err = hodo_probe_events_add(t, image, &x->spec, i + 1, &why);
		if (err == -EINVAL)
			err = keep_why(x, path, image && t ? why.text : flaw);
		if (err)
			return err;
	}
	return 0;
}

/* --------------------------------------------------------------------------- a process */

struct places {
	const struct hodo_probe_target *targets;
	uint32_t n;      /* targets */
	uint32_t number; /* of the probe */
};

/* The probe's next event after the previous one; NULL: none. */
static const struct hodo_probe_event *next(const struct places *p, uint32_t *target, uint32_t *event)
{
	for (; *target < p->n; ++*target, *event = 0)
		while (*event < p->targets[*target].nevents) {
			const struct hodo_probe_event *e = &p->targets[*target].events[(*event)++];

			if (e->probe == p->number)
				return e;
		}
	return NULL;
}

static const struct hodo_probe_field *missing(const struct hodo_probe_event *e, const char *name)
{
	for (uint32_t k = 0; k < e->nfields; k++)
		if (e->fields[k].missing && strcmp(e->fields[k].name, name) == 0)
			return &e->fields[k];
	return NULL;
}

/* "n has no value at 2 of 3 places: the compiler removed it" */
static void say_missing(const struct hodo_planner_probe *x, const struct places *p, const char *name,
			const struct hodo_reporter *r)
{
	const struct hodo_probe_event *e;
	const struct hodo_probe_field *f = NULL;
	uint32_t target = 0, event = 0, all = 0, n = 0;

	while ((e = next(p, &target, &event))) {
		all++;
		if (!missing(e, name))
			continue;
		n++;
		f = f ? f : missing(e, name);
	}
	if (f)
		hodo_plan_warn(r, "%s: %s has no value at %" PRIu32 " of %" PRIu32 " place%s: %s", x->text, name, n,
			       all, all == 1 ? "" : "s", hodo_missing_text(f->missing));
}

/* Each name once, where it is missing first. */
static void say_values(const struct hodo_planner_probe *x, const struct places *p, const struct hodo_reporter *r)
{
	const char *said[HODO_SPEC_VALUES_MAX];
	const struct hodo_probe_event *e;
	uint32_t target = 0, event = 0, n = 0;

	while ((e = next(p, &target, &event)))
		for (uint32_t k = 0; k < e->nfields && n < HODO_SPEC_VALUES_MAX; k++) {
			uint32_t i = 0;

			while (i < n && strcmp(said[i], e->fields[k].name) != 0)
				i++;
			if (!e->fields[k].missing || i < n)
				continue;
			said[n++] = e->fields[k].name;
			say_missing(x, p, e->fields[k].name, r);
		}
}

static void report(struct hodo_planner_probe *x, const struct places *p, const struct hodo_reporter *r)
{
	const struct hodo_probe_event *e, *refused = NULL;
	uint32_t target = 0, event = 0, all = 0, n = 0, tails = 0;

	while ((e = next(p, &target, &event))) {
		uint32_t good = e->exits ? e->left : e->reason == HODO_PROBE_FINE;

		all += e->exits && good ? good + e->missed : 1;
		n += e->exits && good ? e->missed : !good;
		tails += e->tail ? e->tails : 0;
		refused = refused || e->reason == HODO_PROBE_FINE ? refused : e;
	}
	x->found |= n < all;
	if (n && n == all) {
		free(x->why);
		if (asprintf(&x->why, "it cannot be placed %s: %s", all == 1 ? "there" : "anywhere",
			     hodo_probe_reason_text(refused->reason)) < 0)
			x->why = NULL;
	}
	if (!all || n == all || x->said)
		return;
	if (n)
		hodo_plan_warn(r, "%s: %" PRIu32 " of %" PRIu32 " %s are not recorded: %s", x->text, n, all,
			     x->spec.place == HODO_SPEC_RETURN ? "exits" : "places",
			     hodo_probe_reason_text(refused->reason));
	if (tails)
		hodo_plan_warn(r, "%s: the result has no value at %" PRIu32 " of %" PRIu32 " exits: %s", x->text,
			     tails, all, hodo_missing_text(HODO_ELSEWHERE));
	say_values(x, p, r);
	x->said = true;
}

static void say_nowhere(struct hodo_planner_probe *x, const struct hodo_reporter *r)
{
	if (x->found || x->said || !x->why)
		return;
	hodo_plan_warn(r, "%s is not recorded: %s", x->text, x->why);
	x->said = true;
}

static void keep_quiet(const struct hodo_planner_probes *p, const struct hodo_planner_probe *x)
{
	for (uint32_t i = 0; i < p->patterns->n && x->why; i++)
		if (strcmp(p->patterns->pattern[i].text, x->pattern) == 0)
			p->patterns->pattern[i].reported = true;
}

void hodo_planner_probes_report(struct hodo_planner_probes *p, const struct hodo_probe_target *targets, uint32_t n,
				 bool attached, const struct hodo_reporter *r)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct places places = { targets, n, i + 1 };

		report(&p->list[i], &places, r);
		keep_quiet(p, &p->list[i]);
		if (attached)
			say_nowhere(&p->list[i], r);
	}
}

void hodo_planner_probes_report_unfound(struct hodo_planner_probes *p, const struct hodo_reporter *r)
{
	for (uint32_t i = 0; i < p->n; i++)
		say_nowhere(&p->list[i], r);
}
