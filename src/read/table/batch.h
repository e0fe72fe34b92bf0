/* SPDX-License-Identifier: MIT */
/*
 * batch.h - rows of one table, column by column.
 *
 * What varies in length is bytes in the batch's memory, until it is cleared. Texts are UTF-8. One thread at a time.
 */
#pragma once

#include "schema.h"

#include <base/arena.h>
#include <base/intern.h>

/* A text, bytes; the elements of an array, not aligned; or the cells of fields. */
struct hodo_rows_bytes {
	const void *data;
	uint32_t n; /* bytes, elements, cells */
};

/* A value of one member of HODO_ROWS_FIELDS. What is not there has none. */
struct hodo_rows_cell {
	uint32_t member, n; /* n: as struct hodo_rows_bytes has it */
	union {
		uint64_t u; /* integers: the lowest bytes are the value; names */
		float f;
		double d;
		const void *data;
	};
};

struct hodo_rows_values {
	uint32_t type;
	uint32_t bytes;       /* of each value: of its C type, or struct hodo_rows_bytes if it varies. 0: not wanted */
	void *data;           /* NULL: there is no value. Where there is none: anything, or 0 if it is zeroed */
	uint64_t *valid;      /* bit n % 64 of word n / 64: row n has a value */
	uint32_t nvalid;
	/* The rows from .. until - 1 have this value, which is not in data yet: see hodo_rows_repeat(). None: both 0 */
	uint32_t repeated, from, until;
};

struct hodo_rows_batch {
	uint32_t number; /* of the table */
	const struct hodo_rows_table *table;
	const struct hodo_strings *names; /* of HODO_ROWS_NAME, by number: the recording's, to which more are added */
	uint32_t n, room; /* rows */
	uint32_t most;    /* rows that it will have, if that is known: room for more is made only when they come */
	struct hodo_rows_values *columns; /* table->ncolumns */
	bool sorted; /* by ts */
	bool zeroed;
	struct hodo_arena memory; /* of what varies */
	size_t used; /* bytes of that, about */
	int error;   /* -ENOMEM: a value is not there */
};

/* wanted: for each column whether it is; NULL: all. ts always is. 0 or -ENOMEM. */
int hodo_rows_batch_init(struct hodo_rows_batch *b, uint32_t number, const struct hodo_rows_table *table,
			 const bool *wanted, const struct hodo_strings *names);
void hodo_rows_batch_free(struct hodo_rows_batch *b);
void hodo_rows_batch_clear(struct hodo_rows_batch *b); /* no rows, and the memory kept for as many again */
void hodo_rows_batch_shrink(struct hodo_rows_batch *b); /* no rows, and the memory given back */
size_t hodo_rows_batch_bytes(const struct hodo_rows_batch *b); /* that the rows take */

static inline bool hodo_rows_has(const struct hodo_rows_values *v, uint32_t row)
{
	return v->valid[row / 64] >> row % 64 & 1;
}

static inline struct hodo_rows_bytes hodo_rows_name(const struct hodo_rows_batch *b, uint32_t number)
{
	const struct hodo_bytes *name = hodo_map_at(&b->names->map, number);

	return (struct hodo_rows_bytes){ name->data, (uint32_t)name->len };
}

/* ------------------------------------------------------------------------- making rows */

int hodo_rows_batch_grow(struct hodo_rows_batch *b);
int hodo_rows_values_make(struct hodo_rows_batch *b, struct hodo_rows_values *v);

/* This row has a value from now on: its column; NULL: that is not wanted, or there is no memory. */
static inline struct hodo_rows_values *hodo_rows_set(struct hodo_rows_batch *b, uint32_t column)
{
	struct hodo_rows_values *v = &b->columns[column];

	if (!v->data && (!v->bytes || hodo_rows_values_make(b, v) < 0))
		return NULL;
	v->valid[b->n / 64] |= 1ull << b->n % 64;
	v->nvalid++;
	return v;
}

/* hodo_rows_set(), returning where the row's value is to be written. */
static inline void *hodo_rows_at(struct hodo_rows_batch *b, uint32_t column)
{
	struct hodo_rows_values *v = hodo_rows_set(b, column);

	return v ? (char *)v->data + (size_t)b->n * v->bytes : NULL;
}

static inline void hodo_rows_i64(struct hodo_rows_batch *b, uint32_t column, int64_t value)
{
	struct hodo_rows_values *v = hodo_rows_set(b, column);

	if (v)
		((int64_t *)v->data)[b->n] = value;
}

static inline void hodo_rows_u32(struct hodo_rows_batch *b, uint32_t column, uint32_t value)
{
	struct hodo_rows_values *v = hodo_rows_set(b, column);

	if (v)
		((uint32_t *)v->data)[b->n] = value;
}

void hodo_rows_begin_run(struct hodo_rows_batch *b, struct hodo_rows_values *v, uint32_t value);

/*
 * As hodo_rows_u32(), for values that are mostly those of the row before: they are counted, and written when another
 * one comes or the batch ends. All values of a column come this way, or none.
 */
static inline void hodo_rows_repeat(struct hodo_rows_batch *b, uint32_t column, uint32_t value)
{
	struct hodo_rows_values *v = &b->columns[column];

	if (v->until == b->n && v->repeated == value && v->from < v->until)
		v->until++;
	else if (v->bytes)
		hodo_rows_begin_run(b, v, value);
}

static inline void hodo_rows_repeat_name(struct hodo_rows_batch *b, uint32_t column, uint32_t name)
{
	if (name != HODO_STRINGS_NONE)
		hodo_rows_repeat(b, column, name);
}

/* Completes the batch: called when its rows are made, before they are read. 0 or -ENOMEM. */
int hodo_rows_batch_end(struct hodo_rows_batch *b);

/* HODO_STRINGS_NONE: there is no value. */
static inline void hodo_rows_put_name(struct hodo_rows_batch *b, uint32_t column, uint32_t name)
{
	if (name != HODO_STRINGS_NONE)
		hodo_rows_u32(b, column, name);
}

static inline void hodo_rows_put_bytes(struct hodo_rows_batch *b, uint32_t column, struct hodo_rows_bytes bytes)
{
	struct hodo_rows_bytes *at = bytes.data ? hodo_rows_at(b, column) : NULL;

	if (at)
		*at = bytes;
}

/* Room for one more row, whose values follow. 0 or -ENOMEM. */
static inline int hodo_rows_begin(struct hodo_rows_batch *b, int64_t ts)
{
	int err = b->n < b->room ? 0 : hodo_rows_batch_grow(b);

	if (err)
		return err;
	b->sorted &= b->n == 0 || ts >= ((const int64_t *)b->columns[0].data)[b->n - 1];
	hodo_rows_i64(b, 0, ts);
	return b->error;
}

static inline bool hodo_rows_wants(const struct hodo_rows_batch *b, uint32_t column)
{
	return b->columns[column].bytes;
}

/* NULL: no memory, and the batch's error is set. */
void *hodo_rows_alloc(struct hodo_rows_batch *b, size_t len);
/* A copy; n: as the struct has it. A copy as UTF-8, as hodo_escape_utf8() makes it. */
struct hodo_rows_bytes hodo_rows_copy(struct hodo_rows_batch *b, const void *data, size_t len, uint32_t n);
struct hodo_rows_bytes hodo_rows_utf8(struct hodo_rows_batch *b, const void *text, uint32_t len);
