/* SPDX-License-Identifier: MIT */
/*
 * text.h - a growing text, and the ways in which foreign names are made
 * harmless before they go into metadata, file names or a terminal.
 */
#ifndef HODO_RECORD_TEXT_H
#define HODO_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty text. A failed allocation is remembered in error; later calls do nothing. */
struct hodo_text {
	char *s; /* NUL-terminated once something was added */
	size_t len;
	size_t cap;
	int error; /* 0 or -ENOMEM */
};

void hodo_text_free(struct hodo_text *t);
void hodo_text_add(struct hodo_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hodo_text_add_bytes(struct hodo_text *t, const char *s, size_t len);

/* Percent-encoded, as the metadata's comment lines are (docs/format.md). */
void hodo_text_add_encoded(struct hodo_text *t, const char *s);

/* For a double-quoted TSDL string: printable ASCII; quotes, backslashes and others become '_'. */
void hodo_text_add_quotable(struct hodo_text *t, const char *s);

/*
 * For one line of a terminal: control bytes and all beyond ASCII are written
 * as \xNN. Always terminates to; what does not fit is cut.
 */
void hodo_text_printable(char *to, size_t size, const char *s);

/* For a file name: bytes other than A-Z a-z 0-9 . _ + - become '_', and a leading '.' does too. */
void hodo_text_file_name(char *to, size_t size, const char *s);

/* Makes s an identifier in place: A-Z a-z 0-9 _, not beginning with a digit, not empty. size > 1. */
void hodo_text_identifier(char *s, size_t size);

#endif
