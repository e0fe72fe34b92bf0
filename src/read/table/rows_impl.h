/* SPDX-License-Identifier: MIT */
/* rows_impl.h - rows as they are made. */
#pragma once

#include "batch.h"
#include "tables.h"

#include <base/map.h>
#include <base/text.h>
#include <read/text/place.h>
#include <read/time/slice_rows.h>

/* How the events of a class become rows. */
struct class_plan {
	uint32_t name, base;
	uint32_t ncells; /* of fields, at the most */
	struct hodo_rows_batch *own; /* NULL: nobody wants it */
	bool mark;
	uint32_t function;           /* the field that is a function's address; UINT32_MAX: there is none */
	uint32_t nplaces;
	struct hodo_rows_place places[];
};

/* The number of a name, by the address of its text. */
struct known_text {
	uint64_t address;
	uint32_t name;
};

/* The name that a thread had when it ran last. */
struct thread_name {
	uint64_t tid;
	const char *comm;
};

/* What walks over the recording say of a process. */
struct known_process {
	const struct hodo_read_process *process;
	uint64_t damaged;  /* events that are announced, and cannot be read */
	size_t at;         /* in hodo_rows.numbers */
	uint32_t nnumbers; /* bytes from there */
};

#define RECENT 64u

struct hodo_rows {
	const struct hodo_rows_schema *schema;
	struct hodo_read *reader;
	struct hodo_places places;
	struct hodo_timeline *timeline; /* NULL: what is wanted does without */
	const char *recording;
	int64_t since_ns, until_ns;
	uint32_t nbatches;
	struct hodo_rows_batch *batches;
	/* NULL: not wanted */
	struct hodo_rows_batch *events, *spans, *calls, *waits, *samples, *losses, *processes, *hosts;
	bool classes; /* a class's table is wanted */
	bool flat;
	/* What the reader selects, if it is asked about rows: see struct hodo_rows_source. */
	int (*takes)(void *data, const struct hodo_read_event *event);
	void *takes_data;
	bool takes_whole;
	struct hodo_map plans; /* struct class_plan by class */
	struct hodo_strings names; /* of all rows */
	struct hodo_map texts; /* numbers of names by the addresses of texts that stay */
	struct hodo_slice_rows slices;
	struct hodo_map threads; /* struct thread_name */
	struct hodo_map known; /* struct known_process, while facts are found */
	struct hodo_text numbers; /* of events, of all processes: "cpu0:0-17 cpu1:0-5" */
	const struct hodo_read_process *kernel; /* whose events say when threads ran; NULL: none */
	const struct hodo_read_class *last;
	const struct class_plan *last_plan;
	uint32_t batch_rows;
	size_t pending_max;
	uint64_t ended_rows; /* so far: now and then what is pending is looked at */
	bool too_much;
	struct hodo_rows_batch *full, *given; /* one with batch_rows rows; the one that the caller has */
	struct hodo_read_text *text; /* for marks */
	struct hodo_text scratch;
	bool ended;
	struct {
		uintptr_t address;
		uint32_t name;
	} recent[RECENT]; /* of texts */
	struct {
		const struct hodo_read_process *process;
		const char *comm;
		uint32_t host_name, process_name, thread_name;
	} head; /* of the last row */
};

/* A row is complete. 0 or -ENOMEM. */
int rows_end(struct hodo_rows *r, struct hodo_rows_batch *b);
/* The number of a text that stays where it is, as UTF-8. HODO_STRINGS_NONE: it is NULL, or there is no memory. */
uint32_t rows_name(struct hodo_rows *r, const char *text);
uint32_t rows_host(struct hodo_rows *r, const struct hodo_read_process *p);
const struct class_plan *rows_plan(struct hodo_rows *r, const struct hodo_read_class *cls); /* NULL: no memory */

/* Columns HOST to CPU. */
void rows_put_head(struct hodo_rows *r, struct hodo_rows_batch *b, const struct hodo_read_process *p, uint32_t pid,
		   uint32_t tid, const char *comm, int32_t cpu);
/* The fields of an event: those of the context, then its own. */
void rows_put_fields(struct hodo_rows *r, struct hodo_rows_batch *b, uint32_t column, const struct class_plan *plan,
		     const struct hodo_read_class *cls, const struct hodo_read_value *context,
		     const struct hodo_read_value *values);

int rows_event(void *rows, const struct hodo_read_event *event);          /* rows_events.c */
int rows_slice_begin(void *rows, struct hodo_slice *slice, const struct hodo_read_event *event); /* rows_slices.c */
int rows_slice_end(void *rows, struct hodo_slice *slice, const struct hodo_read_event *event);
int rows_slice_call(void *rows, struct hodo_slice *slice, const struct hodo_read_call *call);
int rows_facts(struct hodo_rows *r); /* losses, processes, hosts: rows_facts.c */
