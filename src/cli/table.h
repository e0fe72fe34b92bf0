/* SPDX-License-Identifier: MIT */
/*
 * table.h - tables as data: what a column is called, of which as it is and where its value stands. Text, JSON,
 * --sort, --diff, widths and --columns all follow from that.
 *
 * A schema (struct hodo_columns) is constant. A table is a schema with rows: an array of any struct, or of pointers
 * to such. A cell is a member of the row, or computed by get().
 *
 * Nothing here keeps state; tables are of one thread. What is printed is added to a text, which keeps the errors.
 */
#ifndef HODO_CLI_TABLE_H
#define HODO_CLI_TABLE_H

#include <stddef.h>

#include <base/json.h>
#include <base/text.h>

#include "cli.h"

#define HODO_COLUMNS_MAX 32u /* of one table */

/* ------------------------------------------------------------------------- values */

enum hodo_cell_type {
	HODO_CELL_ABSENT, /* there is none: no key in JSON, nothing as text */
	HODO_CELL_NULL,   /* null in JSON, nothing as text */
	HODO_CELL_U64, HODO_CELL_I64, HODO_CELL_F64, HODO_CELL_BOOL, HODO_CELL_STRING
};

struct hodo_cell {
	enum hodo_cell_type type;
	bool blank; /* as text it says nothing: a time of what never ended, a rate over no time */
	union {
		uint64_t u;
		int64_t i;
		double f;
		const char *s;
	};
};

static inline struct hodo_cell hodo_cell_u64(uint64_t u)
{
	return (struct hodo_cell){ .type = HODO_CELL_U64, .u = u };
}

static inline struct hodo_cell hodo_cell_f64(double f)
{
	return (struct hodo_cell){ .type = HODO_CELL_F64, .f = f };
}

/* NULL: no value. */
static inline struct hodo_cell hodo_cell_string(const char *s)
{
	return (struct hodo_cell){ .type = s ? HODO_CELL_STRING : HODO_CELL_NULL, .s = s };
}

/* ------------------------------------------------------------------------ columns */

enum hodo_as {
	HODO_AS_TEXT,     /* of foreign origin: control bytes are escaped */
	HODO_AS_COUNT,    /* 1,234,567 */
	HODO_AS_ID,       /* a number that counts nothing, of a process or CPU: sorted from the least on */
	HODO_AS_HEX,
	HODO_AS_BYTES,    /* 1.5 MiB */
	HODO_AS_TIME,     /* ns, in 10 columns: "  1.234 us" */
	HODO_AS_AVERAGE,  /* ns with a fraction */
	HODO_AS_SECONDS,  /* ns, as seconds with nine decimals */
	HODO_AS_RATE,     /* a second: two decimals below 100, and always three in JSON */
	HODO_AS_NUMBER,   /* of any kind; null in JSON where it is not finite */
	HODO_AS_FLAG,
	HODO_AS_JSON      /* not as text */
};

#define HODO_TEXT_ONLY 1u /* JSON has it when --columns asks for it */
#define HODO_IDENTITY  2u /* what rows of two tables are matched by, and what stands in front in JSON of --diff */
#define HODO_NO_DIFF   4u
#define HODO_DIFF_ONLY 8u /* in JSON of --diff */
#define HODO_OPTIONAL  16u /* no key in JSON without a text, or of the times INT64_MIN and INT64_MAX */
#define HODO_CLOSE     32u /* as text behind one space, not two */
#define HODO_NOTE      (HODO_CLOSE | 64u) /* … and without a title */
#define HODO_IF_ANY    128u /* as text only if a row has another value than 0 */

/* Where a member of the row stands, and what it is. */
enum hodo_member {
	HODO_IS_COMPUTED, HODO_IS_BOOL, HODO_IS_U8, HODO_IS_U32, HODO_IS_I32, HODO_IS_U64, HODO_IS_I64, HODO_IS_F64,
	HODO_IS_POINTER, HODO_IS_ARRAY
};
#define HODO_MEMBER(row, member)                                                                                       \
	.offset = offsetof(row, member),                                                                               \
	.is = _Generic(&((row *)0)->member, bool *: HODO_IS_BOOL, uint8_t *: HODO_IS_U8, uint32_t *: HODO_IS_U32,      \
		       int32_t *: HODO_IS_I32, uint64_t *: HODO_IS_U64, int64_t *: HODO_IS_I64,                        \
		       double *: HODO_IS_F64, char **: HODO_IS_POINTER, const char **: HODO_IS_POINTER,                \
		       default: HODO_IS_ARRAY)

/* What is an object in JSON, a list of objects, of which the row has an array, or one of pointers to them; texts. */
#define HODO_INNER(row, member, columns) .of = (columns), .inner = offsetof(row, member)
#define HODO_ARRAY(row, member, n, columns)                                                                            \
	HODO_INNER(row, member, columns), .count = offsetof(row, n), .stride = sizeof(*((row *)0)->member)
#define HODO_POINTERS(row, member, n, columns)                                                                         \
	HODO_INNER(row, member, columns), .count = offsetof(row, n), .stride = HODO_STRIDE_POINTERS
#define HODO_STRIDE_POINTERS 1u
extern const struct hodo_columns hodo_texts;

struct hodo_table;
struct hodo_columns;

