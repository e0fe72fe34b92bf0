/* SPDX-License-Identifier: MIT */
/*
 * machine_code.h - fetch programs as machine code in a slot. While it runs, rsp is `frame` bytes below the
 * slot's saved registers (event_code.c); it may use rax, r10 and r11, and all others are the program's.
 */
#pragma once

#include <probe/value/fetch.h>

/* Saved registers, relative to rsp + frame while values are gathered. */
#define HODO_SAVED_R11   0u
#define HODO_SAVED_R10   8u
#define HODO_SAVED_FLAGS 16u
#define HODO_SAVED_RAX   24u
#define HODO_SAVED_BYTES 32u
#define HODO_SAVED_RED_ZONE 128u

/* Registers as in instructions, unlike HODO_FETCH's: rax 0, rcx 1, rdx 2, … */
#define HODO_CODE_RAX 0u
#define HODO_CODE_RSP 4u
#define HODO_CODE_R10 10u
#define HODO_CODE_R11 11u

struct hodo_machine_code {
	uint8_t *to;
	size_t n, room;   /* room 0: it did not fit */
	uint64_t address; /* where its first byte will run */
	unsigned frame;
	uint64_t read;    /* where the address of libhodo's reader is stored (HODO_IMPORT_READ) */
	unsigned scratch; /* 8 bytes, from rsp */
	uint64_t bias, pc; /* of the object; of the probe, in memory */
	uint16_t fails[HODO_FETCH_STEPS_MAX]; /* distances to fill in: where a load that faults continues */
	unsigned nfails;
};

/* Bytes, and a number of 32 bits. */
void hodo_code_put(struct hodo_machine_code *c, const void *bytes, size_t len);
void hodo_code_put32(struct hodo_machine_code *c, int64_t number);
/* The distance from after these four bytes. */
void hodo_code_put_distance(struct hodo_machine_code *c, uint64_t target);

/* mov $number,%rax or r11 */
void hodo_code_constant(struct hodo_machine_code *c, unsigned reg, int64_t number);
/* Stores the lowest 1, 2, 4 or 8 bytes of a register to disp(%rsp), and loads a whole one. */
void hodo_code_store(struct hodo_machine_code *c, unsigned reg, unsigned bytes, unsigned disp);
void hodo_code_load(struct hodo_machine_code *c, unsigned reg, unsigned disp);
/* The lowest 4 or 8 bytes of an xmm register to disp(%rsp). */
void hodo_code_store_vector(struct hodo_machine_code *c, unsigned reg, unsigned bytes, unsigned disp);
/* lea disp(%rsp),%r10; mov $what,%r11d if what is not 0; call *read(%rip): from the address in rax */
void hodo_code_read(struct hodo_machine_code *c, unsigned disp, uint32_t what);

/*
 * Computes the program's final number, of which `bytes` are wanted: returns its register, rax or one of the
 * program's. A load that faults continues at hodo_code_failed().
 */
unsigned hodo_code_fetch(struct hodo_machine_code *c, const struct hodo_fetch *f, unsigned bytes);
/*
 * Success continues after it, with rax; failed loads have rax = number there. Emits nothing if none can fail.
 */
void hodo_code_failed(struct hodo_machine_code *c, int32_t number);
