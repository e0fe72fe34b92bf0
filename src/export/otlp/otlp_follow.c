/* SPDX-License-Identifier: MIT */
/* otlp_follow.c - see otlp_follow.h. The format's own functions, run in steps. */
#include "otlp_follow.h"

#include "otlp_impl.h"

#include <errno.h>
#include <read/file/follow.h>
#include <stdlib.h>

#define EVENTS_UNASKED 256u /* between two questions whether to stop */

struct hodo_otlp_follow {
	struct hodo_export e;
	struct hodo_callers *callers;
	struct hodo_text none;
	void *state; /* the format's */
	struct hodo_timeline *timeline;
	int failed;
};

/* What the format leaves out is known from the manual page. */
static void say_nothing(const char *text)
{
	(void)text;
}

static int open_all(struct hodo_otlp_follow *f, const char *dir)
{
	const struct hodo_read_options options = { .size = sizeof(options) };
	int err = hodo_read_follow(&f->e.reader, dir, &options);

	if (err)
		return err;
	f->e.symbols = hodo_symbols_new(dir);
	f->callers = f->e.symbols ? hodo_callers_new(f->e.symbols) : NULL;
	f->e.text = hodo_read_text_new();
	f->state = calloc(1, hodo_export_otlp.state_bytes);
	if (!f->callers || !f->e.text || !f->state)
		return -ENOMEM;
	hodo_symbols_shorten(f->e.symbols);
	hodo_read_symbols(f->e.reader, hodo_function_name_at, f->e.symbols);
	hodo_read_code(f->e.reader, &hodo_callers_ops, f->callers);
	f->timeline = hodo_timeline_new(f->e.reader, hodo_symbols_places(f->e.symbols),
					&hodo_export_otlp.timeline, f->state);
	if (!f->timeline)
		return -ENOMEM;
	err = hodo_export_otlp.open(f->state, &f->e);
	return err ? err : hodo_timeline_start(f->timeline, 0, 0);
}

int hodo_otlp_follow_new(struct hodo_otlp_follow **follow, const char *dir, const struct hodo_otlp *otlp)
{
	struct hodo_otlp_follow *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f) {
		f->e.warn = say_nothing;
		f->e.otlp = otlp;
		f->e.out = &f->none;
		err = open_all(f, dir);
	}
	if (err) {
		hodo_otlp_follow_free(f);
		f = NULL;
	}
	*follow = f;
	return err;
}

void hodo_otlp_follow_free(struct hodo_otlp_follow *f)
{
	if (!f)
		return;
	hodo_timeline_free(f->timeline);
	if (f->state)
		hodo_export_otlp.free(f->state);
	free(f->state);
	hodo_read_text_free(f->e.text);
	hodo_callers_free(f->callers);
	hodo_symbols_free(f->e.symbols);
	hodo_read_close(f->e.reader);
	hodo_text_free(&f->none);
	free(f);
}

static int go_on(struct hodo_otlp_follow *f, bool last, bool (*stop)(void *data), void *data)
{
	int n = 1;

	for (uint32_t i = 0; n > 0; i++) {
		n = last ? hodo_timeline_next(f->timeline) : hodo_timeline_more(f->timeline);
		if (n > 0 && i % EVENTS_UNASKED == 0 && stop(data))
			n = -EINTR;
	}
	return n ? n : otlp_flush(f->state, &f->e);
}

int hodo_otlp_follow_on(struct hodo_otlp_follow *f, const struct hodo_read_clock *clock, uint64_t ticks,
			bool (*stop)(void *data), void *data)
{
	if (!f->failed)
		f->failed = hodo_read_follow_on(f->e.reader, clock, ticks);
	if (!f->failed)
		f->failed = go_on(f, ticks == UINT64_MAX, stop, data);
	return f->failed;
}

uint64_t hodo_otlp_follow_missed(const struct hodo_otlp_follow *f, uint32_t *processes)
{
	return hodo_read_follow_missed(f->e.reader, processes);
}
