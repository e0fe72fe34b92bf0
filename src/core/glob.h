/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * glob.h - matching of names and texts against a shell-like pattern.
 *
 * One matcher for event patterns ("kv:*") and for `=~` in filters. Freestanding;
 * runs in the traced process, in signal handlers too.
 */
#ifndef HODO_CORE_GLOB_H
#define HODO_CORE_GLOB_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

/*
 * Whether the whole text matches the pattern.
 *
 *   *        any bytes, or none
 *   ?        any one byte
 *   [a-z_]   one byte of the set; [!...] or [^...] one that is not in it; a ] that comes
 *            first stands for itself, as does a - that comes first or last
 *   \c       the byte c, whatever it means otherwise (not within [...])
 *
 * A [ that is never closed and a \ at the end stand for themselves. Neither
 * argument need be NUL-terminated, and either may hold any bytes. Takes at most
 * about pattern_len * text_len steps, no memory and constant stack; safe in
 * signal handlers and from any thread.
 */
bool hodo_glob(const char *pattern, size_t pattern_len, const char *text, size_t text_len);

#endif
