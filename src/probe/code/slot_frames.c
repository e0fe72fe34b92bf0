/* SPDX-License-Identifier: MIT */
/*
 * slot_frames.c - writes the descriptions of slots for unwinders.
 *
 * Between two instructions of the copy, everything is as in the program. In a hook, pushes and pops are
 * tracked: how far the stack pointer is from the program's, and which registers are on the stack. Register
 * numbers are those of instructions; DWARF's differ.
 */
#include "slot_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/vec.h>

#define BYTES_MAX  (512u << 20)
#define CIE_BYTES  24u
#define RSP        4u
#define REGISTERS  16u

enum { /* DWARF's */
	CFA_ADVANCE = 0x40, CFA_ADVANCE1 = 0x02, CFA_ADVANCE2 = 0x03, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0,
	CFA_DEF = 0x0c, CFA_DEF_OFFSET = 0x0e, CFA_VALUE = 0x16, OP_ADDRESS = 0x03, RETURN_COLUMN = 16,
	POINTER_ABSOLUTE = 0x00, POINTER_RELATIVE = 0x1b, POINTER_NONE = 0xff
};

/* A slot while it is described. */
struct slot {
	struct hodo_slot_frames *f;
	const uint8_t *code;
	uint32_t row;    /* where in the slot the last row begins */
	uint32_t depth;  /* bytes below the program's stack pointer; of the last row: */
	uint32_t row_depth;
	uint32_t saved[REGISTERS], row_saved[REGISTERS]; /* at which depth; 0: unchanged */
	int err;
};

/* ------------------------------------------------------------------------- bytes */

static void put(struct slot *s, const void *bytes, size_t len)
{
	struct hodo_slot_frames *f = s->f;

	if (!s->err)
		s->err = f->n + len > BYTES_MAX ? -E2BIG : hodo_vec_reserve(f->bytes, f->room, f->n + len);
	if (s->err)
		return;
	memcpy(f->bytes + f->n, bytes, len);
	f->n += (uint32_t)len;
}

static void put_byte(struct slot *s, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	put(s, &b, 1);
}

static void put32(struct slot *s, uint32_t number)
{
	put(s, &number, sizeof(number));
}

static void put64(struct slot *s, uint64_t number)
{
	put(s, &number, sizeof(number));
}

static void put_uleb(struct slot *s, uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		put_byte(s, 0x80 | (number & 0x7f));
	put_byte(s, number);
}

static void pad(struct slot *s, unsigned to)
{
	while (!s->err && s->f->n % to)
		put_byte(s, 0);
}

/* -------------------------------------------------------------------------- rows */

/* The next row begins at that byte of the slot. */
static void advance(struct slot *s, uint32_t at)
{
	uint32_t bytes = at - s->row;

	s->row = at;
	if (!bytes)
		return;
	if (bytes < 0x40) {
		put_byte(s, CFA_ADVANCE | bytes);
	} else if (bytes < 0x100) {
		put_byte(s, CFA_ADVANCE1);
		put_byte(s, bytes);
	} else {
		uint16_t wide = (uint16_t)bytes;

		put_byte(s, CFA_ADVANCE2);
		put(s, &wide, sizeof(wide));
	}
}

/* Where the program is. */
static void put_original(struct slot *s, uint32_t at, uint64_t original)
{
	advance(s, at);
	put_byte(s, CFA_VALUE);
	put_byte(s, RETURN_COLUMN);
	put_byte(s, 1 + sizeof(original));
	put_byte(s, OP_ADDRESS);
	put64(s, original);
}

/* Changes since the last row. */
static void put_stack(struct slot *s, uint32_t at)
{
	static const uint8_t dwarf[REGISTERS] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

	if (s->depth == s->row_depth && memcmp(s->saved, s->row_saved, sizeof(s->saved)) == 0)
		return;
	advance(s, at);
	if (s->depth != s->row_depth) {
		put_byte(s, CFA_DEF_OFFSET);
		put_uleb(s, s->depth);
	}
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (s->saved[i] == s->row_saved[i])
			continue;
		put_byte(s, (s->saved[i] ? CFA_OFFSET : CFA_RESTORE) | dwarf[i]);
		if (s->saved[i])
			put_uleb(s, s->saved[i] / 8);
	}
	s->row_depth = s->depth;
	memcpy(s->row_saved, s->saved, sizeof(s->saved));
}

/* ------------------------------------------------------------------------- hooks */

static void push(struct slot *s, unsigned reg)
{
	s->depth += 8;
	/* The first push has the program's value. */
	if (reg < REGISTERS && !s->saved[reg])
		s->saved[reg] = s->depth;
}

static void pop(struct slot *s, unsigned reg)
{
	if (reg < REGISTERS && s->saved[reg] == s->depth)
		s->saved[reg] = 0;
	s->depth -= 8;
}

