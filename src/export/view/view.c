/* SPDX-License-Identifier: MIT */
/* view.c - reads a recording for the page: see view.h. */
#define _GNU_SOURCE
#include "view.h"
#include "view_work.h"

#include <base/file.h>
#include <base/vec.h>
#include <export/hosts.h>
#include <read/event/runs.h>
#include <read/event/select.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX        2048u /* bytes of an event's fields */
#define PROGRESS_EVENTS 65536u

/* ------------------------------------------------------------------------ lanes */

/* Rows for overlapping slices: each gets the first row that is free at its start. */

#define LANES 4096u /* a power of two; without a free one, a slice is drawn over others in the last */

/* A tree of minimums: the leaves, from LANES on, are the ends of the lanes. */
static uint32_t first_free(const int64_t *tree, int64_t at)
{
	uint32_t i = 1;

	if (tree[1] > at)
		return LANES - 1;
	while (i < LANES)
		i = 2 * i + (tree[2 * i] > at);
	return i - LANES;
}

static void set_end(int64_t *tree, uint32_t lane, int64_t end)
{
	uint32_t i = LANES + lane;

	tree[i] = end;
	for (i /= 2; i > 0; i /= 2)
		tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
}

/* Gives the overlapping slices of async tracks separate rows; counts all tracks' rows. 0 or -ENOMEM. */
static int hodo_view_lanes(struct hodo_view_work *w)
{
	int64_t *tree = malloc(2 * LANES * sizeof(*tree));
	uint32_t track = UINT32_MAX;

	if (!tree)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->rows.n && hodo_view_class(&w->rows.rows[i]) == HODO_VIEW_SLICES; i++) {
		struct hodo_view_row *row = &w->rows.rows[i];
		int64_t end;

		if (row->kind == HODO_SLICE_ASYNC) {
			if (row->track != track)
				for (uint32_t k = 0; k < 2 * LANES; k++)
					tree[k] = INT64_MIN;
			row->depth = (uint16_t)first_free(tree, row->begin);
			if (__builtin_add_overflow(row->begin, (int64_t)row->duration, &end))
				end = INT64_MAX;
			set_end(tree, row->depth, end);
		}
		track = row->track;
		if (row->depth >= w->tracks[track].depth)
			w->tracks[track].depth = row->depth + 1u;
	}
	free(tree);
	return 0;
}

/* ----------------------------------------------------------------------- losses */

#define LOSSES_MAX 65536u

enum { DISCARDED, OVERWRITTEN, DAMAGED };

/* Merges pairs of neighbours with the same stream and cause. */
static void merge(struct hodo_view_work *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nlosses; i++) {
		struct hodo_view_loss *x = &w->losses[i], *next = i + 1 < w->nlosses ? x + 1 : NULL;
		struct hodo_view_loss one = *x;

		if (next && next->stream == x->stream && next->kind == x->kind) {
			one.until_ns = next->until_ns > x->until_ns ? next->until_ns : x->until_ns;
			one.count += next->count;
			i++;
		}
		w->losses[n++] = one;
	}
	w->nlosses = n;
}

/* Adds a loss; many of one stream and cause are merged into fewer, longer ones. 0 or -ENOMEM. */
static int hodo_view_loss(void *work, const struct hodo_read_loss *loss)
{
	struct hodo_view_work *w = work;
	struct hodo_view_loss *l;

	if (w->nlosses == LOSSES_MAX)
		merge(w);
	if (w->nlosses == LOSSES_MAX)
		return 0; /* so many streams: each has been seen */
	if (hodo_vec_reserve(w->losses, w->losses_room, w->nlosses + 1) < 0)
		return -ENOMEM;
	l = &w->losses[w->nlosses++];
	*l = (struct hodo_view_loss){
		.process = loss->process,
		.stream = loss->stream,
		.from_ns = loss->from_ns,
		.until_ns = loss->until_ns,
		.count = loss->discarded + loss->overwritten + loss->damaged,
		.kind = loss->overwritten ? OVERWRITTEN : loss->damaged ? DAMAGED : DISCARDED,
	};
	return 0;
}

