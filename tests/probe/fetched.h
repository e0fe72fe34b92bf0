/* SPDX-License-Identifier: MIT */
/* fetched.h - runs a program under ptrace with breakpoints where probes would be, and fetches their values there. */
#ifndef HODO_TESTS_PROBE_FETCHED_H
#define HODO_TESTS_PROBE_FETCHED_H

#include <base/text.h>

/*
 * Runs the program once alone, takes from its output what is expected (values.h), and once with these probes. Adds the
 * lines to `expected` and `found`. source: where a LINE in a probe's text stands, as a comment.
 */
void fetched_run(const char *program, const char *source, struct hodo_text *expected, struct hodo_text *found);

#endif
