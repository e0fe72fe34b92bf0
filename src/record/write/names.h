/* SPDX-License-Identifier: MIT */
/*
 * names.h - makes foreign names harmless before they go into file names or a terminal.
 */
#pragma once

#include <sys/types.h>

/* For a file name: bytes other than A-Z a-z 0-9 . _ + - become '_', and a leading '.' does too. */
void hodo_name_file(char *to, size_t size, const char *s);

/* Writes the user's name, or else number, to buffer, and returns it. */
const char *hodo_user_name(uid_t uid, char *buffer, size_t size);

/* Makes s an identifier in place: A-Z a-z 0-9 _, not beginning with a digit, not empty. size > 1. */
void hodo_name_identifier(char *s, size_t size);
