/* SPDX-License-Identifier: MIT */
/* metadata_line.h - a line of a folder's metadata that starts with slash, star, at: a word, and pairs key=value. */
#ifndef HODO_READ_FILE_METADATA_LINE_H
#define HODO_READ_FILE_METADATA_LINE_H

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

/* Splits what is between slash, star, at and end, and decodes the values in place. false if it is not one of ours. */
bool hodo_line_split(char *s, char *end, struct hodo_line *l);

/* The value of a key; NULL: it has none. */
char *hodo_line_get(struct hodo_line *l, const char *key);
char *hodo_line_get_text(struct hodo_line *l, const char *key); /* or "" */
/* 0, or -EINVAL if the key is missing or its value is not a number up to max. */
int hodo_line_get_number(struct hodo_line *l, const char *key, uint64_t max, uint64_t *number);
/* The same, with a sign allowed. */
int hodo_line_get_signed(struct hodo_line *l, const char *key, int64_t *number);
uint32_t hodo_line_get_u32(struct hodo_line *l, const char *key); /* 0: none, or no such number */
/* time=SECONDS.NANOSECONDS, with nine digits after the point; else nothing changes. */
void hodo_line_get_time(struct hodo_line *l, int64_t *time_ns);

#endif
