/* SPDX-License-Identifier: MIT */
/*
 * schema.h - what a recording is as tables: names, columns and types (docs/design/tables.md). Whatever becomes of the
 * rows, Parquet, another database, arrays: the tables are these. Knows no database.
 */
#pragma once

#include <hodo/columns.h>

/* Of the tables that are always there. Changed when a column goes, or means something else; not when one is added. */
#define HODO_ROWS_VERSION 1

/* The table of the tables, where there is one. No class's has its name. */
#define HODO_ROWS_OF_TABLES "hodo_schema"

/* A column's type is one of enum hodo_type, with HODO_TYPE_ARRAY or without, or one of these. */
#define HODO_ROWS_NAME   0x80u /* a text of which there are few: its number among the recording's (batch.h) */
#define HODO_ROWS_FIELDS 0x81u /* the fields of events of all classes, which are members of one struct */

#define HODO_ROWS_COLUMNS_MAX HODO_READ_COLUMNS_MAX /* of a table */
#define HODO_ROWS_MEMBERS_MAX 256u  /* of HODO_ROWS_FIELDS */
#define HODO_ROWS_CLASSES_MAX 4096u /* tables of event classes */

/* The tables that are always there, by number; behind them come those of event classes. */
enum hodo_rows_number {
	HODO_ROWS_EVENTS,
	HODO_ROWS_SPANS,
	HODO_ROWS_CALLS,
	HODO_ROWS_WAITS,
	HODO_ROWS_SAMPLES,
	HODO_ROWS_LOSSES,
	HODO_ROWS_PROCESSES,
	HODO_ROWS_HOSTS,
	HODO_ROWS_FIXED
};

struct hodo_rows_column {
	const char *name; /* as hodo_escape_utf8() makes it; no two of a table differ in the case of letters alone */
	uint32_t type;
};

struct hodo_rows_table {
	const char *name; /* as a column's */
	const char *class_name; /* of event classes; NULL: the table is always there */
	uint32_t ncolumns;
	const struct hodo_rows_column *columns; /* the first is ts, the time by which the rows are in order */
};

struct hodo_rows_schema;

struct hodo_rows_schema *hodo_rows_schema_new(void); /* NULL: no memory */
/*
 * Instead of all tables the one of hodo/columns.h: EVENTS, SPANS or CALLS, with a column for each field that the
 * classes have which the reader selects. NULL: no memory.
 */
struct hodo_rows_schema *hodo_rows_schema_flat(const struct hodo_read *reader, uint32_t number);
void hodo_rows_schema_free(struct hodo_rows_schema *schema); /* NULL is allowed */
/* Adds the tables of a recording's event classes. 0 or -ENOMEM. What is beyond the limits above is left out. */
int hodo_rows_schema_add(struct hodo_rows_schema *schema, const struct hodo_read *reader);
/* How many columns, members and tables were left out. */
uint64_t hodo_rows_schema_omitted(const struct hodo_rows_schema *schema);

uint32_t hodo_rows_ntables(const struct hodo_rows_schema *schema);
/* Valid until more is added. */
const struct hodo_rows_table *hodo_rows_table(const struct hodo_rows_schema *schema, uint32_t number);
/* Its number by its name, in any case of letters; UINT32_MAX: there is none. */
uint32_t hodo_rows_find(const struct hodo_rows_schema *schema, const char *name);

/* The members of HODO_ROWS_FIELDS; none is of that type. */
uint32_t hodo_rows_nmembers(const struct hodo_rows_schema *schema);
const struct hodo_rows_column *hodo_rows_members(const struct hodo_rows_schema *schema);

/* The i-th field of a class: those of the context, then its own. */
static inline const struct hodo_read_field *hodo_class_field(const struct hodo_read_class *cls, uint32_t i)
{
	return i < cls->ncontext ? &cls->context[i] : &cls->fields[i - cls->ncontext];
}

/* --------------------------------------------------------------- for rows.c and its files */

/* Columns that tables of events begin with. */
enum hodo_rows_head {
	HODO_ROWS_TS,
	HODO_ROWS_HOST,
	HODO_ROWS_PROCESS,
	HODO_ROWS_PID,
	HODO_ROWS_THREAD,
	HODO_ROWS_TID,
	HODO_ROWS_CPU,
	HODO_ROWS_HEAD, /* of a class: text and function come next, then its fields */
	HODO_ROWS_TEXT = HODO_ROWS_HEAD,
	HODO_ROWS_FUNCTION,
	HODO_ROWS_OWN
};

/* Where a field of a class goes. UINT32_MAX: nowhere, or it has no labels. */
struct hodo_rows_place {
	uint32_t column, label;               /* in its class's table */
	uint32_t member, member_label; /* of HODO_ROWS_FIELDS */
};

/*
 * Where the fields of a class of a recording that was added go: the context's, then its own. Fills
 * ncontext + nfields of them; returns the class's table, UINT32_MAX: it has none.
 */
uint32_t hodo_rows_places(const struct hodo_rows_schema *schema, const struct hodo_read_class *cls,
			  struct hodo_rows_place *places);
