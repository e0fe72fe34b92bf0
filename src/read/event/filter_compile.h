/* SPDX-License-Identifier: MIT */
/* filter_compile.h - compiles a filter expression (core/filter_parse.h), with floating-point numbers. */
#pragma once

#include <base/why.h>
#include <core/filter_parse.h>

/* hodo_filter_parse() with its own working memory. Thread safe; not signal safe. */
int hodo_filter_compile(const char *expr, uint8_t *code, size_t size, size_t *len, char *error,
			size_t error_size);

/* hodo_filter_compile() for events as they happen: refuses what is only known when a recording is read. */
int hodo_filter_compile_live(const char *expr, uint8_t *code, size_t size, size_t *len, struct hodo_why *why);
