/* SPDX-License-Identifier: MIT */
/* sides.c - pairs of events that the user names as a message's sides: see messages.h. */
#include "messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

static void end_free(struct hodo_message_end *e)
{
	free(e->event);
	for (uint32_t i = 0; i < e->nfields; i++)
		free(e->field[i]);
	free(e->field);
}

void hodo_sides_free(struct hodo_messages *m)
{
	for (uint32_t i = 0; i < m->npairs; i++) {
		end_free(&m->pair[i].sends);
		end_free(&m->pair[i].receives);
		free(m->pair[i].text);
	}
	free(m->pair);
}

/* ------------------------------------------------------------------------- parsing */

/* "EVENT.FIELD,FIELD", of len bytes; an event's name may have dots. */
static int parse_end(struct hodo_message_end *e, const char *text, size_t len)
{
	const char *dot = memrchr(text, '.', len), *end = text + len;
	int err = 0;

	if (!dot || dot == text || dot + 1 == end)
		return -EINVAL;
	e->event = strndup(text, (size_t)(dot - text));
	if (!e->event)
		return -ENOMEM;
	for (const char *at = dot + 1; !err && at <= end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		char *field = strndup(at, (size_t)((comma ? comma : end) - at));

		err = !field ? -ENOMEM : !*field ? -EINVAL : hodo_vec_push(e->field, e->nfields, field);
		if (err)
			free(field);
		at = (comma ? comma : end) + 1;
	}
	return err;
}

int hodo_messages_pair(struct hodo_messages *m, const char *text)
{
	const char *equals = strchr(text, '=');
	struct hodo_message_pair *p = hodo_vec_add(m->pair, m->npairs);
	int err;

	if (!p)
		return -ENOMEM;
	p->text = strdup(text);
	if (!p->text)
		return -ENOMEM;
	if (!equals)
		return -EINVAL;
	err = parse_end(&p->sends, text, (size_t)(equals - text));
	if (!err)
		err = parse_end(&p->receives, equals + 1, strlen(equals + 1));
	return !err && p->sends.nfields != p->receives.nfields ? -EINVAL : err;
}

/* ------------------------------------------------------------------------- looking */

/* The field's index in the class, or nfields. */
static uint32_t find_field(const struct hodo_read_class *cls, const char *name)
{
	uint32_t k = 0;

	while (k < cls->nfields && strcmp(cls->fields[k].name, name) != 0)
		k++;
	return k;
}

/* Whether the event ends spans that events of the class begin: it has their fields, as hodo print shows it. */
static bool is_begin_of(const struct hodo_read_class *cls, const char *event)
{
	static const char begin[] = ".begin", end[] = ".end";
	size_t len = strlen(cls->name), stem = len - (sizeof(begin) - 1);

	return cls->kind == HODO_KIND_SPAN_BEGIN && len >= sizeof(begin) && strcmp(cls->name + stem, begin) == 0 &&
	       strncmp(cls->name, event, stem) == 0 && strcmp(event + stem, end) == 0;
}

bool hodo_sides_fields(const struct hodo_message_end *e, const struct hodo_read_class *cls, uint8_t *at)
{
	if ((strcmp(e->event, cls->name) != 0 && !is_begin_of(cls, e->event)) || e->nfields > HODO_FIELDS_MAX)
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		uint32_t k = find_field(cls, e->field[i]);

		if (k == cls->nfields)
			return false;
		at[i] = (uint8_t)k;
	}
	return true;
}

/* Whether the class is this side; else what of it may have been meant. */
static bool look(struct hodo_message_end *e, const struct hodo_read_class *cls)
{
	uint8_t at[HODO_FIELDS_MAX];
	uint32_t i = 0;

	if (hodo_sides_fields(e, cls, at)) {
		e->known = e->complete = true;
		return true;
	}
	if (strcmp(e->event, cls->name) != 0 && !is_begin_of(cls, e->event)) {
		if (!e->known) {
			e->near.wanted = e->event;
			hodo_near_look(&e->near, cls->name);
		}
		return false;
	}
	while (i + 1 < e->nfields && find_field(cls, e->field[i]) < cls->nfields)
		i++;
	if (!e->known || e->missing != i)
		e->near.n = 0;
	e->known = true;
	e->missing = i;
	e->near.wanted = e->field[i];
	for (uint32_t k = 0; k < cls->nfields; k++)
		hodo_near_look(&e->near, cls->fields[k].name);
	return false;
}

bool hodo_sides_look(struct hodo_messages *m, const struct hodo_read_class *cls)
{
	bool has = false;

	for (uint32_t i = 0; i < m->npairs; i++) {
		has |= look(&m->pair[i].sends, cls);
		has |= look(&m->pair[i].receives, cls);
	}
	return has;
}

/* ------------------------------------------------------------------------- telling */

static int check_end(struct hodo_message_end *e, const char *pair, struct hodo_why *why)
{
	const char *near = hodo_near_text(&e->near);

	if (e->complete)
		return 0;
	if (!*near)
		near = ": 'hodo print' shows events with their fields";
	if (!e->known)
		return hodo_why(why, -ENOENT, "--pair %s: no recording has an event %s%s", pair, e->event, near);
	return hodo_why(why, -ENOENT, "--pair %s: no event %s has a field %s%s", pair, e->event, e->field[e->missing],
			near);
}

int hodo_sides_check(struct hodo_messages *m, struct hodo_why *why)
{
	int err = 0;

	for (uint32_t i = 0; i < m->npairs && !err; i++) {
		err = check_end(&m->pair[i].sends, m->pair[i].text, why);
		if (!err)
			err = check_end(&m->pair[i].receives, m->pair[i].text, why);
	}
	return err;
}

bool hodo_sides_unmatched(const struct hodo_message_pair *p, struct hodo_why *why)
{
	const struct hodo_message_end *s = &p->sends, *r = &p->receives;
	const char *values = s->nfields == 1 ? "value" : "values";

	if (p->matched)
		return false;
	if (p->ambiguous)
		hodo_why(why, 0, "--pair %s: 0 messages matched: several have the same %s: name a field that is "
			 "another one in each message", p->text, values);
	else if (p->within)
		hodo_why(why, 0, "--pair %s: 0 messages matched: both sides of each are in one recording", p->text);
	else
		hodo_why(why, 0, "--pair %s: 0 messages matched: none of the %" PRIu64 " %s has the %s of one of the %"
			 PRIu64 " %s", p->text, s->events, s->event, values, r->events, r->event);
	return true;
}
