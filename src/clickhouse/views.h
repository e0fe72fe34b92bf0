/* SPDX-License-Identifier: MIT */
/* views.h - the questions that have names (duck/named_queries.c), as views in a database. */
#pragma once

#include "server.h"

/* Of the views: higher after each change of one, so that they are made again. */
#define CH_VIEWS 1

/* Makes all of them in the database, new. */
int clickhouse_views_make(struct hodo_clickhouse *c, const char *database);
