/* SPDX-License-Identifier: MIT */
/*
 * hodo/columns.h - libhodo-read: which events of a recording are read, and tables of them in columns.
 *
 * A table is read a batch of rows at a time. Each column of a batch is an array, laid out as Apache Arrow lays
 * out its own: values one after the other; for texts, bytes and arrays, offsets into one run of bytes; and a
 * bit for each row that has a value.
 *
 *	struct hodo_read_columns *c;
 *	const struct hodo_read_batch *b;
 *	struct hodo_read_columns_options o = { .size = sizeof(o), .table = HODO_READ_TABLE_EVENTS };
 *	struct hodo_read_selection s = { .size = sizeof(s), .events = "kv:get" };
 *
 *	if (hodo_read_select(r, &s, false, error, sizeof(error)) < 0 || hodo_read_columns_new(&c, r, &o) < 0)
 *		errx(1, "%s", error);
 *	while (hodo_read_columns_next(c, &b) > 0)
 *		sum(b->columns[0]->values, b->rows);
 *	hodo_read_columns_free(c);
 *
 * What hodo/read.h says of hostile recordings, threads and errors holds here, too.
 */
#ifndef HODO_COLUMNS_H
#define HODO_COLUMNS_H

#include <hodo/read.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ------------------------------------------------------------------- which events */

/* An event is taken if it is as all members say that are not NULL. */
struct hodo_read_selection {
	size_t size;         /* sizeof(struct hodo_read_selection) */
	const char *events;  /* patterns with commas between them: "kv:*,!kv:put"; of a span also its own name */
	const char *process; /* a process ID, or a glob for the process's name */
	const char *thread;  /* a thread ID, or a glob for the thread's name; of what ends something, where it began */
	const char *filter;  /* an expression: hodo-filter(7) */
	const char *host;    /* a glob for the host's name */
};

/*
 * From now on the reader gives only the events that are selected; members that are NULL select all. In place of
 * hodo_read_choose(), whose `whole` it has, too. 0; -EINVAL, -E2BIG: a line in error says what is wrong with
 * the selection, and nothing has changed; -ENOMEM; rewinds. Names of events, fields and hosts that the recording does
 * not have are warnings (struct hodo_read_options), with names that are like them. The selection is copied. error may
 * be NULL if error_bytes is 0.
 */
int hodo_read_select(struct hodo_read *reader, const struct hodo_read_selection *selection, bool whole, char *error,
		     size_t error_bytes);

/* ------------------------------------------------------------------------- tables */

enum hodo_read_table {
	/*
	 * A row for each event, in the order of hodo_read_next(). Columns: ts (ns since the epoch), host,
	 * process, pid, thread, tid, cpu (-1: written through the fallback ring); text, if marks are among the
	 * events: what a mark says; name; and a column for each field that the events have, whose name begins
	 * with "field_" where the table has a column of that name.
	 */
	HODO_READ_TABLE_EVENTS,
	/*
	 * A row for each span, system call, and pair of HODO_BEGIN and HODO_END, when it is over. Columns: ts
	 * (when it began), host, process, pid, thread, tid, cpu (as it began); name (without ".begin"); kind
	 * ("span", "async" if it is paired by an id, "syscall"); state ("ended", "open": not over at the end of
	 * the recording, "left": by longjmp or the like, "end_lost"); end_ns, duration_ns, self_ns (not in
	 * spans and calls inside of it: of one thread), which are null if the end is not known; off_cpu_ns,
	 * null if not known; depth; id, of no other span or call, but by accident not of another recording's
	 * either; parent_id, of what it is inside of in its thread, and parent, its name if it is a span;
	 * end_tid, of "async" ones; and a column for each field of the events that begin them.
	 */
	HODO_READ_TABLE_SPANS,
	/*
	 * A row for each call of a function, when it is over. Columns: ts, host, process, pid, thread, tid, cpu
	 * (null if not known); address (in the function), object (path); state (as of spans, also "exit_lost",
	 * "no_exit"); end_ns, duration_ns, self_ns (outside calls that it makes, as hodo report has it); depth,
	 * id, parent_id, parent, as of spans.
	 */
	HODO_READ_TABLE_CALLS
};

