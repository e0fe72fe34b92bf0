/* SPDX-License-Identifier: MIT */
/* query_output.h - rows of a statement on standard output: as a table, as lines of JSON, or as CSV. */
#pragma once

#include <duck/duck.h>

#include <cli/cli.h>

struct query_output {
	struct hodo_out *out;
	enum hodo_duck_form form;
	bool color;
	uint32_t n;         /* columns */
	struct hodo_text names; /* with a NUL behind each */
	bool *numbers;
	uint64_t rows;      /* of this statement */
	struct hodo_text text;  /* to be written */
	/* Of a table: rows whose widths are not known yet. */
	struct hodo_text cells;
	size_t *ends;
	uint32_t nends, room;
	uint32_t *widths;
};

void query_output_start(struct query_output *o, struct hodo_out *out, enum hodo_duck_form form, bool color);
struct hodo_duck_sink query_output_sink(struct query_output *o);
void query_output_end(struct query_output *o);
