/* SPDX-License-Identifier: MIT */
/*
 * table.h - tables as data: a column's name, format and the place of its value. Text, JSON, --sort, --diff,
 * widths and --columns all derive from that.
 *
 * A schema (struct hodo_columns) is constant. A table is a schema with rows: an array of any struct, or of
 * pointers to structs. A cell is a member of the row, or computed by get().
 *
 * There is no global state; use a table in one thread. Output is added to a text, which keeps errors.
 */
#pragma once

#include <stddef.h>

#include <base/json.h>
#include <base/text.h>

#include <cli/output/out.h>
#include <cli/say.h>

#define HODO_COLUMNS_MAX 32u /* of one table */

/* ------------------------------------------------------------------------- values */

enum hodo_cell_type {
	HODO_CELL_ABSENT, /* none: no key in JSON, nothing as text */
	HODO_CELL_NULL,   /* null in JSON, nothing as text */
	HODO_CELL_U64, HODO_CELL_I64, HODO_CELL_F64, HODO_CELL_BOOL, HODO_CELL_STRING
};

struct hodo_cell {
	enum hodo_cell_type type;
	bool blank; /* empty as text: a time of something that never ended, a rate over no time */
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
	HODO_AS_ID,       /* an identifier, of a process or CPU: sorted ascending */
	HODO_AS_HEX,
	HODO_AS_BYTES,    /* 1.5 MiB */
	HODO_AS_TIME,     /* ns, in 10 columns: "  1.234 us" */
	HODO_AS_AVERAGE,  /* ns with a fraction */
	HODO_AS_SECONDS,  /* ns, as seconds with nine decimals */
	HODO_AS_RATE,     /* per second: two decimals below 100, and always three in JSON */
	HODO_AS_NUMBER,   /* of any kind; null in JSON if it is not finite */
	HODO_AS_FLAG,
	HODO_AS_JSON      /* not as text */
};

#define HODO_TEXT_ONLY 1u /* in JSON only if --columns names it */
#define HODO_IDENTITY  2u /* the key to match rows of two tables, first in JSON of --diff */
#define HODO_NO_DIFF   4u
#define HODO_DIFF_ONLY 8u /* in JSON of --diff */
#define HODO_OPTIONAL  16u /* no key in JSON without a text, or of the times INT64_MIN and INT64_MAX */
#define HODO_CLOSE     32u /* as text, separated by one space, not two */
#define HODO_NOTE      (HODO_CLOSE | 64u) /* as HODO_CLOSE, and without a title */
#define HODO_IF_ANY    128u /* as text only if some row's value is not 0 */

/* A row's member: its offset and type. */
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

/* An object in JSON; a list of objects, from an array in the row, or one of pointers; texts. */
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
	const char *key;   /* in JSON, --sort and --columns; --sort also accepts it without _ns */
	const char *title; /* NULL: the key in capitals */
	enum hodo_as as;
	int width;         /* as text; 0: that of the widest, at most `most`; not padded at the end of a line */
	unsigned flags;
	size_t offset;
	enum hodo_member is; /* HODO_MEMBER() */
	struct hodo_cell (*get)(const struct hodo_table *t, const struct hodo_column *c, const void *row);
	double argument; /* of get() */
	/* Writes text instead of the cell; may write nothing. */
	void (*put)(struct hodo_text *to, const struct hodo_table *t, const void *row);
	/* Writes key and value in JSON instead of the cell, or neither. */
	void (*put_json)(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row);
	const struct hodo_columns *of; /* HODO_INNER(), HODO_ARRAY(), HODO_POINTERS() */
	size_t inner, count, stride;
	bool inlined; /* the array is in the row itself */
	const char *also; /* another name wherever a column is named; NULL: none */
	const struct hodo_column *then; /* the next sort key of equal rows, before their identity */
	int most;
	enum hodo_style style;
};

