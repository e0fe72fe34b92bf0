/* SPDX-License-Identifier: MIT */
/* process_table.h - the processes of a recording as a table: hodo info, hodo stat. */
#ifndef HODO_CLI_PROCESS_TABLE_H
#define HODO_CLI_PROCESS_TABLE_H

#include "table.h"

/* A process; of the whole recording the sums alone. */
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
void hodo_put_when(struct hodo_text *to, int64_t ns); /* date and time, and a line break */

#endif
