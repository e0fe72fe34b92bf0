/* SPDX-License-Identifier: MIT */
/* record_options.h - what hodo record was asked for. */
#ifndef HODO_CLI_RECORD_OPTIONS_H
#define HODO_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hodo/abi.h>
#include <record/record.h>

#include "options.h"
#include "record_attach.h"
#include "record_context.h"
#include "record_functions.h"

struct hodo_record_options {
	struct hodo_args args;
	const char *out;
	uint64_t ring_size;   /* bytes, 2^n */
	uint32_t packet_size; /* bytes, 2^n */
	bool overwrite;
	int64_t duration_ns; /* 0: no end */
	uint64_t packet_age_ns;
	enum hodo_clock clock; /* 0: the best */
	struct hodo_pattern_list patterns;
	bool kernel;                             /* it is recorded, too */
	struct hodo_pattern_list kernel_patterns; /* its own; made at the end */
	struct hodo_function_options functions;
	struct hodo_context_config context; /* flags 0: none */
	struct hodo_limits limits;
	struct hodo_snapshots snapshots;
	struct hodo_conditions conditions; /* triggers and rates */
	struct hodo_pattern_list fields; /* that the filter names */
	uint8_t filter[HODO_FILTER_MAX];
	size_t filter_len; /* 0: none */
	struct hodo_attach_options attach;
	char **command; /* [0] NULL: none */
};

/* What is not asked for. */
#define HODO_RECORD_DEFAULTS { .out = HODO_DIR_DEFAULT, .ring_size = 4u << 20, .packet_age_ns = 3600000000000ull }

extern const struct hodo_option hodo_record_option_table[]; /* for arguments that begin with the struct above */

/* Whether they go together; makes what follows from them. 0, or the exit status, having said what is wrong. */
int hodo_record_options_check(struct hodo_record_options *o);
void hodo_record_options_free(struct hodo_record_options *o);

#endif
