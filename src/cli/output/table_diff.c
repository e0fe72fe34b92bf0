/* SPDX-License-Identifier: MIT */
/* table_diff.c - the differences between two tables with the same columns. */
#define _GNU_SOURCE
#include <cli/fail_if.h>

#include <math.h>
#include <stdlib.h>

struct item {
	const void *row[2]; /* before, after; either may be NULL */
	double change;
};

static int by_identity(const void *a, const void *b, void *arg)
{
	const struct item *x = a, *y = b;
	const struct hodo_table *t = arg;
	int i = !x->row[0], k = !y->row[0], order = hodo_table_same(&t[i], x->row[i], &t[k], y->row[k]);

	return order ? order : i - k;
}

static int by_change(const void *a, const void *b, void *arg)
{
	const struct item *x = a, *y = b;

	if (x->change != y->change)
		return x->change < y->change ? 1 : -1;
	return by_identity(a, b, arg);
}

static double number_of(const struct hodo_table t[2], const struct item *item, unsigned side,
			const struct hodo_column *c)
{
	struct hodo_cell v;

	if (!c || !item->row[side])
		return 0;
	v = hodo_cell_of(&t[side], c, item->row[side]);
	return hodo_cell_number(&v);
}

/* Whether the row is there, but has no such figure, as the times of calls whose exit cannot be seen. */
static bool is_blank(const struct hodo_table t[2], const struct item *item, unsigned side, const struct hodo_column *c)
{
	return item->row[side] && hodo_cell_of(&t[side], c, item->row[side]).blank;
}

/* Their number. */
static size_t make_items(struct hodo_table t[2], const struct hodo_column *key, struct item **out)
{
	struct item *items = hodo_must(calloc(t[0].n + t[1].n + 1, sizeof(*items)));
	size_t n = 0, kept = 0;

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < t[side].n; i++)
			items[n++].row[side] = hodo_table_row(&t[side], i);
	qsort_r(items, n, sizeof(*items), by_identity, t);
	for (size_t i = 0; i < n; i++) {
		struct item *last = kept ? &items[kept - 1] : NULL;

		if (last && !last->row[1] && !items[i].row[0] &&
		    hodo_table_same(&t[0], last->row[0], &t[1], items[i].row[1]) == 0)
			last->row[1] = items[i].row[1];
		else
			items[kept++] = items[i];
	}
	for (size_t i = 0; i < kept; i++) {
		double a = number_of(t, &items[i], 0, key), b = number_of(t, &items[i], 1, key);

		items[i].change = a == b ? 0 : a < b ? b - a : a - b; /* infinite ones may be equal */
	}
	qsort_r(items, kept, sizeof(*items), by_change, t);
	*out = items;
	return kept;
}

/* --------------------------------------------------------------------------- text */

static void put_change(struct hodo_text *to, const struct hodo_table t[2], const struct item *item,
		       const struct hodo_column *c)
{
	const bool blank[2] = { is_blank(t, item, 0, c), is_blank(t, item, 1, c) };
	double before = number_of(t, item, 0, c), after = number_of(t, item, 1, c);
	double change = after == before ? 0 : (after - before) / fabs(before) * 100;
	enum hodo_as as = c->as;
	bool time = as == HODO_AS_TIME || as == HODO_AS_AVERAGE;
	char percent[32] = "new", buf[48];

	if (before != 0 && isfinite(change) && !blank[0] && !blank[1])
		snprintf(percent, sizeof(percent), "%+.1f%%", change);
	else if (before != 0 || after == 0)
		snprintf(percent, sizeof(percent), "-");
	for (unsigned side = 0; side < 2; side++) {
		double n = side ? after : before;

		if (blank[side])
			hodo_text_printf(to, time ? "%s%8s  " : "%s%11s", side ? (time ? "  " : " ") : "", "-");
		else if (time)
			hodo_text_printf(to, "%s%10s", side ? "  " : "", hodo_duration((uint64_t)(n + 0.5), buf));
		else if (as == HODO_AS_BYTES)
			hodo_text_printf(to, "%s%11s", side ? " " : "", hodo_human_bytes((uint64_t)n, buf));
		else
			hodo_text_printf(to, "%s%11s", side ? " " : "", as == HODO_AS_COUNT ?
					 hodo_grouped((uint64_t)n, buf) : hodo_number(n, buf));
	}
	hodo_text_printf(to, " %9s  ", percent);
}

