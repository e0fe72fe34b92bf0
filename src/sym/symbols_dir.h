/* SPDX-License-Identifier: MIT */
/* symbols_dir.h - the folder of a recording with the symbols of its objects. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sym.h"

#define HODO_SYMBOLS_DIR      ".symbols"
#define HODO_KERNEL_OBJECT "[kernel]" /* path of the object that stands for the kernel and its modules */
#define HODO_SYMBOLS_NAME_MAX 132

/* The name of an object's file there: its build-id, else "p" and a hash of its path. */
void hodo_symbols_name(char name[HODO_SYMBOLS_NAME_MAX], const char *path, const uint8_t *build_id, size_t len);

/* As hodo_sym_open(), also below these root directories (O_PATH). */
int hodo_symbols_open(struct hodo_sym **sym, const struct hodo_sym_source *source, const int *roots, uint32_t n);
