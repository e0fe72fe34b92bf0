/* SPDX-License-Identifier: MIT */
/* view_thin.c - decides which slices and instants stay: see view_rows.h. */
#include "view_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEAD 255u /* kind of a row that goes */

/* The last cell of each name that had a point in it. */
struct cell {
	uint64_t cell;
	uint32_t pass; /* that it is of */
};

struct thin {
	struct hodo_view_rows *rows;
	uint32_t *counts; /* rows of each class of each track */
	uint32_t *lists;  /* rows of those that have too many, consecutive */
	uint32_t *ends;   /* of each list; as counts */
	struct cell *cells; /* by name */
	uint32_t pass;
	uint32_t cap; /* rows of one class of one track */
};

static size_t lane_of(const struct hodo_view_row *row)
{
	return (size_t)row->track * HODO_VIEW_CLASSES + hodo_view_class(row);
}

/* The largest share with which the total is at most `to`. */
static uint32_t share(const uint32_t *counts, size_t n, uint32_t to)
{
	uint32_t low = 1, high = UINT32_MAX;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2 + 1;
		uint64_t sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += counts[i] < middle ? counts[i] : middle;
		if (sum > to)
			high = middle - 1;
		else
			low = middle;
	}
	return low;
}

/* Lists the rows of the classes and tracks that have more than the share. */
static int list(struct thin *t, size_t lanes)
{
	struct hodo_view_rows *rows = t->rows;
	uint32_t sum = 0;

	for (size_t i = 0; i < lanes; i++) {
		t->ends[i] = sum;
		sum += t->counts[i] > t->cap ? t->counts[i] : 0;
	}
	t->lists = reallocarray(NULL, sum ? sum : 1, sizeof(*t->lists));
	if (!t->lists)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++) {
		size_t lane = lane_of(&rows->rows[i]);

		if (t->counts[lane] > t->cap)
			t->lists[t->ends[lane]++] = i;
	}
	return 0;
}

/* ----------------------------------------------------------------------- slices */

/* Waits are not counted by track. */
static void leave_out(struct thin *t, struct hodo_view_row *row)
{
	if (hodo_view_class(row) != HODO_VIEW_WAITS)
		hodo_view_omitted_add(&t->rows->shares[row->track].omitted, row->begin);
	row->kind = DEAD;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t c = *a;

	*a = *b;
	*b = c;
}

/* Moves the k with precedence to the front. */
static void select_first(const struct hodo_view_row *rows, uint32_t *list, uint32_t n, uint32_t k)
{
	while (n > 1 && k > 0 && k < n) {
		struct hodo_view_key pivot = hodo_view_key(&rows[list[n / 2]]);
		uint32_t below = 0, i = 0, above = n;

		/* [0, below) has precedence over the pivot, [above, n) has not. */
		while (i < above) {
			struct hodo_view_key key = hodo_view_key(&rows[list[i]]);

			if (hodo_view_key_before(key, pivot))
				swap(&list[below++], &list[i++]);
			else if (hodo_view_key_before(pivot, key))
				swap(&list[i], &list[--above]);
			else
				i++;
		}
		if (k < below) {
			n = below;
		} else if (k > above) {
			list += above;
			n -= above;
			k -= above;
		} else {
			return;
		}
	}
}

/* Slices, or waits. */
static void thin_slices(struct thin *t, uint32_t *list, uint32_t n, struct hodo_view_key *least_kept)
{
	struct hodo_view_row *rows = t->rows->rows;
	struct hodo_view_key least;

	select_first(rows, list, n, t->cap);
	least = hodo_view_key(&rows[list[0]]);
	for (uint32_t i = 1; i < t->cap; i++) {
		struct hodo_view_key key = hodo_view_key(&rows[list[i]]);

		if (hodo_view_key_before(least, key))
			least = key;
	}
	for (uint32_t i = t->cap; i < n; i++)
		leave_out(t, &rows[list[i]]);
	*least_kept = least;
}

/* ----------------------------------------------------------------------- points */

/* How many instants stay in cells of 2^shift ns; kills the others if requested. */
static uint32_t instants_in_cells(struct thin *t, const uint32_t *list, uint32_t n, unsigned shift, bool kill)
{
	struct hodo_view_row *rows = t->rows->rows;
	uint32_t stay = 0;

	t->pass++;
	for (uint32_t i = 0; i < n; i++) {
		struct hodo_view_row *row = &rows[list[i]];
		struct cell *c = &t->cells[row->name];
		uint64_t cell = (uint64_t)row->begin >> shift;

		if ((c->pass != t->pass || c->cell != cell) && (!kill || stay < t->cap)) {
			*c = (struct cell){ cell, t->pass };
			stay++;
		} else if (kill) {
			leave_out(t, row);
		}
	}
	return stay;
}

