/* SPDX-License-Identifier: MIT */
/* report_bars.c - draws a distribution. */
#define _GNU_SOURCE
#include "report_numbers.h"
#include "table.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MAX 200

static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n = 0;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		n = size.ws_col;
	else if (!columns || hodo_parse_number(columns, 10000, &n) < 0 || !n)
		n = 80;
	return (int)(n > WIDTH_MAX ? WIDTH_MAX : n);
}

/* Whether what reads our output takes UTF-8. The locale of the process stays as it is. */
static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	if (locale)
		freelocale(locale);
	return utf8;
}

/* n parts of an eighth of a column each. What is there is seen: one part at the least. */
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
		/* 2^64 is no uint64_t. */
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
	const struct hodo_table t = { .columns = &histogram, .first = bars, .n = n > 0 ? (size_t)n : 0,
				      .stride = sizeof(*bars) };

	hodo_table_put_json(j, key, &t);
}
