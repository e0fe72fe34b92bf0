/* SPDX-License-Identifier: MIT */
/* firefox_impl.h - what the files of the Firefox format share. */
#ifndef HODO_EXPORT_FIREFOX_IMPL_H
#define HODO_EXPORT_FIREFOX_IMPL_H

#include "call_objects.h"
#include "call_tree.h"
#include "pointer_map.h"
#include "strings.h"

#include <locale.h>

#define FIREFOX_MARKERS_MAX (1u << 20) /* points, id-paired spans and values of counters */
#define FIREFOX_TEXT_MAX    (96ull << 20)  /* bytes of what they say */

struct firefox_marker {
	int64_t begin_ns, end_ns; /* INT64_MIN: a point; not over yet */
	double value;             /* of a counter */
	uint32_t name, data, next; /* data: its place in the text + 1; 0: none */
};

/* What has markers: a thread, or what stands for one: an id-paired span, a process's losses; or a counter. */
struct firefox_owner {
	const struct hodo_track *track;
	struct hodo_track own; /* of losses */
	struct firefox_owner *next;
	uint32_t first, last, n; /* markers, by index + 1 */
};

struct firefox {
	const struct hodo_call_tree *tree;
	struct hodo_export *e;
	struct hodo_export_out *out;
	struct hodo_strings strings, sources, types, type_names;
	struct hodo_call_objects objects;
	struct hodo_pointer_map classes; /* of struct hodo_read_class: number of its type + 1 */
	struct firefox_schema {
		const struct hodo_read_class *cls;
		const char *name;
	} *schemas; /* by number of type */
	uint32_t schemas_room;
	struct firefox_marker *markers;
	uint32_t nmarkers, markers_room;
	struct firefox_owner *threads, *async, *counters, *losses, **last_async, **last_counter, **last_loss;
	struct hodo_pointer_map lossy; /* of struct hodo_read_process: its losses */
	char *text; /* JSON objects, each with a NUL behind it */
	size_t text_len, text_room;
	struct hodo_export_out text_out;
	struct hodo_read_text *mark;
	char *scratch;
	size_t scratch_room;
	locale_t c;
	uint64_t markers_left_out, texts_left_out;
	bool first; /* of a list that is being written */
	/* Samples. */
	uint32_t *stacks; /* of nodes */
	uint32_t *open, nopen, open_room;
	uint64_t nsamples;
	int64_t at_ns;
	int column;
};

/* firefox_markers.c: collects, and writes */
extern const struct hodo_story_ops firefox_ops;
int firefox_extra(void *data, const struct hodo_slice *slice, const struct hodo_read_event *event, uint32_t *extra);
int firefox_markers_open(struct firefox *f); /* 0 or -ENOMEM */
int firefox_losses(struct firefox *f);       /* 0 or a negative errno; rewinds */
void firefox_markers_free(struct firefox *f);
/* thread: NULL, or with slices that are markers as well; owner: NULL, or with others. */
void firefox_put_markers(struct firefox *f, const struct hodo_call_thread *thread, const struct firefox_owner *owner);
void firefox_put_schemas(struct firefox *f);
void firefox_put_counter(struct firefox *f, const struct firefox_owner *counter, uint32_t main_thread);

/* firefox.c */
void firefox_put_ms(struct hodo_export_out *out, int64_t ns);
uint32_t firefox_string(struct firefox *f, const char *text);
/* ,"name":[ - and what stands between its members */
void firefox_open(struct firefox *f, const char *name);
void firefox_comma(struct firefox *f);

#endif
