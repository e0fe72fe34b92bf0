/* SPDX-License-Identifier: MIT */
/* host_table.h - the hosts of a merged recording as a table: hodo merge, hodo info. */
#pragma once

#include <cli/output/table.h>
#include <hodo/read.h>

extern const struct hodo_columns hodo_hosts_columns;

/* Rows of struct hodo_read_host; none unless the recording is merged. Free with hodo_hosts_free(). */
struct hodo_table hodo_hosts_table(const struct hodo_read *r);
void hodo_hosts_free(struct hodo_table *t);
