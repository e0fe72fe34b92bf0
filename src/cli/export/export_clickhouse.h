/* SPDX-License-Identifier: MIT */
/* export_clickhouse.h - hodo export --to clickhouse: options, and what is said of what came of it. */
#pragma once

#include <cli/output/output_file.h>

struct hodo_clickhouse_args {
	const char *url, *database, *cluster; /* NULL: not given */
	const char *tables; /* with commas between them; NULL: all */
	uint64_t retry_ns;
};

/* --url. 0, or HODO_EXIT_USAGE having said why. */
int hodo_clickhouse_url(struct hodo_clickhouse_args *a, const char *url);
/* Sends all recordings that the words name, and says what came of it: the exit status. */
int hodo_clickhouse_export(struct hodo_clickhouse_args *a, struct hodo_output_args *out);
