/* SPDX-License-Identifier: MIT */
/* source_line.h - the code of a source line, from the line tables of the debug information. */
#ifndef HODO_PROBE_CODE_SOURCE_LINE_H
#define HODO_PROBE_CODE_SOURCE_LINE_H

#include <base/near.h>

#include <probe/value/image.h>

struct hodo_source_line {
	const char *file; /* a path, or its end after a / */
	uint64_t line;
	/* Results. */
	uint64_t *addresses; /* sorted; free it */
	uint32_t n;
	bool file_known;
	uint64_t next;       /* the first later line with code; 0: none */
	struct hodo_near near; /* files with similar names */
};

/* Finds all addresses that begin a statement of the line. 0 or -ENOMEM. */
int hodo_source_line_find(struct hodo_source_line *s, const struct hodo_probe_image *i);

#endif
