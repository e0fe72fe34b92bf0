/* SPDX-License-Identifier: MIT */
/* events.c - makes events of a target from a probe's places and fields. */
#include "events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <base/text.h>
#include <base/vec.h>
#include <elf/demangle.h>
#include <hodo/abi.h>

/* --------------------------------------------------------------------------- names */

static void put_name(const struct hodo_spec *s, const char *function, struct hodo_text *to)
{
	const char *slash = strrchr(s->name ? s->name : "", '/');

	switch ((enum hodo_spec_place)s->place) {
	case HODO_SPEC_LINE:
		hodo_text_printf(to, "%s:%" PRIu64, slash ? slash + 1 : s->name, s->number);
		break;
	case HODO_SPEC_ADDRESS:
		hodo_text_printf(to, "0x%" PRIx64, s->number);
		break;
	case HODO_SPEC_OFFSET:
		hodo_text_printf(to, "%s+0x%" PRIx64, function, s->number);
		break;
	case HODO_SPEC_RETURN:
		hodo_text_printf(to, "%s%%return", function);
		break;
	default:
		hodo_text_add(to, function);
		break;
	}
}

/* Patterns are comma-separated lists, and names are shown in lines: forbidden characters become `other`. */
static char *take_text(struct hodo_text *t, const char *others, char other)
{
	char *name = t->error ? NULL : strndup(hodo_text_string(t), HODO_NAME_MAX);

	for (char *c = name; c && *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 127 || strchr(others, *c))
			*c = other;
	hodo_text_free(t);
	return name;
}

/* The function as in the text; for a pattern, each function's own name. */
static char *event_name(const struct hodo_spec *s, const struct hodo_probe_point *p)
{
	HODO_AUTO_FREE char *function = NULL;
	struct hodo_text t = { 0 };

	if (s->place <= HODO_SPEC_OFFSET) {
		bool glob = hodo_spec_is_glob(s->name);

		function = !glob ? strdup(s->name) : p->inlined ? strdup(p->inlined) :
			   hodo_elf_demangle_short(p->function, true);
		if (!function)
			return NULL;
	}
	put_name(s, function, &t);
	return take_text(&t, "/,", '_');
}

char *hodo_probe_events_name(const char *symbol)
{
	HODO_AUTO_FREE char *function = hodo_elf_demangle_short(symbol, true);
	struct hodo_text t = { 0 };

	if (!function)
		return NULL;
	hodo_text_add(&t, function);
	return take_text(&t, "/,", '_');
}

char *hodo_probe_events_pattern(const struct hodo_spec *s)
{
	HODO_AUTO_FREE char *name = NULL;
	struct hodo_text t = { 0 };
	char *pattern;
	bool glob = s->name && hodo_spec_is_glob(s->name);

	put_name(s, s->name, &t);
	name = take_text(&t, glob ? "/,!" : "/,!*?[]\\", '?');
	return name && asprintf(&pattern, HODO_PROBE_PROVIDER ":%s", name) >= 0 ? pattern : NULL;
}

/* -------------------------------------------------------------------------- fields */

/* A value missing here has its type from other places. HODO_TYPE_NONE: not known. */
static uint8_t type_elsewhere(const struct hodo_probe_points *points, const char *name)
{
	for (uint32_t i = 0; i < points->n; i++)
		for (uint32_t k = 0; k < points->list[i].nfields; k++) {
			const struct hodo_probe_field *f = &points->list[i].fields[k];

			if (f->type != HODO_TYPE_NONE && strcmp(f->name, name) == 0)
				return f->type;
		}
	return HODO_TYPE_NONE;
}

static void drop(struct hodo_probe_point *p, uint32_t at)
{
	hodo_probe_field_free(&p->fields[at]);
	memmove(&p->fields[at], &p->fields[at + 1], (--p->nfields - at) * sizeof(*p->fields));
}

