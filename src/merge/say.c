/* SPDX-License-Identifier: MIT */
/* say.c - messages to the user. */
#include "merge.h"

#include <stdarg.h>
#include <stdio.h>

int hodo_merge_fail(struct hodo_merge *m, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(m->error, HODO_MERGE_ERROR, fmt, args);
	va_end(args);
	return err;
}

void hodo_merge_warn(struct hodo_merge *m, const char *fmt, ...)
{
	char text[HODO_MERGE_ERROR];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (m->warn)
		m->warn(m->warn_data, text);
}

const char *hodo_merge_by_text(enum hodo_merge_by by)
{
	static const char *const texts[] = {
		[HODO_MERGE_REFERENCE] = "reference", [HODO_MERGE_BOOT] = "boot", [HODO_MERGE_MESSAGES] = "messages",
		[HODO_MERGE_ONE_WAY] = "one-way messages", [HODO_MERGE_NTP] = "NTP", [HODO_MERGE_WALL] = "wall clock",
	};

	return texts[by];
}
