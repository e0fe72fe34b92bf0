/* SPDX-License-Identifier: MIT */
/*
 * names.h - how foreign names are made harmless before they go into metadata, file names or a terminal.
 */
#ifndef HODO_RECORD_NAMES_H
#define HODO_RECORD_NAMES_H

#include <base/text.h>
#include <sys/types.h>

/* Percent-encoded, as the metadata's comment lines are (docs/format.md). */
void hodo_name_encode(struct hodo_text *t, const char *s);

/*
 * For one line of a terminal: control bytes and all beyond ASCII are written
 * as \xNN. Always terminates to; what does not fit is cut.
 */
void hodo_name_printable(char *to, size_t size, const char *s);

/* For a file name: bytes other than A-Z a-z 0-9 . _ + - become '_', and a leading '.' does too. */
void hodo_name_file(char *to, size_t size, const char *s);

/* The user's name, or number where it has none, in buffer; which is returned. */
const char *hodo_user_name(uid_t uid, char *buffer, size_t size);

/* Makes s an identifier in place: A-Z a-z 0-9 _, not beginning with a digit, not empty. size > 1. */
void hodo_name_identifier(char *s, size_t size);

#endif