struct hodo_column {
	const char *key;   /* in JSON, --sort and --columns; --sort takes it without _ns as well */
	const char *title; /* NULL: the key in capitals */
	enum hodo_as as;
	int width;         /* as text; 0: as wide as the widest, at most `most`; at the end of a line not padded */
	unsigned flags;
	size_t offset;
	enum hodo_member is; /* HODO_MEMBER() */
	struct hodo_cell (*get)(const struct hodo_table *t, const struct hodo_column *c, const void *row);
	double argument; /* of get() */
	/* In place of the cell, as text; it may put nothing. */
	void (*put)(struct hodo_text *to, const struct hodo_table *t, const void *row);
	/* In JSON, the key and a value in place of the cell, or neither. */
	void (*put_json)(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row);
	const struct hodo_columns *of; /* HODO_INNER(), HODO_ARRAY(), HODO_POINTERS() */
	size_t inner, count, stride;
	bool inlined; /* the array is in the row itself */
	const char *also; /* another name for --sort */
	const struct hodo_column *then; /* what equal rows are sorted by, before what identifies them */
	int most;
	enum hodo_style style;
};

struct hodo_columns {
	const char *name; /* of the table: "events" */
	const struct hodo_column *column;
	unsigned n;
	const char *text; /* keys, with commas: what is shown as text; NULL: all */
	const char *sort; /* key that --sort falls back to where the table has no such column */
	const char *diff; /* keys, with commas: what --diff shows */
	enum hodo_style head; /* HODO_PLAIN: without colour */
	bool headless; /* but with --columns */
};
#define HODO_COLUMNS(array) .column = (array), .n = sizeof(array) / sizeof((array)[0])

/* ------------------------------------------------------------------------- tables */

struct hodo_table {
	const struct hodo_columns *columns;
	const void *context; /* of get() and put() */
	const void *first;
	size_t n;
	size_t stride;       /* bytes; 0: an array of pointers */
	const void **order;  /* of hodo_table_arrange() */
	size_t hidden;       /* rows at the end that are beyond the limit */
	const char *chosen;  /* --columns; NULL: those that are meant to be seen */
	const void *total;   /* a row behind all others; NULL: none */
	const char *more[2]; /* around the number of rows beyond the limit; NULL: "and ", " more" */
	void (*below)(struct hodo_text *to, const struct hodo_table *t, const void *row); /* lines under a row */
};

const void *hodo_table_row(const struct hodo_table *t, size_t i);
/* The next of the columns in a list with commas that the table has; NULL: there is no more. */
const struct hodo_column *hodo_column_next(const struct hodo_columns *columns, const char **keys);
/* Those that are shown, as text or as JSON, in order. Returns how many. */
unsigned hodo_table_columns(const struct hodo_table *t, bool json, const struct hodo_column **out);
struct hodo_cell hodo_cell_of(const struct hodo_table *t, const struct hodo_column *c, const void *row);
double hodo_cell_number(const struct hodo_cell *v); /* 0: it is none; -infinity: not a number */
/* Compares what rows are matched by. */
int hodo_table_same(const struct hodo_table *ta, const void *a, const struct hodo_table *tb, const void *b);
/* The column to sort by; NULL: rows stay as they are. */
const struct hodo_column *hodo_column_sort(const struct hodo_columns *columns, const char *key);
/* By what the look says, then by the identity, then as they were; and takes over limit and columns. */
void hodo_table_arrange(struct hodo_table *t, const struct hodo_look *look);
void hodo_table_free(struct hodo_table *t); /* what arranging made */

/*
 * Checks what the options say of how these tables, a list that ends with NULL, are shown, and completes it. HODO_GO_ON,
 * or the exit status, having answered --columns=help or said what is wrong.
 */
int hodo_look_make(struct hodo_args *a, const struct hodo_columns *const *tables);
/* The i-th key of all of them, each once; NULL: there are not so many. */
const char *hodo_columns_key(const struct hodo_columns *const *tables, unsigned i);

/* table_text.c: the cell as it is, without padding. */
void hodo_put_cell(struct hodo_text *to, const struct hodo_table *t, const struct hodo_column *c, const void *row);
const char *hodo_column_title(const struct hodo_column *c, char buf[32]);
const char *hodo_number(double number, char buf[48]); /* 1,234 or 1.5; with at most six digits if not whole */
/* Head, rows, how many more there are, total. Returns whether there was a column to show. */
bool hodo_table_put(struct hodo_text *to, const struct hodo_table *t, bool color);

/* table_json.c; key: NULL in arrays and at the top. */
void hodo_table_put_json(struct hodo_json *j, const char *key, const struct hodo_table *t); /* [{…},…] */
/* One row as an object; chosen: keys, with commas, NULL: all. */
void hodo_put_object(struct hodo_json *j, const char *key, const struct hodo_columns *columns, const char *chosen,
		     const void *row);
/* Of a row, the columns that have all flags of `with` and none of `without`. */
void hodo_put_members(struct hodo_json *j, const struct hodo_table *t, const void *row, unsigned with,
		      unsigned without);

/*
 * table_diff.c: rows of two tables of one schema, matched by their identity, the greatest change in the column of
 * --sort first: as text with `title` above if there are any, or as a list in JSON. Returns how many there are.
 */
size_t hodo_table_diff(struct hodo_text *to, struct hodo_json *j, const char *key, const struct hodo_table *before,
		       const struct hodo_table *after, const struct hodo_look *look, const char *title);

#endif
