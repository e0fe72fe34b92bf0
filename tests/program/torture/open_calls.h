/* SPDX-License-Identifier: MIT */
/* open_calls.h - the open calls of each thread of a recording, by their frames; see calls.c. */
#ifndef TESTS_TORTURE_OPEN_CALLS_H
#define TESTS_TORTURE_OPEN_CALLS_H

#include <hodo/read.h>

/* How many were taken for another function's or frame's, have an exit without an entry, or an entry without an exit. */
extern unsigned wrong_calls;

/* Takes func:entry and func:exit. */
void open_calls_take(const struct hodo_read_event *e);
/* The thread of e says that it is in a call of this function with this frame: once for each call. */
void open_calls_said(const struct hodo_read_event *e, uint64_t function, uint64_t at);
/* At the end. */
void open_calls_end(void);

#endif
