/* SPDX-License-Identifier: MIT */
/*
 * text.h - values as characters.
 *
 * The hodo_read_put_ functions write at o without a check and return the end, like those of <base/number.h>
 * and <base/escape.h>: room is made once for a whole event. Each states its limit.
 */
#pragma once

#include <base/number.h>
#include <base/text.h>
#include <read/file/class.h>
#include <read/file/trace.h>

struct hodo_read_text {
	struct hodo_text out;
	locale_t c; /* for C's numbers, whatever the program's locale */
	int64_t second;
	char hms[9];                 /* of second, in local time */
	struct hodo_read_text *mark; /* a mark's text before it is escaped */
};

/* The text now ends at o. */
static inline void hodo_read_text_end(struct hodo_read_text *t, const char *o)
{
	t->out.len = (size_t)(o - t->out.data);
}

static inline const struct hodo_read *hodo_read_reader_of(const struct hodo_read_event *e)
{
	return hodo_trace_of(e->process)->reader;
}

/* A field's value as in print's lines; room: the payload's bytes * HODO_ESCAPED_MAX + 32 + its label's. */
char *hodo_read_put_value(char *o, const struct hodo_read_field *f, const struct hodo_read_value *v,
			  locale_t c);

/* A field's value in JSON; room: as for hodo_read_put_value(). */
char *hodo_read_put_value_json(char *o, const struct hodo_read_value *v, locale_t c);

/* Append both to a text, making room. */
void hodo_read_add_value(struct hodo_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v,
			 locale_t c);
void hodo_read_add_value_json(struct hodo_text *t, const struct hodo_read_value *v, locale_t c);

/* Appends ,"labels":{…} with the labels of field values, if any. */
void hodo_read_add_labels_json(struct hodo_text *t, const struct hodo_class *c, const struct hodo_read_value *values);

/* Append the fields from `first` on like a call's arguments, "n=3, key="a"", or as a JSON object; or one
 * field's value (text_line.c). 0 or -ENOMEM. */
int hodo_read_text_arguments(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t first, bool json);
int hodo_read_text_field(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t field, bool json);

/* Appends the names of an address, or of an array of them (context.c). */
void hodo_read_add_addresses(struct hodo_read_text *t, const struct hodo_read_event *e, const struct hodo_read_value *v,
			     bool json);
/* Appends an event's context (context.c), without a newline. 0 or -ENOMEM. */
int hodo_read_add_context(struct hodo_read_text *t, const struct hodo_read_event *e);
int hodo_read_add_context_json(struct hodo_read_text *t, const struct hodo_read_event *e);
