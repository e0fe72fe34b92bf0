/* SPDX-License-Identifier: MIT */
/*
 * columns_impl.h - what the files of tables in columns share (hodo/columns.h).
 *
 *	columns.c         a table: its beginning, its batches, rows of events
 *	columns_store.c   a column's memory, and the texts of dictionaries
 *	columns_fields.c  which fields have which columns
 *	columns_rows.c    spans and calls, which are slices of the timeline: a row when one is over
 */
#ifndef HODO_READ_TABLE_COLUMNS_IMPL_H
#define HODO_READ_TABLE_COLUMNS_IMPL_H

#include <read/read_impl.h>
#include <read/time/slice_rows.h>

#include <base/map.h>
#include <base/text.h>
#include <hodo/columns.h>

struct column {
	struct hodo_read_column pub; /* first */
	bool whole;        /* each row has a value */
	uint8_t *valid;    /* NULL: nobody wants this column */
	void *values;
	uint32_t *offsets; /* of what varies in length; */
	size_t used, room; /* … bytes */
	uint32_t rows;     /* for how many there are offsets; in a batch that is given: its rows */
	uint32_t nvalid;
	const char *last;  /* a dictionary's: the text that came last, … */
	uint32_t last_number; /* … and its number */
};

/* Where the fields of a class go: those that are wanted. */
struct columns_place {
	uint32_t value; /* of the context, then of the class */
	struct column *column, *label; /* either may be NULL */
	const struct hodo_read_labels *labels;
};

struct columns_plan {
	uint32_t nplaces;
	struct columns_place places[];
};

/* Columns of all tables, in this order; then each has its own. */
enum columns_head {
	COLUMN_TS, COLUMN_HOST, COLUMN_PROCESS, COLUMN_PID, COLUMN_THREAD, COLUMN_TID, COLUMN_CPU, COLUMNS_HEAD
};

struct hodo_read_columns {
	struct hodo_read *reader;
	enum hodo_read_table table;
	struct column **columns; /* all, with those that nobody wants */
	uint32_t ncolumns, nfixed; /* nfixed: those that are no fields */
	const struct hodo_read_column **wanted;
	struct hodo_read_batch batch, schema;
	uint32_t rows;
	size_t bytes; /* of what varies in length, in this batch */
	uint32_t max_rows;
	struct column *text, *name, *json; /* of events; text and json may be NULL */
	struct hodo_strings texts;
	struct hodo_map known; /* struct known_text by address */
	struct hodo_map plans; /* struct columns_plan by class */
	const struct hodo_read_class *last;
	const struct columns_plan *last_plan;
	struct hodo_read_text *written; /* marks, JSON */
	struct hodo_text scratch;
	/* Of spans and calls. */
	struct hodo_timeline *timeline;
	struct hodo_slice_rows slices;
	struct hodo_slice_row *waiting, **waiting_end; /* rows that wait */
	/* What the reader selects: asked here about rows, for what is inside of what is another question. */
	int (*takes)(void *data, const struct hodo_read_event *event);
	void *takes_data;
	bool whole;
	bool ended;
	int failed;
};

/* ------------------------------------------------------------------------ store */

/* NULL: no memory. */
struct column *columns_new(const char *name, uint32_t type, bool dictionary, bool whole);
/* The same, among the table's columns. */
struct column *columns_add(struct hodo_read_columns *c, const char *name, uint32_t type, bool dictionary, bool whole);
int columns_want(struct column *column); /* gives it memory: 0 or -ENOMEM */
void columns_free_column(struct column *column);
void columns_clear(struct column *column);                  /* no rows */
void columns_publish(struct column *column, uint32_t rows); /* its public part, of so many rows */
/* Of a text, bytes or an array: n elements. 0 or -ENOMEM. */
int columns_put_bytes(struct hodo_read_columns *c, struct column *column, const void *data, uint32_t n);
/* The number of a text that stays where it is and as it is; UINT32_MAX: no memory. */
uint32_t columns_number(struct hodo_read_columns *c, const char *text);
int columns_put_value(struct hodo_read_columns *c, struct column *column, const struct hodo_read_value *v);

/* Where the value of the row that is being made goes; the column is wanted. */
static inline void *columns_at(struct hodo_read_columns *c, struct column *column)
{
	if (!column->whole)
		column->valid[c->rows / 8] |= (uint8_t)(1u << c->rows % 8);
	column->nvalid++;
	return (char *)column->values + (size_t)c->rows * column->pub.bytes;
}

static inline void columns_put_i64(struct hodo_read_columns *c, struct column *column, int64_t value)
{
	if (column->valid)
		*(int64_t *)columns_at(c, column) = value;
}

static inline void columns_put_u32(struct hodo_read_columns *c, struct column *column, uint32_t value)
{
	if (column->valid)
		*(uint32_t *)columns_at(c, column) = value;
}

/* NULL: no value. 0 or -ENOMEM. */
static inline int columns_put_text(struct hodo_read_columns *c, struct column *column, const char *text)
{
	if (!column->valid || !text)
		return 0;
	if (text != column->last) {
		column->last_number = columns_number(c, text);
		if (column->last_number == UINT32_MAX)
			return -ENOMEM;
		column->last = text;
	}
	*(uint32_t *)columns_at(c, column) = column->last_number;
	return 0;
}

#define COLUMNS_BYTES (64u << 20) /* of what varies in length, in a batch; a row may have more */

static inline bool columns_is_full(const struct hodo_read_columns *c)
{
	return c->rows >= c->max_rows || c->bytes >= COLUMNS_BYTES;
}

/* ----------------------------------------------------------------------- fields */

/* Adds columns for the fields of a class. 0 or -ENOMEM. */
int columns_add_fields(struct hodo_read_columns *c, const struct hodo_read_class *cls);
const struct columns_plan *columns_make_plan(struct hodo_read_columns *c, const struct hodo_read_class *cls);

/* NULL: no memory. */
static inline const struct columns_plan *columns_plan(struct hodo_read_columns *c, const struct hodo_read_class *cls)
{
	if (cls != c->last) {
		c->last_plan = columns_make_plan(c, cls);
		c->last = c->last_plan ? cls : NULL;
	}
	return c->last_plan;
}

/* The values of an event of the class. 0 or -ENOMEM. */
int columns_put_fields(struct hodo_read_columns *c, const struct columns_plan *plan, const struct hodo_read_class *cls,
		       const struct hodo_read_value *context, const struct hodo_read_value *values);
/* What tables begin with, but for ts. 0 or -ENOMEM. */
int columns_put_head(struct hodo_read_columns *c, const struct hodo_read_process *p, uint32_t pid, const char *comm,
		     uint32_t tid);

/* -------------------------------------------------------------- spans and calls */

int columns_slices_add(struct hodo_read_columns *c); /* their columns: 0 or -ENOMEM */
int columns_slices_open(struct hodo_read_columns *c);
void columns_slices_close(struct hodo_read_columns *c);
/* Puts rows into the batch that did not fit before. 0 or -ENOMEM. */
int columns_slices_more(struct hodo_read_columns *c);

#endif
