/* SPDX-License-Identifier: MIT */
#include "select.h"
#include "event_filter.h"

#include <base/map.h>
#include <base/quantity.h>
#include <read/file/class.h>
#include <read/file/reader.h>
#include <read/file/trace.h>
#include <read/file/warn.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs of an earlier version have fewer members. */
#define HODO_SELECTION_HAS(s, member) \
	((s)->size >= offsetof(struct hodo_read_selection, member) + sizeof((s)->member))

void hodo_select_end(struct hodo_select *s)
{
	hodo_pattern_free(&s->events);
	hodo_event_filter_free(s->filter);
	hodo_map_free(&s->classes);
}

void hodo_select_free(struct hodo_select *s)
{
	if (!s)
		return;
	hodo_select_end(s);
	free((char *)(uintptr_t)s->host);
	free((char *)(uintptr_t)s->process);
	free((char *)(uintptr_t)s->thread);
	free(s);
}

/* ------------------------------------------------------------------------ whose */

static bool name_is(const char *wanted, uint32_t number, const char *name)
{
	uint64_t n;

	if (hodo_parse_number(wanted, UINT32_MAX, &n) == 0)
		return n == number;
	return fnmatch(wanted, name, 0) == 0;
}

static bool is_host(const char *wanted, const struct hodo_read_process *of)
{
	return !wanted || fnmatch(wanted, of && of->hostname ? of->hostname : "", 0) == 0;
}

void hodo_select_hosts(struct hodo_read *r, const char *wanted)
{
	for (uint32_t i = 0; i < r->ntraces; i++)
		r->traces[i]->left_out = !is_host(wanted, &r->traces[i]->pub);
}

bool hodo_select_has_thread(const struct hodo_select *s, const struct hodo_read_process *of, uint32_t pid, uint32_t tid,
			    const char *comm)
{
	/* Of a process that the kernel saw, its threads' names are all that is known. */
	const char *name = !of || of->kernel ? comm : of->comm;

	return !s || (is_host(s->host, of) && (!s->process || name_is(s->process, pid, name)) &&
		      (!s->thread || name_is(s->thread, tid, comm)));
}

bool hodo_select_whose(const struct hodo_select *s, const struct hodo_read_event *e)
{
	const struct hodo_read_begin *b = e->begin;
	const struct hodo_read_thread *t = NULL;

	if (!s || (!s->host && !s->process && !s->thread))
		return true;
	if (!b || (b->tid == e->tid && b->pid == e->pid))
		return hodo_select_has_thread(s, e->process, e->pid, e->tid, e->comm);
	for (uint32_t i = 0; i < e->process->nthreads && !t; i++)
		t = e->process->threads[i].tid == b->tid ? &e->process->threads[i] : NULL;
	return hodo_select_has_thread(s, e->process, b->pid, b->tid, t ? t->comm : e->process->comm);
}

/* ------------------------------------------------------------------------- which */

static enum hodo_pattern_says larger(enum hodo_pattern_says a, enum hodo_pattern_says b)
{
	return a > b ? a : b;
}

static enum hodo_pattern_says class_says(const struct hodo_pattern_list *events, const struct hodo_read_class *cls)
{
	enum hodo_pattern_says says = hodo_pattern_says(events, cls->name);

	/* !kv:get.end excludes the end, though nothing excludes kv:get. */
	return strcmp(cls->base, cls->name) == 0 ? says : larger(says, hodo_pattern_says(events, cls->base));
}

/* By the patterns, a class by its name or its base name. */
static bool selects(const struct hodo_pattern_list *events, const struct hodo_read_class *cls)
{
	return class_says(events, cls) == HODO_PATTERN_INCLUDES;
}

static struct hodo_select_known *know(struct hodo_select *s, const struct hodo_read_class *cls)
{
	struct hodo_select_known *k = hodo_map_add_u64(&s->classes, (uintptr_t)cls, NULL);

	if (k && !k->known) {
		k->says = class_says(&s->events, cls);
		k->known = true;
	}
	return k;
}

/* Whether they select an event, by its class. Or -ENOMEM. */
static int is_named(struct hodo_select *s, const struct hodo_read_event *e)
{
	const struct hodo_select_known *k = know(s, e->cls);
	enum hodo_pattern_says says = k ? k->says : HODO_PATTERN_NOTHING;

	if (k && s->whole && e->begin) {
		k = know(s, e->begin->cls);
		says = k ? larger(says, k->says) : says;
	}
	return k ? says == HODO_PATTERN_INCLUDES : -ENOMEM;
}

bool hodo_select_has_class(const struct hodo_select *s, const struct hodo_read_class *cls)
{
	return !s || !s->events.n || selects(&s->events, cls);
}

int hodo_select_takes(void *select, const struct hodo_read_event *e)
{
	struct hodo_select *s = select;
	int taken = s->any_thread || hodo_select_whose(s, e);

	if (taken && s->events.n)
		taken = is_named(s, e);
	if (taken > 0 && s->filter)
		taken = hodo_event_filter_takes(s->filter, e);
	return taken;
}

/* --------------------------------------------------- names that nothing in the recording has */

