/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - the catalogue: what is said of a process's events to its recorder, in records (abi.h). Kept twice: in
 * private memory, from which a fork child's new recording is filled, and in the recording's shared memory. All under
 * the control lock.
 */
#ifndef HODO_USER_CATALOG_H
#define HODO_USER_CATALOG_H

#include "user.h"

#define HODO_CATALOG_RECORD_MAX 8192 /* bytes of one record: texts are cut to stay below */

/* The record under construction, which each record is made in. */
struct hodo_catalog_build {
	uint32_t used;
	uint8_t bytes[HODO_CATALOG_RECORD_MAX] __attribute__((aligned(8)));
};
extern HODO_HIDDEN struct hodo_catalog_build hodo_catalog_build;

/* Begins one with these bytes; what follows is zero. */
HODO_HIDDEN void hodo_catalog_begin(const void *head, size_t size);
/* Text, cut to what a record holds, and a NUL. */
HODO_HIDDEN void hodo_catalog_text(const char *text);
/* Names of fields or labels, n of them. */
HODO_HIDDEN void hodo_catalog_names(const char *names, unsigned n);
/* Its place, or 0: there is no room. */
HODO_HIDDEN uint32_t hodo_catalog_append(void);
/* What is there. Moves when the catalogue grows. */
HODO_HIDDEN const uint8_t *hodo_catalog_at(uint32_t place);

#endif
