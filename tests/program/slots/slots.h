/* SPDX-License-Identifier: MIT */
/* slots.h - tracer.c's functions. */
#ifndef SLOTS_H
#define SLOTS_H
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
int slots_on(const char *functions); /* registers the tracer; returns what hodo_tracer_register() does */
int slots_off(void);
unsigned long slots_total(void);  /* entries so far */
void slots_print(FILE *out);      /* a line for each function that was entered or left */
/* Bytes of text that differ from their files, except those that the kind leaves: "exact", "sleds" (XRay), "calls",
 * "prefix" (patchable entries of programs that are not position-independent). */
unsigned long slots_differ(FILE *out, const char *kind);
#ifdef __cplusplus
}
#endif
#endif
