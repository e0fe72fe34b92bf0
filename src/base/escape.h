/* SPDX-License-Identifier: MIT */
/*
 * escape.h - makes foreign text harmless. A traced program may put any bytes into a name: these functions
 * decide which characters reach a terminal or a JSON string unchanged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HODO_ESCAPED_MAX 6 /* the most bytes that one byte of the text becomes */

/* The value of a hexadecimal digit, in either case, or -1. */
int hodo_hex_digit(char c);
/*
 * Decodes a text of hexadecimal digits to bytes. Returns how many, or -1: it contains something else, or too
 * much.
 */
int hodo_hex_bytes(uint8_t *to, size_t max, const char *text);
/* The reverse: two digits for each byte, without a NUL. Returns the end. */
char *hodo_format_bytes(char *to, const void *bytes, size_t len);
/*
 * The reverse: what is not A-Z a-z 0-9 or one of "._:,/+-[]" becomes %XX. There is room for 3 * len bytes; returns the
 * end.
 */
char *hodo_percent_encode(char *to, const char *text, size_t len);
/* Decodes %XX in place. Invalid ones stay, a NUL becomes a question mark; returns false in either case. */
bool hodo_percent_decode(char *text);

/* Bytes of the UTF-8 character at p, which is before end; 0: not valid. */
unsigned hodo_utf8(const uint8_t *p, const uint8_t *end);

enum hodo_json_form {
	HODO_JSON_PLAIN,  /* \n and the like in their short forms */
	HODO_JSON_SCRIPT, /* also safe in a script of an HTML page: no <; only the escape \uXXXX */
};

/*
 * These write at `to` unchecked, with room for len * HODO_ESCAPED_MAX bytes, without a NUL, and return the
 * end. A byte that is not UTF-8 becomes \u00XX in JSON, \xXX in plain text. So do invisible characters, in
 * plain text byte by byte: controls, line separators, format characters such as U+202E, which reverses text.
 */
char *hodo_escape_json(char *to, const void *text, size_t len, enum hodo_json_form form); /* without quotes */
/*
 * As UTF-8: an invalid byte becomes the character with that number. doubled: a character to write twice; 0:
 * none.
 */
char *hodo_escape_utf8(char *to, const void *text, size_t len, char doubled);
/* For a terminal or a line of text: no control characters. quoted: " and \ are escaped too. */
char *hodo_escape_plain(char *to, const void *text, size_t len, bool quoted);

/*
 * For one line of a terminal: control bytes and all beyond ASCII are written as \xNN. Always terminates to; cuts what
 * does not fit.
 */
void hodo_printable(char *to, size_t size, const char *s);
/* For a message, in place: a question mark for each byte that is not UTF-8 and each invisible character. */
void hodo_mask_unseen(char *text);
