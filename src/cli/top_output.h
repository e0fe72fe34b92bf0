/* SPDX-License-Identifier: MIT */
/* top_output.h - hodo top where there is no screen. */
#ifndef HODO_CLI_TOP_OUTPUT_H
#define HODO_CLI_TOP_OUTPUT_H

#include "cli.h"
#include "top.h"

/* The table, as wide as the terminal or 100 columns. */
void hodo_top_put_lines(struct hodo_out *out, const struct hodo_top_model *m, struct hodo_top_view *v,
			uint32_t lines_max);
/* An object on one line. 0 or -ENOMEM. */
int hodo_top_put_json(struct hodo_out *out, const struct hodo_top_model *m);

#endif