static uint32_t values_in_cells(struct thin *t, const uint32_t *list, uint32_t n, unsigned shift, bool kill)
{
	struct hodo_view_row *rows = t->rows->rows;
	uint32_t stay = 0;

	for (uint32_t i = 0, end; i < n; i = end) {
		uint64_t cell = (uint64_t)rows[list[i]].begin >> shift;
		uint32_t least = i, most = i;

		for (end = i; end < n && (uint64_t)rows[list[end]].begin >> shift == cell; end++) {
			double value = rows[list[end]].value;

			/* A NaN gives way to the first number. */
			if (value < rows[list[least]].value || isnan(rows[list[least]].value))
				least = end;
			if (value > rows[list[most]].value || isnan(rows[list[most]].value))
				most = end;
		}
		for (uint32_t k = i; k < end; k++) {
			if (k == i || k == end - 1 || k == least || k == most)
				stay++;
			else if (kill)
				leave_out(t, &rows[list[k]]);
		}
	}
	return stay;
}

static void thin_points(struct thin *t, uint32_t *list, uint32_t n, struct hodo_view_share *s,
			enum hodo_view_class class)
{
	uint32_t (*in_cells)(struct thin *t, const uint32_t *list, uint32_t n, unsigned shift, bool kill) =
		class == HODO_VIEW_INSTANTS ? instants_in_cells : values_in_cells;
	const struct hodo_view_row *rows = t->rows->rows;
	uint64_t span = (uint64_t)rows[list[n - 1]].begin - (uint64_t)rows[list[0]].begin;
	unsigned shift = s->shift[class]; /* later rows may be thinned only this far */

	while (shift < 61 && span >> (shift + 3) > t->cap)
		shift++;
	while (shift < 63 && in_cells(t, list, n, shift, false) > t->cap)
		shift++;
	in_cells(t, list, n, shift < 63 ? shift : 63, true);
	s->shift[class] = (uint8_t)(shift < 63 ? shift : 63);
}

/* ------------------------------------------------------------------------- rows */

static void bury(struct hodo_view_rows *rows)
{
	size_t texts = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		struct hodo_view_row *row = &rows->rows[i];

		if (row->kind == DEAD)
			continue;
		if (row->text != HODO_VIEW_NO_TEXT) {
			/* Texts are in the order of their rows. */
			const char *from = rows->texts.data + 4 * (size_t)row->text;
			uint32_t len;
			size_t bytes;

			memcpy(&len, from, sizeof(len));
			bytes = (sizeof(len) + (size_t)len + 3) & ~(size_t)3;
			memmove(rows->texts.data + texts, from, bytes);
			row->text = (uint32_t)(texts / 4);
			texts += bytes;
		}
		rows->rows[n++] = *row;
	}
	rows->n = n;
	rows->texts.len = texts;
}

static int thin_lanes(struct thin *t, size_t lanes)
{
	for (size_t i = 0; i < lanes; i++) {
		struct hodo_view_share *s = &t->rows->shares[i / HODO_VIEW_CLASSES];
		enum hodo_view_class class = (enum hodo_view_class)(i % HODO_VIEW_CLASSES);
		uint32_t *list = t->lists + t->ends[i] - t->counts[i];

		if (t->counts[i] <= t->cap)
			continue;
		if (class != HODO_VIEW_WAITS &&
		    hodo_view_omitted_begin(&s->omitted, (uint32_t)(i / HODO_VIEW_CLASSES)) < 0)
			return -ENOMEM;
		s->thin[class] = true;
		if (class == HODO_VIEW_SLICES || class == HODO_VIEW_WAITS)
			thin_slices(t, list, t->counts[i], &s->least[class]);
		else
			thin_points(t, list, t->counts[i], s, class);
	}
	return 0;
}

int hodo_view_rows_thin(struct hodo_view_rows *rows, uint32_t to)
{
	size_t lanes = (size_t)rows->ntracks * HODO_VIEW_CLASSES;
	struct thin t = { .rows = rows };
	int err = -ENOMEM;

	t.counts = calloc(lanes ? lanes : 1, sizeof(*t.counts));
	t.ends = calloc(lanes ? lanes : 1, sizeof(*t.ends));
	t.cells = calloc(rows->nnames ? rows->nnames : 1, sizeof(*t.cells));
	if (t.counts && t.ends && t.cells) {
		for (uint32_t i = 0; i < rows->n; i++)
			t.counts[lane_of(&rows->rows[i])]++;
		t.cap = share(t.counts, lanes, to);
		err = list(&t, lanes);
	}
	if (!err)
		err = thin_lanes(&t, lanes);
	if (!err)
		bury(rows);
	free(t.counts);
	free(t.ends);
	free(t.cells);
	free(t.lists);
	return err;
}
