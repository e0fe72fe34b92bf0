/* SPDX-License-Identifier: MIT */
/*
 * batch_function.h - a batch of rows as a table function, so that a statement may write it: names as enums, and of the
 * members of fields those that have a value.
 *
 * Once it has been set, the names of the recording are not looked at any more.
 */
#pragma once

#include <base/why.h>

#include "duck_impl.h"

struct duck_gathered {
	char name[24]; /* of the function */
	const struct hodo_rows_schema *schema;
	const struct hodo_rows_batch *batch;
	const uint32_t *rows; /* numbers of those that are wanted; NULL: all, n of them */
	uint32_t n, at;       /* at: the next */
	uint32_t columns[HODO_ROWS_COLUMNS_MAX], ncolumns; /* of the table, those that are given */
	duck_handle types[HODO_ROWS_COLUMNS_MAX]; /* by the table's columns */
	struct duck_codes codes[HODO_ROWS_COLUMNS_MAX], member_codes[HODO_ROWS_MEMBERS_MAX];
	const char **hosts; /* their names, by code */
	uint32_t children[HODO_ROWS_MEMBERS_MAX], member_of[HODO_ROWS_MEMBERS_MAX], nchildren;
};

int duck_gathered_register(struct duck_gathered *g, struct duck_db *db, struct hodo_why *e);
/* From now on the rows are those of the batch, which will lie at `at` when they are read. 0 or -ENOMEM. */
int duck_gathered_set(struct duck_gathered *g, const struct hodo_rows_batch *at, const struct hodo_rows_batch *batch);
/* The code of a row's host; UINT32_MAX: it is not known. */
uint32_t duck_gathered_host(const struct duck_gathered *g, uint32_t row);
void duck_gathered_drop(struct duck_gathered *g);
