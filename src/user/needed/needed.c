/* SPDX-License-Identifier: MIT */
/*
 * needed.c - libhodo-needed.a, which keeps libhodo in programs that are linked with it.
 *
 * A program with events refers to no symbol of libhodo, and yet wants it when it is linked with it: its constructor
 * starts a flight recorder and listens, and probes need it. A linker drops libraries that nothing refers to
 * (--as-needed, which distributions and Meson set), and an archive has no member taken in. A reference that `-u` makes
 * does not count, but for mold; one from an object file does. So `-u hodo_needed_` takes this file in, wherever on the
 * command line the archive stands, and the linker keeps its section, also with --gc-sections.
 *
 * The words are plain ones, -u, -L and -l, because build systems take them apart: Meson looks for each -l in the -L,
 * CMake puts all other words in front of the libraries, and so --no-as-needed before or around -lhodo is lost.
 */
#include <hodo/control.h>

extern const void *const hodo_needed_;

/* A reference in data, which needs no code. Hidden: each object of a program may have one. */
__attribute__((visibility("hidden"))) const void *const hodo_needed_ = (const void *)hodo_stop;
