/* SPDX-License-Identifier: MIT */
/*
 * number.h - fast formatting of numbers. Each function writes at `to` unchecked, without a NUL, and returns
 * the end.
 */
#pragma once

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

#define HODO_FORMAT_INTEGER_MAX 21 /* -9223372036854775808, 0xffffffffffffffff */
#define HODO_FORMAT_FLOAT_MAX   26 /* -2.2250738585072014e-308, "-Infinity" */

char *hodo_format_u64(char *to, uint64_t v);
char *hodo_format_i64(char *to, int64_t v);
char *hodo_format_hex(char *to, uint64_t v); /* without 0x */

/* v / 10^decimals, without trailing zeros. */
char *hodo_format_decimal(char *to, int64_t v, unsigned decimals);

/*
 * The shortest decimal that reads back as the same value; a float looks like one: 5.0. single: it was a float.
 * json: "NaN", "Infinity" and "-Infinity" are in quotes. c: a locale with C's number format.
 */
char *hodo_format_float(char *to, double v, bool single, bool json, locale_t c);
