/* SPDX-License-Identifier: MIT */
/* record_snapshots.h - when hodo record writes a flight recorder's buffers, and what it tells of that. */
#ifndef HODO_CLI_RECORD_SNAPSHOTS_H
#define HODO_CLI_RECORD_SNAPSHOTS_H

#include <stdbool.h>

#include <record/record.h>

enum hodo_snapshot_option { HODO_SNAPSHOT_ON_CRASH, HODO_SNAPSHOT_ON_EXIT };
#define HODO_SNAPSHOT_OPTIONS 2

/* 0, or the exit status having said what is wrong. */
int hodo_snapshot_options_set(struct hodo_snapshots *o, enum hodo_snapshot_option option);
/* When all options are read. triggers: some ask for snapshots. */
int hodo_snapshot_options_check(struct hodo_snapshots *o, bool overwrite, bool triggers);

/* At the end: whether any process's buffers were written for themselves, and not only snapshots. */
bool hodo_snapshots_wrote_all(const struct hodo_session_stats *s);
/* What was written besides, or that nothing was: the directory is removed then. */
void hodo_snapshots_tell(const struct hodo_snapshots *o, const struct hodo_session_stats *s, const char *recording,
			 bool quiet);

#endif
