/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the callers in a saved piece of stack, by the unwind data of the mapped files (elfutils). Knows
 * nothing of traces.
 *
 * Files and stacks are hostile input. One unwinder by one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hodo_sym_unwinder;

/* An executable or library, as it was mapped. Texts and bytes must live as long as the unwinder. */
struct hodo_sym_module {
	const char *path;
	const uint8_t *build_id; /* a file with another one is not used */
	size_t build_id_len;     /* 0: any file will do */
	uint64_t start, end;     /* addresses */
	uid_t owner;             /* with whose rights root opens the file */
};

struct hodo_sym_stack {
	uint64_t ip, sp, bp; /* ip is after a call */
	const uint8_t *bytes; /* from sp upwards */
	size_t nbytes;
};

/* Where the files are if not at their paths, by build-id. */
struct hodo_debuginfod;
struct hodo_sym_elsewhere {
	const char *store;                  /* store.h; NULL: none */
	struct hodo_debuginfod *debuginfod; /* debuginfod.h; NULL: no server is asked */
};

/* Copies modules; of two that overlap, the first counts. NULL: no memory. */
struct hodo_sym_unwinder *hodo_sym_unwinder_new(const struct hodo_sym_module *modules, uint32_t n,
						const struct hodo_sym_elsewhere *elsewhere);
void hodo_sym_unwinder_free(struct hodo_sym_unwinder *unwinder); /* NULL is allowed */

/* addresses: ip, then return addresses, innermost first, at most max. Returns how many. */
uint32_t hodo_sym_unwind(struct hodo_sym_unwinder *unwinder, const struct hodo_sym_stack *stack, uint64_t *addresses,
			 uint32_t max);
