/* SPDX-License-Identifier: MIT */
/* metadata_line.c - splits our lines of the metadata, and what several write of them. */
#include "metadata_line.h"
#include "clock.h"
#include "tsdl.h"

#include <base/escape.h>
#include <base/quantity.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *hodo_line_next(const char **at, const char *end, size_t *len)
{
	const char *line = *at, *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;

	*at = newline ? newline + 1 : end;
	*len = (size_t)(*at - line);
	return *len ? line : NULL;
}

bool hodo_line_is(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len > n + 4 && memcmp(line, "/*@", 3) == 0 && memcmp(line + 3, word, n) == 0 && line[3 + n] == ' ';
}

char *hodo_line_get(struct hodo_line *l, const char *key)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->pair[i].key, key) == 0)
			return l->pair[i].value;
	return NULL;
}

char *hodo_line_get_text(struct hodo_line *l, const char *key)
{
	char *value = hodo_line_get(l, key);

	return value ? value : l->empty;
}

void hodo_line_put_text(struct hodo_text *to, const char *before, const char *text)
{
	size_t len = strlen(text);
	char *at;

	hodo_text_add(to, before);
	at = hodo_text_room(to, 3 * len);
	if (at)
		to->len += (size_t)(hodo_percent_encode(at, text, len) - at);
}

int hodo_line_get_number(struct hodo_line *l, const char *key, uint64_t max, uint64_t *number)
{
	return hodo_parse_number(hodo_line_get_text(l, key), max, number);
}

int hodo_line_get_signed(struct hodo_line *l, const char *key, int64_t *number)
{
	const char *value = hodo_line_get_text(l, key);
	bool minus = *value == '-';
	uint64_t n;
	int err = hodo_parse_number(value + minus, INT64_MAX, &n);

	if (!err)
		*number = minus ? -(int64_t)n : (int64_t)n;
	return err;
}

uint32_t hodo_line_get_u32(struct hodo_line *l, const char *key)
{
	uint64_t n = 0;

	return hodo_line_get_number(l, key, UINT32_MAX, &n) == 0 ? (uint32_t)n : 0;
}

void hodo_line_get_time(struct hodo_line *l, int64_t *time_ns)
{
	char *seconds = hodo_line_get_text(l, "time"), *rest = seconds;
	uint64_t s, ns = 0;

	strsep(&rest, ".");
	if (rest && strlen(rest) == 9)
		hodo_parse_number(rest, NS_PER_S - 1, &ns);
	if (hodo_parse_number(seconds, INT64_MAX / NS_PER_S - 1, &s) == 0)
		*time_ns = (int64_t)(s * NS_PER_S + ns);
}

void hodo_line_put_time(struct hodo_text *to, int64_t time_ns)
{
	hodo_text_printf(to, "%" PRId64 ".%09" PRId64, time_ns / (int64_t)NS_PER_S, time_ns % (int64_t)NS_PER_S);
}

int hodo_line_get_clock(struct hodo_line *l, struct hodo_read_clock *clock)
{
	struct hodo_read_clock c = { 0 };

	/* Above 1 THz, the conversion would overflow; no clock ticks so fast. */
	if (hodo_line_get_number(l, "freq", 1000 * NS_PER_S, &c.freq_hz) < 0 || c.freq_hz == 0 ||
	    hodo_line_get_signed(l, "offset_s", &c.offset_s) < 0 || hodo_line_get_signed(l, "offset", &c.offset_ticks) < 0)
		return -EINVAL;
	c.kind = strcmp(hodo_line_get_text(l, "kind"), "tsc") == 0 ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC;
	*clock = c;
	return 0;
}

void hodo_line_put_clock(struct hodo_text *to, const struct hodo_read_clock *c)
{
	hodo_text_printf(to, "/*@clock kind=%s freq=%" PRIu64 " offset_s=%" PRId64 " offset=%" PRId64 "*/\n",
			 c->kind == HODO_CLOCK_TSC ? "tsc" : "monotonic", c->freq_hz, c->offset_s, c->offset_ticks);
}

bool hodo_line_replace_clock(const char *line, size_t len, const struct hodo_read_clock *clock, struct hodo_text *to)
{
	static const char tsdl[] = "clock { ";

	if (hodo_line_is(line, len, "clock"))
		hodo_line_put_clock(to, clock);
	else if (len >= sizeof(tsdl) && memcmp(line, tsdl, sizeof(tsdl) - 1) == 0)
		hodo_ctf_clock(to, clock);
	else
		return false;
	return true;
}

bool hodo_line_split(char *s, char *end, struct hodo_line *l)
{
	if (end - s < 2 || end[-1] != '/' || end[-2] != '*')
		return false;
	end[-2] = 0;
	l->empty = end - 2;
	l->n = 0;
	l->word = strsep(&s, " ");
	while (s) {
		char *item = strsep(&s, " "), *value = strchr(item, '=');

		if (!value)
			return false;
		if (l->n == HODO_LINE_KEYS_MAX)
			continue;
		*value++ = 0;
		hodo_percent_decode(value);
		l->pair[l->n].key = item;
		l->pair[l->n++].value = value;
	}
	return true;
}
