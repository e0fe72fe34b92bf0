/* SPDX-License-Identifier: MIT */
/* labels.c - names for the values of integer fields. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#include <base/search.h>

struct pair {
	int64_t value;
	const char *name;
	uint32_t place;
};

struct hodo_labels {
	struct hodo_read_labels pub;
	const char *provider, *field;
	uint32_t line;      /* of several for one field, the last counts */
	struct pair *pairs; /* while parsing */
	int64_t *values;
	const char **names;
};

static int by_value(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static void labels_free(struct hodo_labels *l)
{
	if (!l)
		return;
	free(l->pairs);
	free(l->values);
	free(l->names);
	free(l);
}

static uint32_t count_parts(const char *list)
{
	uint32_t n = *list != 0;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

int hodo_read_labels_parse(struct hodo_trace *t, char *provider, char *field, char *names, char *values)
{
	uint32_t n = count_parts(names), kept = 0;
	struct hodo_labels *l;
	int err;

	if (n == 0 || n != count_parts(values))
		return -EINVAL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->pairs = calloc(n, sizeof(*l->pairs));
	l->values = calloc(n, sizeof(*l->values));
	l->names = calloc(n, sizeof(*l->names));
	if (!l->pairs || !l->values || !l->names) {
		labels_free(l);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		char *value = strsep(&values, ","), *end;

		l->pairs[i].name = strsep(&names, ",");
		l->pairs[i].place = i;
		errno = 0;
		l->pairs[i].value =
			*value == '-' ? strtoll(value, &end, 10) : (int64_t)strtoull(value, &end, 10);
		if (errno || end == value || *end) {
			labels_free(l);
			return -EINVAL;
		}
	}
	qsort(l->pairs, n, sizeof(*l->pairs), by_value);
	for (uint32_t i = 0; i < n; i++) {
		if (kept > 0 && l->values[kept - 1] == l->pairs[i].value)
			continue; /* two names for one value: the first */
		l->values[kept] = l->pairs[i].value;
		l->names[kept++] = l->pairs[i].name;
	}
	free(l->pairs);
	l->pairs = NULL;
	l->provider = provider;
	l->field = field;
	l->pub.n = kept;
	l->pub.values = l->values;
	l->pub.names = l->names;
	l->line = t->nlabels;
	err = hodo_vec_push(t->labels, t->nlabels, l);
	if (err)
		labels_free(l);
	return err;
}

static int by_field(const void *a, const void *b)
{
	const struct hodo_labels *x = *(struct hodo_labels *const *)a, *y = *(struct hodo_labels *const *)b;
	int order = strcmp(x->provider, y->provider);

	order = order ? order : strcmp(x->field, y->field);
	return order ? order : (x->line < y->line) - (x->line > y->line);
}

void hodo_read_labels_sort(struct hodo_trace *t)
{
	if (t->nlabels > 0)
		qsort(t->labels, t->nlabels, sizeof(*t->labels), by_field);
}

/* Like strcmp(l's provider and field, those given). */
static int compare(const struct hodo_labels *l, const char *provider, size_t provider_len, const char *field)
{
	int order = strncmp(l->provider, provider, provider_len);

	if (order == 0 && l->provider[provider_len])
		order = 1;
	return order ? order : strcmp(l->field, field);
}

void hodo_read_labels_attach(struct hodo_trace *t, const char *event, struct hodo_read_field *fields,
			     uint32_t nfields)
{
	size_t len = strcspn(event, ":"); /* the provider */

	for (uint32_t i = 0; i < nfields; i++) {
		struct hodo_read_field *f = &fields[i];
		uint32_t at;

		if (f->type < HODO_TYPE_I8 || f->type > HODO_TYPE_U64)
			continue;
		at = hodo_search(k, t->nlabels, compare(t->labels[k], event, len, f->name) >= 0);
		if (at < t->nlabels && compare(t->labels[at], event, len, f->name) == 0)
			f->labels = &t->labels[at]->pub;
	}
}

void hodo_read_labels_free(struct hodo_trace *t)
{
	for (uint32_t i = 0; i < t->nlabels; i++)
		labels_free(t->labels[i]);
	free(t->labels);
}

const char *hodo_read_label(const struct hodo_read_labels *labels, int64_t value)
{
	uint32_t n = labels ? labels->n : 0, at = hodo_search(i, n, labels->values[i] >= value);

	return at < n && labels->values[at] == value ? labels->names[at] : NULL;
}
