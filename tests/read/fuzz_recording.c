/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recording.c - a recording of one folder, all of it hostile.
 *
 * Input: 32 bits of length, that many bytes of metadata, the rest is a stream.
 * The three walks over it must agree.
 */
#include "help.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void stop(void)
{
	help_done();
}

static void make(const uint8_t *data, size_t len)
{
	uint32_t metadata_len = 0;

	if (!help_dir[0]) {
		help_start();
		atexit(stop);
	}
	if (len >= 4) {
		memcpy(&metadata_len, data, 4);
		data += 4;
		len -= 4;
	}
	if (metadata_len > len)
		metadata_len = (uint32_t)len;
	help_write(help_path("metadata"), data, metadata_len);
	help_write(help_path("cpu0"), data + metadata_len, len - metadata_len);
}

static void check(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz_recording: %s\n", what);
		abort();
	}
}

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	(void)data;
	check(loss->from_ns <= loss->until_ns, "a loss ends before it begins");
	check(loss->discarded || loss->overwritten || loss->damaged, "a loss of nothing");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *e;
	struct hodo_read *r;
	uint64_t n = 0;

	make(data, len);
	if (hodo_read_open(&r, help_dir, NULL) < 0) {
		hodo_read_text_free(text);
		return 0;
	}
	check(hodo_read_scan(r) == 0, "scan fails");
	check(hodo_read_losses(r, on_loss, NULL) == 0, "losses fail");
	check(hodo_read_count(r, &totals) == 0, "count fails");
	while (hodo_read_next(r, &e) > 0) {
		n++;
		check(hodo_read_text_line(text, e, HODO_READ_COLOR) == 0, "line fails");
		check(hodo_read_text_json(text, e) == 0, "json fails");
		hodo_read_text_clear(text);
	}
	check(n == totals.events, "count and next differ");
	check(totals.damaged == hodo_read_process(r, 0)->streams[0]->damaged, "damaged differ");
	hodo_read_limit(r, totals.begin_ns + 1, totals.end_ns);
	while (hodo_read_next(r, &e) > 0)
		check(e->ts_ns > totals.begin_ns && e->ts_ns < totals.end_ns, "an event beyond the limits");
	hodo_read_close(r);
	hodo_read_text_free(text);
	return 0;
}
