/* SPDX-License-Identifier: MIT */
/* order.h - the events of all streams in order, and all streams one after the other. */
#pragma once

#include <hodo/read.h>

struct hodo_stream;

/* After streams were added to the heap. */
void hodo_read_heap_settle(struct hodo_read *r);
/* Walks all streams, one after the other: each() gets one that is at its start. What it returns but 0 ends
 * the walk, and is returned. */
int hodo_read_each_stream(struct hodo_read *r, size_t window, int (*each)(struct hodo_stream *s, void *arg), void *arg);