/* A column, and its values in the batch that hodo_read_columns_next() gave last. */
struct hodo_read_column {
	size_t size;
	const char *name;  /* UTF-8; no two of a table differ in the case of letters alone */
	uint32_t type;     /* enum hodo_type */
	uint32_t bytes;    /* of a value; of texts, bytes and arrays those of an element */
	bool dictionary;   /* HODO_TYPE_STR: values are uint32_t, numbers of texts (hodo_read_columns_text()) */
	bool label;        /* the label of the value in the column before, null if it has none */
	uint32_t nulls;    /* rows without a value */
	const uint8_t *valid; /* row n has a value if bit n % 8 of byte n / 8 is set; NULL: all have */
	/* As their C types, BOOL a byte that is 0 or 1. Where there is no value: 0. Of texts, bytes and arrays: all
	 * rows' elements, one after the other; texts are UTF-8: a byte that is none of it has become the
	 * character of that number. */
	const void *values;
	const uint32_t *offsets; /* texts, bytes, arrays: rows + 1, in elements: where each row's begin. Else NULL */
};

struct hodo_read_batch {
	size_t size;
	uint32_t rows;
	uint32_t ncolumns;
	const struct hodo_read_column *const *columns;
	const struct hodo_read_column *json; /* if wanted: a text for each event, as hodo_read_text_json() writes it */
};

#define HODO_READ_COLUMNS_MAX 512u    /* of a table; fields beyond them are left out */
#define HODO_READ_BATCH_ROWS  65536u  /* of a batch, at most; fewer if they are large */

struct hodo_read_columns_options {
	size_t size; /* sizeof(struct hodo_read_columns_options) */
	enum hodo_read_table table;
	const char *const *names; /* n columns that are wanted, in this order; others cost next to nothing. NULL: all */
	uint32_t nnames;
	uint32_t rows; /* of a batch, at most HODO_READ_BATCH_ROWS; 0: as many as are read fast, some ten thousand */
	bool json;     /* of HODO_READ_TABLE_EVENTS: hodo_read_batch.json is wanted */
	char *error;        /* if not NULL: gets a line that says what is wrong */
	size_t error_bytes; /* room there */
};

struct hodo_read_columns;

/*
 * Begins to read a table, from the first event that the reader gives: of what was selected and limited before.
 * Until it is freed, call nothing else that reads events with this reader, or changes which. A span is selected
 * if the event that ends it is, or where its end is not known, the one that begins it; a call by its process
 * and thread alone. What began before the limits is left out. Selections do not change depth, self_ns or
 * parents. off_cpu_ns costs some time.
 *
 * 0; -EINVAL; -ENOENT: there is no column of a name that is wanted; -ENOMEM. Rewinds.
 */
int hodo_read_columns_new(struct hodo_read_columns **columns, struct hodo_read *reader,
			  const struct hodo_read_columns_options *options);
void hodo_read_columns_free(struct hodo_read_columns *columns); /* NULL is allowed; before the reader is closed */

/* The columns without values: what a batch has, before there is one. Valid until columns is freed. */
const struct hodo_read_batch *hodo_read_columns_schema(const struct hodo_read_columns *columns);

/*
 * Reads the next batch, whose values are valid until the next call. 1; 0: there are no more rows; or a negative
 * errno as hodo_read_next() returns it.
 */
int hodo_read_columns_next(struct hodo_read_columns *columns, const struct hodo_read_batch **batch);

/* The text of a number in a column that is a dictionary: UTF-8; NULL: there is none, yet. All columns share these;
 * they stay until columns is freed. */
const char *hodo_read_columns_text(const struct hodo_read_columns *columns, uint32_t number);

/* ----------------------------------------------------------------- names of functions */

/*
 * Appends what the recording has kept of an object's symbols, a text: docs/format.md, "Saved symbols". 0; -ENOENT:
 * nothing; -EFBIG: too much; -ENOMEM; what open(2) and read(2) give.
 */
int hodo_read_saved_symbols(const struct hodo_read *reader, const struct hodo_read_object *object,
			    struct hodo_read_text *text);
/* Appends a symbol's name as people write it: C++'s and Rust's are demangled. 0 or -ENOMEM. */
int hodo_read_text_symbol(struct hodo_read_text *text, const char *symbol);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
