/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * glob.h - matches names and texts against a shell-like pattern.
 *
 * One matcher for event patterns ("kv:*") and for `=~` in filters. Freestanding;
 * runs in the traced process, in signal handlers too.
 */
#pragma once

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

/*
 * The same for the name of an event or of a function, where ABI tags ("[abi:cxx11]", which C++ has at the names
 * of what returns a std::string) are optional, in the pattern as in the name: names are shown without them.
 */
bool hodo_glob_name(const char *pattern, size_t pattern_len, const char *name, size_t name_len);
/* Length of the ABI tag that the name begins with; 0: none. */
size_t hodo_glob_tag(const char *name, size_t len);

/*
 * Length of the first pattern of a list, up to a comma or NUL that is in no brackets: "Store<int, double>::get" is
 * one. A bracket that nothing closes is a byte like others, as are those of operator<, operator-> and the like.
 */
size_t hodo_glob_first(const char *list, size_t len);