static void settle(const struct hodo_probe_points *points, struct hodo_probe_point *p)
{
	for (uint32_t k = p->nfields; k-- > 0;) {
		struct hodo_probe_field *f = &p->fields[k];

		if (f->type == HODO_TYPE_NONE)
			f->type = type_elsewhere(points, f->name);
		if (f->type == HODO_TYPE_NONE)
			drop(p, k);
	}
}

/* The call's duration, after the text's values. */
static int add_duration(struct hodo_probe_point *p)
{
	struct hodo_probe_field *f = hodo_vec_add(p->fields, p->nfields);

	if (!f)
		return -ENOMEM;
	*f = (struct hodo_probe_field){ .name = strdup("duration"), .type = HODO_TYPE_U64 };
	return f->name ? 0 : -ENOMEM;
}

/* Whether a field of a return is the result: only that, if no values are listed. */
static bool is_result(const struct hodo_spec *s, uint32_t at)
{
	return !s->listed || (at < s->nvalues && s->values[at].expr.base == HODO_SPEC_RETVAL);
}

/* The fields, without the result of a function that is jumped to. NULL: no memory, or they are the same. */
static struct hodo_probe_field *tail_fields(const struct hodo_spec *s, const struct hodo_probe_point *p)
{
	struct hodo_probe_field *tail = calloc(p->nfields, sizeof(*tail));
	bool differs = false;

	for (uint32_t k = 0; tail && k < p->nfields; k++) {
		tail[k] = p->fields[k];
		if (k + 1 == p->nfields || tail[k].missing || !is_result(s, k))
			continue;
		tail[k].missing = HODO_ELSEWHERE;
		tail[k].fetch.n = tail[k].length.n = 0;
		differs = true;
	}
	if (!differs)
		free(tail);
	return differs ? tail : NULL;
}

static int add(struct hodo_probe_target *t, const struct hodo_spec *s, struct hodo_probe_point *p, uint32_t probe,
	       struct hodo_why *why)
{
	struct hodo_probe_event *e;
	int err = p->result ? add_duration(p) : 0;

	if (err)
		return err;
	if (p->nfields > HODO_TRACE_FIELDS_MAX)
		return hodo_why(why, -EINVAL, "%" PRIu32 " values: an event of a program has %u at most", p->nfields,
				HODO_TRACE_FIELDS_MAX);
	e = hodo_vec_add(t->events, t->nevents);
	if (!e)
		return -ENOMEM;
	*e = (struct hodo_probe_event){ .addr = p->address, .probe = probe, .provider = strdup(HODO_PROBE_PROVIDER),
					.name = event_name(s, p), .exits = p->result,
					.tail = p->result ? tail_fields(s, p) : NULL, .fields = p->fields,
					.nfields = p->nfields };
	p->fields = NULL;
	p->nfields = 0;
	return e->provider && e->name ? 0 : -ENOMEM;
}

int hodo_probe_events_add(struct hodo_probe_target *t, const struct hodo_probe_image *i, const struct hodo_spec *s,
			  uint32_t probe, struct hodo_why *why)
{
	struct hodo_probe_points points;
	int err = hodo_probe_resolve(&points, i, s, why);

	for (uint32_t k = 0; k < points.n && !err; k++)
		settle(&points, &points.list[k]);
	for (uint32_t k = 0; k < points.n && !err; k++)
		err = add(t, s, &points.list[k], probe, why);
	hodo_probe_points_free(&points);
	return err;
}

void hodo_probe_event_free(struct hodo_probe_event *e)
{
	for (uint32_t k = 0; k < e->nfields; k++)
		hodo_probe_field_free(&e->fields[k]);
	free(e->fields);
	free((void *)e->tail); /* the fields own its texts */
	free(e->provider);
	free(e->name);
}

void hodo_probe_events_free(struct hodo_probe_target *t)
{
	for (uint32_t i = 0; i < t->nevents; i++)
		hodo_probe_event_free(&t->events[i]);
	free(t->events);
	t->events = NULL;
	t->nevents = 0;
}
