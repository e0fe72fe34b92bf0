/* SPDX-License-Identifier: MIT */
/* top_numbers.h - hodo top: numbers formatted for a column. Each returns a text that may be in buf. */
#pragma once

#include <stdint.h>

#include <cli/output/table.h>

const char *hodo_top_number_text(uint32_t n, char buf[32]);              /* 12345, an identifier */
const char *hodo_top_count_text(uint64_t n, int width, char buf[32]);    /* 1,234,567 or 1.23M */
const char *hodo_top_rate_text(double rate, int width, char buf[32]);    /* 1,234,567 or 1.23M; 4.0 */
const char *hodo_top_bytes_text(double n, int width, char buf[32]);      /* 1.5 MiB or 1.50M */
const char *hodo_top_time_text(uint64_t ns, char buf[32]);               /* 1.23 us: 8 columns for less than 3 hours */
const char *hodo_top_percent_text(double part, char buf[32]);            /* 97% */
const char *hodo_top_value_text(const struct hodo_cell *value, int width, char buf[32]); /* -1,234, 0.25, 1.23M */
