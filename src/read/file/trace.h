/* SPDX-License-Identifier: MIT */
/* trace.h - one process of a recording: what its COMM-PID folder says, and its streams. */
#pragma once

#include "labels.h"
#include "layout.h"
#include "wall.h"

#include <base/arena.h>
#include <base/intern.h>
#include <limits.h>
#include <read/event/losses.h>
#include <read/event/threads.h>
#include <sys/types.h>

#define HODO_FOLDER_ROOM (3 * NAME_MAX + 16) /* for the path of one: a host's, a part's, its own */
#define STREAMS_MAX      (HODO_CPUS_MAX + 1u) /* of one folder */

/* The context before the fields of each event except functions'; its texts are in the metadata. */
struct hodo_context {
	bool known;
	uint32_t n;
	struct hodo_read_field fields[HODO_CONTEXT_FIELDS_MAX];
};

struct hodo_trace {
	struct hodo_read_process pub;
	struct hodo_read *reader;
	const char *folder; /* relative to the reader's directory; "." for the directory itself */
	uint32_t part; /* index in hodo_read.parts, of the last one that has it */
	char *metadata;
	size_t metadata_bytes;
	bool has_hodo, has_clock;    /* lines seen */
	bool left_out;               /* none of its events is wanted: they are not read */
	bool goes_on;                /* it ends with a part: another one should follow */
	struct hodo_wall walls[2];   /* at its start and end */
	struct hodo_read_host merged; /* as the metadata has it; by NULL: it does not */
	struct hodo_class **classes; /* ascending ids */
	uint32_t nclasses;
	struct hodo_class **by_id; /* by_id_n entries, NULL where unknown */
	uint32_t by_id_n;
	struct hodo_read_layouts *layouts;
	struct hodo_read_thread *threads;
	uint32_t nthreads;
	struct hodo_stream **streams;
	uint32_t nstreams;
	uint32_t nfiles; /* the first ones; the others appear only in lost lines */
	struct hodo_context context;
	struct hodo_labels labels;
	struct hodo_thread_names names;
	struct hodo_strings bases; /* base names of classes */
	struct hodo_arena memory;  /* of classes and their texts */
	struct hodo_read_object *objects;
	uint32_t nobjects;
	struct hodo_shorts shorts;
	char **warnings;
	uint32_t nwarnings;
	uint32_t warned;
	uint32_t nlost; /* lines */
	struct hodo_losses losses; /* of all streams */
	/* If the recording is followed: what its metadata was at the last look. */
	struct {
		bool ended; /* nothing more comes */
		ino_t ino; /* 0: there was no look */
		int64_t mtime_ns;
		uint64_t bytes;
		uint32_t labels, objects; /* lines */
	} followed;
};

/* The public part is the first member. */
static inline struct hodo_trace *hodo_trace_of(const struct hodo_read_process *process)
{
	return (struct hodo_trace *)(uintptr_t)process;
}
