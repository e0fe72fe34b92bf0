/* SPDX-License-Identifier: MIT */
/*
 * needed.c - libhodo-needed.a, which keeps libhodo in programs that are linked with it.
 *
 * A program with events refers to no symbol of libhodo, yet needs the library that it is linked with:
 * libhodo's constructor starts a flight recorder and listens, and probes need it. A linker drops libraries
 * that nothing refers to (--as-needed, which distributions and Meson set), and takes no member from such an
 * archive. Except for mold, a reference by `-u` does not count; one from an object file does. So `-u
 * hodo_needed_` pulls this file in, wherever on the command line the archive stands, and the linker keeps its
 * section, even with --gc-sections.
 *
 * Only plain options are used, -u, -L and -l, because build systems rearrange others: Meson looks for each -l
 * in the -L, and CMake moves all other options before the libraries, so that --no-as-needed around -lhodo is
 * lost.
 */
#include <hodo/control.h>

extern const void *const hodo_needed_;

/* A reference in data, which needs no code. Hidden: each object of a program may have one. */
__attribute__((visibility("hidden"))) const void *const hodo_needed_ = (const void *)hodo_stop;
