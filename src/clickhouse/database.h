/* SPDX-License-Identifier: MIT */
/* database.h - the database, of which version it is, and which recordings it has. */
#pragma once

#include "server.h"

/* Makes it if it is not there; else looks whether it is ours. *views: of which version its views are; 0: there are
 * none. */
int clickhouse_database_open(struct hodo_clickhouse *c, uint64_t *views);
/* Notes that it has views of our version now. */
int clickhouse_database_note(struct hodo_clickhouse *c);

/* A recording, and what of it is loaded: a selection of its own is a load of its own. */
struct clickhouse_load {
	uint64_t recording, load;
	const char *path;
};
/* Notes that the recording comes, or, with complete, that it is there. -ESTALE: another selection of it is there. */
int clickhouse_database_begin(struct hodo_clickhouse *c, const struct clickhouse_load *l);
int clickhouse_database_complete(struct hodo_clickhouse *c, const struct clickhouse_load *l);
