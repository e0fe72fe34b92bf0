/* SPDX-License-Identifier: MIT */
/*
 * quantity.h - parses and formats numbers, sizes and times for users.
 *
 * One grammar each, for all options and variables. The parsers take a whole text: 0, or -EINVAL if it is
 * something else or too large. The caller checks, and reports, bounds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A whole number in decimal digits. */
int hodo_parse_number(const char *text, uint64_t max, uint64_t *number);

/* A whole number in hexadecimal digits, 16 at most, without 0x. */
int hodo_parse_hex(const char *text, uint64_t *number);

/* Bytes, with a suffix K, M, G or T for 1024 and its powers, in either case: 64K, 64KB, 64KiB. */
int hodo_parse_size(const char *text, uint64_t *bytes);

/*
 * A time: a number, up to nine decimals, and a unit: ns, us, ms, s, m, h or d, as in 500us, 1.5s, 2m. Without
 * a unit it is in seconds, if HODO_TIME_BARE allows that. Rounded to whole nanoseconds.
 */
enum hodo_time_form { HODO_TIME_BARE, HODO_TIME_WITH_UNIT };
int hodo_parse_time(const char *text, enum hodo_time_form form, int64_t *ns);
/* A time unit, with a name of len bytes, in nanoseconds; 0: not a unit. */
int64_t hodo_time_unit_ns(const char *name, size_t len);

const char *hodo_time_text(int64_t ns, char buf[32]);    /* in the largest unit it has whole ones of: 100ms, 1h */
const char *hodo_clock_text(int64_t ts_ns, char buf[32]); /* of ns since the epoch, HH:MM:SS.nnnnnnnnn in local time */
const char *hodo_grouped(uint64_t n, char buf[32]);     /* 1,234,567 */
/* What the noun behind a number ends in. */
static inline const char *hodo_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
const char *hodo_size_text(uint64_t n, char buf[32]);   /* as hodo_parse_size() reads it: 16M, 1536K */
const char *hodo_human_bytes(uint64_t n, char buf[32]); /* 1.5 MiB */
const char *hodo_duration(uint64_t ns, char buf[32]);   /* in 10 columns: "  1.234 us" */
const char *hodo_duration_plain(uint64_t ns, char buf[32]); /* as hodo_parse_time() reads it: 1.234us */
