/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the rows of a recording, a batch at a time: only the tables and columns that are wanted are made, and only
 * what they need is read.
 *
 * Rows of a table come in the order of their ts, but for spans, calls and waits, which come when they are over.
 * Memory: a batch for each table that is wanted, with as many rows as the source says or somewhat more, as many
 * bytes of all together, and what is open.
 *
 * Different recordings may be read by different threads at once, with one schema that
 * nobody adds to meanwhile.
 */
#pragma once

#include "batch.h"

#include <read/text/place.h>

#define HODO_ROWS_BATCH   2048u
#define HODO_ROWS_PENDING (64u << 20)

struct hodo_rows;

struct hodo_rows_source {
	const struct hodo_rows_schema *schema; /* the recording has been added to it */
	struct hodo_read *reader;              /* at its first event; limits, if there are any, are set */
	struct hodo_places places;             /* names of functions */
	const char *recording;      /* its path, for a column; NULL: not known */
	int64_t since_ns, until_ns; /* the reader's limits; until_ns 0: there are none */
	bool (*wants)(void *data, const char *table); /* NULL: all tables */
	void *data;
	const bool *columns; /* which of one table alone, `number`; NULL: all columns of all tables that are wanted */
	uint32_t number;
	uint32_t batch_rows; /* 0: HODO_ROWS_BATCH */
	size_t pending_bytes; /* 0: HODO_ROWS_PENDING */
	/* The schema is flat. What the reader selects are rows of spans and calls, by the event that ends them or,
	 * where that is not known, begins them; what they are inside of is found in all events. */
	bool flat;
};

/* 0 or a negative errno. */
int hodo_rows_open(struct hodo_rows **rows, const struct hodo_rows_source *source);
void hodo_rows_close(struct hodo_rows *rows); /* NULL is allowed */
/* 1: a batch with rows, valid until the next call; 0: there are no more; or a negative errno. */
int hodo_rows_next(struct hodo_rows *rows, const struct hodo_rows_batch **batch);
/* The batch that was given last is the caller's from now on, to be freed before the rows are closed. 0 or -ENOMEM. */
int hodo_rows_take(struct hodo_rows *rows, struct hodo_rows_batch *batch);
