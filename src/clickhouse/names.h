/* SPDX-License-Identifier: MIT */
/*
 * names.h - names and types of a recording as those of ClickHouse. A recording may call an event or a field anything:
 * what is in a statement is quoted, and what is a name there is one of which ClickHouse can make a file's name.
 */
#pragma once

#include <base/text.h>
#include <stdbool.h>

void clickhouse_quote_name(struct hodo_text *sql, const char *name);
void clickhouse_quote_text(struct hodo_text *sql, const char *text);
/*
 * Appends the name for a table or column: the same for the same one, and different for different ones. A column's dot
 * becomes %2E, since it would make it a member of another one, and so does a table's first one; the first letter of
 * what begins with hodo_, which are our own, becomes %68; what is too long is cut and gets a number computed from all
 * of it.
 */
void clickhouse_safe_name(struct hodo_text *to, const char *name, bool column);
/* A number of a text that is the same everywhere. */
uint64_t clickhouse_number(const char *text);

/* "Nullable(Int64)". null: whether it can have no value. Not of HODO_ROWS_FIELDS. */
const char *clickhouse_type(uint32_t type, bool null, char to[32]);
