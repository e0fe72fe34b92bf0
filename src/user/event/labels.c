/* SPDX-License-Identifier: MIT */
/* labels.c - names for the values of fields, for all events of a provider (HODO_LABELS) or for one event. See
 * user.h. */
#include <core/labels.h>
#include "event.h"
#include <user/libc/libc.h>

#define LABEL_SETS_MAX 1024
static uint32_t label_sets[LABEL_SETS_MAX];
static unsigned nlabel_sets;

/* The labels of a field of a provider, or of an event; NULL: it has none. *names: the first one's name. */
static const struct hodo_record_labels *find_labels(const char *owner, size_t len, const char *field,
						    const char **names)
{
	for (unsigned i = 0; i < nlabel_sets; i++) {
		const struct hodo_record_labels *r = (const void *)hodo_catalog_at(label_sets[i]);
		const char *p = (const char *)(r + 1) + 8 * (size_t)r->n;

		if (__builtin_strlen(p) != len || __builtin_memcmp(p, owner, len) != 0 ||
		    __builtin_strcmp(p + len + 1, field) != 0)
			continue;
		*names = p + len + 1 + __builtin_strlen(field) + 1;
		return r;
	}
	return 0;
}

static void add_set(void)
{
	uint32_t at = hodo_catalog_append();

	if (at)
		label_sets[nlabel_sets++] = at;
}

void hodo_registry_labels(const struct hodo_desc *desc, size_t room)
{
	const struct hodo_record_labels record = { { 0, HODO_RECORD_LABELS, 0 }, desc->nlabels, 0 };
	const char *provider = hodo_registry_text(desc, room, 0), *field = hodo_registry_text(desc, room, 1), *names;

	/* An inlined statement brings its labels once a copy. */
	if (desc->size != sizeof(*desc) || desc->version != HODO_ABI_VERSION || desc->nlabels > HODO_TRACE_FIELDS_MAX ||
	    desc->total > room || desc->labels != sizeof(*desc) ||
	    desc->strings < desc->labels + 8u * desc->nlabels || nlabel_sets == LABEL_SETS_MAX ||
	    find_labels(provider, __builtin_strlen(provider), field, &names))
		return;
	hodo_catalog_begin(&record, sizeof(record));
	hodo_catalog_put((const char *)desc + desc->labels, 8u * desc->nlabels);
	hodo_catalog_text(provider);
	hodo_catalog_text(field);
	hodo_catalog_names(hodo_registry_text(desc, room, 2), desc->nlabels);
	add_set();
}

/* How many of a field's labels a record holds besides so many bytes; moves *text past all of them. */
static uint32_t count_labels(const char **text, size_t used)
{
	struct hodo_label label;
	uint32_t n = 0;

	while (hodo_labels_next(text, &label)) {
		used += sizeof(label.value) + label.len + 1;
		n += used <= HODO_CATALOG_RECORD_MAX - 16;
	}
	return n;
}

static void add_of_field(const char *event, const char *field, const char *text, uint32_t n)
{
	const struct hodo_record_labels record = { { 0, HODO_RECORD_LABELS, 0 }, n, 0 };
	struct hodo_label label;
	const char *p = text;

	hodo_catalog_begin(&record, sizeof(record));
	for (uint32_t i = 0; i < n && hodo_labels_next(&p, &label); i++)
		hodo_catalog_put(&label.value, sizeof(label.value));
	hodo_catalog_text(event);
	hodo_catalog_text(field);
	for (uint32_t i = 0; i < n && hodo_labels_next(&text, &label); i++) {
		hodo_catalog_put(label.name, label.len);
		hodo_catalog_put("", 1);
	}
	add_set();
}

void hodo_registry_event_labels(const struct hodo_event *event, const struct hodo_desc *desc, size_t room)
{
	const char *text = desc->labels & HODO_DESC_LABELLED ? hodo_registry_text(desc, room, 6) : "";
	char name[HODO_EVENT_NAME_MAX], field[HODO_NAME_MAX + 1];
	unsigned place;

	while (nlabel_sets < LABEL_SETS_MAX && hodo_labels_field(&text, &place) && place < event->nfields) {
		const char *first = text, *p = hodo_registry_name(event), *names;
		uint32_t n;

		/* The catalogue moves when it grows. */
		name[0] = field[0] = 0;
		hodo_fixed_text_add(name, sizeof(name), p);
		for (unsigned i = 0; i <= place; i++)
			p += __builtin_strlen(p) + 1;
		hodo_fixed_text_add(field, sizeof(field), p);
		n = count_labels(&text, sizeof(struct hodo_record_labels) + sizeof(name) + sizeof(field));
		/* Each of its sites, in each object, brings them. */
		if (n && !find_labels(name, __builtin_strlen(name), field, &names))
			add_of_field(name, field, first, n);
	}
}

bool hodo_registry_label(const struct hodo_event *event, const char *field, const char *label, size_t len,
			 int64_t *value)
{
	const char *name = hodo_registry_name(event), *colon = __builtin_strchr(name, ':'), *p;
	const struct hodo_record_labels *r = find_labels(name, __builtin_strlen(name), field, &p);

	if (!r)
		r = find_labels(name, (size_t)(colon - name), field, &p);
	for (uint32_t k = 0; r && k < r->n; k++, p += __builtin_strlen(p) + 1) {
		if (__builtin_strlen(p) == len && __builtin_memcmp(p, label, len) == 0) {
			__builtin_memcpy(value, (const char *)(r + 1) + 8 * (size_t)k, sizeof(*value));
			return true;
		}
	}
	return false;
}
