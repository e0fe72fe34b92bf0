/* SPDX-License-Identifier: MIT */
/* table.c - rows, their values and their order; the names of columns. */
#define _GNU_SOURCE
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const void *hodo_table_row(const struct hodo_table *t, size_t i)
{
	if (t->order)
		return t->order[i];
	return t->stride ? (const char *)t->first + i * t->stride : ((const void *const *)t->first)[i];
}

/* ------------------------------------------------------------------------ columns */

/* NULL: the table has no such column. */
static const struct hodo_column *find_in(const struct hodo_columns *columns, const char *key, size_t len)
{
	for (unsigned i = 0; i < columns->n; i++) {
		const struct hodo_column *c = &columns->column[i];

		if (strncmp(c->key, key, len) == 0 && (!c->key[len] || strcmp(c->key + len, "_ns") == 0))
			return c;
		if (c->also && strncmp(c->also, key, len) == 0 && !c->also[len])
			return c;
	}
	return NULL;
}

const struct hodo_column *hodo_column_next(const struct hodo_columns *columns, const char **keys)
{
	const struct hodo_column *c = NULL;

	while (!c && **keys) {
		size_t len = strcspn(*keys, ",");

		c = find_in(columns, *keys, len);
		*keys += len + ((*keys)[len] == ',');
	}
	return c;
}

static bool has_any(const struct hodo_table *t, const struct hodo_column *c)
{
	bool any = false;

	for (size_t i = 0; i < t->n && !any; i++)
		any = hodo_cell_of(t, c, hodo_table_row(t, i)).u != 0;
	return any || (t->total && hodo_cell_of(t, c, t->total).u != 0);
}

unsigned hodo_table_columns(const struct hodo_table *t, bool json, const struct hodo_column **out)
{
	const char *keys = t->chosen ? t->chosen : json ? NULL : t->columns->text;
	bool all = !keys;
	unsigned n = 0;

	while (keys && n < HODO_COLUMNS_MAX && (out[n] = hodo_column_next(t->columns, &keys)) != NULL)
		n += json || (out[n]->as != HODO_AS_JSON &&
			      (t->chosen || !(out[n]->flags & HODO_IF_ANY) || has_any(t, out[n])));
	for (unsigned i = 0; all && i < t->columns->n; i++)
		if (!json || !(t->columns->column[i].flags & HODO_TEXT_ONLY))
			out[n++] = &t->columns->column[i];
	return n;
}

static const struct hodo_column *find(const struct hodo_columns *const *tables, const char *key, size_t len)
{
	const struct hodo_column *c = NULL;

	for (; *tables && len && !c; tables++)
		c = find_in(*tables, key, len);
	return c;
}

const char *hodo_columns_key(const struct hodo_columns *const *tables, unsigned i)
{
	for (const struct hodo_columns *const *t = tables; *t; t++) {
		for (unsigned k = 0; k < (*t)->n; k++) {
			const struct hodo_column *c = &(*t)->column[k];

			if (find(tables, c->key, strlen(c->key)) == c && i-- == 0)
				return c->key;
		}
	}
	return NULL;
}

static void print_keys(const struct hodo_columns *const *tables)
{
	for (; *tables; tables++) {
		printf("%s:", (*tables)->name);
		for (unsigned k = 0; k < (*tables)->n; k++) {
			const struct hodo_column *c = &(*tables)->column[k];

			printf("%s %s", k ? "," : "", c->key);
			if (c->also && strcmp(c->also, c->key) != 0)
				printf(" (or %s)", c->also);
		}
		puts("");
	}
}

int hodo_show_make(struct hodo_args *a, const struct hodo_columns *const *tables)
{
	const char *name = a->look.columns, *sort = a->look.sort;
	size_t len;

	a->look.color = hodo_use_color(a->color, STDOUT_FILENO);
	if (name && strcmp(name, "help") == 0) {
		print_keys(tables);
		return 0;
	}
	for (; name; name += len + 1) {
		len = strcspn(name, ",");
		if (!find(tables, name, len))
			return hodo_usage(a->verb->name, "--columns: there is no column '%.*s': --columns=help lists them",
					  (int)len, name);
		if (!name[len])
			break;
	}
	if (sort && !find(tables, sort, strlen(sort)))
		return hodo_usage(a->verb->name, "--sort is the name of a column, not '%s': --columns=help lists them", sort);
	return HODO_GO_ON;
}

/* ------------------------------------------------------------------------- values */

