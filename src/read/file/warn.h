/* SPDX-License-Identifier: MIT */
/* warn.h - warnings about damage. */
#pragma once

#include <hodo/read.h>

#define WARNING_BYTES 1024

/* warned: NULL, or the bits of warnings already given, which are given once. */
void hodo_read_warn(struct hodo_read *r, uint32_t *warned, uint32_t once, const char *folder, const char *file,
		    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Copies a text to dst with control bytes replaced. */
void hodo_read_clean(char *dst, size_t size, const char *text);
