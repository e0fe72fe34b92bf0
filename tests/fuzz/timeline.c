/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - the timeline of a hostile recording, all formats made of it, and the page. Input as for
 * read/fuzz_recording.c.
 * Slices nest on each thread, each begin has one end, and the output is discarded.
 */
#include <export/export.h>
#include <export/otlp/otlp_message.h>
#include <export/view/view.h>
#include "read_recording.h"

struct counts {
	uint64_t begun, ended, points, events;
};

static int on_track(void *data, struct hodo_track *track)
{
	(void)data;
	fuzz_check(track->name && !track->user, "a track without a name");
	return 0;
}

/* A thread's track points to its innermost slice. */
static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct counts *n = data;
	struct hodo_track *track = (struct hodo_track *)slice->track;

	(void)event;
	n->begun++;
	if (track->kind != HODO_TRACK_THREAD)
		return 0;
	fuzz_check(slice->parent == track->user, "a slice is inside of another than the last one begun");
	fuzz_check(slice->depth == (slice->parent ? slice->parent->depth + 1 : 0), "depth");
	track->user = slice;
	return 0;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct counts *n = data;
	struct hodo_track *track = (struct hodo_track *)slice->track;

	(void)event;
	n->ended++;
	fuzz_check(slice->end_ns >= slice->begin_ns, "it ends before it begins");
	fuzz_check(slice->self_ns <= (uint64_t)(slice->end_ns - slice->begin_ns), "self time");
	if (track->kind != HODO_TRACK_THREAD)
		return 0;
	fuzz_check(track->user == slice, "an outer slice ends first");
	track->user = slice->parent;
	return 0;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct counts *n = data;

	(void)track, (void)event, (void)depth;
	n->points++;
	return 0;
}

static int on_event(void *data, const struct hodo_read_event *event)
{
	struct counts *n = data;

	(void)event;
	n->events++;
	return 0;
}

static int nowhere(void *data, const void *bytes, size_t len)
{
	(void)data, (void)bytes, (void)len;
	return 0;
}

static int no_file(void *folder, const char *name, const void *bytes, size_t len)
{
	(void)folder, (void)bytes;
	fuzz_check(name[0] && !strchr(name, '/') && len > 0, "a file");
	return 0;
}

static void no_warning(const char *text)
{
	fuzz_check(text[0] && !strchr(text, '\n'), "a warning is one line");
}

static void run_timeline(struct hodo_read *r, struct hodo_symbols *symbols)
{
	const struct hodo_timeline_ops ops = { .track = on_track, .begin = on_begin, .end = on_end,
					       .instant = on_instant, .event = on_event };
	struct hodo_timeline_totals totals;
	struct counts n = { 0 };
	struct hodo_timeline *s = hodo_timeline_new(r, hodo_symbols_places(symbols), &ops, &n);

	fuzz_check(s && hodo_timeline_read(s, 0, 0) == 0, "the timeline fails");
	hodo_timeline_totals(s, &totals);
	fuzz_check(n.begun == n.ended && n.begun >= totals.slices, "begins and ends");
	fuzz_check(n.events == totals.events && n.points == totals.instants, "totals");
	hodo_timeline_free(s);
}

static void export_all(struct hodo_read *r, struct hodo_symbols *symbols)
{
	static const struct hodo_otlp otlp = { .version = "0" };

	for (const struct hodo_export_format *const *f = hodo_export_formats; *f; f++) {
		struct hodo_text out;
		struct hodo_export e = { .reader = r, .symbols = symbols, .out = &out, .warn = no_warning,
					 .file = no_file, .otlp = &otlp };

		if ((*f)->elsewhere)
			continue;
		out = (struct hodo_text)HODO_TEXT_TO(nowhere, NULL);
		hodo_read_rewind(r);
		fuzz_check(hodo_export_run(*f, &e) == 0 && hodo_text_flush(&out) == 0, (*f)->name);
		hodo_text_free(&out);
	}
}

/* Whole, and with almost all of it left out. */
static void view(struct hodo_read *r, struct hodo_symbols *symbols)
{
	static const uint32_t limits[] = { HODO_VIEW_LIMIT, 5 };
	size_t len;

	hodo_view_page(&len);
	for (unsigned i = 0; len > 0 && i < 2; i++) {
		struct hodo_text out;
		struct hodo_view_input v = { .reader = r, .symbols = symbols, .out = &out, .title = "t", .dir = "d",
				       .version = "0", .since_ns = INT64_MIN, .until_ns = INT64_MAX,
				       .limit = limits[i] };

		out = (struct hodo_text)HODO_TEXT_TO(nowhere, NULL);
		hodo_read_rewind(r);
		fuzz_check(hodo_view_write(&v) == 0 && hodo_text_flush(&out) == 0, "the page");
		fuzz_check(v.shown <= v.rows, "more is shown than there is");
		hodo_text_free(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_symbols *symbols;
	struct hodo_read *r;

	fuzz_recording_write(data, len);
	if (hodo_read_open(&r, folder(), NULL) < 0)
		return 0;
	symbols = hodo_symbols_new(folder());
	run_timeline(r, symbols);
	export_all(r, symbols);
	view(r, symbols);
	hodo_read_close(r);
	hodo_symbols_free(symbols);
	return 0;
}
