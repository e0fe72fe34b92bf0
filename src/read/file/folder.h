/* SPDX-License-Identifier: MIT */
/* folder.h - opens a COMM-PID folder as a trace. */
#pragma once

#include "trace.h"

/* Opens the folder, of that part. 0, or a negative errno: -ENODATA no metadata, and those of hodo_read_open(). */
int hodo_read_trace_new(struct hodo_read *r, const char *folder, uint32_t part, struct hodo_trace **trace);
void hodo_read_trace_free(struct hodo_trace *t);
/* After all joining: completes the public part. */
void hodo_read_trace_settle(struct hodo_trace *t);
/* Takes the lines of a later metadata that are not in the earlier one. The text changes, has a byte after
 * its end, and stays. 0 or a negative errno. */
int hodo_read_trace_more(struct hodo_trace *t, char *text, size_t len);
