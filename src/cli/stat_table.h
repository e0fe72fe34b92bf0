/* SPDX-License-Identifier: MIT */
/* stat_table.h - the events of a recording, counted: hodo stat, and what hodo PROGRAM shows at the end. */
#ifndef HODO_CLI_STAT_TABLE_H
#define HODO_CLI_STAT_TABLE_H

#include "table.h"
#include <base/map.h>

/* The classes of one name in all processes. */
struct hodo_stat_row {
	struct hodo_bytes name;
	uint64_t count, bytes, limited;
};

struct hodo_stat {
	struct hodo_read *r;
	struct hodo_read_totals totals;
	struct hodo_map rows; /* struct hodo_stat_row */
	struct hodo_stat_row total;
	struct hodo_table table; /* of the rows, the most frequent first */
	uint64_t duration_ns;
};

extern const struct hodo_columns hodo_stat_columns;

/* Counts what is in the recording. 0 or negative errno. */
int hodo_stat_count(struct hodo_stat *s, struct hodo_read *r, const struct hodo_look *look);
void hodo_stat_free(struct hodo_stat *s); /* not the reader */
/* The table, and in which time in which processes that was. */
void hodo_stat_put_table(struct hodo_text *to, const struct hodo_stat *s, bool color);

#endif
