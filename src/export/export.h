/* SPDX-License-Identifier: MIT */
/* export.h - the export formats: each is a table of functions, which formats.c runs. */
#pragma once

#include <sym/recording_symbols.h>

#include <base/json.h>
#include <read/time/timeline.h>

struct hodo_otlp;

struct hodo_export {
	struct hodo_read *reader; /* at its first event; limits, if any, are set */
	struct hodo_symbols *symbols;
	struct hodo_text *out;
	void (*warn)(const char *text); /* one line; once for each kind of thing that the format cannot express */
	int64_t since_ns, until_ns; /* the reader's limits; until_ns 0: there are none */
	/* For a format that is a folder, instead of out: appends to a file, which is created first. 0 or a
	 * negative errno. */
	int (*file)(void *folder, const char *name, const void *bytes, size_t len);
	void *folder;
	const struct hodo_otlp *otlp; /* of the format of that name: where it goes, and how (otlp_message.h) */
	struct hodo_read_text *text; /* for the format's use, as the next one: set by hodo_export_run() */
};

struct hodo_call_options;
struct hodo_call_tree;

struct hodo_export_format {
	const char *name;   /* of --to */
	const char *suffix; /* of the default file, hodo.data.SUFFIX; "": standard output */
	const char *does;   /* one line for --help, and what opens it */
	bool binary;        /* not for a terminal */
	bool folder;        /* of several files */
	bool each_event;    /* what it shows is events, not spans: they are selected one by one, as print does it */
	bool whole_names;   /* C++ functions' names are never shortened: for programs */
	bool elsewhere;     /* hodo_export_run() does not make it: src/cli/export does */
	/* Called in this order with the format's state, initially all zero. Any may be NULL; 0, or a negative
	 * errno, which ends the export. The last one is always called. */
	size_t state_bytes;
	int (*open)(void *state, struct hodo_export *e); /* before anything is read */
	int (*event)(void *state, struct hodo_export *e, const struct hodo_read_event *event); /* each; or else: */
	struct hodo_timeline_ops timeline; /* with the state; or: */
	const struct hodo_call_options *tree; /* of calls (call_tree.h); data becomes the state */
	int (*write)(void *state, struct hodo_export *e, struct hodo_call_tree *tree); /* at the end of reading */
	void (*free)(void *state);
};

/* 0, or a negative errno; out is flushed by the caller. */
int hodo_export_run(const struct hodo_export_format *format, struct hodo_export *e);

/* Losses as members of an object. */
static inline void hodo_export_loss(struct hodo_json *j, const struct hodo_read_loss *loss)
{
	hodo_json_i64(j, "cpu", loss->stream->cpu);
	hodo_json_u64(j, "discarded", loss->discarded);
	hodo_json_u64(j, "overwritten", loss->overwritten);
	hodo_json_u64(j, "damaged", loss->damaged);
}

/* A text of an event, from a function in <read/text/text.h> or <hodo/read.h>. Valid until the next call. */
static inline const char *hodo_export_text(struct hodo_export *e, const struct hodo_read_event *event, size_t *len,
					   int (*make)(struct hodo_read_text *, const struct hodo_read_event *))
{
	hodo_read_text_clear(e->text);
	hodo_text_fail(e->out, make(e->text, event));
	return hodo_read_text_data(e->text, len);
}

/* All, by name; ends with NULL. */
extern const struct hodo_export_format *const hodo_export_formats[];
const struct hodo_export_format *hodo_export_format(const char *name); /* NULL: there is none */

extern const struct hodo_export_format hodo_export_callgrind, hodo_export_chrome, hodo_export_clickhouse,
	hodo_export_csv, hodo_export_ctf, hodo_export_firefox, hodo_export_folded, hodo_export_jsonl, hodo_export_otlp,
	hodo_export_parquet, hodo_export_perfetto, hodo_export_pprof, hodo_export_speedscope;
