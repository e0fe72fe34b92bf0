/* SPDX-License-Identifier: MIT */
#include "fail_if.h"

#include <base/scope.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "COLUMN > +N%" or "COLUMN < -N%". */
static bool parse(struct hodo_fail_if *f, const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const char *rest = text + len + strspn(text + len, " ");
	int end = 0;

	if (!len || len >= sizeof(f->column) || (*rest != '<' && *rest != '>'))
		return false;
	memcpy(f->column, text, len);
	f->column[len] = 0;
	f->text = text;
	f->above = *rest == '>';
	return sscanf(rest + 1, " %lf %%%n", &f->percent, &end) == 1 && end && !rest[1 + end] && isfinite(f->percent);
}

/* NULL: the table has no such figure, or is not compared. */
static const struct hodo_column *figure_of(const struct hodo_columns *table, const char *key)
{
	const struct hodo_column *c = table->diff ? hodo_column_next(table, &key) : NULL;

	return c && hodo_column_differs(c) ? c : NULL;
}

static bool has(const struct hodo_columns *const *tables, const char *key, bool figure)
{
	for (; *tables; tables++) {
		const char *keys = key;

		if (figure ? figure_of(*tables, key) : hodo_column_next(*tables, &keys))
			return true;
	}
	return false;
}

int hodo_fail_if_set(void *options, const char *text)
{
	struct hodo_args *args = options;
	const char *verb = args->verb->name;
	struct hodo_fail_ifs *f = args->look.fail_ifs;
	struct hodo_fail_if one = { 0 };

	if (!parse(&one, text))
		return hodo_usage(verb, "--fail-if is a column and how much it may change, such as 'p99 > "
				  "+10%%', not '%s'",
				  text);
	if (!has(args->verb->tables, one.column, false))
		return hodo_usage(verb, "--fail-if: there is no column '%s': --columns=help lists them", one.column);
	if (!has(args->verb->tables, one.column, true))
		return hodo_usage(verb, "--fail-if: '%s' is not a figure that --diff compares, such as %s", one.column,
				  args->verb->tables[0]->diff);
	if (!f)
		f = args->look.fail_ifs = hodo_must(calloc(1, sizeof(*f)));
	if (f->n == HODO_FAIL_IFS_MAX)
		return hodo_usage(verb, "at most %u times --fail-if", HODO_FAIL_IFS_MAX);
	f->tables = args->verb->tables;
	f->one[f->n++] = one;
	return 0;
}

/* What the row is known by, in one line. */
static void put_row(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	for (unsigned i = 0; i < t->columns->n; i++) {
		const struct hodo_column *c = &t->columns->column[i];
		size_t start = to->len, cell;

		if (!(c->flags & HODO_IDENTITY))
			continue;
		hodo_text_add(to, start ? " " : "");
		cell = to->len;
		hodo_put_cell(to, t, c, row);
		to->len = to->len == cell ? start : to->len;
	}
}

static void say(const struct hodo_fail_if *f, const struct hodo_table *t, const void *row, double percent)
{
	HODO_AUTO(hodo_text_free) struct hodo_text name = { 0 };

	put_row(&name, t, row);
	hodo_say(0, "%s: %.*s: %s changed by %+.1f%%, which fails: %s", t->columns->name, (int)name.len,
		 (const char *)hodo_must(name.error ? NULL : name.data), f->column, percent, f->text);
}

static bool is_known(const struct hodo_cell *v)
{
	return !v->blank && v->type != HODO_CELL_ABSENT && v->type != HODO_CELL_NULL &&
	       !(v->type == HODO_CELL_F64 && isnan(v->f));
}

static enum hodo_fail_if_reach compare(struct hodo_fail_ifs *f, const struct hodo_fail_if *one,
				       const struct hodo_table t[2], const void *const row[2],
				       const struct hodo_column *c)
{
	struct hodo_cell v, w;
	double before, after, percent;

	if (!row[0] || !row[1])
		return HODO_FAIL_IF_IN_ONE;
	v = hodo_cell_of(&t[0], c, row[0]);
	w = hodo_cell_of(&t[1], c, row[1]);
	before = hodo_cell_number(&v);
	after = hodo_cell_number(&w);
	percent = before == after ? 0 : (after - before) / fabs(before) * 100;
	if (isfinite(percent) && (one->above ? percent > one->percent : percent < one->percent)) {
		say(one, &t[0], row[0], percent);
		f->met++;
		return HODO_FAIL_IF_COMPARED;
	}
	return isfinite(percent) && is_known(&v) && is_known(&w) ? HODO_FAIL_IF_COMPARED : HODO_FAIL_IF_IN_BOTH;
}

void hodo_fail_if_row(struct hodo_fail_ifs *f, const struct hodo_table t[2], const void *const row[2])
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct hodo_column *c = figure_of(t[0].columns, f->one[i].column);
		enum hodo_fail_if_reach reach = c ? compare(f, &f->one[i], t, row, c) : HODO_FAIL_IF_NO_ROW;

		if (reach > f->one[i].reach)
			f->one[i].reach = reach;
	}
}

static int say_compared_nothing(const struct hodo_fail_ifs *f, const struct hodo_fail_if *one)
{
	static const char what[] = "compared nothing";
	HODO_AUTO(hodo_text_free) struct hodo_text tables = { 0 };

	if (one->reach == HODO_FAIL_IF_IN_BOTH)
		return hodo_error("--fail-if '%s' %s: in no row is there such a figure in both recordings, and not 0 in the "
				  "first: give another column", one->text, what);
	if (one->reach == HODO_FAIL_IF_IN_ONE)
		return hodo_error("--fail-if '%s' %s: no row with that column is in both recordings: record the same "
				  "events in both", one->text, what);
	for (const struct hodo_columns *const *t = f->tables; *t; t++)
		if (figure_of(*t, one->column))
			hodo_text_printf(&tables, "%s%s", tables.len ? ", " : "", (*t)->name);
	return hodo_error("--fail-if '%s' %s: neither recording has a row in a table with that column (%s): check -e and "
			  "the like, and what was recorded", one->text, what, hodo_must(hodo_text_string(&tables)));
}

int hodo_fail_if_status(const struct hodo_show *look, int status)
{
	const struct hodo_fail_ifs *f = look->fail_ifs;

	if (status || !f)
		return status;
	for (unsigned i = 0; i < f->n; i++)
		if (f->one[i].reach < HODO_FAIL_IF_COMPARED)
			status = say_compared_nothing(f, &f->one[i]);
	return status ? status : f->met ? HODO_EXIT_CHANGED : 0;
}
