/* SPDX-License-Identifier: MIT */
/* help.h - what the reader's C tests share: a folder of their own, files, readers. */
#ifndef HODO_TESTS_READ_HELP_H
#define HODO_TESTS_READ_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <hodo/read.h>

#include "gen.h"

/* A new folder below $TMPDIR; removed with all in it by help_done(). */
extern char help_dir[256];
void help_start(void);
void help_done(void);
/* "help_dir/NAME", in one of a few buffers used in turn. */
const char *help_path(const char *name);
void help_write(const char *path, const void *data, size_t len);
/* The file's bytes in memory that the caller frees. */
uint8_t *help_read(const char *path, size_t *len);

/* Opens a recording that must open; warnings are collected in help_warnings, one a line. */
extern char help_warnings[16384];
extern unsigned help_nwarnings;
struct hodo_read *help_open(const char *path);
/* Opens one that must not; the error's text is in help_error. */
extern char help_error[512];
int help_open_error(const char *path);

/* Counts, scans and iterates: the three must agree. Returns the number of events. */
uint64_t help_walk(struct hodo_read *r);

#endif
