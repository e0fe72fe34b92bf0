/* SPDX-License-Identifier: MIT */
/* hints.h - what DuckDB's messages do not say. */
#pragma once

#include "duck_impl.h"

#include <stdio.h>

#include <base/why.h>

/* A statement was refused, as e says: what helps if it names an event without double quotes. */
void duck_hint_event(const char *sql, bool (*is_table)(void *data, const char *name), void *data, struct hodo_why *e);
/* The file of Parquet that a message names; false: none. */
bool duck_hint_file(const struct hodo_why *e, char *path, size_t bytes);
/* It is none of hodo's: what helps if its directory is missing. Cuts the path short. */
void duck_hint_folder(struct hodo_why *e, char *path);
