/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - the metadata of a folder, with the clock that makes its times those of the reference. Streams have
 * ticks, which stay as they are; a line is an offset and a frequency, so every reader of CTF has the new times.
 */
#include "merge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <base/text.h>
#include <read/file/metadata_line.h>

#define NS_PER_S 1000000000
#define UNIT     4 /* ticks: TSDL's clock has a quarter of them (docs/format.md) */

/* Rounds down. */
static __int128 divide(__int128 a, __int128 b)
{
	return a / b - (a % b < 0);
}

/* error_ns: of rounding the frequency, at either end of the recording. */
static void move_clock(const struct hodo_merge_recording *r, struct hodo_read_clock *c, double *error_ns)
{
	const struct hodo_line_of_time *l = &r->line;
	double exact = (double)c->freq_hz / (1 + l->drift), half_ns = ((double)r->end_ns - (double)r->begin_ns) / 2;
	__int128 freq = (__int128)c->freq_hz, moved, total, tick;

	/* Without drift it stays exactly, as it may be no multiple of the unit. */
	moved = l->drift == 0 ? freq : (__int128)llrint(exact / UNIT) * UNIT;
	if (moved < UNIT)
		moved = freq;
	*error_ns = fabs((double)moved / exact - 1) * half_ns;
	tick = divide(((__int128)l->x0_ns - (__int128)c->offset_s * NS_PER_S) * freq, NS_PER_S) - c->offset_ticks;
	total = divide((__int128)l->y0_ns * moved, NS_PER_S) - tick;
	total = divide(total, UNIT) * UNIT;
	c->freq_hz = (uint64_t)moved;
	c->offset_s = (int64_t)divide(total, moved);
	c->offset_ticks = (int64_t)(total - (__int128)c->offset_s * moved);
}

/* Our line about the clock, and one about whose it is. */
static int put_clock(const struct hodo_merge_recording *r, struct hodo_line *l, struct hodo_read_clock *c,
		     struct hodo_text *out)
{
	const char *by = hodo_merge_by_text(r->by);
	double rounding_ns;

	if (hodo_line_get_clock(l, c) < 0)
		return -EBADMSG;
	move_clock(r, c, &rounding_ns);
	hodo_line_put_clock(out, c);
	hodo_line_put_text(out, "/*@merge host=", r->host);
	hodo_line_put_text(out, " by=", by);
	hodo_text_printf(out, " offset=%" PRId64 " drift=%" PRId64 " pairs=%" PRIu64,
			 hodo_time_difference(r->line.y0_ns, r->line.x0_ns),
			 (int64_t)llrint(-r->line.drift * NS_PER_S), r->pairs);
	if (r->worst_ns >= 0)
		hodo_text_printf(out, " error=%" PRId64, (int64_t)ceil(r->worst_ns + rounding_ns));
	hodo_text_add(out, "*/\n");
	return 0;
}

/* The line as it is, but with its time moved; it has one. */
static void put_time(const struct hodo_merge_recording *r, const char *line, size_t len, int64_t time_ns,
		     struct hodo_text *out)
{
	const char *time = memmem(line, len, "time=", 5), *rest = time + 5;
	int64_t moved = hodo_time_map(&r->line, time_ns);

	if (moved < 0) /* before the epoch */
		moved = 0;
	while (rest < line + len && ((*rest >= '0' && *rest <= '9') || *rest == '.'))
		rest++;
	hodo_text_bytes(out, line, (size_t)(time + 5 - line));
	hodo_line_put_time(out, moved);
	hodo_text_bytes(out, rest, (size_t)(line + len - rest));
}

/* One of our lines, split in a copy. */
static int put_ours(const struct hodo_merge_recording *r, const char *line, size_t len, struct hodo_read_clock *c,
		    struct hodo_text *out)
{
	struct hodo_line l = { 0 };
	char *copy = strndup(line, len);
	int64_t time_ns = -1;
	size_t n = copy ? strcspn(copy, "\r\n") : 0;
	int err = copy ? 0 : -ENOMEM;

	if (!err && n > 4 && hodo_line_split(copy + 3, copy + n, &l)) {
		if (strcmp(l.word, "clock") == 0) {
			err = put_clock(r, &l, c, out);
		} else {
			hodo_line_get_time(&l, &time_ns);
			if (time_ns >= 0)
				put_time(r, line, len, time_ns, out);
		}
	}
	if (!err && time_ns < 0 && (!l.word || strcmp(l.word, "clock") != 0))
		hodo_text_bytes(out, line, len);
	free(copy);
	return err;
}

int hodo_merge_metadata(const struct hodo_merge_recording *r, const struct hodo_text *old, struct hodo_text *out)
{
	const char *at = old->data, *end = at + old->len, *line;
	struct hodo_read_clock c = { 0 };
	size_t len;
	int err = 0;

	while (!err && (line = hodo_line_next(&at, end, &len)) != NULL) {
		if (hodo_line_is(line, len, "merge"))
			; /* of an earlier merge */
		else if (hodo_line_is(line, len, "clock") || hodo_line_is(line, len, "end") ||
			 hodo_line_is(line, len, "snapshot"))
			err = put_ours(r, line, len, &c, out);
		else if (!c.freq_hz || !hodo_line_replace_clock(line, len, &c, out))
			hodo_text_bytes(out, line, len);
	}
	if (!err && !c.freq_hz)
		err = -EBADMSG;
	return err ? err : out->error;
}
