/* SPDX-License-Identifier: MIT */
/* select_names.c - which classes a selection names, and names in it that nothing in the recording has. */
#include "event_filter.h"
#include <read/read_impl.h>
#include "select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

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

bool hodo_select_class(const struct hodo_pattern_list *events, const struct hodo_read_class *cls)
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

int hodo_select_named(struct hodo_select *s, const struct hodo_read_event *e)
{
	const struct hodo_select_known *k = know(s, e->cls);
	enum hodo_pattern_says says = k ? k->says : HODO_PATTERN_NOTHING;

	if (k && s->whole && e->begin) {
		k = know(s, e->begin->cls);
		says = k ? larger(says, k->says) : says;
	}
	return k ? says == HODO_PATTERN_INCLUDES : -ENOMEM;
}

static void see_names(struct hodo_pattern_list *events, struct hodo_pattern_list *fields,
		      const struct hodo_read_class *cls)
{
	hodo_pattern_see_event(events, cls->name);
	if (strcmp(cls->base, cls->name) != 0)
		hodo_pattern_see_event(events, cls->base);
	if (!fields->n || !hodo_select_class(events, cls))
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

int hodo_select_warn(struct hodo_read *r, struct hodo_select *s)
{
	return r->warn ? hodo_select_check(r, s, &(struct hodo_select_unknown){ warn, r }) : 0;
}
