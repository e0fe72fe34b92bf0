/* SPDX-License-Identifier: MIT */
/* fail_if.c - see fail_if.h. */
#include "fail_if.h"

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

static const struct hodo_column *column_of(const struct hodo_columns *const *tables, const char *column)
{
	const struct hodo_column *c = NULL;

	for (; *tables && !c; tables++) {
		const char *keys = column;

		c = hodo_column_next(*tables, &keys);
	}
	return c;
}

int hodo_fail_if_set(void *options, const char *text)
{
	struct hodo_args *args = options;
	const char *verb = args->verb->name;
	struct hodo_fail_ifs *f = args->look.fail_ifs;
	struct hodo_fail_if one = { 0 };

	if (!parse(&one, text))
		return hodo_usage(verb, "--fail-if is a column and how far it may change, such as 'p99 > +10%%', not '%s'",
				  text);
	if (!column_of(args->verb->tables, one.column))
		return hodo_usage(verb, "--fail-if: there is no column '%s': --columns=help lists them", one.column);
	if (!f)
		f = args->look.fail_ifs = hodo_must(calloc(1, sizeof(*f)));
	if (f->n == HODO_FAIL_IFS_MAX)
		return hodo_usage(verb, "%u times --fail-if at the most", HODO_FAIL_IFS_MAX);
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

void hodo_fail_if_changed(struct hodo_fail_ifs *f, const struct hodo_table *t, const struct hodo_column *c,
			  const void *row, double before, double after)
{
	double percent = before == after ? 0 : (after - before) / fabs(before) * 100;

	for (unsigned i = 0; i < f->n; i++) {
		const char *keys = f->one[i].column;

		if (hodo_column_next(t->columns, &keys) != c || !isfinite(percent) ||
		    !(f->one[i].above ? percent > f->one[i].percent : percent < f->one[i].percent))
			continue;
		say(&f->one[i], t, row, percent);
		f->met++;
	}
}

int hodo_fail_if_status(const struct hodo_look *look, int status)
{
	return !status && look->fail_ifs && look->fail_ifs->met ? HODO_EXIT_CHANGED : status;
}
