/* SPDX-License-Identifier: MIT */
/* table_text.c - a table as lines of text. */
#include "table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------- cells */

const char *hodo_number(double number, char buf[48])
{
	char digits[32];

	if (fabs(number) < 1e15 && number == trunc(number))
		snprintf(buf, 48, "%s%s", number < 0 ? "-" : "", hodo_grouped((uint64_t)fabs(number), digits));
	else
		snprintf(buf, 48, "%.6g", isnan(number) ? fabs(number) : number);
	return buf;
}

static void put_known(struct hodo_text *to, enum hodo_as as, const struct hodo_cell *v)
{
	char buf[48];

	switch (as) {
	case HODO_AS_COUNT:
		hodo_text_add(to, hodo_grouped(v->u, buf));
		return;
	case HODO_AS_HEX:
		hodo_text_printf(to, "%#llx", (unsigned long long)v->u);
		return;
	case HODO_AS_BYTES:
		hodo_text_add(to, hodo_human_bytes(v->u, buf));
		return;
	case HODO_AS_TIME:
		hodo_text_add(to, hodo_duration(v->u, buf));
		return;
	case HODO_AS_AVERAGE:
		hodo_text_add(to, hodo_duration((uint64_t)(v->f + 0.5), buf));
		return;
	case HODO_AS_SECONDS:
		hodo_text_printf(to, "%llu.%09llu", (unsigned long long)(v->u / 1000000000),
				 (unsigned long long)(v->u % 1000000000));
		return;
	case HODO_AS_RATE:
		if (v->f < 100)
			hodo_text_printf(to, "%.2f", v->f);
		else
			hodo_text_add(to, hodo_grouped((uint64_t)(v->f + 0.5), buf));
		return;
	case HODO_AS_NUMBER:
		hodo_text_add(to, hodo_number(v->f, buf));
		return;
	case HODO_AS_FLAG:
		hodo_text_add(to, v->u ? "true" : "false");
		return;
	default:
		if (v->type == HODO_CELL_STRING)
			hodo_text_plain(to, v->s, strlen(v->s));
		else if (v->type == HODO_CELL_I64)
			hodo_text_printf(to, "%lld", (long long)v->i);
		else
			hodo_text_printf(to, "%llu", (unsigned long long)v->u);
	}
}

static bool is_time(const struct hodo_column *c)
{
	return c->as == HODO_AS_TIME || c->as == HODO_AS_AVERAGE;
}

void hodo_put_cell(struct hodo_text *to, const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v;

	if (c->put) {
		c->put(to, t, row);
		return;
	}
	v = hodo_cell_of(t, c, row);
	if (v.blank)
		hodo_text_add(to, is_time(c) ? "-  " : c->as == HODO_AS_NUMBER ? "" : "-");
	else if (v.type > HODO_CELL_NULL)
		put_known(to, c->as, &v);
}

/* ------------------------------------------------------------------------- layout */

struct layout {
	const struct hodo_table *t;
	const struct hodo_column *column[HODO_COLUMNS_MAX];
	int width[HODO_COLUMNS_MAX];
	bool ragged[HODO_COLUMNS_MAX]; /* not padded */
	unsigned n;
	struct hodo_text cell; /* one at a time */
};

/* Returns how many columns of a terminal it takes. */
static int make_cell(struct layout *l, const struct hodo_column *c, const void *row)
{
	int columns = 0;

	l->cell.len = 0;
	hodo_put_cell(&l->cell, l->t, c, row);
	for (size_t i = 0; i < l->cell.len; i++)
		columns += ((unsigned char)l->cell.data[i] & 0xc0) != 0x80;
	return columns;
}

const char *hodo_column_title(const struct hodo_column *c, char buf[32])
{
	size_t len = strlen(c->key);

	if (c->title)
		return c->title;
	len -= len > 3 && strcmp(c->key + len - 3, "_ns") == 0 ? 3 : 0;
	snprintf(buf, 32, "%.*s", (int)len, c->key);
	for (char *p = buf; *p; p++)
		*p = *p == '_' ? ' ' : (char)toupper((unsigned char)*p);
	return buf;
}

