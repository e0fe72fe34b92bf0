/* SPDX-License-Identifier: MIT */
/* view_rows.c - collects and sorts rows: see view_rows.h. */
#define _GNU_SOURCE
#include "view_rows.h"

#include <base/vec.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX  ((size_t)3 << 30)
#define TEXT_BYTES 64u /* of a row, on average: beyond that, rows are thinned, too */

void hodo_view_rows_init(struct hodo_view_rows *rows, uint32_t limit)
{
	memset(rows, 0, sizeof(*rows));
	rows->limit = limit;
	rows->texts_max = ((size_t)limit + 65536) * TEXT_BYTES;
	if (rows->texts_max > TEXTS_MAX)
		rows->texts_max = TEXTS_MAX;
}

void hodo_view_rows_free(struct hodo_view_rows *rows)
{
	for (uint32_t i = 0; i < rows->ntracks; i++)
		hodo_view_omitted_free(&rows->shares[i].omitted);
	free(rows->rows);
	free(rows->shares);
	hodo_text_free(&rows->texts);
	memset(rows, 0, sizeof(*rows));
}

uint32_t hodo_view_rows_track(struct hodo_view_rows *rows)
{
	return hodo_vec_add(rows->shares, rows->ntracks) ? rows->ntracks - 1 : UINT32_MAX;
}

bool hodo_view_rows_keeps(struct hodo_view_rows *rows, const struct hodo_view_row *row)
{
	struct hodo_view_share *s = &rows->shares[row->track];
	enum hodo_view_class class = hodo_view_class(row);

	if (!s->thin[class] || !hodo_view_key_before(s->least[class], hodo_view_key(row)))
		return true;
	if (class != HODO_VIEW_WAITS)
		hodo_view_omitted_add(&s->omitted, row->begin);
	return false;
}

/* How many rows are kept before they are thinned. Each track has a few regardless of the limit. */
static uint64_t room_for(const struct hodo_view_rows *rows)
{
	uint64_t room = (uint64_t)rows->limit + rows->limit / 4 + 4096 + 8ull * rows->ntracks;

	return room < UINT32_MAX ? room : UINT32_MAX;
}

static int make_room(struct hodo_view_rows *rows, size_t text_bytes)
{
	bool full = rows->n == rows->room;

	if (full && rows->room < room_for(rows)) {
		uint64_t room = rows->room ? 2ull * rows->room : 4096, most = room_for(rows);
		struct hodo_view_row *more;

		room = room < most ? room : most;
		more = reallocarray(rows->rows, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		rows->rows = more;
		rows->room = (uint32_t)room;
		full = false;
	}
	if (full || (rows->n > 0 && rows->texts.len + text_bytes > rows->texts_max)) {
		uint32_t to = rows->n < rows->limit ? rows->n : rows->limit;
		int err = hodo_view_rows_thin(rows, full ? rows->limit : to - to / 4);

		if (err)
			return err;
	}
	return rows->n < rows->room ? 0 : -ENOMEM;
}

int hodo_view_rows_add(struct hodo_view_rows *rows, const struct hodo_view_row *row, const char *text, size_t len)
{
	size_t text_bytes = len ? (sizeof(uint32_t) + len + 3) & ~(size_t)3 : 0;
	struct hodo_view_row *to;
	uint32_t n = (uint32_t)len;
	char *place;
	int err = 0;

	if (rows->n == rows->room || rows->texts.len + text_bytes > rows->texts_max)
		err = make_room(rows, text_bytes);
	if (err)
		return err;
	place = hodo_text_room(&rows->texts, text_bytes);
	if (!place)
		return rows->texts.error;
	to = &rows->rows[rows->n++];
	*to = *row;
	to->text = HODO_VIEW_NO_TEXT;
	if (row->name >= rows->nnames)
		rows->nnames = row->name + 1;
	if (len) {
		to->text = (uint32_t)(rows->texts.len / 4);
		memcpy(place, &n, sizeof(n));
		memcpy(place + sizeof(n), text, len);
		rows->texts.len += text_bytes;
	}
	return 0;
}

/* ------------------------------------------------------------------------ order */

static int by_place(const void *a, const void *b, void *data)
{
	const struct hodo_view_row *rows = data;
	const struct hodo_view_row *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];
	enum hodo_view_class cx = hodo_view_class(x), cy = hodo_view_class(y);

	if (cx != cy)
		return cx < cy ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	/* As they came. */
	return x < y ? -1 : x > y;
}

/* Puts rows[order[i]] at i, in place. */
static void permute(struct hodo_view_row *rows, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hodo_view_row first;
		uint32_t at = i, from = order[i];

		if (from == i)
			continue;
		first = rows[i];
		while (from != i) {
			rows[at] = rows[from];
			order[at] = at;
			at = from;
			from = order[at];
		}
		rows[at] = first;
		order[at] = at;
	}
}

int hodo_view_rows_finish(struct hodo_view_rows *rows)
{
	uint32_t *order;
	int err = 0;

	if (rows->n > rows->limit)
		err = hodo_view_rows_thin(rows, rows->limit);
	if (err)
		return err;
	order = reallocarray(NULL, rows->n ? rows->n : 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++)
		order[i] = i;
	qsort_r(order, rows->n, sizeof(*order), by_place, rows->rows);
	permute(rows->rows, order, rows->n);
	free(order);
	return 0;
}
