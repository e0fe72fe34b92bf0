/* SPDX-License-Identifier: MIT */
/* stdlib.h - the part of it that the tests use, for a kernel module: unit.c. */
#ifndef HODO_UNIT_STDLIB_H
#define HODO_UNIT_STDLIB_H

#include <linux/types.h>

/* Memory that is checked when it is freed: a byte that was stored after its end fails the test. */
void *hodo_unit_malloc(size_t size);
void *hodo_unit_calloc(size_t n, size_t size);
void *hodo_unit_aligned_alloc(size_t align, size_t size);
void hodo_unit_free(void *at);
void hodo_unit_abort(void);

#define malloc hodo_unit_malloc
#define calloc hodo_unit_calloc
#define aligned_alloc hodo_unit_aligned_alloc
#define free hodo_unit_free
#define abort hodo_unit_abort

/* There is no environment to read from. */
static inline const char *getenv(const char *name)
{
	return NULL;
}
static inline unsigned long long strtoull(const char *text, char **end, int base)
{
	return 0;
}

#endif
