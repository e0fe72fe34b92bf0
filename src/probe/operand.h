/* SPDX-License-Identifier: MIT */
/*
 * operand.h - where a value is at an instruction: a number, a register, or memory that the program itself could read
 * there. From such values a slot makes an event (event_code.h).
 */
#ifndef HODO_PROBE_OPERAND_H
#define HODO_PROBE_OPERAND_H

#include <elf/sdt.h>
#include <stdbool.h>
#include <stdint.h>

#define HODO_PROBE_OPERANDS_MAX 32u
#define HODO_PROBE_NO_REGISTER 0xff

enum hodo_probe_form {
	HODO_PROBE_CONSTANT, /* offset */
	HODO_PROBE_REGISTER, /* base, its bits from shift on */
	HODO_PROBE_VECTOR,   /* base: the lowest bytes of xmm0 … xmm15 */
	HODO_PROBE_MEMORY    /* at segment : offset + base + index * scale */
};

/* Registers are numbered as instructions have them: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 8, … */
struct hodo_probe_operand {
	uint8_t form;  /* enum hodo_probe_form */
	uint8_t type;  /* enum hodo_type: a number */
	uint8_t bytes; /* of it: 1, 2, 4, 8 */
	uint8_t base, index; /* HODO_PROBE_NO_REGISTER: none */
	uint8_t scale, shift;
	bool fs;       /* of MEMORY: relative to fs, the thread's */
	int64_t offset;
	char name[16]; /* of the field */
};

/*
 * What a static probe's argument is, which is the n-th, from 1. bias: of its object, for addresses. False: it is not
 * understood, or has a symbol, whose place the file does not say.
 */
bool hodo_probe_operand_sdt(struct hodo_probe_operand *v, const struct hodo_sdt_arg *arg, unsigned n, uint64_t bias);

#endif
