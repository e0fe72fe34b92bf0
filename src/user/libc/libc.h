/* SPDX-License-Identifier: MIT */
/*
 * libc.h - what libhodo uses of the C library or does in its place: texts, files, and where musl and glibc differ.
 */
#pragma once

#include <arch/writer.h>
#include <hodo/abi.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* text.c: both append to the NUL-terminated text in size bytes; false: it was cut. Signal safe. */
HODO_HIDDEN bool hodo_fixed_text_add(char *to, size_t size, const char *text);
HODO_HIDDEN bool hodo_fixed_text_number(char *to, size_t size, uint64_t n);

/* file.c */
HODO_HIDDEN long hodo_sys_file_read(long dir, const char *path, void *to, size_t size); /* bytes, or negative errno */
/* Its first line without the newline, always NUL-terminated. Bytes, or negative errno. */
HODO_HIDDEN long hodo_sys_file_line(long dir, const char *path, char *text, size_t size);
HODO_HIDDEN int hodo_sys_file_write(long fd, const void *data, uint64_t len, uint64_t at); /* 0 or negative errno */
HODO_HIDDEN void hodo_sys_file_remove(const char *path);
/* 0, or the negative errno that a file of that size would meet, without raising SIGXFSZ. */
HODO_HIDDEN int hodo_sys_file_limit(uint64_t bytes);
HODO_SHARED void hodo_sys_file_each(long dir, void (*each)(long dir, const char *name, void *arg), void *arg);

/* libc.c: whether the program's C library is glibc, not musl. */
HODO_HIDDEN bool hodo_libc_is_glibc(void);
HODO_HIDDEN const struct r_debug *hodo_libc_debug(void); /* musl's loader's; NULL: there is none */
HODO_HIDDEN char **hodo_libc_environment(char **argument); /* in a constructor; argument: its third */
HODO_HIDDEN uint64_t hodo_libc_signals(void); /* that no thread may block */
HODO_HIDDEN void hodo_libc_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void));
/* The present objects of hodo_libc_debug() stay; in the constructor, or called by the loader. */
HODO_HIDDEN void hodo_libc_objects_settle(void);
/* Finds the object's program headers; false: not possible. */
HODO_HIDDEN bool hodo_libc_headers(const struct link_map *map, struct dl_phdr_info *info);
/* Replaces dl_iterate_phdr() if there is hodo_libc_debug(): all objects, without the loader's lock. */
HODO_HIDDEN int hodo_libc_objects_each(int (*f)(struct dl_phdr_info *info, size_t size, void *data), void *data);