/* Columns that can differ. */
static unsigned columns_of(const struct hodo_table *t, const struct hodo_show *look, const struct hodo_column **out)
{
	const char *keys = look->columns ? look->columns : t->columns->diff;
	unsigned n = 0;

	while (keys && n < HODO_COLUMNS_MAX && (out[n] = hodo_column_next(t->columns, &keys)) != NULL)
		n += hodo_column_differs(out[n]);
	return n;
}

static void put_head(struct hodo_text *to, const struct hodo_column *const *column, unsigned n)
{
	char buf[32];

	for (unsigned i = 0; i < n; i++) {
		bool time = column[i]->as == HODO_AS_TIME || column[i]->as == HODO_AS_AVERAGE;
		const char *title = hodo_column_title(column[i], buf);
		size_t start = to->len;
		int left;

		hodo_text_printf(to, time ? "  %s BEFORE" : "%5s BEFORE", title);
		left = (time ? 22 : 23) - (int)(to->len - start);
		hodo_text_printf(to, "%*s %9s%s", left > 6 ? left : 6, "AFTER", "CHANGE", i + 1 == n ? "" : "  ");
	}
	hodo_text_char(to, '\n');
}

/* The row's identity, from the old row, else from the new one. */
static void put_identity(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	unsigned n = hodo_table_columns(t, false, column);
	int gap = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct hodo_column *c = column[i];
		size_t start = to->len, cell;

		if (!(c->flags & HODO_IDENTITY))
			continue;
		hodo_text_printf(to, "%*s", gap, "");
		cell = to->len;
		hodo_put_cell(to, t, c, row);
		if (to->len == cell)
			to->len = start;
		else
			gap = 2 + (c->width > (int)(to->len - cell) ? c->width - (int)(to->len - cell) : 0);
	}
	hodo_text_char(to, '\n');
}

static void put_text(struct hodo_text *to, const struct hodo_table t[2], const struct item *items, size_t n,
		     const struct hodo_show *look)
{
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	unsigned ncolumns = columns_of(&t[0], look, column);

	put_head(to, column, ncolumns);
	for (size_t i = 0; i < n; i++) {
		unsigned known = !items[i].row[0];

		for (unsigned k = 0; k < ncolumns; k++)
			put_change(to, t, &items[i], column[k]);
		put_identity(to, &t[known], items[i].row[known]);
	}
}

/* --------------------------------------------------------------------------- JSON */

static void put_side(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row,
		     const char *chosen)
{
	struct hodo_table values = *t;

	if (!row) {
		hodo_json_null(j, key);
		return;
	}
	values.chosen = chosen;
	hodo_json_object(j, key);
	hodo_put_members(j, &values, row, 0, HODO_IDENTITY | HODO_NO_DIFF);
	hodo_json_end(j);
}

static void put_json(struct hodo_json *j, const char *key, const struct hodo_table t[2], const struct item *items,
		     size_t n, const struct hodo_show *look)
{
	hodo_json_array(j, key);
	for (size_t i = 0; i < n; i++) {
		unsigned known = !items[i].row[0];

		hodo_json_object(j, NULL);
		hodo_put_members(j, &t[known], items[i].row[known], HODO_IDENTITY, 0);
		put_side(j, "before", &t[0], items[i].row[0], look->columns);
		put_side(j, "after", &t[1], items[i].row[1], look->columns);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

size_t hodo_table_diff(struct hodo_text *to, struct hodo_json *j, const char *key, const struct hodo_table *before,
		       const struct hodo_table *after, const struct hodo_show *look, const char *title)
{
	struct hodo_table t[2] = { *before, *after };
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	struct item *items;
	size_t n, shown;
	char buf[32];

	t[0].chosen = t[1].chosen = NULL; /* the identity is always included */
	n = make_items(t, hodo_column_sort(before->columns, look->sort), &items);
	for (size_t i = 0; i < n && look->fail_ifs; i++)
		hodo_fail_if_row(look->fail_ifs, t, items[i].row);
	shown = look->limit < n ? (size_t)look->limit : n;
	if (look->json)
		put_json(j, key, t, items, shown, look);
	if (!look->json && !columns_of(before, look, column)) {
		n = 0;
	} else if (!look->json && n) {
		hodo_text_add(to, title ? title : "");
		put_text(to, t, items, shown, look);
		if (shown < n)
			hodo_text_printf(to, "and %s more\n", hodo_grouped(n - shown, buf));
	}
	free(items);
	return n;
}
