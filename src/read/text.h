/* SPDX-License-Identifier: MIT */
/*
 * text.h - values as characters.
 *
 * The hodo_read_put_ functions write at o without a check and return the end, as those of <base/number.h> and
 * <base/escape.h>: room is made once for a whole event. The limits stand beside each.
 */
#ifndef HODO_READ_TEXT_H
#define HODO_READ_TEXT_H

#include "internal.h"

#include <base/number.h>
#include <base/text.h>

struct hodo_read_text {
	struct hodo_text out;
	locale_t c; /* numbers as in C whatever the program's locale is */
	int64_t second;
	char hms[9];                 /* of second, in local time */
	struct hodo_read_text *mark; /* a mark's text before it is escaped */
};

/* The text's length is now what ends at o. */
static inline void hodo_read_text_end(struct hodo_read_text *t, const char *o)
{
	t->out.len = (size_t)(o - t->out.data);
}

static inline const struct hodo_read *hodo_read_reader_of(const struct hodo_read_event *e)
{
	return ((const struct hodo_trace *)(const void *)e->process)->reader;
}

/* A field's value as in print's lines; room: the payload's bytes * HODO_ESCAPED_MAX + 32 + its label's. */
char *hodo_read_put_value(char *o, const struct hodo_read_field *f, const struct hodo_read_value *v,
			  locale_t c);

/* The same in JSON. */
char *hodo_read_put_value_json(char *o, const struct hodo_read_value *v, locale_t c);

/* Both appended to a text, which is asked for room. */
void hodo_read_add_value(struct hodo_text *t, const struct hodo_read_field *f, const struct hodo_read_value *v,
			 locale_t c);
void hodo_read_add_value_json(struct hodo_text *t, const struct hodo_read_value *v, locale_t c);

/* Appends ,"labels":{…} with what the values of fields are called, if any is. */
void hodo_read_add_labels_json(struct hodo_text *t, const struct hodo_class *c, const struct hodo_read_value *values);

/* Appends the fields from `first` on as a call's arguments are written, "n=3, key="a"", or as a JSON object; one field's
 * value (text_arguments.c). 0 or -ENOMEM. */
int hodo_read_text_arguments(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t first, bool json);
int hodo_read_text_field(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t field, bool json);

/* Appends what is known of an address, or of an array of them: names (context.c). */
void hodo_read_add_addresses(struct hodo_read_text *t, const struct hodo_read_event *e, const struct hodo_read_value *v,
			     bool json);
/* Appends an event's context (context.c), without a newline. 0 or -ENOMEM. */
int hodo_read_add_context(struct hodo_read_text *t, const struct hodo_read_event *e);
int hodo_read_add_context_json(struct hodo_read_text *t, const struct hodo_read_event *e);
/* Appends what an end that has a begin says of it (text_begin.c). 0 or -ENOMEM. */
int hodo_read_add_begin(struct hodo_read_text *t, const struct hodo_read_event *e, bool timed);
int hodo_read_add_begin_json(struct hodo_read_text *t, const struct hodo_read_event *e);

#endif
