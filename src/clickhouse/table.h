/* SPDX-License-Identifier: MIT */
/* table.h - one table of a recording, and the one of the server that takes its rows. */
#pragma once

#include "server.h"

#include <read/table/batch.h>

/* Columns that each table begins with. */
#define CH_LOAD  "hodo_load"  /* which recording it is: clickhouse.md */
#define CH_BLOCK "hodo_block" /* the number of the block's first row, among those of the recording, table and day */
#define CH_DAY   "hodo_day"   /* the partition */

/* Rows of a block that the server has, or of several one after the other. */
struct clickhouse_range {
	uint32_t day;
	uint64_t first, n;
};

struct clickhouse_table {
	const struct hodo_rows_table *rows;
	struct hodo_text name;      /* "`database`.`table`" */
	struct hodo_text columns;   /* of the server, as a statement has them */
	struct hodo_text structure; /* of the rows that are sent */
	struct clickhouse_range *ranges;    /* what the server had at first, sorted */
	uint32_t nranges;
	uint64_t total;             /* rows of the recording so far */
	bool sent;                  /* some in this run */
};

/* Whether a column may be without a value there. */
bool clickhouse_nullable(const struct hodo_rows_table *table, uint32_t column);
/* Has the server make the table, or add columns to it, and asks what of the recording it has. */
int clickhouse_table_open(struct hodo_clickhouse *c, struct clickhouse_table *t, const struct hodo_rows_table *rows,
			  uint64_t load);
void clickhouse_table_close(struct clickhouse_table *t);
/* Whether the server has as many rows of the recording as there are. */
int clickhouse_table_verify(struct hodo_clickhouse *c, struct clickhouse_table *t, uint64_t load);