static int32_t number_at(const uint8_t *p, unsigned bytes)
{
	int32_t number = (int8_t)p[0];

	if (bytes == sizeof(number))
		memcpy(&number, p, sizeof(number));
	return number;
}

/* The effect of a hook's instruction on the stack. */
static void follow(struct slot *s, const uint8_t *p, unsigned length)
{
	bool wide = p[0] == 0x41;
	unsigned opcode = p[wide], reg = (opcode & 7) | (wide ? 8u : 0);

	if (length == 1u + wide && opcode >> 3 == 0x50 >> 3)
		push(s, reg);
	else if (length == 1u + wide && opcode >> 3 == 0x58 >> 3)
		pop(s, reg);
	else if (length == 1 && p[0] == 0x9c) /* pushf */
		push(s, REGISTERS);
	else if (length == 1 && p[0] == 0x9d)
		pop(s, REGISTERS);
	else if (p[0] == 0x48 && p[1] == 0x8d && p[2] == 0x64 && p[3] == 0x24) /* lea disp(%rsp),%rsp */
		s->depth -= (uint32_t)number_at(p + 4, 1);
	else if (p[0] == 0x48 && p[1] == 0x8d && p[2] == 0xa4 && p[3] == 0x24)
		s->depth -= (uint32_t)number_at(p + 4, 4);
	else if (p[0] == 0x48 && (p[1] == 0x81 || p[1] == 0x83) && (p[2] == 0xec || p[2] == 0xc4)) /* sub, add */
		s->depth += (uint32_t)((p[2] == 0xec ? 1 : -1) * number_at(p + 3, p[1] == 0x83 ? 1 : 4));
}

static void follow_hook(struct slot *s, uint32_t from, uint32_t to)
{
	while (from < to) {
		struct hodo_instruction i;

		if (!hodo_instruction_decode(&i, s->code + from, to - from, 0))
			return;
		put_stack(s, from);
		follow(s, s->code + from, i.length);
		from += i.length;
	}
	s->depth = 0;
	memset(s->saved, 0, sizeof(s->saved));
	put_stack(s, to);
}

/* -------------------------------------------------------------------------- slots */

/* Common to all: at the first byte the stack is the program's. */
static void put_common(struct slot *s)
{
	static const uint8_t common[CIE_BYTES] = {
		CIE_BYTES - 4, 0, 0, 0, /* length */
		0, 0, 0, 0, /* it is one of these */
		1, 'z', 'R', 'S', 0,
		1, 0x78, RETURN_COLUMN, /* factors 1 and -8 */
		1, POINTER_ABSOLUTE,
		CFA_DEF, 7, 0,
	};

	if (!s->f->n)
		put(s, common, sizeof(common));
}

static void put_rows(struct slot *s, const struct hodo_probe_recipe *r)
{
	unsigned end = r->bytes;

	for (unsigned k = 0; k < r->n; k++) {
		unsigned at = r->at[k], copy = at + (r->hooks >> k & 1 ? r->hook_bytes : 0);
		uint64_t original = r->addr + r->from[k];

		put_original(s, at, original);
		follow_hook(s, at, copy);
		/* The address is pushed, then comes the jump. */
		if (hodo_instruction_is_call(&r->instruction[k])) {
			s->depth = 8;
			put_stack(s, copy + HODO_PROBE_PUSH_BYTES);
		}
	}
	if (r->back)
		put_original(s, end - HODO_PROBE_JUMP_BYTES, r->addr + r->len);
}

int hodo_slot_frames_add(struct hodo_slot_frames *f, const struct hodo_probe_recipe *r, uint64_t slot,
			 uint32_t number, const uint8_t *code)
{
	struct slot s = { .f = f, .code = code };
	struct hodo_slot_frame *frame = hodo_vec_add(f->list, f->nlist);
	uint32_t start, length;

	if (!frame)
		return -ENOMEM;
	put_common(&s);
	start = f->n;
	put32(&s, 0);
	put32(&s, start + 4); /* back to the common part */
	put64(&s, slot);
	put64(&s, r->bytes);
	put_byte(&s, 0);
	put_rows(&s, r);
	pad(&s, 4);
	length = f->n - start - 4;
	put32(&s, 0);
	pad(&s, 4);
	*frame = (struct hodo_slot_frame){ slot, r->bytes, f->n, number };
	put(&s, (const uint8_t[4]){ 1, POINTER_RELATIVE, POINTER_NONE, POINTER_NONE }, 4);
	put32(&s, start - f->n);
	if (!s.err)
		memcpy(f->bytes + start, &length, sizeof(length));
	return s.err;
}

void hodo_slot_frames_sort(struct hodo_slot_frames *f)
{
	hodo_order_sort(f->list, f->nlist, hodo_order_u64);
}

void hodo_slot_frames_free(struct hodo_slot_frames *f)
{
	free(f->bytes);
	free(f->list);
}
