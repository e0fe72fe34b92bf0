/* SPDX-License-Identifier: MIT */
/* table_json.c - rows as objects of JSON. */
#include "table.h"

#include <math.h>
#include <string.h>

static void put_cell(struct hodo_json *j, const struct hodo_column *c, const struct hodo_cell *v)
{
	switch (v->type) {
	case HODO_CELL_U64:
		hodo_json_u64(j, c->key, v->u);
		return;
	case HODO_CELL_I64:
		hodo_json_i64(j, c->key, v->i);
		return;
	case HODO_CELL_F64:
		if (c->as == HODO_AS_NUMBER && isfinite(v->f))
			hodo_json_printf(j, c->key, "%.17g", v->f);
		else
			hodo_json_double(j, c->key, v->f, c->as == HODO_AS_RATE ? 3 : 1);
		return;
	case HODO_CELL_BOOL:
		hodo_json_bool(j, c->key, v->u);
		return;
	case HODO_CELL_STRING:
		hodo_json_string(j, c->key, v->s);
		return;
	case HODO_CELL_NULL:
		hodo_json_null(j, c->key);
		return;
	default:
		return;
	}
}

/* For columns that put() writes as text. */
static void put_text(struct hodo_json *j, const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_text text = { 0 };

	c->put(&text, t, row);
	hodo_json_string(j, c->key, hodo_text_string(&text));
	hodo_text_free(&text);
}

const struct hodo_columns hodo_texts = { .name = "texts" };

static void put_inner(struct hodo_json *j, const struct hodo_column *c, const void *row)
{
	const char *at = (const char *)row + c->inner, *first;
	bool pointers = c->stride == HODO_STRIDE_POINTERS;
	struct hodo_table list = { .columns = c->of, .stride = pointers ? 0 : c->stride };

	if (!c->stride) {
		hodo_put_object(j, c->key, c->of, NULL, at);
		return;
	}
	memcpy(&first, at, sizeof(first));
	list.first = c->inlined ? at : first;
	list.n = *(const uint32_t *)((const char *)row + c->count);
	hodo_table_put_json(j, c->key, &list);
}

/* Whether there is nothing that JSON should have. */
static bool is_missing(const struct hodo_cell *v)
{
	return v->type == HODO_CELL_NULL || (v->type == HODO_CELL_I64 && (v->i == INT64_MIN || v->i == INT64_MAX));
}

static void put_member(struct hodo_json *j, const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v = { 0 };

	if (c->get || c->is)
		v = hodo_cell_of(t, c, row);
	if ((c->flags & HODO_OPTIONAL) && is_missing(&v))
		return;
	if (c->put_json)
		c->put_json(j, c->key, t, row);
	else if (c->of)
		put_inner(j, c, row);
	else if (c->put && !c->get && !c->is)
		put_text(j, t, c, row);
	else
		put_cell(j, c, &v);
}

void hodo_put_members(struct hodo_json *j, const struct hodo_table *t, const void *row, unsigned with, unsigned without)
{
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	unsigned n = hodo_table_columns(t, true, column);

	for (unsigned i = 0; i < n; i++)
		if ((column[i]->flags & with) == with && !(column[i]->flags & without))
			put_member(j, t, column[i], row);
}

void hodo_put_object(struct hodo_json *j, const char *key, const struct hodo_columns *columns, const char *chosen,
		     const void *row)
{
	struct hodo_table t = { .columns = columns, .chosen = chosen };

	hodo_json_object(j, key);
	hodo_put_members(j, &t, row, 0, HODO_DIFF_ONLY);
	hodo_json_end(j);
}

void hodo_table_put_json(struct hodo_json *j, const char *key, const struct hodo_table *t)
{
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	bool any = t->columns == &hodo_texts || hodo_table_columns(t, true, column);

	hodo_json_array(j, key);
	for (size_t i = 0; any && i < t->n - t->hidden; i++) {
		const void *row = hodo_table_row(t, i);

		if (t->columns == &hodo_texts) {
			hodo_json_string(j, NULL, row);
			continue;
		}
		hodo_json_object(j, NULL);
		hodo_put_members(j, t, row, 0, HODO_DIFF_ONLY);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}
