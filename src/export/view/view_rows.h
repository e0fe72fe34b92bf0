/* SPDX-License-Identifier: MIT */
/*
 * view_rows.h - what the page shows, in bounded memory: slices and instants are collected as they come, and
 * thinned when there are too many.
 *
 * Each track has a share for its slices, one for its instants and one for its values; unused shares go to the
 * others. The longest slices stay, and with them their enclosing slices, which are no shorter. Instants with
 * the same name, and values, are thinned by cells of 2^n ns: the first instant of each name stays, and the
 * first, last, least and greatest value. The longest waits stay.
 */
#pragma once

#include "view_omitted.h"

#include <base/intern.h>
#include <base/text.h>

enum hodo_view_class { HODO_VIEW_SLICES, HODO_VIEW_INSTANTS, HODO_VIEW_VALUES, HODO_VIEW_WAITS, HODO_VIEW_CLASSES };

#define HODO_VIEW_NO_TEXT UINT32_MAX

struct hodo_view_row {
	int64_t begin;     /* ns from the page's time 0 */
	uint64_t duration; /* slices */
	union {
		uint64_t self; /* slices, ns; not of ASYNC ones, in which there are no others */
		double value;
		int64_t woken; /* waits: as begin; HODO_VIEW_NEVER: not known */
		struct {
			uint32_t from, to; /* ASYNC: tracks of the threads on which it began and ended */
		};
	};
	uint64_t id; /* waits: the thread, and its waker << 32 */
	uint32_t track, name;
	uint32_t text;  /* place in texts / 4, HODO_VIEW_NO_TEXT: none */
	uint16_t depth;
	uint8_t kind;   /* slices: enum hodo_slice_kind; then INSTANT, VALUE, WAIT */
	uint8_t flags;  /* waits: enum hodo_sched_why */
};

#define HODO_VIEW_INSTANT 100u
#define HODO_VIEW_VALUE   101u
#define HODO_VIEW_WAIT    102u /* of a thread for a CPU or something else; on the track of the CPU that it ran on then */

#define HODO_VIEW_NEVER INT64_MIN

#define HODO_VIEW_NO_TRACK UINT32_MAX /* of from and to: both on one, or not known, or not wanted */

/* Decides whether a slice stays: longer, then outer, then at random. */
struct hodo_view_key {
	uint64_t duration;
	uint32_t depth;
	uint32_t lot;
};

/* How far a track has been thinned. */
struct hodo_view_share {
	struct hodo_view_key least[HODO_VIEW_CLASSES]; /* slices, and waits, below it are not shown */
	uint8_t shift[HODO_VIEW_CLASSES]; /* cells of points */
	bool thin[HODO_VIEW_CLASSES];
	struct hodo_view_omitted omitted; /* of all classes */
};

struct hodo_view_rows {
	struct hodo_view_row *rows;
	uint32_t n, room;
	uint32_t limit;
	struct hodo_view_share *shares; /* by track */
	uint32_t ntracks;
	uint32_t nnames; /* at most, of the rows' */
	struct hodo_text texts; /* u32 length and bytes, each at a multiple of 4 */
	size_t texts_max;
};

static inline enum hodo_view_class hodo_view_class(const struct hodo_view_row *row)
{
	return row->kind == HODO_VIEW_INSTANT ? HODO_VIEW_INSTANTS :
	       row->kind == HODO_VIEW_VALUE   ? HODO_VIEW_VALUES :
	       row->kind == HODO_VIEW_WAIT    ? HODO_VIEW_WAITS : HODO_VIEW_SLICES;
}

static inline struct hodo_view_key hodo_view_key(const struct hodo_view_row *slice)
{
	uint64_t lot = ((uint64_t)slice->begin ^ slice->id) * 0x9e3779b97f4a7c15ull;

	return (struct hodo_view_key){ slice->duration, slice->depth, (uint32_t)(lot >> 32) };
}

/* Whether a has precedence over b if only one can stay. */
static inline bool hodo_view_key_before(struct hodo_view_key a, struct hodo_view_key b)
{
	if (a.duration != b.duration)
		return a.duration > b.duration;
	return a.depth != b.depth ? a.depth < b.depth : a.lot < b.lot;
}

void hodo_view_rows_init(struct hodo_view_rows *rows, uint32_t limit);
void hodo_view_rows_free(struct hodo_view_rows *rows);
/* Another track: its index, or UINT32_MAX: no memory. */
uint32_t hodo_view_rows_track(struct hodo_view_rows *rows);
/* Whether such a slice or wait would stay, as far as is known; if not, it counts as left out. */
bool hodo_view_rows_keeps(struct hodo_view_rows *rows, const struct hodo_view_row *row);
/* Adds a row; sets row->text; len may be 0. The rows of a track's instants and values come in order of time.
 * 0 or -ENOMEM. */
int hodo_view_rows_add(struct hodo_view_rows *rows, const struct hodo_view_row *row, const char *text, size_t len);
/* No more rows come: thins to the limit, and orders by class, track, begin, depth. 0 or -ENOMEM. */
int hodo_view_rows_finish(struct hodo_view_rows *rows);

/* view_thin.c, used only by view_rows.c. Reduces them to at most `to` rows. 0 or -ENOMEM. */
int hodo_view_rows_thin(struct hodo_view_rows *rows, uint32_t to);
