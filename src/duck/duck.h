/* SPDX-License-Identifier: MIT */
/*
 * duck.h - recordings in SQL and as Parquet, by DuckDB, whose library is loaded when the first of these is called.
 *
 * Functions return 0 or a positive count, or a negative errno, and then say in `error` what went wrong and what helps,
 * in one line.
 */
#pragma once

#include <base/why.h>
#include <read/table/schema.h>

#include <sym/recording_symbols.h>
#include <stddef.h>

#define HODO_DUCK_MEMORY (1ull << 30) /* bytes that DuckDB may take, if nothing else is said */

/* -------------------------------------------------------------------------- Parquet */

/* A directory of Parquet files that hodo made has this file; its text says of which version the tables are. */
#define HODO_DUCK_MARK "_hodo.json"

struct hodo_duck_parquet {
	struct hodo_read *reader;     /* at its first event; limits, if there are any, are set */
	struct hodo_symbols *symbols;
	const char *recording;        /* its path */
	int64_t since_ns, until_ns;   /* the reader's limits; until_ns 0: there are none */
	const char *to;               /* an empty directory, which the tables are written below */
	uint64_t memory;              /* HODO_DUCK_MEMORY */
	bool (*wanted)(void *data, const char *table); /* NULL: all tables are */
	void *data;
	void (*warn)(const char *text);
	/* What came of it. */
	uint64_t rows, files;
	bool failed_write; /* what went wrong was writing */
};

/* What all names of files of this recording begin with. */
#define HODO_DUCK_STEM 20
void hodo_duck_stem(const struct hodo_read *reader, char stem[HODO_DUCK_STEM]);
/* The names of the tables of a recording; what each() returns but 0 ends it, and is returned. 0 or -ENOMEM. */
int hodo_duck_each_table(const struct hodo_read *reader, int (*each)(void *data, const char *table), void *data);
int hodo_duck_parquet(struct hodo_duck_parquet *parquet, struct hodo_why *why);

/*
 * Whether what was written to `aside` has events that another recording in the directory `to` has, too, as a merge and
 * what it is of have. Processes are compared, by uuid, time and events; what a
 * directory without that table has, or files that cannot be read, is not known. More than HODO_DUCK_HOSTS_LOOKED hosts:
 * only the same ones are looked at. 1: `other` is the name of that recording. 0, or a negative errno.
 */
#define HODO_DUCK_HOSTS_LOOKED 64u
int hodo_duck_parquet_twice(const char *to, const char *aside, const char stem[HODO_DUCK_STEM], char *other,
			    size_t other_bytes, struct hodo_why *why);

/* ------------------------------------------------------------------------------ SQL */

struct hodo_duck;

struct hodo_duck_options {
	uint64_t memory;      /* HODO_DUCK_MEMORY */
	const char *temporary; /* a directory for what does not fit in there; NULL: none */
	/* Opens a recording to be read, and names for it; both are closed by the caller of this. */
	int (*open)(void *data, const char *path, struct hodo_read **reader, struct hodo_symbols **symbols,
		    struct hodo_why *why);
	/* One of them has been read to its end. NULL: nobody wants to know. Several threads call both at once. */
	void (*read)(void *data, const char *path, struct hodo_read *reader);
	void *data;
	bool many; /* several runs share parameters: one may lack what another one has */
};

int hodo_duck_open(struct hodo_duck **duck, const struct hodo_duck_options *options, struct hodo_why *why);
void hodo_duck_close(struct hodo_duck *duck); /* NULL is allowed */
/* A recording, or a directory with HODO_DUCK_MARK: its rows are in the tables then. Before the first statement. 1: it
 * has the same events as another one, or a part of them, and `why` says which one is left out; or, if one of them is
 * a directory, that both are counted. -EEXIST: both recordings also have events of their own. */
int hodo_duck_add(struct hodo_duck *duck, const char *path, struct hodo_why *why);

/* How values are written. */
enum hodo_duck_form { HODO_DUCK_TEXT, HODO_DUCK_JSON, HODO_DUCK_CSV };

struct hodo_duck_cell {
	const char *text;
	size_t len;
	bool null;
};

/* A result goes to these: its columns' names once, then each row's cells. A cell is as the form has it: JSON as a
 * value, CSV with its quotes, text as it is. What they return but 0 ends the statement, and is returned. */
struct hodo_duck_sink {
	enum hodo_duck_form form;
	int (*columns)(void *data, uint32_t n, const char *const *names, const bool *numbers);
	int (*row)(void *data, uint32_t n, const struct hodo_duck_cell *cells);
	int (*end)(void *data); /* of a statement that had columns */
	void *data;
};

struct hodo_duck_parameter {
	const char *name, *value; /* $name of a statement */
};

/* Statements with semicolons between them, one after the other. */
int hodo_duck_run(struct hodo_duck *duck, const char *sql, const struct hodo_duck_parameter *parameters,
		  uint32_t nparameters, const struct hodo_duck_sink *sink, struct hodo_why *why);
/* Ends the statement that runs; from a signal handler or another thread. */
void hodo_duck_interrupt(struct hodo_duck *duck);

/* Questions that have names. The i-th; NULL: there are no more. */
struct hodo_duck_question {
	const char *name, *does;
	const char *sql;
	const char *parameters; /* "event=*error*": its parameter and the default; NULL: it has none */
	const char *among;      /* a statement for the names among which the parameter chooses; NULL: none */
	const char *none;       /* why there are no such names; without them, why there are no rows */
	const char *otherwise;  /* why there are no rows though names are chosen; NULL: it is not known */
};
const struct hodo_duck_question *hodo_duck_question(unsigned i);
