/* SPDX-License-Identifier: MIT */
/*
 * fetch.h - how to find a value at a probe: a short program of steps over one 64-bit number. It has no jumps,
 * and needs no memory. It runs with the original registers, the process's memory, and the object's bias. Any
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HODO_FETCH_STEPS_MAX 24u
#define HODO_FETCH_TEXT_MAX  255u  /* bytes of a string, without its NUL */
#define HODO_FETCH_BYTES_MAX 1024u /* of a byte range */

enum hodo_fetch_op {
	/* Only the first step: */
	HODO_FETCH_REGISTER, /* reg */
	HODO_FETCH_CONSTANT, /* number */
	HODO_FETCH_THREAD,   /* the thread's own address, fs */
	HODO_FETCH_ADDRESS,  /* number + the object's bias */
	/* The others: */
	HODO_FETCH_ADD,      /* + number */
	HODO_FETCH_INDEX,    /* + reg * bytes */
	HODO_FETCH_AND,      /* & number */
	HODO_FETCH_SHIFT,    /* << number */
	HODO_FETCH_LOAD,     /* load `bytes` from there, unsigned or signed */
	HODO_FETCH_BITS      /* its `bits` bits from bit `at` on, unsigned or signed */
};

/* DWARF's register numbers: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 … r15, rip, xmm0 … xmm15 (their lower
 * 8 bytes). */
#define HODO_FETCH_RAX  0u
#define HODO_FETCH_RSI  4u
#define HODO_FETCH_RDI  5u
#define HODO_FETCH_RBP  6u
#define HODO_FETCH_RSP  7u
#define HODO_FETCH_RIP  16u
#define HODO_FETCH_XMM0 17u
#define HODO_FETCH_REGISTERS 33u

struct hodo_fetch_step {
	uint8_t op;    /* enum hodo_fetch_op */
	uint8_t reg;
	uint8_t bytes; /* 1, 2, 4, 8 */
	uint8_t at, bits; /* at + bits <= 64; bits > 0 */
	bool is_signed;
	bool may_fault; /* of a load: neither at the stack pointer nor in the object, so a fault must be handled */
	int64_t number;
};

struct hodo_fetch {
	struct hodo_fetch_step step[HODO_FETCH_STEPS_MAX];
	uint8_t n;
	/* While steps are added: the number's distance from where it started, and which distances are mapped. */
	int64_t distance, low, high;
};

/* Each adds a step; false: too many, or not possible. */
bool hodo_fetch_start(struct hodo_fetch *f, enum hodo_fetch_op op, unsigned reg, int64_t number);
bool hodo_fetch_add(struct hodo_fetch *f, int64_t number);
bool hodo_fetch_index(struct hodo_fetch *f, unsigned reg, unsigned scale); /* a general register; 1, 2, 4, 8 */
bool hodo_fetch_and(struct hodo_fetch *f, uint64_t mask);
bool hodo_fetch_shift(struct hodo_fetch *f, unsigned bits);
bool hodo_fetch_load(struct hodo_fetch *f, unsigned bytes, bool is_signed);
bool hodo_fetch_bits(struct hodo_fetch *f, unsigned at, unsigned bits, bool is_signed);

/* After start: addresses from low to high, relative to it, are mapped. Those around the stack pointer are
 * known. */
void hodo_fetch_mapped(struct hodo_fetch *f, int64_t low, int64_t high);
/* The number is the frame pointer: what is in the frame is mapped. */
void hodo_fetch_frame(struct hodo_fetch *f);
/* Whether reading that many bytes at the final address can fault. */
bool hodo_fetch_faults(const struct hodo_fetch *f, uint32_t bytes);

struct hodo_text;
/* In words: "rdi", "16(%rsp)", "rdi -> +24". */
void hodo_fetch_words(const struct hodo_fetch *f, struct hodo_text *to);
/* DWARF's number for a general register, from the instruction's: 0 to 15. */
unsigned hodo_fetch_general(unsigned number);
unsigned hodo_fetch_number(unsigned reg); /* and back */
/* The register with that name (with %), perhaps a part of one: %edi, %ah. False: none. */
bool hodo_fetch_register(struct hodo_fetch *f, const char *name, unsigned *bytes);
