/* SPDX-License-Identifier: MIT */
/*
 * escape.h - foreign text made harmless. What is traced may put any bytes into a name: these decide which
 * characters reach a terminal or a JSON string as they are.
 */
#ifndef HODO_BASE_ESCAPE_H
#define HODO_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HODO_ESCAPED_MAX 6 /* bytes that one byte of the text becomes at most */

/* The value of a hexadecimal digit, of either case; -1: it is none. */
int hodo_hex_digit(char c);
/* The bytes that a whole text of hexadecimal digits stands for; how many, or -1: it is something else, or more. */
int hodo_hex_bytes(uint8_t *to, size_t max, const char *text);
/* The other way: two digits a byte, without a NUL; the end. */
char *hodo_format_bytes(char *to, const void *bytes, size_t len);
/* Undoes %XX in place. What is no such thing stays, a NUL becomes a question mark, and false is returned then. */
bool hodo_percent_decode(char *text);

/* Bytes of the UTF-8 character at p, which ends before end and is not empty; 0: that is none. */
unsigned hodo_utf8(const uint8_t *p, const uint8_t *end);

enum hodo_json_form {
	HODO_JSON_PLAIN,  /* \n and the like in their short forms */
	HODO_JSON_SCRIPT, /* also fit for a script of an HTML page: no <; one form of escape, \uXXXX */
};

/*
 * These write at `to` without a check, room for len * HODO_ESCAPED_MAX bytes, no NUL behind it, and return the end.
 * A byte that is not UTF-8 becomes \u00XX in JSON, \xXX in plain text. So do characters that are not seen, in plain
 * text byte by byte: controls, separators of lines, format characters such as U+202E, which turns the writing.
 */
char *hodo_escape_json(char *to, const void *text, size_t len, enum hodo_json_form form); /* without quotes */
/* As UTF-8: a byte that is none is the character of that number. doubled: a character to write twice; 0: none. */
char *hodo_escape_utf8(char *to, const void *text, size_t len, char doubled);
/* For a terminal or a line of text: no control characters. quoted: " and \ are escaped too. */
char *hodo_escape_plain(char *to, const void *text, size_t len, bool quoted);

/* For a message, in place: a question mark for each byte that is not UTF-8 and each character that is not seen. */
void hodo_mask_unseen(char *text);

#endif