static void cause_of(const struct hodo_view_loss *loss, char text[200])
{
	const struct hodo_read_lost *lost = &loss->stream->lost;
	const struct {
		uint64_t n;
		const char *text;
	} causes[] = {
		{ lost->full, "the buffer was full" },
		{ lost->too_large, "larger than a packet" },
		{ lost->busy, "the shared buffer was busy" },
		{ lost->unwritten, "the output could not be written" },
		{ lost->damaged, "damaged packets" },
	};
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; loss->kind == DISCARDED && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].n)
			len += (size_t)snprintf(text + len, 200 - len, "%s%s", len ? ", or " : "", causes[i].text);
	if (len == 0)
		strcpy(text, loss->kind == OVERWRITTEN ? "newer events overwrote them" :
			     loss->kind == DAMAGED     ? "damaged packets" : "the cause is not known");
}

static int by_time(const void *a, const void *b)
{
	const struct hodo_view_loss *x = a, *y = b;

	return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : 0;
}

static int hodo_view_losses_finish(struct hodo_view_work *w)
{
	for (uint32_t i = 0; i < w->nlosses; i++) {
		char text[200];

		cause_of(&w->losses[i], text);
		w->losses[i].cause = hodo_strings_add(&w->names, text);
		if (w->losses[i].cause == HODO_STRINGS_NONE)
			return -ENOMEM;
	}
	if (w->nlosses)
		qsort(w->losses, w->nlosses, sizeof(*w->losses), by_time);
	return 0;
}

/* ----------------------------------------------------------------------- tracks */

/* user of a track: its index + 1, or this if it is not wanted. */
#define UNWANTED ((void *)UINTPTR_MAX)

static bool wanted(const struct hodo_view_work *w, const struct hodo_read_process *process, uint32_t pid,
		   uint32_t tid, const char *comm)
{
	return hodo_select_has_thread(w->view->select, process, pid, tid, comm);
}

static bool wants_event(const struct hodo_view_work *w, const struct hodo_read_event *e)
{
	return wanted(w, e->process, e->pid, e->tid, e->comm);
}

/* 1: *index is the track's; 0: its events are not wanted. For tracks other than threads', that is decided for
 * each event. -ENOMEM. */
static int track_of(struct hodo_view_work *w, const struct hodo_track *track, uint32_t *index)
{
	/* The caller's part of it may be written. */
	struct hodo_track *t = (struct hodo_track *)(uintptr_t)track;
	struct hodo_view_track *added;

	if (t->user == UNWANTED)
		return 0;
	if (!t->user) {
		if (t->kind == HODO_TRACK_THREAD && !wanted(w, t->process, t->pid, t->tid, t->name)) {
			t->user = UNWANTED;
			return 0;
		}
		*index = w->ntracks;
		added = hodo_vec_add(w->tracks, w->ntracks);
		if (!added || hodo_view_rows_track(&w->rows) == UINT32_MAX)
			return -ENOMEM;
		*added = (struct hodo_view_track){ .track = t, .name = hodo_strings_add_fixed(&w->names, t->name) };
		if (added->name == UINT32_MAX)
			return -ENOMEM;
		t->user = (void *)(uintptr_t)(*index + 1u);
	}
	*index = (uint32_t)(uintptr_t)t->user - 1;
	return 1;
}

/* ------------------------------------------------------------------------- text */

/* What follows the name in a line of text; len 0: nothing. Valid until the next call. */
static int fields_of(struct hodo_view_work *w, const struct hodo_read_event *e, const char **data, size_t *len)
{
	*len = 0;
	if (e->cls->kind != HODO_KIND_MARK && e->cls->nfields == 0 && e->cls->ncontext == 0)
		return 0;
	hodo_read_text_clear(w->text);
	if (hodo_read_text_line(w->text, e, HODO_READ_FIELDS) < 0)
		return -ENOMEM;
	*data = hodo_read_text_data(w->text, len);
	while (*len > 0 && (*data)[*len - 1] == '\n')
		--*len;
	while (*len > 0 && **data == ' ') {
		++*data;
		--*len;
	}
	if (*len <= TEXT_MAX)
		return 0;
	*len = TEXT_MAX;
	while (*len > 0 && ((unsigned char)(*data)[*len] & 0xc0) == 0x80)
		--*len;
	return 0;
}

