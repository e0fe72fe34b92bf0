/* SPDX-License-Identifier: MIT */
/*
 * number.h - numbers as characters, fast. Each function writes at `to` without a check, no NUL behind it, and
 * returns the end.
 */
#ifndef HODO_BASE_NUMBER_H
#define HODO_BASE_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

#define HODO_FORMAT_INTEGER_MAX 21 /* -9223372036854775808, 0xffffffffffffffff */
#define HODO_FORMAT_FLOAT_MAX   26 /* -2.2250738585072014e-308, "-Infinity" */

char *hodo_format_u64(char *to, uint64_t v);
char *hodo_format_i64(char *to, int64_t v);
char *hodo_format_hex(char *to, uint64_t v); /* without 0x */

/* v / 10^decimals, without zeros at its end. */
char *hodo_format_decimal(char *to, int64_t v, unsigned decimals);

/*
 * The shortest decimal that reads back as the same value; a float looks like one: 5.0. single: it was a float.
 * json: "NaN", "Infinity" and "-Infinity" are in quotes. c: a locale in which numbers are as in C.
 */
char *hodo_format_float(char *to, double v, bool single, bool json, locale_t c);

#endif