struct hodo_columns {
	const char *name; /* of the table: "events" */
	const struct hodo_column *column;
	unsigned n;
	const char *text; /* comma-separated keys shown as text; NULL: all */
	const char *sort; /* key for --sort if the table lacks the given column */
	const char *diff; /* comma-separated keys shown by --diff */
	enum hodo_style head; /* HODO_PLAIN: without colour */
	bool headless; /* except with --columns */
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
	size_t hidden;       /* rows at the end beyond the limit */
	const char *chosen;  /* --columns; NULL: the default ones */
	const void *total;   /* a row after all others; NULL: none */
	const char *more[2]; /* around the number of rows beyond the limit; NULL: "and ", " more" */
	void (*below)(struct hodo_text *to, const struct hodo_table *t, const void *row); /* lines under a row */
};

const void *hodo_table_row(const struct hodo_table *t, size_t i);
/* The next column in a comma-separated list that the table has; NULL: no more. */
const struct hodo_column *hodo_column_next(const struct hodo_columns *columns, const char **keys);
/* The shown ones, as text or as JSON, in order. Returns how many. */
unsigned hodo_table_columns(const struct hodo_table *t, bool json, const struct hodo_column **out);
struct hodo_cell hodo_cell_of(const struct hodo_table *t, const struct hodo_column *c, const void *row);
/* Whether --diff can compare its values. */
static inline bool hodo_column_differs(const struct hodo_column *c)
{
	return c->as == HODO_AS_COUNT || (c->as > HODO_AS_HEX && c->as < HODO_AS_FLAG);
}
double hodo_cell_number(const struct hodo_cell *v); /* 0: absent; -infinity: not a number */
/* Compares the identity of rows. */
int hodo_table_same(const struct hodo_table *ta, const void *a, const struct hodo_table *tb, const void *b);
/* The column to sort by; NULL: rows stay as they are. */
const struct hodo_column *hodo_column_sort(const struct hodo_columns *columns, const char *key);
/* Sorts by the look's column, then by identity, stably; and applies limit and columns. */
void hodo_table_arrange(struct hodo_table *t, const struct hodo_show *look);
void hodo_table_free(struct hodo_table *t); /* frees what arranging made */

/*
 * Checks and completes the display options for these tables, a list that ends with NULL. HODO_GO_ON, or the
 * exit status after --columns=help or a message.
 */
int hodo_show_make(struct hodo_args *a, const struct hodo_columns *const *tables);
/* The i-th distinct key of all of them; NULL: fewer. */
const char *hodo_columns_key(const struct hodo_columns *const *tables, unsigned i);

/* table_text.c: the cell, without padding. */
void hodo_put_cell(struct hodo_text *to, const struct hodo_table *t, const struct hodo_column *c, const void *row);
const char *hodo_column_title(const struct hodo_column *c, char buf[32]);
const char *hodo_number(double number, char buf[48]); /* 1,234 or 1.5; at most six digits unless an integer */
/* Head, rows, number of hidden rows, total. Returns whether there was a column to show. */
bool hodo_table_put(struct hodo_text *to, const struct hodo_table *t, bool color);

/* table_json.c; key: NULL in arrays and at the top. */
void hodo_table_put_json(struct hodo_json *j, const char *key, const struct hodo_table *t); /* [{…},…] */
/* One row as an object; chosen: comma-separated keys, NULL: all. */
void hodo_put_object(struct hodo_json *j, const char *key, const struct hodo_columns *columns, const char *chosen,
		     const void *row);
/* A row's columns with all flags of `with` and none of `without`. */
void hodo_put_members(struct hodo_json *j, const struct hodo_table *t, const void *row, unsigned with,
		      unsigned without);

/*
 * table_diff.c: rows of two tables of one schema, matched by their identity, the greatest change in the column of
 * --sort first: as text with `title` above if there are any, or as a list in JSON. Returns how many there are; as
 * text, 0 if there is no column to show.
 */
size_t hodo_table_diff(struct hodo_text *to, struct hodo_json *j, const char *key, const struct hodo_table *before,
		       const struct hodo_table *after, const struct hodo_show *look, const char *title);