/* --------------------------------------------------------------------- the timeline */

/* user of a slice; NULL: it is not wanted. */
struct begun {
	uint32_t name, track;
	uint32_t len;
	char text[];
};

static int64_t since_begin(const struct hodo_view_work *w, int64_t ns)
{
	return (int64_t)((uint64_t)ns - (uint64_t)w->begin_ns);
}

static int on_begin(void *data, struct hodo_slice *s, const struct hodo_read_event *e)
{
	struct hodo_view_work *w = data;
	const char *text = NULL;
	struct begun *b;
	uint32_t track;
	size_t len = 0;
	int got;

	s->user = NULL;
	if (s->track->kind == HODO_TRACK_CPU && !wanted(w, s->track->kernel, s->pid, (uint32_t)s->id, s->name))
		return 0;
	if (s->track->kind == HODO_TRACK_ASYNC && e && !wants_event(w, e))
		return 0;
	got = track_of(w, s->track, &track);
	if (got <= 0)
		return got;
	/* A call's event has addresses; the name is better. */
	if (e && s->kind != HODO_SLICE_CALL && fields_of(w, e, &text, &len) < 0)
		return -ENOMEM;
	b = malloc(sizeof(*b) + len);
	if (!b)
		return -ENOMEM;
	b->name = hodo_strings_add_fixed(&w->names, s->name);
	b->track = track;
	b->len = (uint32_t)len;
	if (len)
		memcpy(b->text, text, len);
	s->user = b;
	if (b->name == UINT32_MAX)
		return -ENOMEM;
	if (!e || s->kind != HODO_SLICE_SPAN)
		return 0;
	return hodo_view_links_begin(&w->links, e, track, since_begin(w, s->begin_ns));
}

/* How a thread on a CPU is shown: its name alone may not be unique. */
static uint32_t running(const struct hodo_slice *s, char text[64])
{
	return (uint32_t)snprintf(text, 64, "pid=%u tid=%llu why=\"%s\"", s->pid, (unsigned long long)s->id,
				  hodo_sched_why_text(s->sched_why));
}

/* An id-paired span that ended on another thread than it began on: their tracks are on the page, also if nothing else
 * is on them. 0 or -ENOMEM. */
static int flow_of(struct hodo_view_work *w, const struct hodo_slice *s, struct hodo_view_row *row)
{
	int got;

	row->from = row->to = HODO_VIEW_NO_TRACK;
	if (!s->ended_on || s->ended_on == s->began_on)
		return 0;
	got = track_of(w, s->began_on, &row->from);
	if (got > 0)
		got = track_of(w, s->ended_on, &row->to);
	if (got <= 0)
		row->from = row->to = HODO_VIEW_NO_TRACK;
	return got < 0 ? got : 0;
}

/* How a thread waited before it ran. */
static int add_wait(struct hodo_view_work *w, uint32_t track, const struct hodo_sched_off *off)
{
	bool woken = off->woken_ns != INT64_MIN;
	int64_t from_ns = off->off_ns != INT64_MIN ? off->off_ns : woken ? off->woken_ns : off->on_ns;
	struct hodo_view_row row = {
		.kind = HODO_VIEW_WAIT,
		.begin = since_begin(w, from_ns),
		.duration = off->on_ns > from_ns ? (uint64_t)off->on_ns - (uint64_t)from_ns : 0,
		.woken = woken ? since_begin(w, off->woken_ns) : HODO_VIEW_NEVER,
		.id = hodo_number_apart(off->kernel, off->tid) |
		      (uint64_t)(off->waker ? hodo_number_apart(off->kernel, off->waker) : 0) << 32,
		.track = track,
		.flags = (uint8_t)off->why,
	};

	w->counts[HODO_VIEW_WAITS]++;
	return hodo_view_rows_keeps(&w->rows, &row) ? hodo_view_rows_add(&w->rows, &row, NULL, 0) : 0;
}

/* The fields of a span's start event, and behind them how long its thread did not run, as print has it. Of calls the
 * latter is left out: most have no text, which takes room, and where it is long the CPUs' tracks show it. */
