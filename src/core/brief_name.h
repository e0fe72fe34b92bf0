/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * brief_name.h - the one rule for shortening a long C++ name to what its author would write.
 *
 *	std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >  ->  std::string
 *	Store<std::map<int, std::vector<long, std::allocator<long> >, std::less<int>, …> >::put
 *	                                                             ->  Store<map<int, vector<long>>>::put
 *
 *  1. The last arguments of a std template are left out if they are defaults: std's allocator, char_traits,
 *    less, equal_to, hash and default_delete.
 *  2. std::basic_string<char> becomes string, std::basic_string<wchar_t> wstring, and likewise all basic_
 *    names.
 *  3. std:: is left out inside angle brackets and parentheses; its inline namespaces (__cxx11, __1) and ABI
 *    tags are left out everywhere.
 *  4. Brackets are closed by ">>".
 *
 * A name that is not understood stays unchanged. Freestanding; any thread and signal handler may call it.
 * Names may be hostile.
 */
#ifndef HODO_CORE_BRIEF_NAME_H
#define HODO_CORE_BRIEF_NAME_H

#include <stddef.h>

/* Writes the short form of the demangled name, which has len bytes, without a terminator. out has room for
 * len bytes. Returns the length of the short form, at most len. */
size_t hodo_brief_name(const char *name, size_t len, char *out);

/* Removes the template arguments of the demangled name, which has no parameters, in place. Returns its new length. */
size_t hodo_name_without_arguments(char *name, size_t len);

#endif
