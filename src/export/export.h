/* SPDX-License-Identifier: MIT */
/* export.h - the formats that a recording can be written in. One file a format, formats.c has the list. */
#ifndef HODO_EXPORT_EXPORT_H
#define HODO_EXPORT_EXPORT_H

#include "out.h"
#include "story.h"

struct hodo_export {
	struct hodo_read *reader; /* at its first event; limits, if there are any, are set */
	struct hodo_symbols *symbols;
	struct hodo_export_out *out;
	void (*warn)(const char *text); /* one line; once for each kind of thing that the format cannot hold */
	int64_t since_ns, until_ns; /* the reader's limits; until_ns 0: there are none */
};

struct hodo_export_format {
	const char *name;   /* of --to */
	const char *suffix; /* of the file, if none is named: hodo.data.SUFFIX; "": standard output */
	const char *does;   /* one line for --help, and what opens it */
	bool binary;        /* not for a terminal */
	int (*run)(struct hodo_export *e); /* 0, or a negative errno; out is flushed by the caller */
};

/* All, by name; ends with NULL. */
extern const struct hodo_export_format *const hodo_export_formats[];
const struct hodo_export_format *hodo_export_format(const char *name); /* NULL: there is none */

extern const struct hodo_export_format hodo_export_callgrind, hodo_export_chrome, hodo_export_csv, hodo_export_firefox,
	hodo_export_folded, hodo_export_jsonl, hodo_export_perfetto, hodo_export_pprof, hodo_export_speedscope;

#endif
