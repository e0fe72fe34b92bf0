/* SPDX-License-Identifier: MIT */
/* metadata_line.c - see metadata_line.h. */
#include "metadata_line.h"

#include <stddef.h>
#include <string.h>

#include <base/escape.h>
#include <base/quantity.h>

#define NS_PER_S 1000000000ull

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
