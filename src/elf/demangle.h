/* SPDX-License-Identifier: MIT */
/* demangle.h - readable names of C++ and Rust, by libiberty. Mangled names are hostile input. Any thread. */
#pragma once

#include <stdbool.h>

/* The readable name of a function, without suffixes of parts; a name that is not mangled, or not understood,
 * is unchanged. Free it. NULL: no memory. */
char *hodo_elf_demangle(const char *mangled);
/* The readable name without parameters and a result's type: "ns::cls<int>::f"; or also without template arguments:
 * "ns::cls::f". */
char *hodo_elf_demangle_short(const char *mangled, bool templates);
/* As its author would write it (core/symbol_name.h): "Store<string>::put"; also with parameters. */
char *hodo_elf_demangle_brief(const char *mangled, bool parameters);
