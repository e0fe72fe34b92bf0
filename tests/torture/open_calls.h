/* SPDX-License-Identifier: MIT */
/* open_calls.h - the calls that each thread of a recording is inside of, by their frames; see calls.c. */
#ifndef TESTS_TORTURE_OPEN_CALLS_H
#define TESTS_TORTURE_OPEN_CALLS_H

#include <hodo/read.h>

/* How many were taken for another function's or another frame's, have an exit and no entry, or an entry and no exit. */
extern unsigned wrong_calls;

/* Takes func:entry and func:exit. */
void open_calls_take(const struct hodo_read_event *e);
/* The thread of e is in a call of this function with this frame, as it says itself: once for each call. */
void open_calls_said(const struct hodo_read_event *e, uint64_t function, uint64_t at);
/* At the end. */
void open_calls_end(void);

#endif
