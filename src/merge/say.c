/* SPDX-License-Identifier: MIT */
/* say.c - messages to the user. */
#include "merge.h"

#include <stdarg.h>
#include <stdio.h>

void hodo_merge_warn(struct hodo_merge *m, const char *fmt, ...)
{
	struct hodo_why said;
	va_list args;

	va_start(args, fmt);
	vsnprintf(said.text, sizeof(said.text), fmt, args);
	va_end(args);
	if (m->warn)
		m->warn(m->warn_data, said.text);
}

const char *hodo_merge_by_text(enum hodo_merge_by by)
{
	static const char *const texts[] = {
		[HODO_MERGE_REFERENCE] = "reference", [HODO_MERGE_BOOT] = "boot", [HODO_MERGE_MESSAGES] = "messages",
		[HODO_MERGE_ONE_WAY] = "one-way messages", [HODO_MERGE_NTP] = "NTP", [HODO_MERGE_WALL] = "wall clock",
	};

	return texts[by];
}
