/* SPDX-License-Identifier: MIT */
/* report_bars.c - draws a distribution. */
#include "report.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MAX 200

/* ----------------------------------------------------------------------- scale */

/* 2^shift buckets per bar; zero has its own bar, and the least numbers' are next to it, on both sides. */
struct scale {
	unsigned shift;
	int64_t least; /* bucket >> shift */
};

static int64_t bar_of(int64_t key, struct scale s)
{
	int64_t bar = (llabs(key) >> s.shift) - s.least + 1;

	return key > 0 ? bar : key < 0 ? -bar : 0;
}

/* The bar's bound nearer to zero. */
static double bar_near(int64_t bar, struct scale s)
{
	int64_t key = bar ? (llabs(bar) - 1 + s.least) << s.shift : 0;

	return hodo_bucket_low(bar < 0 ? -key : key);
}

static double bar_low(int64_t bar, struct scale s)
{
	return bar < 0 ? bar_near(bar - 1, s) : bar_near(bar, s);
}

static double bar_high(int64_t bar, struct scale s)
{
	return bar > 0 ? bar_near(bar + 1, s) : bar_near(bar, s);
}

/*
 * Bars are as narrow as room allows, at most eight for a power of two, and for integers none that begins
 * between two of them.
 */
static struct scale scale_for(const struct hodo_bucket *all, uint32_t n, bool whole)
{
	struct scale s = { .shift = 3 };
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (all[i].key && llabs(all[i].key) < least)
			least = llabs(all[i].key);
	if (least == INT64_MAX)
		return s;
	while (whole && s.shift < 6 && hodo_bucket_low(least) < ldexp(1, 6 - (int)s.shift))
		s.shift++;
	for (;; s.shift++) {
		s.least = least >> s.shift;
		if (s.shift == 20 || bar_of(all[n - 1].key, s) - bar_of(all[0].key, s) < REPORT_BARS_MAX)
			return s;
	}
}

int report_bars(struct hodo_histogram *histogram, struct report_bar *bars)
{
	const struct hodo_bucket *all = hodo_must(hodo_histogram_sorted(histogram));
	uint32_t n = histogram->buckets.n;
	struct scale s;
	int64_t first;
	int nbars = 0;

	if (!n)
		return 0;
	s = scale_for(all, n, !histogram->parts);
	first = bar_of(all[0].key, s);
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = bar_of(all[i].key, s) - first;

		for (; nbars <= at && nbars < REPORT_BARS_MAX; nbars++)
			bars[nbars] = (struct report_bar){ bar_low(first + nbars, s), bar_high(first + nbars, s), 0 };
		bars[at < REPORT_BARS_MAX ? at : REPORT_BARS_MAX - 1].n += all[i].n;
	}
	return nbars;
}

/* ------------------------------------------------------------------------ text */

static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	uint64_t n = (uint64_t)hodo_terminal_width();

	if (!n && (!columns || hodo_parse_number(columns, 10000, &n) < 0 || !n))
		n = 80;
	return (int)(n > WIDTH_MAX ? WIDTH_MAX : n);
}

/* Whether our output may be UTF-8. The process's locale does not change. */
static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	if (locale)
		freelocale(locale);
	return utf8;
}

/* In eighths of a column; at least one, so that it is visible. */
static void put_bar(struct hodo_text *to, unsigned eighths, unsigned width, bool utf8)
{
	static const char *const blocks[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
	unsigned done = 0;

	for (; eighths >= 8; eighths -= 8, done++)
		hodo_text_add(to, utf8 ? blocks[8] : "#");
	if (eighths && (utf8 || eighths >= 4 || !done)) {
		hodo_text_add(to, utf8 ? blocks[eighths] : eighths >= 4 ? "#" : ".");
		done++;
	}
	hodo_text_printf(to, "%*s", (int)(width - done), "");
}

static void put_edges(struct hodo_text *to, const struct report_bar *bar, bool time)
{
	char a[48], b[48];

	if (time) {
		/* 2^64 does not fit a uint64_t. */
		hodo_text_printf(to, "  %s .. %s", hodo_duration((uint64_t)bar->low, a),
			hodo_duration(bar->high < 0x1p64 ? (uint64_t)bar->high : UINT64_MAX, b));
		return;
	}
	hodo_text_printf(to, "  %10s .. %10s", hodo_number(bar->low, a), hodo_number(bar->high, b));
}

void report_bars_put(struct hodo_text *to, const struct report_bar *bars, int n, bool time)
{
	int room = terminal_width() - (2 + 10 + 4 + 10) - 1 - (1 + 15 + 7);
	unsigned width = room < 10 ? 10 : (unsigned)room;
	uint64_t most = 1, all = 0;
	bool utf8 = is_utf8();
	char buf[32];

	for (int i = 0; i < n; i++) {
		most = bars[i].n > most ? bars[i].n : most;
		all += bars[i].n;
	}
	for (int i = 0; i < n; i++) {
		double part = (double)bars[i].n / (double)most;
		unsigned eighths = (unsigned)lround(part * 8 * width);

		put_edges(to, &bars[i], time);
		hodo_text_char(to, ' ');
		put_bar(to, bars[i].n && !eighths ? 1 : eighths, width, utf8);
		hodo_text_printf(to, " %15s %5.1f%%\n", hodo_grouped(bars[i].n, buf),
			all ? 100 * (double)bars[i].n / (double)all : 0);
	}
}

static const struct hodo_column columns[] = {
	{ "from", .as = HODO_AS_NUMBER, HODO_MEMBER(struct report_bar, low) },
	{ "to", .as = HODO_AS_NUMBER, HODO_MEMBER(struct report_bar, high) },
	{ "count", .as = HODO_AS_COUNT, HODO_MEMBER(struct report_bar, n) },
};
static const struct hodo_columns histogram = { "histogram", HODO_COLUMNS(columns) };

void report_bars_put_json(struct hodo_json *j, const char *key, const struct report_bar *bars, int n)
{
	const struct hodo_table t = { .columns = &histogram, .first = bars, .n = (size_t)n, .stride = sizeof(*bars) };

	hodo_table_put_json(j, key, &t);
}
