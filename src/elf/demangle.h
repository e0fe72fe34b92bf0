/* SPDX-License-Identifier: MIT */
/* demangle.h - names of C++ and Rust for people, by libiberty. Mangled names are hostile input. Any thread. */
#ifndef HODO_ELF_DEMANGLE_H
#define HODO_ELF_DEMANGLE_H

/* The name of a function for people, without suffixes of parts; what is no mangled name, or not understood, as it is.
 * To be freed. NULL: no memory. */
char *hodo_elf_demangle(const char *mangled);

#endif
