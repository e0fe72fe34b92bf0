/* SPDX-License-Identifier: MIT */
/* duck_impl.h - what the files of this module share. */
#pragma once

#include "api.h"
#include "duck.h"

#include <base/intern.h>
#include <base/map.h>
#include <base/text.h>
#include <base/why.h>
#include <read/table/rows.h>

#define DUCK_ROWS 2048u /* of a chunk, at the most: the library's own vectors */

int hodo_duck_load(struct hodo_why *why);

/* An open database, in memory. */
struct duck_db {
	duck_handle db, connection;
};
int duck_db_open(struct duck_db *db, uint64_t memory, const char *temporary, bool one_thread, struct hodo_why *e);
void duck_db_close(struct duck_db *db);
/* One statement without a result. 0; -EIO where the disk was full or the like; -ENOMEM; -EINVAL. */
int duck_db_run(struct duck_db *db, const char *sql, struct hodo_why *e);
/* The negative errno that a message of DuckDB's means, as duck_db_run() returns it; e: the message in one line,
 * without its advice. */
int duck_db_error(const char *message, struct hodo_why *e);

/* Appended to a statement: 'a text', "a name". */
void duck_quote_text(struct hodo_text *sql, const char *text);
void duck_quote_name(struct hodo_text *sql, const char *name);
/* A path, or a part of one, as it stands in a pattern for files' names, where some characters mean others. */
void duck_add_glob_text(struct hodo_text *pattern, const char *path);

/* For a column of our tables. members: those of HODO_ROWS_FIELDS. */
duck_handle duck_type(uint32_t type, const struct hodo_rows_column *members, uint32_t nmembers);

/*
 * Numbers for the names that a column or a member has in a batch, so that it may be an enum: codes by the names'
 * numbers. NULL: it has texts.
 */
struct duck_codes {
	uint32_t *codes;
	uint32_t n;    /* of different names */
	unsigned bytes; /* of each code in a vector */
};

/* Which rows become a chunk's. */
struct duck_fill {
	const struct hodo_rows_batch *batch;
	const uint32_t *rows; /* their numbers; NULL: those from `from` on, which is a multiple of 64 */
	uint32_t from, n;
	bool copies; /* texts are copied; else they must live until the chunk has been used */
	/* Of HODO_ROWS_FIELDS: the struct's child for each member; UINT32_MAX: there is none. */
	const uint32_t *children;
	const struct duck_codes *member_codes; /* NULL: all have texts */
	uint32_t nchildren;
	const struct hodo_rows_column *members; /* by member */
	const uint32_t *member_of;   /* by child */
};

/* A column's rows become a vector's. 0 or -ENOMEM. */
int duck_vector_fill(duck_handle vector, const struct duck_fill *fill, uint32_t column, const struct duck_codes *codes);

/* A folder's name for a table or a host, and back: letters, digits and _-. stay, others become %XX. */
void duck_add_folder(struct hodo_text *path, const char *name);

/* The rows of recordings as the table function hodo_rows(number) of the database: source.c. */
struct duck_sources {
	const struct hodo_duck_options *options;
	struct hodo_rows_schema *schema;
	char **recordings; /* NULL: it is left out (duplicates.c) */
	uint32_t nrecordings;
	uint32_t numbers[HODO_ROWS_MEMBERS_MAX]; /* 0, 1, … */
};
bool duck_sources_any(const struct duck_sources *sources); /* whether there is a recording */
int duck_sources_register(struct duck_sources *sources, struct duck_db *db, struct hodo_why *e);

/* Which events there are already, so that none is counted twice: duplicates.c. */
struct duck_seen {
	struct hodo_map uuids;   /* of processes */
	struct hodo_map streams; /* of the first n recordings, once a uuid was there twice */
	struct duck_run *runs;
	uint64_t *count;         /* of events, by recording */
	uint32_t nruns, n;
	struct hodo_strings stems; /* of recordings, and of those in directories of Parquet */
};

enum duck_twice {
	DUCK_NOT_TWICE,
	DUCK_ADDS_NOTHING, /* others have all events of the recording */
	DUCK_REPLACES,     /* it has all of others', which are left out from now on */
	DUCK_IN_FOLDER,    /* a directory of Parquet has it, too, or a part of it: e says so */
};
/* Adds the events of the recording that will be the next one. enum duck_twice, and then e says what is left out;
 * -EEXIST: it has some of another one's events, and each of them has others; or another negative errno. */
int duck_seen_add(struct duck_seen *seen, struct duck_sources *sources, const char *path, struct hodo_read *reader,
		  struct hodo_why *e);
/* The recordings of a directory of Parquet, as far as their stems say. How many were there before, and e says so; or
 * -ENOMEM. */
int duck_seen_add_folder(struct duck_seen *seen, const char *path, int dirfd, struct hodo_why *e);
void duck_seen_free(struct duck_seen *seen);

/* Rows of a result, to the sink: result.c. */
int duck_result_put(struct duck_result *result, const struct hodo_duck_sink *sink, struct hodo_why *e);
