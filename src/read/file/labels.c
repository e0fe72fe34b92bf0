/* SPDX-License-Identifier: MIT */
/* labels.c - names for the values of integer fields. */
#include "labels.h"
#include "load.h"

#include <base/arena.h>
#include <base/map.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/text.h>
#include <core/search.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The labels of a field, for all events of a provider or for one event. */
struct labels {
	struct hodo_bytes key; /* key_of() */
	struct hodo_read_labels *pub; /* does not move: fields refer to it */
};

struct pair {
	int64_t value;
	const char *name;
};

static int by_value(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return hodo_order(x->value, y->value) ?: hodo_order(x->name, y->name); /* places in the list */
}

static void key_of(struct hodo_text *key, const char *provider, size_t len, const char *field)
{
	key->len = 0;
	hodo_text_bytes(key, provider, len);
	hodo_text_bytes(key, "", 1);
	hodo_text_add(key, field);
}

int hodo_read_labels_add(struct hodo_labels *l, const char *provider, const char *field, char *names,
			 const void *values, uint32_t n)
{
	HODO_AUTO_FREE struct pair *pairs = calloc(n + 1, sizeof(*pairs));
	HODO_AUTO(hodo_text_free) struct hodo_text key = { 0 };
	int64_t *sorted = hodo_arena_alloc(&l->memory, n * sizeof(*sorted));
	const char **sorted_names = hodo_arena_alloc(&l->memory, n * sizeof(*sorted_names));
	struct labels *labels;
	uint32_t kept = 0;

	if (!pairs || !sorted || !sorted_names)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		pairs[i].value = (int64_t)load64((const uint8_t *)values + 8 * (size_t)i);
		pairs[i].name = strsep(&names, ",");
		if (!pairs[i].name)
			return -EINVAL;
	}
	if (n == 0 || names || !*pairs[0].name)
		return -EINVAL;
	hodo_order_sort(pairs, n, by_value);
	for (uint32_t i = 0; i < n; i++) {
		if (kept > 0 && sorted[kept - 1] == pairs[i].value)
			continue; /* two names for one value: the first */
		sorted[kept] = pairs[i].value;
		sorted_names[kept++] = pairs[i].name;
	}
	key_of(&key, provider, strlen(provider), field);
	l->by_field.entry_bytes = sizeof(*labels);
	labels = key.error ? NULL : hodo_map_add_bytes(&l->by_field, key.data, key.len, NULL);
	if (labels && !labels->pub)
		labels->pub = hodo_arena_alloc(&l->memory, sizeof(*labels->pub));
	if (!labels || !labels->pub)
		return -ENOMEM;
	*labels->pub = (struct hodo_read_labels){ kept, sorted, sorted_names }; /* of several for one field the last */
	return 0;
}

static const struct labels *find(const struct hodo_labels *l, struct hodo_text *key, const char *owner, size_t len,
				 const char *field)
{
	key_of(key, owner, len, field);
	return key->error ? NULL : hodo_map_find_bytes(&l->by_field, key->data, key->len);
}

int hodo_read_labels_attach(const struct hodo_labels *l, const char *event, struct hodo_read_field *fields,
			    uint32_t nfields)
{
	HODO_AUTO(hodo_text_free) struct hodo_text key = { 0 };

	for (uint32_t i = 0; i < nfields && l->by_field.n; i++) {
		struct hodo_read_field *f = &fields[i];
		const struct labels *labels;

		if (f->type < HODO_TYPE_I8 || f->type > HODO_TYPE_U64)
			continue;
		labels = find(l, &key, event, strlen(event), f->name);
		if (!labels)
			labels = find(l, &key, event, strcspn(event, ":"), f->name);
		f->labels = labels ? labels->pub : NULL;
	}
	return key.error;
}

void hodo_read_labels_free(struct hodo_labels *l)
{
	hodo_map_free(&l->by_field);
	hodo_arena_free(&l->memory);
}

const char *hodo_read_label(const struct hodo_read_labels *labels, int64_t value)
{
	uint32_t n = labels ? labels->n : 0, at = hodo_search(i, n, labels->values[i] >= value);

	return at < n && labels->values[at] == value ? labels->names[at] : NULL;
}
