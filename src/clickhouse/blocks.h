/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - rows, gathered into blocks, which the server takes as a whole or not at all.
 *
 * Rows of a recording are numbered, by table and day, in the order in which they are made, which is the same each time.
 * A block is rows with consecutive numbers; its first row's number is in all of its rows. So what the server has of a
 * recording is known, and a row that is there is not sent again, wherever an earlier run ended its blocks.
 */
#pragma once

#include "table.h"

struct clickhouse_blocks {
	/* Set by the caller: */
	struct hodo_clickhouse *c;
	const struct hodo_rows_schema *schema;
	uint64_t load;
	/* What came of it: */
	uint64_t sent, before; /* rows */
	/* Its own: */
	struct clickhouse_block_table **tables; /* by number; NULL: it had no row yet */
	struct hodo_map days;           /* struct clickhouse_block, by table and day */
	size_t pending;                 /* bytes of all blocks that are open */
	struct hodo_text scratch;
	locale_t locale;
};

int clickhouse_blocks_open(struct clickhouse_blocks *b);
void clickhouse_blocks_close(struct clickhouse_blocks *b);
int clickhouse_blocks_add(struct clickhouse_blocks *b, const struct hodo_rows_batch *batch);
int clickhouse_blocks_end(struct clickhouse_blocks *b); /* sends what is left, and looks whether all is there */
