/* SPDX-License-Identifier: MIT */
/*
 * recording_tables.h - a recording as tables: its events, counted (hodo stat, and what hodo PROGRAM shows at the end),
 * its processes (hodo info, hodo stat), and the hosts of a merged one (hodo merge, hodo info).
 */
#pragma once

#include <cli/cli.h>
#include <cli/output/table.h>
#include <base/map.h>
#include <hodo/read.h>

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
	const struct hodo_args *args; /* what was selected; NULL: all */
};

extern const struct hodo_columns hodo_stat_columns;

/* Counts what is in the recording. 0 or negative errno. */
int hodo_stat_count(struct hodo_stat *s, struct hodo_read *r, const struct hodo_show *look);
void hodo_stat_free(struct hodo_stat *s); /* not the reader */
/* The table, with its time range and number of processes. */
void hodo_stat_put_table(struct hodo_text *to, const struct hodo_stat *s, bool color);

/* A process; for the whole recording, only the sums. */
struct hodo_process_row {
	struct hodo_read_process p;
	const char *start, *mode, *clock;
	uint64_t events, bytes, packets, duration_ns, discarded, lost_all, limited;
	int64_t begin_ns, end_ns; /* 0, 0: no packet */
	struct hodo_read_lost lost;
	uint32_t streams;
};

extern const struct hodo_columns hodo_process_columns, hodo_lost_columns;

/* p: NULL: all. What streams say is complete after hodo_read_scan(), hodo_read_count() or the last event. */
struct hodo_process_row hodo_process_row(const struct hodo_read *r, const struct hodo_read_process *p);
/* The snapshot, libraries and warnings of a process: hodo_table.below. */
void hodo_process_put_below(struct hodo_text *to, const struct hodo_table *t, const void *row);

extern const struct hodo_columns hodo_hosts_columns;

/* Rows of struct hodo_read_host; none unless the recording is merged. Free with hodo_hosts_free(). */
struct hodo_table hodo_hosts_table(const struct hodo_read *r);
void hodo_hosts_free(struct hodo_table *t);
