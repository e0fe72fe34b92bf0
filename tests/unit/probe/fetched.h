/* SPDX-License-Identifier: MIT */
/* fetched.h - runs a program under ptrace with breakpoints where probes would be, and fetches their values there. */
#ifndef HODO_TESTS_PROBE_FETCHED_H
#define HODO_TESTS_PROBE_FETCHED_H

#include <base/text.h>

/*
 * Runs the program once alone, to take the expected values from its output (values.h), and once with these probes.
 * Adds the lines to `expected` and `found`. LINE in a probe stands for the line with that comment in `source`.
 */
void fetched_run(const char *program, const char *source, struct hodo_text *expected, struct hodo_text *found);

#endif
