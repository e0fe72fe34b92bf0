/* SPDX-License-Identifier: MIT */
/* cluster.h - tables over all servers of a cluster, in a database beside ours. */
#pragma once

#include "server.h"

/* "DATABASE_CLUSTER". */
void clickhouse_cluster_database(const struct hodo_clickhouse *c, struct hodo_text *name);
/* Makes it. */
int clickhouse_cluster_open(struct hodo_clickhouse *c);
/* Makes the table there that is this one of all servers, with the columns that this one has now. */
int clickhouse_cluster_table(struct hodo_clickhouse *c, const char *table);
