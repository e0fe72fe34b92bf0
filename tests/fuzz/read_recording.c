/* SPDX-License-Identifier: MIT */
/*
 * read_recording.c - a recording of one folder, all of it hostile.
 *
 * The three walks over it must agree.
 */
#include "read_recording.h"

#include <hodo/columns.h>

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	(void)data;
	fuzz_check(loss->from_ns <= loss->until_ns, "a loss ends before it begins");
	fuzz_check(loss->discarded || loss->overwritten || loss->damaged, "a loss of nothing");
	return 0;
}

/* How many rows a table has. */
static uint64_t rows_of(struct hodo_read *r, enum hodo_read_table table)
{
	const struct hodo_read_columns_options o = { .size = sizeof(o), .table = table, .json = true, .rows = 64 };
	const struct hodo_read_batch *b;
	struct hodo_read_columns *c;
	uint64_t n = 0;
	int got;

	fuzz_check(hodo_read_columns_new(&c, r, &o) == 0, "columns fail");
	while ((got = hodo_read_columns_next(c, &b)) > 0)
		n += b->rows;
	fuzz_check(got == 0, "a batch fails");
	hodo_read_columns_free(c);
	hodo_read_rewind(r);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *e;
	struct hodo_read *r;
	uint64_t n = 0;

	fuzz_recording_write(data, len);
	if (hodo_read_open(&r, folder(), NULL) < 0) {
		hodo_read_text_free(text);
		return 0;
	}
	fuzz_check(hodo_read_scan(r) == 0, "scan fails");
	fuzz_check(hodo_read_losses(r, on_loss, NULL) == 0, "losses fail");
	fuzz_check(hodo_read_count(r, &totals) == 0, "count fails");
	while (hodo_read_next(r, &e) > 0) {
		n++;
		fuzz_check(hodo_read_text_line(text, e, HODO_READ_COLOR) == 0, "line fails");
		fuzz_check(hodo_read_text_json(text, e) == 0, "json fails");
		hodo_read_text_clear(text);
	}
	fuzz_check(n == totals.events, "count and next differ");
	fuzz_check(totals.damaged == hodo_read_process(r, 0)->streams[0]->damaged, "damaged differ");
	fuzz_check(rows_of(r, HODO_READ_TABLE_EVENTS) == n, "there are not as many rows as events");
	fuzz_check(rows_of(r, HODO_READ_TABLE_SPANS) <= n, "there are more spans than events");
	fuzz_check(rows_of(r, HODO_READ_TABLE_CALLS) <= n, "there are more calls than events");
	hodo_read_limit(r, totals.begin_ns + 1, totals.end_ns);
	while (hodo_read_next(r, &e) > 0)
		fuzz_check(e->ts_ns > totals.begin_ns && e->ts_ns < totals.end_ns, "an event beyond the limits");
	hodo_read_close(r);
	hodo_read_text_free(text);
	return 0;
}