static void see_names(struct hodo_pattern_list *events, struct hodo_pattern_list *fields,
		      const struct hodo_read_class *cls)
{
	hodo_pattern_see_event(events, cls->name);
	if (strcmp(cls->base, cls->name) != 0)
		hodo_pattern_see_event(events, cls->base);
	if (!fields->n || !selects(events, cls))
		return;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct hodo_read_labels *l = cls->fields[i].labels;

		hodo_pattern_see_field(fields, cls->fields[i].name);
		for (uint32_t k = 0; l && k < l->n; k++)
			hodo_pattern_see_field(fields, l->names[k]);
	}
}

/* A variable without its $ is a likely mistake. */
static void see_variables(struct hodo_pattern_list *fields)
{
	static const char *const names[] = { "$duration", "$off_cpu", "$tid", "$pid", "$cpu", "$comm" };

	for (uint32_t i = 0; i < fields->n; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(fields->pattern[i].text, names[k] + 1) == 0)
				hodo_pattern_near(&fields->pattern[i], names[k]);
}

static int tell(const struct hodo_select_unknown *unknown, enum hodo_select_kind kind, struct hodo_pattern_list *list)
{
	struct hodo_text text = { 0 };
	int err;

	if (hodo_pattern_unknown(list, "", &text) && !text.error)
		unknown->tell(unknown->data, kind, hodo_text_string(&text));
	err = text.error;
	hodo_text_free(&text);
	return err;
}

static int check_host(const struct hodo_read *r, const char *host, const struct hodo_select_unknown *unknown)
{
	struct hodo_pattern one = { .text = (char *)(uintptr_t)host };
	struct hodo_pattern_list list = { .pattern = &one, .n = 1 };
	int err = 0;

	for (uint32_t i = 0; i < r->ntraces && !one.matched; i++) {
		const char *name = r->traces[i]->pub.hostname ? r->traces[i]->pub.hostname : "";

		one.matched = fnmatch(host, name, 0) == 0;
		if (!one.matched)
			hodo_pattern_near(&one, name);
	}
	if (!one.matched)
		err = tell(unknown, HODO_SELECT_HOST, &list);
	free(one.near);
	return err;
}

int hodo_select_check(const struct hodo_read *r, struct hodo_select *s, const struct hodo_select_unknown *unknown)
{
	struct hodo_pattern_list fields = { 0 };
	int err = s->filter ? hodo_event_filter_fields(s->filter, &fields) : 0;

	if (!err)
		see_variables(&fields);
	for (uint32_t i = 0; i < r->ntraces && !err; i++)
		for (uint32_t k = 0; k < r->traces[i]->nclasses; k++)
			see_names(&s->events, &fields, &r->traces[i]->classes[k]->pub);
	if (!err)
		err = tell(unknown, HODO_SELECT_EVENTS, &s->events);
	if (!err)
		err = tell(unknown, HODO_SELECT_FIELDS, &fields);
	if (!err && s->host)
		err = check_host(r, s->host, unknown);
	hodo_pattern_free(&fields);
	return err;
}

/* ---------------------------------------------------------------------- the reader's */

static void warn(void *data, enum hodo_select_kind kind, const char *names)
{
	static const char *const what[] = { [HODO_SELECT_EVENTS] = "no event matches",
					    [HODO_SELECT_FIELDS] = "filter: no event that is asked for has a field or label",
					    [HODO_SELECT_HOST] = "no host matches" };

	hodo_read_warn(data, NULL, 0, ".", "", "%s %s", what[kind], names);
}

static int fill(struct hodo_select *s, const struct hodo_read_selection *from, struct hodo_why *why)
{
	int err = from->events ? hodo_pattern_add(&s->events, from->events, why) : 0;

	if (!err && from->filter)
		err = hodo_event_filter_new(&s->filter, from->filter, why);
	if (err)
		return err;
	s->process = from->process ? strdup(from->process) : NULL;
	s->thread = from->thread ? strdup(from->thread) : NULL;
	s->host = HODO_SELECTION_HAS(from, host) && from->host ? strdup(from->host) : NULL;
	return !s->process != !from->process || !s->thread != !from->thread ||
	       !s->host != !(HODO_SELECTION_HAS(from, host) && from->host) ? -ENOMEM : 0;
}

int hodo_read_select(struct hodo_read *r, const struct hodo_read_selection *selection, bool whole, char *error,
		     size_t error_bytes)
{
	struct hodo_why why = { "" };
	struct hodo_select *s = NULL;
	int err = 0;

	if (selection->events || selection->filter || selection->process || selection->thread ||
	    (HODO_SELECTION_HAS(selection, host) && selection->host)) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->classes = (struct hodo_map)HODO_SELECT_CLASSES;
		s->whole = whole;
		hodo_hash_seed();
		err = fill(s, selection, &why);
	}
	if (!err && s && (s->filter || s->process || s->thread || s->host))
		err = hodo_read_spans(r);
	if (!err && s && r->warn)
		err = hodo_select_check(r, s, &(struct hodo_select_unknown){ warn, r });
	if (!err)
		err = hodo_read_choose(r, s ? hodo_select_takes : NULL, s, whole);
	if (error_bytes)
		snprintf(error, error_bytes, "%s", err == -ENOMEM && !why.text[0] ? "out of memory" : why.text);
	if (err) {
		hodo_select_free(s);
		return err;
	}
	hodo_select_hosts(r, s ? s->host : NULL);
	hodo_select_free(r->select);
	r->select = s;
	return 0;
}
