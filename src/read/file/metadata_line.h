/* SPDX-License-Identifier: MIT */
/*
 * metadata_line.h - a line of a folder's metadata that starts with slash, star, at: a word, and pairs key=value.
 * Only our lines begin so: no foreign text starts a line.
 */
#pragma once

#include <base/text.h>
#include <hodo/read.h>
#include <stdbool.h>
#include <stdint.h>

#define HODO_LINE_KEYS_MAX 16

struct hodo_line {
	char *word, *empty; /* "" */
	unsigned number;
	unsigned n;
	struct {
		char *key, *value;
	} pair[HODO_LINE_KEYS_MAX];
};

/* The next line of a text, with its newline; at: behind it. NULL: there is none. */
const char *hodo_line_next(const char **at, const char *end, size_t *len);
/* Whether it is one of ours, with that word. */
bool hodo_line_is(const char *line, size_t len, const char *word);
/* Splits what is between slash, star, at and end, and decodes the values in place. false if it is not one of ours. */
bool hodo_line_split(char *s, char *end, struct hodo_line *l);

/* The value of a key; NULL: it has none. */
char *hodo_line_get(struct hodo_line *l, const char *key);
char *hodo_line_get_text(struct hodo_line *l, const char *key); /* or "" */
/* A text percent-encoded, behind " key=". */
void hodo_line_put_text(struct hodo_text *to, const char *before, const char *text);
/* 0, or -EINVAL if the key is missing or its value is not a number up to max. */
int hodo_line_get_number(struct hodo_line *l, const char *key, uint64_t max, uint64_t *number);
/* 0, or -EINVAL if the key is missing or its value is not a number from -INT64_MAX to INT64_MAX. */
int hodo_line_get_signed(struct hodo_line *l, const char *key, int64_t *number);
uint32_t hodo_line_get_u32(struct hodo_line *l, const char *key); /* 0: none, or no such number */

/* time=SECONDS.NANOSECONDS, with nine digits after the point; else nothing changes. */
void hodo_line_get_time(struct hodo_line *l, int64_t *time_ns);
void hodo_line_put_time(struct hodo_text *to, int64_t time_ns); /* not before the epoch */

/* The clock. 0, or -EINVAL: it is damaged. */
int hodo_line_get_clock(struct hodo_line *l, struct hodo_read_clock *clock);
void hodo_line_put_clock(struct hodo_text *to, const struct hodo_read_clock *clock);
/* If a line is about the clock, in our words or TSDL's, it is written for that clock instead. */
bool hodo_line_replace_clock(const char *line, size_t len, const struct hodo_read_clock *clock, struct hodo_text *to);
