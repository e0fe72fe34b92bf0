/* SPDX-License-Identifier: MIT */
/* metadata.h - the lines of a folder's metadata that are for this library. */
#pragma once

#define METADATA_MAX_BYTES (1u << 30)

struct hodo_trace;

/* Reads the lines of t->metadata. 0 or a negative errno. */
int hodo_read_metadata_parse(struct hodo_trace *t);
