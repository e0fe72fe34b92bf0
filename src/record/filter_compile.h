/* SPDX-License-Identifier: MIT */
/* filter_compile.h - compiles a filter expression, as core/filter_parse.h says, with floating-point numbers. */
#ifndef HODO_RECORD_FILTER_COMPILE_H
#define HODO_RECORD_FILTER_COMPILE_H

#include <core/filter_parse.h>

/* hodo_filter_parse() without memory to work in. Thread safe; not signal safe. */
int hodo_filter_compile(const char *expr, uint8_t *code, size_t size, size_t *len, char *error,
			size_t error_size);

/* The same, of events as they happen: not what is known when a recording is read. */
int hodo_filter_compile_live(const char *expr, uint8_t *code, size_t size, size_t *len, char *error,
			     size_t error_size);

#endif