struct hodo_cell hodo_cell_of(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const void *at = (const char *)row + c->offset;

	if (c->get)
		return c->get(t, c, row);
	switch (c->is) {
	case HODO_IS_BOOL:
		return (struct hodo_cell){ .type = HODO_CELL_BOOL, .u = *(const bool *)at };
	case HODO_IS_U8:
		return hodo_cell_u64(*(const uint8_t *)at);
	case HODO_IS_U32:
		return hodo_cell_u64(*(const uint32_t *)at);
	case HODO_IS_U64:
		return hodo_cell_u64(*(const uint64_t *)at);
	case HODO_IS_I32:
		return (struct hodo_cell){ .type = HODO_CELL_I64, .i = *(const int32_t *)at };
	case HODO_IS_I64:
		return (struct hodo_cell){ .type = HODO_CELL_I64, .i = *(const int64_t *)at };
	case HODO_IS_F64:
		return hodo_cell_f64(*(const double *)at);
	case HODO_IS_POINTER:
		return hodo_cell_string(*(const char *const *)at);
	case HODO_IS_ARRAY:
		return hodo_cell_string(at);
	default:
		return (struct hodo_cell){ .type = HODO_CELL_ABSENT };
	}
}

double hodo_cell_number(const struct hodo_cell *v)
{
	switch (v->type) {
	case HODO_CELL_U64:
	case HODO_CELL_BOOL:
		return (double)v->u;
	case HODO_CELL_I64:
		return (double)v->i;
	case HODO_CELL_F64:
		return isnan(v->f) ? -INFINITY : v->f;
	default:
		return 0;
	}
}

/* Below 0 if a comes first: texts by their bytes, numbers from the greatest on; what is not a number is last. */
static int compare(const struct hodo_cell *a, const struct hodo_cell *b)
{
	double x, y;

	if (a->type == HODO_CELL_STRING || b->type == HODO_CELL_STRING)
		return strcmp(a->type == HODO_CELL_STRING ? a->s : "", b->type == HODO_CELL_STRING ? b->s : "");
	if (a->type == HODO_CELL_U64 && b->type == HODO_CELL_U64)
		return (a->u < b->u) - (a->u > b->u);
	x = hodo_cell_number(a);
	y = hodo_cell_number(b);
	return (x < y) - (x > y);
}

/* -------------------------------------------------------------------------- order */

int hodo_table_same(const struct hodo_table *ta, const void *a, const struct hodo_table *tb, const void *b)
{
	int order = 0;

	for (unsigned i = 0; i < ta->columns->n && !order; i++) {
		const struct hodo_column *c = &ta->columns->column[i];
		struct hodo_cell x, y;

		if (!(c->flags & HODO_IDENTITY))
			continue;
		x = hodo_cell_of(ta, c, a);
		y = hodo_cell_of(tb, c, b);
		order = c->as == HODO_AS_ID ? compare(&y, &x) : compare(&x, &y);
	}
	return order;
}

struct item {
	const void *row;
	size_t place;
	struct hodo_cell key;
};

struct sorting {
	const struct hodo_table *table;
	const struct hodo_column *then;
	bool up;
};

static int by_key(const void *a, const void *b, void *arg)
{
	const struct item *x = a, *y = b;
	const struct sorting *s = arg;
	int order = s->up ? compare(&y->key, &x->key) : compare(&x->key, &y->key);

	if (!order && s->then) {
		struct hodo_cell v = hodo_cell_of(s->table, s->then, x->row);
		struct hodo_cell w = hodo_cell_of(s->table, s->then, y->row);

		order = compare(&v, &w);
	}
	if (!order)
		order = hodo_table_same(s->table, x->row, s->table, y->row);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

const struct hodo_column *hodo_column_sort(const struct hodo_columns *columns, const char *key)
{
	const struct hodo_column *c = key ? find_in(columns, key, strlen(key)) : NULL;

	return c || !columns->sort ? c : find_in(columns, columns->sort, strlen(columns->sort));
}

void hodo_table_arrange(struct hodo_table *t, const struct hodo_show *look)
{
	const struct hodo_column *c = hodo_column_sort(t->columns, look->sort);
	struct sorting s = { t, c ? c->then : NULL, c && (c->as == HODO_AS_ID) != look->reverse };
	struct item *items;
	const void **order;

	t->chosen = look->columns;
	t->hidden = look->limit < t->n ? t->n - (size_t)look->limit : 0;
	if (!c || !t->n)
		return;
	items = hodo_must(calloc(t->n, sizeof(*items)));
	order = hodo_must(calloc(t->n, sizeof(*order)));
	for (size_t i = 0; i < t->n; i++) {
		const void *row = hodo_table_row(t, i);

		items[i] = (struct item){ row, i, hodo_cell_of(t, c, row) };
	}
	qsort_r(items, t->n, sizeof(*items), by_key, &s);
	for (size_t i = 0; i < t->n; i++)
		order[i] = items[i].row;
	free(items);
	free(t->order);
	t->order = order;
}

void hodo_table_free(struct hodo_table *t)
{
	free(t->order);
	t->order = NULL;
}
