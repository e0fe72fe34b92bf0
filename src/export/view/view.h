/* SPDX-License-Identifier: MIT */
/* view.h - the page of hodo view: a recording in one HTML file. docs/design/view.md describes it. */
#pragma once

#include <base/text.h>
#include <sym/recording_symbols.h>

struct hodo_select;

#define HODO_VIEW_LIMIT 2000000u /* slices and instants shown by default */

/* The page without a recording; *len 0: hodo was built without it. */
const char *hodo_view_page(size_t *len);
/* Whether a file begins like such a page. */
bool hodo_view_is(int fd);

struct hodo_view_input {
	struct hodo_read *reader; /* at its first event; limits, if there are any, are set */
	struct hodo_symbols *symbols;
	struct hodo_text *out; /* flushed by the caller */
	const char *title;
	const char *dir;
	const char *version;  /* of hodo */
	int64_t since_ns, until_ns; /* the limits, as in hodo_read_limit() */
	uint32_t limit;       /* the most slices and instants to show: the others are only in figures */
	const struct hodo_select *select; /* whose events; NULL: all */
	const char *const *(*warnings)(void *data, uint32_t *n); /* called at the end; NULL: none */
	void *warnings_data;
	void (*progress)(void *data, uint64_t events); /* now and then; NULL: not asked */
	void *progress_data;
	struct hodo_view_input *after; /* a recording that is compared with this one, on the same page; NULL: none. Its
					* out is this one's */

	/* Set by hodo_view_write(). */
	uint64_t events, rows, shown; /* rows: slices and points in the recording */
};

/* 0, or a negative errno. */
int hodo_view_write(struct hodo_view_input *view);
