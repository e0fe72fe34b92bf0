/* SPDX-License-Identifier: MIT */
/* view_work.h - shared by view.c (reads the recording) and view_write.c (writes the page). */
#pragma once

#include "view_figures.h"
#include "view_links.h"
#include "view_rows.h"

#include <read/time/timeline.h>

struct hodo_view_input;

struct hodo_view_track {
	const struct hodo_track *track;
	uint32_t name;
	uint32_t depth; /* rows that its slices need */
};

/* Where events were lost. */
struct hodo_view_loss {
	const struct hodo_read_process *process;
	const struct hodo_read_stream *stream;
	int64_t from_ns, until_ns; /* since the epoch */
	uint64_t count;
	uint32_t kind;
	uint32_t cause; /* name */
};

struct hodo_view_work {
	struct hodo_view_input *view;
	struct hodo_strings names;
	struct hodo_view_rows rows;
	struct hodo_view_figures figures;
	struct hodo_view_loss *losses; /* in order of from_ns, at last */
	uint32_t nlosses, losses_room;
	struct hodo_view_track *tracks; /* as rows has */
	uint32_t ntracks;
	struct hodo_read_text *text;
	struct hodo_text off_cpu; /* a slice's, behind its fields */
	uint64_t counts[HODO_VIEW_CLASSES]; /* in the recording */
	uint64_t events;
	struct hodo_view_links links;
	int64_t begin_ns, last_ns; /* since the epoch */
};

/* view_write.c: the page up to the recording's data, the data, the rest of the page. after: the data of the
 * compared recording. 0, or a negative errno. */
int hodo_view_write_head(struct hodo_text *out, const char *title);
int hodo_view_write_data(struct hodo_view_work *work, bool after);
int hodo_view_write_tail(struct hodo_text *out);
