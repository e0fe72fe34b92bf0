/* SPDX-License-Identifier: MIT */
/* stat_table.h - the table of a recording's events: hodo stat, and what hodo PROGRAM shows at the end. */
#ifndef HODO_CLI_STAT_TABLE_H
#define HODO_CLI_STAT_TABLE_H

#include "cli.h"

/* The classes of one name in all processes. */
struct hodo_stat_row {
	const char *name; /* the reader's */
	uint64_t count, bytes, limited;
};

struct hodo_stat {
	struct hodo_read *r;
	struct hodo_read_totals totals;
	struct hodo_stat_row *rows; /* the most frequent first */
	size_t nrows;
	size_t name_width;
	uint64_t limited; /* events over their rate */
};

/* Counts what is in the recording. 0 or negative errno. */
int hodo_stat_count(struct hodo_stat *s, struct hodo_read *r);
void hodo_stat_free(struct hodo_stat *s); /* not the reader */
uint64_t hodo_stat_duration_ns(const struct hodo_stat *s);
/* max: rows; 0: all. */
void hodo_stat_put_table(FILE *f, const struct hodo_stat *s, size_t max, bool color);
void hodo_stat_put_losses(FILE *f, const struct hodo_stat *s, bool color);

#endif
