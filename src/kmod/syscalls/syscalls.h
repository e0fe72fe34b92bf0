/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* syscalls.h - shared by syscalls.c and syscalls_table.c: the calls, as the kernel's headers declare them. */
#pragma once

#include <kmod/event.h>

#include <linux/syscalls.h>

#define HODO_CALL_ARGS 6

/* Of the generated table. */
struct hodo_call_arg {
	const char *name; /* argN: the header does not name it */
	const char *ctype;
	uint8_t type; /* enum hodo_type */
};
struct hodo_syscall {
	uint16_t nr;
	uint16_t first; /* of hodo_call_args */
	uint8_t nargs;  /* HODO_CALL_ARGS of unsigned long: not known */
	const char *name;
};

/* The type of a register's value, from the call's C type. */
#define HODO_TYPE_OF(type)                                                                                        \
	_Generic((type)0, char: HODO_TYPE_CHAR, signed char: HODO_TYPE_I8, unsigned char: HODO_TYPE_U8,           \
		 bool: HODO_TYPE_BOOL, short: HODO_TYPE_I16, unsigned short: HODO_TYPE_U16, int: HODO_TYPE_I32,   \
		 unsigned int: HODO_TYPE_U32, long: sizeof(long) == 4 ? HODO_TYPE_I32 : HODO_TYPE_I64,            \
		 unsigned long: sizeof(long) == 4 ? HODO_TYPE_U32 : HODO_TYPE_U64, long long: HODO_TYPE_I64,      \
		 unsigned long long: HODO_TYPE_U64, default: HODO_TYPE_PTR)

#include "syscalls_generated.h" /* HODO_CALLS_END, HODO_CALL_TEXTS */

/*
 * What the probes read for a number, half a cache line. Everything except the two pointers is constant once
 * the first event is registered.
 */
struct hodo_call_shape {
	struct hodo_event *enter, *exit; /* NULL: off */
	uint8_t fixed;  /* bytes of the arguments other than texts */
	uint8_t nregs;  /* how many of them */
	uint8_t ntexts; /* HODO_CALL_UNKNOWN: no call has this number */
	/*
	 * Where each goes, and where it comes from (hodo_call_args_of()); then where the texts are, or the
	 * last one repeated.
	 */
	uint8_t offset[HODO_CALL_ARGS];
	uint8_t reg[HODO_CALL_ARGS];
} __aligned(32);
#define HODO_CALL_UNKNOWN 0xff
HODO_ASSERT_SIZE_(struct hodo_call_shape, 32);

extern struct hodo_call_shape hodo_call_shapes[];

struct hodo_syscall_event {
	struct hodo_event event;
	uint16_t nr; /* or one of these */
#define HODO_CALLS_COMPAT 0xfffe
#define HODO_CALLS_UNKNOWN 0xffff
	bool exit;
	char name[40];
	struct hodo_field fields[HODO_CALL_ARGS];
};

/* Makes an event for each call in both directions, and the four others; sets their shapes. 0 or -ENOMEM. */
int hodo_calls_make(const struct hodo_source *source, struct hodo_event ***events, size_t *n);
void hodo_calls_free(struct hodo_event **events); /* NULL: nothing */
