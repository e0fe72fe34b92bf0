/* SPDX-License-Identifier: MIT */
/* firefox_impl.h - what the files of the Firefox format share. */
#pragma once

#include <export/hosts.h>
#include <export/calls/call_tree.h>
#include <base/intern.h>

#define FIREFOX_MARKERS_MAX (1u << 20) /* instants, id-paired spans and values of counters */
#define FIREFOX_TEXT_MAX    (96ull << 20)  /* bytes of their data */

struct firefox_marker {
	int64_t begin_ns, end_ns; /* INT64_MIN: an instant; not over yet */
	double value;             /* of a counter */
	uint32_t name, data; /* data: its offset in the text + 1; 0: none */
};

/* An owner of markers: a thread, or what is shown as one: an id-paired span, a process's losses; or a
 * counter. */
struct firefox_owner {
	const struct hodo_track *track;
	struct hodo_track own; /* of losses */
	struct firefox_owner *next;
	bool lost;
	struct firefox_marker *markers;
	uint32_t n;
};

/* The fields of events, and how to show them: its key is that as a text. */
struct firefox_schema {
	struct hodo_bytes key;
	const struct hodo_read_class *cls; /* the first one */
	const char *name;
};

/* An event class, by its address, and the number of its schema. */
struct firefox_class {
	uint64_t address;
	uint32_t schema;
};

struct firefox {
	const struct hodo_call_tree *tree;
	struct hodo_export *e;
	struct hodo_json json; /* into the output */
	struct hodo_strings strings, sources, type_names;
	struct hodo_map classes; /* of struct firefox_class */
	struct hodo_map schemas;
	uint32_t nmarkers; /* of all owners */
	struct firefox_owner *owners, **last_owner, *losses; /* losses: of the process that had the last one */
	struct hodo_text text; /* JSON objects, each followed by a NUL */
	struct hodo_text scratch;
	uint64_t markers_left_out, texts_left_out;
	uint32_t *stacks, *nodes; /* stacks: of nodes; nodes: of stacks */
	/* Samples. */
	uint32_t *open, nopen, open_room;
	uint64_t nsamples;
	int64_t at_ns;
	int column;
};

/* firefox_markers.c: collects, and writes */
void firefox_put_ms(struct firefox *f, const char *key, int64_t ns);
uint32_t firefox_string(struct firefox *f, const char *text);
extern const struct hodo_call_options firefox_options;
int firefox_markers_open(void *state, struct hodo_export *e); /* as the format's open */
void firefox_markers_free(struct firefox *f);
/* thread: NULL, or its slices are also markers; owner: NULL, or has other markers. */
void firefox_put_markers(struct firefox *f, const struct hodo_call_thread *thread, const struct firefox_owner *owner);
void firefox_put_schemas(struct firefox *f, struct hodo_json *j);
void firefox_put_counter(struct firefox *f, const struct firefox_owner *counter, uint32_t main_thread);

/* Unlike those of other hosts' processes. */
static inline uint32_t firefox_pid(const struct hodo_track *t)
{
	return t->process ? hodo_number_apart(t->process, t->pid) : t->pid;
}