static int widest(struct layout *l, const struct hodo_column *c)
{
	char buf[32];
	int width = l->t->columns->headless && !l->t->chosen ? 0 : (int)strlen(hodo_column_title(c, buf)), w;

	for (size_t i = 0; i < l->t->n; i++) {
		w = make_cell(l, c, hodo_table_row(l->t, i));
		width = w > width ? w : width;
	}
	return c->most && width > c->most ? c->most : width;
}

static bool is_right(const struct hodo_column *c)
{
	return c->as != HODO_AS_TEXT && c->as != HODO_AS_FLAG;
}

static void start(struct layout *l, const struct hodo_table *t)
{
	bool padded = false;

	*l = (struct layout){ .t = t };
	l->n = hodo_table_columns(t, false, l->column);
	/* Texts at the end of a line are not padded; with --columns, only the last one. */
	for (unsigned i = l->n; i-- > 0;) {
		const struct hodo_column *c = l->column[i];

		l->ragged[i] = !padded && !c->width && !is_right(c) && (!t->chosen || i + 1 == l->n);
		padded |= !l->ragged[i];
		l->width[i] = l->ragged[i] ? 0 : c->width ? c->width : widest(l, c);
	}
}

static int gap_of(const struct layout *l, unsigned i)
{
	return !i ? 0 : l->column[i]->flags & HODO_CLOSE ? 1 : 2;
}

static void put_head(struct hodo_text *to, const struct layout *l, bool color)
{
	enum hodo_style style = l->t->columns->head;
	int spaces = 0;
	char buf[32];

	hodo_text_add(to, style ? hodo_style(color, style) : "");
	for (unsigned i = 0; i < l->n; i++) {
		const struct hodo_column *c = l->column[i];
		const char *title = (c->flags & HODO_NOTE) == HODO_NOTE ? "" : hodo_column_title(c, buf);
		int len = (int)strlen(title) + 2 * is_time(c), pad = l->width[i] > len ? l->width[i] - len : 0;

		if (!*title && l->ragged[i])
			continue;
		spaces += gap_of(l, i) + (is_time(c) ? 2 : is_right(c) ? pad : 0);
		hodo_text_printf(to, "%*s%s", spaces, "", title);
		spaces = is_time(c) || !is_right(c) ? pad : 0;
	}
	hodo_text_printf(to, "%s\n", style ? hodo_style(color, HODO_PLAIN) : "");
}

static void put_row(struct hodo_text *to, struct layout *l, const void *row, bool color)
{
	int spaces = 0;

	for (unsigned i = 0; i < l->n; i++) {
		const struct hodo_column *c = l->column[i];
		int len = make_cell(l, c, row), pad = l->width[i] > len ? l->width[i] - len : 0;
		const char *on = c->style && row != l->t->total ? hodo_style(color, c->style) : "";

		/* Skip unpadded empty cells. */
		if (!len && l->ragged[i])
			continue;
		spaces += gap_of(l, i) + (is_right(c) ? pad : 0);
		hodo_text_printf(to, "%*s%s", spaces, "", on);
		hodo_text_bytes(to, l->cell.data, l->cell.len);
		hodo_text_add(to, *on ? hodo_style(color, HODO_PLAIN) : "");
		spaces = is_right(c) ? 0 : pad;
	}
	hodo_text_char(to, '\n');
	if (l->t->below && !l->t->chosen)
		l->t->below(to, l->t, row);
}

bool hodo_table_put(struct hodo_text *to, const struct hodo_table *t, bool color)
{
	struct layout l;
	char buf[32];

	start(&l, t);
	if (l.n && (!t->columns->headless || t->chosen))
		put_head(to, &l, color);
	for (size_t i = 0; l.n && i < t->n - t->hidden; i++)
		put_row(to, &l, hodo_table_row(t, i), color);
	if (l.n && t->hidden)
		hodo_text_printf(to, "%s%s%s\n", t->more[0] ? t->more[0] : "and ", hodo_grouped(t->hidden, buf),
				 t->more[1] ? t->more[1] : " more");
	if (l.n && t->total)
		put_row(to, &l, t->total, color);
	if (l.cell.error && !to->error)
		to->error = l.cell.error;
	hodo_text_free(&l.cell);
	return l.n > 0;
}
