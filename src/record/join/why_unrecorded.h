/* SPDX-License-Identifier: MIT */
/* why_unrecorded.h - why libhodo is not in a program, as far as its file shows. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <base/why.h>

/*
 * Makes a sentence with the program's path, as in struct hodo_image, printable and cut to size; look: opens
 * the file, which the user uid has named, with that user's rights. False: the file shows nothing, and the
 * sentence gives no reason.
 */
bool hodo_why_unrecorded(const char *path, uid_t uid, bool look, struct hodo_why *why);
