/* SPDX-License-Identifier: MIT */
/* reader.h - an open recording. */
#pragma once

#include <base/arena.h>
#include <hodo/read.h>
#include <pack/tree.h>

struct hodo_stream;
struct hodo_trace;

struct hodo_read {
	struct hodo_tree *tree;
	bool single; /* a COMM-PID folder was opened itself */
	char *path;
	struct hodo_arena memory; /* of names of files and folders */
	struct hodo_frames_pool frames;
	void (*warn)(void *data, const char *text);
	void *warn_data;
	uint32_t nwarnings;
	struct hodo_trace **traces;
	uint32_t ntraces;
	uint32_t nstreams;
	struct hodo_read_part *parts; /* one without a name if there are no parts */
	uint32_t nparts;
	char several[1024]; /* snapshots: a line for the user */
	struct hodo_read_unrecorded *unrecorded;
	uint32_t nunrecorded;
	struct hodo_read_host *hosts; /* hosts.c */
	uint32_t nhosts;

	struct hodo_stream **heap;
	uint32_t heap_n, heap_room;
	struct hodo_follow *follow; /* NULL: it is read as it is now */
	void (*follow_free)(struct hodo_follow *follow);
	bool goes_on; /* more may come of it */
	int64_t upto_ns; /* events from there on are not given yet */
	bool running; /* the heap is set up */
	int failed;
	struct hodo_stream *given; /* the stream of the last event given */
	int64_t since_ns, until_ns;
	struct hodo_spans *spans; /* NULL: nobody wants pairs */
	bool begins; /* end events are given with their starts */
	int (*takes)(void *data, const struct hodo_read_event *event); /* NULL: all events */
	void *takes_data;
	struct hodo_select *select; /* of hodo_read_select(); NULL: none */
	bool whole;   /* start events go with their end events */
	bool learned; /* whether it is known which */
	const char *(*symbol)(void *data, const struct hodo_read_process *process, int64_t ts_ns,
			      uint64_t address); /* NULL: none */
	void *symbol_data;
	struct hodo_read_event event;
	struct hodo_read_value values[HODO_FIELDS_MAX];
	struct hodo_read_value context[HODO_CONTEXT_FIELDS_MAX];
	struct hodo_read_code_ops code; /* name NULL: none */
	void *code_data;
};
