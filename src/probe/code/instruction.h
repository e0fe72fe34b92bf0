/* SPDX-License-Identifier: MIT */
/*
 * instruction.h - what matters when a 64-bit x86 instruction is moved: its length, where it may continue, and
 * what depends on its address. Bytes are hostile: they may not be an instruction. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <probe/patch/reason.h>

#define HODO_INSTRUCTION_MAX 15u /* bytes */

enum hodo_instruction_kind {
	HODO_INSTRUCTION_PLAIN, /* goes on behind itself */
	HODO_INSTRUCTION_NOP,
	HODO_INSTRUCTION_ENDBR,
	HODO_INSTRUCTION_RETURN,
	HODO_INSTRUCTION_JUMP,
	HODO_INSTRUCTION_JUMP_IF,
	HODO_INSTRUCTION_LOOP, /* loop…, jrcxz: they have no form with 32 bits */
	HODO_INSTRUCTION_JUMP_REGISTER,
	HODO_INSTRUCTION_JUMP_MEMORY,
	HODO_INSTRUCTION_CALL,
	HODO_INSTRUCTION_CALL_REGISTER,
	HODO_INSTRUCTION_CALL_POINTER, /* through memory at an address relative to rip */
	HODO_INSTRUCTION_SYSCALL,
	HODO_INSTRUCTION_BREAKPOINT,
	HODO_INSTRUCTION_UNMOVABLE /* the reason says why */
};

struct hodo_instruction {
	uint8_t length;
	uint8_t kind;   /* enum hodo_instruction_kind */
	uint8_t reason; /* of one that cannot be moved; else HODO_PROBE_FINE */
	uint8_t disp;   /* offset of the displacement from rip, 4 bytes; 0: none */
	uint8_t modrm;  /* offset of the ModRM byte; 0: none */
	uint8_t opcode;
	bool notrack;   /* it has the prefix for jumps through tables */
	bool indexed;   /* of JUMP_MEMORY, and of loads: the address has an index, as for a table */
	bool absolute;  /* the address has only an index and a 32-bit number, `table` */
	int32_t table;
	uint64_t target; /* the address of a branch or a displacement */
};

/* Decodes the first instruction of the len bytes at the address. False: not an instruction. */
bool hodo_instruction_decode(struct hodo_instruction *i, const uint8_t *bytes, size_t len, uint64_t address);

/* Whether it may change the register, 0 to 15 as in instructions, or a part of it. Slower. */
bool hodo_instruction_writes(const uint8_t *bytes, size_t len, unsigned reg);

static inline bool hodo_instruction_has_target(const struct hodo_instruction *i)
{
	return i->kind == HODO_INSTRUCTION_JUMP || i->kind == HODO_INSTRUCTION_JUMP_IF ||
	       i->kind == HODO_INSTRUCTION_LOOP || i->kind == HODO_INSTRUCTION_CALL;
}

static inline bool hodo_instruction_is_call(const struct hodo_instruction *i)
{
	return i->kind == HODO_INSTRUCTION_CALL || i->kind == HODO_INSTRUCTION_CALL_REGISTER ||
	       i->kind == HODO_INSTRUCTION_CALL_POINTER ||
	       (i->kind == HODO_INSTRUCTION_UNMOVABLE &&
		(i->reason == HODO_PROBE_CALL_STACK || i->reason == HODO_PROBE_CALL_MEMORY));
}

/* Never continues after itself. */
static inline bool hodo_instruction_ends(const struct hodo_instruction *i)
{
	return i->kind == HODO_INSTRUCTION_RETURN || i->kind == HODO_INSTRUCTION_JUMP ||
	       i->kind == HODO_INSTRUCTION_JUMP_REGISTER || i->kind == HODO_INSTRUCTION_JUMP_MEMORY;
}
