/* SPDX-License-Identifier: MIT */
/* record_summary.h - what hodo record says at its end: what was written, and what was lost. */
#ifndef HODO_CLI_RECORD_SUMMARY_H
#define HODO_CLI_RECORD_SUMMARY_H

#include "record_options.h"

/* Whether any process's buffers were written for themselves, and not only snapshots. */
bool hodo_record_wrote_all(const struct hodo_session_stats *stats);
/* Lines on standard error. stopped: by a signal, before the command's end; overview: of hodo PROGRAM. */
void hodo_record_summary(const struct hodo_record_options *o, const struct hodo_session_stats *stats, bool stopped,
			 bool overview);

#endif
