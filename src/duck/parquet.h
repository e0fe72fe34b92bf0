/* SPDX-License-Identifier: MIT */
/* parquet.h - one batch of rows as files: what a thread of the export does (parquet.c). */
#pragma once

#include <base/why.h>

#include "batch_function.h"

/* Of a file, which is one group: a question needs memory for each group of all files, an export for one's rows. */
#define DUCK_FILE_ROWS 245760

struct duck_files {
	const char *to, *stem;
	struct duck_db *db;
	struct duck_gathered *gathered; /* the batch */
	uint32_t number;  /* of this batch among those of its table: a part of the files' names */
	uint64_t written; /* files */
	bool failed_write;
	struct hodo_why *e;
	struct hodo_text sql, path;
};

/* Writes the rows of the batch: a file, or one for each host and day. 0 or a negative errno. */
int duck_files_write(struct duck_files *f);
