/* SPDX-License-Identifier: MIT */
/* arguments.c - makes events of the arguments and results of functions. */
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <base/vec.h>
#include <core/search.h>
#include <hodo/abi.h>

#include "events.h"

#define ADDRESS "addr"

/* The list is sorted by address. */
static bool is_wanted(const struct hodo_probe_target *t, uint64_t address)
{
	const struct hodo_probe_function *f = t->object->functions;
	uint32_t at = hodo_search(i, t->nfunctions, f[t->functions[i]].start >= address);

	return at < t->nfunctions && f[t->functions[at]].start == address;
}

/* The fields with a value, after the function's address. */
static int take_fields(struct hodo_probe_event *e, struct hodo_probe_point *p)
{
	struct hodo_probe_field *f = hodo_vec_add(e->fields, e->nfields);

	if (!f)
		return -ENOMEM;
	*f = (struct hodo_probe_field){ .name = strdup(ADDRESS), .type = HODO_TYPE_PTR };
	if (!f->name || !hodo_fetch_start(&f->fetch, HODO_FETCH_ADDRESS, 0, (int64_t)p->address))
		return -ENOMEM;
	for (uint32_t k = 0; k < p->nfields && e->nfields < HODO_TRACE_FIELDS_MAX; k++) {
		struct hodo_probe_field *from = &p->fields[k];

		if (from->missing || from->type == HODO_TYPE_NONE)
			continue;
		f = hodo_vec_add(e->fields, e->nfields);
		if (!f)
			return -ENOMEM;
		*f = *from;
		*from = (struct hodo_probe_field){ 0 };
		/* A field's name is unique in its event. */
		if (!strcmp(f->name, ADDRESS)) {
			free(f->name);
			f->name = strdup(ADDRESS "_");
		}
		if (!f->name)
			return -ENOMEM;
	}
	return 0;
}

static int add(struct hodo_probe_target *t, struct hodo_probe_point *p)
{
	struct hodo_probe_event *e;
	int err;

	if (p->inlined || !(p->entry || p->result) || !is_wanted(t, p->address))
		return 0;
	e = hodo_vec_add(t->events, t->nevents);
	if (!e)
		return -ENOMEM;
	*e = (struct hodo_probe_event){ .addr = p->address, .name = hodo_probe_events_name(p->function),
					.provider = strdup(p->result ? HODO_PROBE_RESULT : HODO_PROBE_ARGS),
					.results = p->result };
	err = e->provider && e->name ? take_fields(e, p) : -ENOMEM;
	if (err || e->nfields > 1)
		return err;
	hodo_probe_event_free(e);
	t->nevents--;
	return 0;
}

static int add_all(struct hodo_probe_target *t, const struct hodo_probe_image *i, const char *text,
		   struct hodo_why *why)
{
	struct hodo_probe_points points = { 0 };
	struct hodo_spec s;
	int err = hodo_spec_parse(&s, text, why);

	if (!err && hodo_spec_is_of(&s, i->path, NULL))
		err = hodo_probe_resolve(&points, i, &s, why);
	for (uint32_t k = 0; k < points.n && !err; k++)
		err = add(t, &points.list[k]);
	hodo_probe_points_free(&points);
	hodo_spec_free(&s);
	return err;
}

int hodo_probe_arguments_add(struct hodo_probe_target *t, const struct hodo_probe_image *i, const char *glob,
			     struct hodo_why *why)
{
	static const char *const forms[] = { "%s($args)", "%s%%return($retval)" };
	int err = 0;

	if (!i->debug.dwarf)
		return hodo_why(why, -EINVAL, "arguments and results are not recorded, as that takes debug "
				"information: install its -dbgsym or -dbg package, or build with -g");
	for (unsigned k = 0; k < 2 && !err; k++) {
		HODO_AUTO_FREE char *text = NULL;

		if (asprintf(&text, forms[k], glob) < 0)
			return -ENOMEM;
		err = add_all(t, i, text, why);
	}
	return err;
}
