/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * brief_name.h - the one rule of how a long C++ name becomes a short one, as its author would write it.
 *
 *	std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >  ->  std::string
 *	Store<std::map<int, std::vector<long, std::allocator<long> >, std::less<int>, …> >::put
 *	                                                             ->  Store<map<int, vector<long>>>::put
 *
 *  1. Of a template of std, the last arguments that have defaults are left out if they are one of std's allocator,
 *     char_traits, less, equal_to, hash and default_delete.
 *  2. std::basic_string<char> is string, of wchar_t wstring, and so for all whose names begin with basic_.
 *  3. Inside of angle brackets and parentheses std:: is left out, and everywhere its inline namespaces (__cxx11, __1)
 *     and ABI tags.
 *  4. Brackets are closed by ">>".
 *
 * A name that is not understood stays as it is. Freestanding; any thread, signal handlers too. Names may be hostile.
 */
#ifndef HODO_CORE_BRIEF_NAME_H
#define HODO_CORE_BRIEF_NAME_H

#include <stddef.h>

/* Writes the short form of the demangled name of that length, without a terminator; out has room for len bytes.
 * Returns its length, which is not more. */
size_t hodo_brief_name(const char *name, size_t len, char *out);

#endif