static int text_of(struct hodo_view_work *w, const struct hodo_slice *s, const struct hodo_read_event *e,
		   const char **text, size_t *len)
{
	const struct begun *b = s->user;

	*text = b->text;
	*len = b->len;
	if (s->kind == HODO_SLICE_CALL || !e || !e->off_cpu || e->begin->ts_ns != s->begin_ns)
		return 0;
	w->off_cpu.len = 0;
	hodo_text_bytes(&w->off_cpu, b->text, b->len);
	hodo_read_add_off_cpu(&w->off_cpu, e->off_cpu);
	if (w->off_cpu.error)
		return w->off_cpu.error;
	*text = w->off_cpu.data + (b->len == 0); /* without the space */
	*len = w->off_cpu.len - (b->len == 0);
	return 0;
}

static int on_end(void *data, struct hodo_slice *s, const struct hodo_read_event *e)
{
	struct hodo_view_work *w = data;
	struct hodo_view_figure *figure = NULL;
	struct begun *b = s->user;
	struct hodo_view_row row;
	const char *text;
	char run[64];
	size_t len;
	int err;

	if (!b)
		return 0;
	err = text_of(w, s, e, &text, &len);
	s->user = NULL;
	row = (struct hodo_view_row){
		.begin = since_begin(w, s->begin_ns),
		.duration = s->end_ns > s->begin_ns ? (uint64_t)s->end_ns - (uint64_t)s->begin_ns : 0,
		.self = s->self_ns,
		.id = s->kind == HODO_SLICE_RUNNING ? hodo_number_apart(s->track->kernel, (uint32_t)s->id) : s->id,
		.track = b->track,
		.name = b->name,
		.depth = (uint16_t)(s->depth < UINT16_MAX ? s->depth : UINT16_MAX),
		.kind = (uint8_t)s->kind,
		.flags = (uint8_t)s->flags,
	};
	if (!err && s->kind == HODO_SLICE_ASYNC)
		err = flow_of(w, s, &row);
	w->counts[HODO_VIEW_SLICES]++;
	/* The others' duration is not known, nor that of a left span. Pieces count once, with the last. */
	if (!err && !(s->flags & (HODO_SLICE_OPEN | HODO_SLICE_NO_EXIT | HODO_SLICE_END_LOST | HODO_SLICE_SPLIT)) &&
	    (!(s->flags & HODO_SLICE_LEFT) || s->kind == HODO_SLICE_CALL))
		figure = hodo_view_figure(&w->figures, row.name, row.track, &err);
	if (figure)
		err = hodo_view_figure_add(figure, row.duration + s->earlier_ns, s->self_ns + s->earlier_self_ns);
	if (!err && hodo_view_rows_keeps(&w->rows, &row))
		err = s->kind == HODO_SLICE_RUNNING ? hodo_view_rows_add(&w->rows, &row, run, running(s, run))
						    : hodo_view_rows_add(&w->rows, &row, text, len);
	if (!err && s->sched_off)
		err = add_wait(w, b->track, s->sched_off);
	free(b);
	return err;
}

static int on_instant(void *data, const struct hodo_track *t, const struct hodo_read_event *e, uint32_t depth)
{
	struct hodo_view_work *w = data;
	struct hodo_view_row row = { .kind = HODO_VIEW_INSTANT, .begin = since_begin(w, e->ts_ns) };
	const char *text;
	unsigned shift;
	size_t len;
	int err = track_of(w, t, &row.track);

	if (err <= 0)
		return err;
	row.name = hodo_strings_add_fixed(&w->names, e->cls->name);
	if (row.name == UINT32_MAX)
		return -ENOMEM;
	w->counts[HODO_VIEW_INSTANTS]++;
	shift = w->rows.shares[row.track].shift[HODO_VIEW_INSTANTS];
	if (shift) {
		struct hodo_view_figure *f = hodo_view_figure(&w->figures, row.name, row.track, &err);
		uint64_t cell = (uint64_t)row.begin >> shift;

		if (!err && f && f->last_cell == cell)
			hodo_view_omitted_add(&w->rows.shares[row.track].omitted, row.begin);
		if (err || (f && f->last_cell == cell))
			return err;
		if (f)
			f->last_cell = cell;
	}
	err = fields_of(w, e, &text, &len);
	return err ? err : hodo_view_rows_add(&w->rows, &row, text, len);
}

