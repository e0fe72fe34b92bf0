/* SPDX-License-Identifier: MIT */
/* help.h - what the reader's C tests share: readers. */
#ifndef HODO_TESTS_READ_HELP_H
#define HODO_TESTS_READ_HELP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/read.h>
#include <lib/folder.h>
#include <lib/unit.h>

#include "gen.h"

/* Opens a recording, which must succeed; collects warnings in help_warnings, one per line. */
extern char help_warnings[16384];
extern unsigned help_nwarnings;
struct hodo_read *help_open(const char *path);
/* Opens a recording, which must fail; the error's text is then in help_error. */
extern char help_error[512];
int help_open_error(const char *path);

/* Counts, scans and iterates: the three must agree. Returns the number of events. */
uint64_t help_walk(struct hodo_read *r);

#endif
