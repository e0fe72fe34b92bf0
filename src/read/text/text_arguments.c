/* SPDX-License-Identifier: MIT */
/* text_arguments.c - writes an event's fields like a call's arguments and result. */
#include "text.h"

#include <string.h>

static void add_name(struct hodo_text *t, const char *name, bool json)
{
	if (json) {
		hodo_text_json(t, name, strlen(name), HODO_JSON_PLAIN);
		hodo_text_char(t, ':');
	} else {
		hodo_text_plain(t, name, strlen(name));
		hodo_text_char(t, '=');
	}
}

int hodo_read_text_arguments(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t first, bool json)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->cls;
	struct hodo_text *t = &text->out;

	hodo_text_add(t, json ? "{" : "");
	for (uint32_t i = first; i < e->cls->nfields; i++) {
		if (i > first)
			hodo_text_add(t, json ? "," : ", ");
		add_name(t, c->fields[i].name, json);
		if (json)
			hodo_read_add_value_json(t, &e->values[i], text->c);
		else
			hodo_read_add_value(t, &c->fields[i], &e->values[i], text->c);
	}
	hodo_text_add(t, json ? "}" : "");
	return t->error;
}

int hodo_read_text_field(struct hodo_read_text *text, const struct hodo_read_event *e, uint32_t field, bool json)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->cls;

	if (json)
		hodo_read_add_value_json(&text->out, &e->values[field], text->c);
	else
		hodo_read_add_value(&text->out, &c->fields[field], &e->values[field], text->c);
	return text->out.error;
}
