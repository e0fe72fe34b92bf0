/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * symbol_name.h - the one rule of which name a function has, for all that reads symbol tables: src/elf outside the
 * traced process, src/func inside it.
 *
 * A function may have many symbols: aliases, versions, parts and clones that the compiler made. All of them
 * name it: a pattern matches a function if it matches any of its names. One is shown, the same everywhere:
 *
 *  1. A function (STT_FUNC, STT_GNU_IFUNC) before a label (STT_NOTYPE) at the same address: labels are what assembly
 *     and linkers leave behind.
 *  2. A whole function before a part or a clone (f.cold, f.part.0, f.isra.0, f.localalias): nobody wrote the latter.
 *  3. Fewer leading underscores first, whatever the binding: names that begin so are the implementation's, and a
 *     library defines its functions under these and makes the name that programs call a weak alias. So libc's
 *     _IO_puts, __write and __libc_fork are shown as puts, write and fork, which is what the source of the caller says;
 *     for the same reason zwork comes before _work. perf, which puts the binding first, shows __GI___libc_write.
 *     The underscore of a mangled name (_Z) is none of these.
 *  4. Global before weak before local, as elfutils and the linker have it.
 *  5. With a size before without: where a compiler folds equal functions into one (gcc's ICF), the one whose code is
 *     left has the size. Assembly may give the better name none: the function then has the size of another of its
 *     symbols, and where none has one, it reaches to the next symbol.
 *  6. Of what is left, the name that comes first in the alphabet, so that it does not depend on the order of the table:
 *     of the constructors C1 and C2, which are shown alike, C1.
 *
 * Versions (f@V, f@@V) are no part of
 * a name either. Symbols that are no functions are left out before: data, sections, files, undefined ones, and local
 * labels, among which are the mapping symbols ($x, $d) of some architectures.
 *
 * Freestanding; any thread, signal handlers too. Names may be hostile.
 */
#ifndef HODO_CORE_SYMBOL_NAME_H
#define HODO_CORE_SYMBOL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least is shown; equal ones by strcmp(). type, binding: of st_info, as <elf.h> numbers them; size: st_size. */
uint32_t hodo_symbol_rank(const char *name, unsigned type, unsigned binding, uint64_t size);

/* The length of a name without its last suffix that marks a part or a clone; len if it has none. */
size_t hodo_symbol_without_suffix(const char *name, size_t len);
/* … without all of them. */
size_t hodo_symbol_whole_name(const char *name);

/* Whether libiberty may be asked for it: what a conversion operator's type may be, it tries in two ways, and within
 * each of them again (_ZcvT_IcvT_I…). No compiler nests them. */
bool hodo_symbol_demangles(const char *mangled);

#endif
