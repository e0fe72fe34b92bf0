/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* descriptor.c - event descriptors in states of instrumented modules: checks, copies and compares them. */
#include "descriptor.h"
#include "sites.h"

#include <core/fields.h>
#include <core/kind.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Its texts. False: it is broken. */
static bool take_texts(const struct hodo_desc *desc, const char *texts[TEXTS])
{
	const char *p = (const char *)desc + desc->strings, *end = (const char *)desc + desc->total;

	for (int i = 0; i < TEXTS; i++) {
		size_t room = end - p, len = strnlen(p, room);

		if (len == room)
			return false;
		texts[i] = p;
		p += len + 1;
	}
	return strlen(texts[TEXT_PROVIDER]) <= HODO_NAME_MAX && strlen(texts[TEXT_NAME]) <= HODO_NAME_MAX - 6;
}

bool hodo_descriptor_valid(const struct hodo_desc *desc, const char *texts[TEXTS])
{
	const uint8_t *types = (const uint8_t *)(desc + 1);

	if (desc->size != sizeof(*desc) || desc->version != HODO_ABI_VERSION || desc->kind < HODO_KIND_EVENT ||
	    desc->kind > HODO_KIND_LABELS || desc->strings >= desc->total)
		return false;
	if (desc->kind == HODO_KIND_LABELS)
		return desc->nlabels <= HODO_FIELDS_MAX && desc->labels >= sizeof(*desc) && desc->labels % 8 == 0 &&
		       desc->strings >= desc->labels + 8u * desc->nlabels && take_texts(desc, texts);
	if (desc->nfields > HODO_FIELDS_MAX || desc->strings < sizeof(*desc) + desc->nfields)
		return false;
	for (unsigned int i = 0; i < desc->nfields; i++)
		if (hodo_fields_fixed_size(types[i]) == 0)
			return false;
	return take_texts(desc, texts);
}

static const char *keep(char **at, const char *text)
{
	size_t len = strlen(text) + 1;
	char *p = *at;

	memcpy(p, text, len);
	*at += len;
	return p;
}

struct hodo_site_event *hodo_descriptor_event(const struct hodo_desc *desc, const char *const texts[TEXTS],
					      struct module *mod)
{
	static char names[HODO_FIELDS_NAMES_MAX]; /* under hodo_lock */
	const char *name_of[HODO_FIELDS_MAX];
	struct hodo_site_event *e;
	size_t bytes = sizeof(".begin");
	char *at;

	if (hodo_fields_names(texts[TEXT_ARGS], desc->nfields, names, sizeof(names), name_of) != 0)
		return NULL;
	for (int i = 0; i < TEXTS; i++)
		bytes += strlen(texts[i]) + 1;
	for (unsigned int i = 0; i < desc->nfields; i++)
		bytes += strlen(name_of[i]) + 1;
	e = kzalloc(sizeof(*e) + bytes, GFP_KERNEL);
	if (!e)
		return NULL;
	at = e->text;
	e->event.provider = keep(&at, texts[TEXT_PROVIDER]);
	e->event.name = at;
	at += sprintf(at, "%s%s", texts[TEXT_NAME], hodo_kind_suffix(desc->kind)) + 1;
	e->event.format = keep(&at, texts[TEXT_FORMAT]);
	e->event.file = keep(&at, texts[TEXT_FILE]);
	e->event.function = keep(&at, texts[TEXT_FUNCTION]);
	for (unsigned int i = 0; i < desc->nfields; i++)
		e->fields[i] = (struct hodo_field){ .name = keep(&at, name_of[i]), .type = ((uint8_t *)(desc + 1))[i] };
	e->event.fields = e->fields;
	e->event.nfields = desc->nfields;
	e->event.kind = desc->kind;
	e->event.line = desc->line;
	strscpy(e->object, mod->name, sizeof(e->object));
	e->event.object = e->object;
	return e;
}

bool hodo_descriptor_difference(const struct hodo_event *a, const struct hodo_event *b, char *out, size_t size)
{
	if (a->nfields != b->nfields)
		return scnprintf(out, size, "%u fields, there %u", a->nfields, b->nfields);
	for (unsigned int i = 0; i < a->nfields; i++) {
		const struct hodo_field *f = &a->fields[i], *g = &b->fields[i];

		if (f->type != g->type || strcmp(f->name, g->name) != 0)
			return scnprintf(out, size, "field %u is %s:%s, there %s:%s", i + 1, f->name,
					 hodo_fields_type_name(f->type), g->name, hodo_fields_type_name(g->type));
	}
	if (strcmp(a->format, b->format) != 0)
		return scnprintf(out, size, "format \"%s\", there \"%s\"", a->format, b->format);
	if (a->kind != b->kind)
		return scnprintf(out, size, "kind %u, there %u", a->kind, b->kind);
	return false;
}