static int on_counter(void *data, const struct hodo_track *t, const struct hodo_read_event *e, double value)
{
	struct hodo_view_work *w = data;
	struct hodo_view_row row = { .kind = HODO_VIEW_VALUE, .begin = since_begin(w, e->ts_ns), .value = value };
	int got = wants_event(w, e) ? track_of(w, t, &row.track) : 0;

	if (got <= 0)
		return got;
	row.name = w->tracks[row.track].name;
	w->counts[HODO_VIEW_VALUES]++;
	return hodo_view_rows_add(&w->rows, &row, NULL, 0);
}

static int on_event(void *data, const struct hodo_read_event *e)
{
	struct hodo_view_work *w = data;

	if (++w->events % PROGRESS_EVENTS == 0 && w->view->progress)
		w->view->progress(w->view->progress_data, w->events);
	w->last_ns = e->ts_ns;
	return 0;
}

/* -------------------------------------------------------------------------- all */

static int take_in(struct hodo_view_work *w, struct hodo_timeline **timeline)
{
	static const struct hodo_timeline_ops ops = { .begin = on_begin, .end = on_end, .instant = on_instant,
						      .counter = on_counter, .event = on_event,
						      .loss = hodo_view_loss };
	int err;

	*timeline = hodo_timeline_new(w->view->reader, hodo_symbols_places(w->view->symbols), &ops, w);
	w->text = hodo_read_text_new();
	if (!*timeline || !w->text)
		return -ENOMEM;
	if (hodo_off_cpu_recorded(w->view->reader) && hodo_read_spans(w->view->reader) < 0)
		return -ENOMEM;
	err = hodo_timeline_read(*timeline, w->view->since_ns, w->view->until_ns);
	if (!err)
		err = hodo_view_rows_finish(&w->rows);
	if (!err)
		err = hodo_view_losses_finish(w);
	if (!err)
		err = hodo_view_links_find(&w->links);
	return err ? err : hodo_view_lanes(w);
}

static int put_recording(struct hodo_view_input *v, bool after)
{
	struct hodo_view_work *w = calloc(1, sizeof(*w));
	struct hodo_timeline *timeline = NULL;
	int err;

	if (!w)
		return -ENOMEM;
	w->view = v;
	w->figures = (struct hodo_view_figures)HODO_VIEW_FIGURES;
	w->begin_ns = hodo_read_begin_ns(v->reader);
	if (v->since_ns > w->begin_ns)
		w->begin_ns = v->since_ns;
	w->last_ns = w->begin_ns;
	hodo_view_rows_init(&w->rows, v->limit);
	err = take_in(w, &timeline);
	if (!err)
		err = hodo_view_write_data(w, after);
	v->events = w->events;
	v->rows = w->counts[HODO_VIEW_SLICES] + w->counts[HODO_VIEW_INSTANTS] + w->counts[HODO_VIEW_VALUES];
	v->shown = 0;
	for (uint32_t i = 0; i < w->rows.n; i++)
		v->shown += hodo_view_class(&w->rows.rows[i]) != HODO_VIEW_WAITS;
	hodo_timeline_free(timeline);
	hodo_read_text_free(w->text);
	hodo_text_free(&w->off_cpu);
	free(w->losses);
	hodo_view_links_free(&w->links);
	hodo_view_figures_free(&w->figures);
	hodo_strings_free(&w->names);
	hodo_view_rows_free(&w->rows);
	free(w->tracks);
	free(w);
	return err;
}

bool hodo_view_is(int fd)
{
	static const char mark[] = "<meta name=\"generator\" content=\"hodo\">";
	char head[512];
	ssize_t n = hodo_file_read_at(fd, head, sizeof(head), 0);

	return n > 0 && memmem(head, (size_t)n, mark, sizeof(mark) - 1) != NULL;
}

int hodo_view_write(struct hodo_view_input *v)
{
	int err = hodo_view_write_head(v->out, v->title);

	if (!err)
		err = put_recording(v, false);
	if (!err && v->after) {
		v->after->out = v->out;
		err = put_recording(v->after, true);
	}
	return err ? err : hodo_view_write_tail(v->out);
}
