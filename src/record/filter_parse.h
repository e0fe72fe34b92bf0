/* SPDX-License-Identifier: MIT */
/*
 * filter_parse.h - compiles a filter expression into a program of the filter
 * machine (src/core/filter.h).
 */
#ifndef HODO_RECORD_FILTER_PARSE_H
#define HODO_RECORD_FILTER_PARSE_H

#include <stddef.h>
#include <stdint.h>

#define HODO_FILTER_EXPR_MAX 2048 /* bytes of an expression */
#define HODO_FILTER_NESTING_MAX 64 /* parentheses, unary operators and ?: within each other */

/*
 * Compile the NUL-terminated expression into code, which has room for size
 * bytes; at most HODO_FILTER_MAX are used. *len is set to the program's length.
 *
 * The language is C's expressions without assignment, calls, casts and
 * pointers: ! ~ - * / % + - << >> < <= > >= == != & ^ | && || ?: and
 * parentheses with C's precedence; =~ and !~ match a text with a glob pattern
 * and bind like ==. Operands are field names, elements NAME[i], integers (decimal, octal, hex,
 * 'c', true, false), times (10us, as ns), floating-point numbers, "texts", has(NAME), len(NAME), and
 * $tid $pid $cpu $comm $duration. A name or text that is compared with a field may be one of its labels.
 *
 * Returns 0; -EINVAL if the expression is wrong; -E2BIG if it is too long or too
 * deep, or the program does not fit. On error, error (error_size bytes, may
 * be NULL with 0) holds one line without newline, such as "expected ')' at
 * column 12"; columns count bytes from 1. Thread safe; not signal safe.
 */
int hodo_filter_compile(const char *expr, uint8_t *code, size_t size, size_t *len, char *error,
			size_t error_size);

#endif
