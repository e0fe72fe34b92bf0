/* SPDX-License-Identifier: MIT */
/* source_line.h - the code of a line of source, by the line tables of the debug information. */
#ifndef HODO_PROBE_SOURCE_LINE_H
#define HODO_PROBE_SOURCE_LINE_H

#include <base/near.h>

#include "image.h"

struct hodo_source_line {
	const char *file; /* a path, or its end, from a / on */
	uint64_t line;
	/* What was found. */
	uint64_t *addresses; /* in order; to be freed */
	uint32_t n;
	bool file_known;
	uint64_t next;       /* the first line behind it that has code; 0: none does */
	struct hodo_near near; /* files of like names */
};

/* All that begin a statement of the line. 0 or -ENOMEM. */
int hodo_source_line_find(struct hodo_source_line *s, const struct hodo_probe_image *i);

#endif
