/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* functions.h - the mechanisms by which the kernel reports calls of functions, in functions_*.c; under
 * hodo_lock. */
#pragma once

#include <kmod/catalog.h>
#include <kmod/compat.h>

#include <linux/ftrace.h>

#define HODO_FUNCTION_ADDRESSES_MAX 384u /* limited by the size of a message, and the cost of single probes */
#define HODO_FUNCTION_GLOB_MAX 512u

struct hodo_function_wanted {
	const char *text;  /* patterns NUL-terminated ones, of the recording's config; valid until it ends */
	uint32_t patterns; /* none: all functions */
	uint32_t globs, without, addresses;
	unsigned long address[HODO_FUNCTION_ADDRESSES_MAX];
	/* Set by start(): how many functions were found, and are traced; patterns if the kernel does not
	 * tell. */
	uint32_t found, set;
};

struct hodo_function_probe {
	const char *name;
	bool exits;
	bool (*can)(const struct hodo_function_wanted *wanted); /* NULL: always */
	/* 0; -ESRCH: there is no such function; another errno. */
	int (*start)(struct hodo_function_wanted *wanted);
	/* A module came. NULL: nothing to do. */
	void (*refresh)(struct hodo_function_wanted *wanted);
	/* No handler runs when it returns. How many calls were missed. */
	uint64_t (*stop)(void);
};

extern const struct hodo_function_probe hodo_function_fprobe, hodo_function_kretprobe, hodo_function_ftrace;

/* Sets ftrace's filter as wanted. 0 or negative errno. functions_ftrace.c */
int hodo_function_filter(struct ftrace_ops *ops, struct hodo_function_wanted *wanted);

/* Called by handlers, in any context. frame: HODO_FRAME32() of where the return address is. */
bool hodo_function_entered(unsigned long addr, uint32_t frame); /* false: the exit is not wanted */
void hodo_function_left(unsigned long addr, uint32_t frame);
void hodo_function_reached(unsigned long addr, uint32_t frame);
