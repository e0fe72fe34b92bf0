/* SPDX-License-Identifier: MIT */
/* top_loop.h - hodo top: what it was asked for, and the run. */
#ifndef HODO_CLI_TOP_LOOP_H
#define HODO_CLI_TOP_LOOP_H

#include "cli.h"
#include "top.h"
#include "top_target.h"

enum hodo_top_output { HODO_TOP_SCREEN, HODO_TOP_BATCH, HODO_TOP_JSON };

struct hodo_top_options {
	enum hodo_top_output output;
	enum hodo_color color;
	int64_t interval_ns;
	int64_t duration_ns; /* 0: no end */
	uint64_t iterations; /* 0: no end */
	uint64_t ring_size;  /* bytes, 2^n */
	enum hodo_top_kind kind;
	enum hodo_top_column sort;
	uint32_t columns; /* as in struct hodo_top_view */
	struct hodo_pattern_list patterns;
};

/* The exit status. */
int hodo_top_run(struct hodo_top_options *o, struct hodo_top_target *target);

#endif
