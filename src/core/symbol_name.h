/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * symbol_name.h - the one rule for which name a function gets, for all code that reads symbol tables: src/elf
 * outside the traced process, src/func inside it; and the one for shortening it, below.
 *
 * A function may have many symbols: aliases, versions, and parts and clones that the compiler made. All of
 * them name it: a pattern matches a function if it matches any of its names. The same one is shown
 * everywhere:
 *
 *  1. A function (STT_FUNC, STT_GNU_IFUNC) before a label (STT_NOTYPE) at the same address: assembly and
 *    linkers leave labels behind.
 *  2. A whole function before a part or a clone (f.cold, f.part.0, f.isra.0, f.localalias): nobody wrote the latter.
 *  3. Fewer leading underscores first, whatever the binding: such names are the implementation's; a library
 *    defines its functions under them and makes the name that programs call a weak alias. So libc's
 *     _IO_puts, __write and __libc_fork are shown as puts, write and fork, as in the caller's source; for the
 *     same reason zwork comes before _work. perf, which puts the binding first, shows __GI___libc_write. The
 *     underscore of a mangled name (_Z) does not count.
 *  4. Global before weak before local, as in elfutils and the linker.
 *  5. With a size before without: where a compiler folds equal functions into one (gcc's ICF), the one whose
 *    code remains has the size. Assembly may give the better name none: the function then has the size of
 *    another of its symbols, or else it reaches to the next symbol.
 *  6. Of the rest, the name that sorts first, so that the order of the table does not matter: of the
 *    constructors C1 and C2, which look the same, C1.
 *
 * Versions (f@V, f@@V) are not part of a name. Symbols that are not functions are left out first: data,
 * sections, files, undefined symbols, and local labels, such as the mapping symbols ($x, $d) of some
 * architectures.
 *
 * Freestanding; any thread and signal handler may call it. Names may be hostile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name with the least rank is shown; strcmp() decides between equals. type, binding: of st_info, as in
 * <elf.h>; size: st_size. */
uint32_t hodo_symbol_rank(const char *name, unsigned type, unsigned binding, uint64_t size);

/* The length of a name without its last suffix that marks a part or a clone; len if it has none. */
size_t hodo_symbol_without_suffix(const char *name, size_t len);
/* The length of a name without all its suffixes that mark parts and clones. */
size_t hodo_symbol_whole_name(const char *name);

/* Whether the name is safe for libiberty, which tries two ways to parse a conversion operator's type, and
 * again within each (_ZcvT_IcvT_I…). No compiler nests them. */
bool hodo_symbol_demangles(const char *mangled);

/*
 * The one rule for shortening a long C++ name to what its author would write.
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
 * A name that is not understood stays unchanged.
 *
 * Writes the short form of the demangled name, which has len bytes, without a terminator. out has room for
 * len bytes. Returns the length of the short form, at most len.
 */
size_t hodo_brief_name(const char *name, size_t len, char *out);

/* Removes the template arguments of the demangled name, which has no parameters, in place. Returns its new length. */
size_t hodo_name_without_arguments(char *name, size_t len);
