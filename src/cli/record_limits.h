/* SPDX-License-Identifier: MIT */
/* record_limits.h - how much hodo record is asked to write, and in which parts. */
#ifndef HODO_CLI_RECORD_LIMITS_H
#define HODO_CLI_RECORD_LIMITS_H

#include <record/record.h>

enum hodo_limit_option { HODO_LIMIT_MAX_SIZE, HODO_LIMIT_ROTATE, HODO_LIMIT_KEEP, HODO_LIMIT_OPTIONS };

/* Each returns 0, or the exit status having said what is wrong. */
int hodo_limit_options_set(struct hodo_limits *limits, enum hodo_limit_option option, const char *value);
/* When all options are read: whether they go together. */
int hodo_limit_options_check(const struct hodo_limits *limits, bool overwrite, uint32_t packet_size);

/* At the end: what became of the parts. */
void hodo_limit_options_tell(const struct hodo_session_stats *stats);

#endif
