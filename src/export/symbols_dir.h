/* SPDX-License-Identifier: MIT */
/* symbols_dir.h - the folder of a recording with the symbols of its objects. */
#ifndef HODO_EXPORT_SYMBOLS_DIR_H
#define HODO_EXPORT_SYMBOLS_DIR_H

#include <stddef.h>
#include <stdint.h>

#define HODO_SYMBOLS_DIR      ".symbols"
#define HODO_KERNEL_OBJECT "[kernel]" /* path of the object that stands for the kernel and its modules */
#define HODO_SYMBOLS_NAME_MAX 132

/* The name of an object's file there: its build-id, else "p" and a hash of its path. */
void hodo_symbols_name(char name[HODO_SYMBOLS_NAME_MAX], const char *path, const uint8_t *build_id, size_t len);

#endif
