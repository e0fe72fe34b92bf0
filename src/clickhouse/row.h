/* SPDX-License-Identifier: MIT */
/* row.h - a row as RowBinary. */
#pragma once

#include <base/text.h>
#include <locale.h>
#include <read/table/batch.h>
#include <read/table/schema.h>

struct clickhouse_row_form {
	const struct hodo_rows_table *table;
	const struct hodo_rows_column *members; /* of HODO_ROWS_FIELDS */
	const bool *nullable; /* by column */
	locale_t c;           /* that of C */
	struct hodo_text *scratch;
};

/* Appends a row's columns, those that each table begins with excepted. */
void clickhouse_row_put(struct hodo_text *to, const struct clickhouse_row_form *form,
			const struct hodo_rows_batch *batch, uint32_t row);
