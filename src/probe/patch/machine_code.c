/* SPDX-License-Identifier: MIT */
/*
 * machine_code.c - writes fetch programs as instructions. Until something is computed, the number is disp(base): one of
 * the program's registers plus a constant, so that a load through it is one instruction.
 */
#include "machine_code.h"

#include <string.h>

struct number {
	unsigned base;
	int32_t disp;
};

void hodo_code_put(struct hodo_machine_code *c, const void *bytes, size_t len)
{
	if (len <= c->room - c->n)
		memcpy(c->to + c->n, bytes, len);
	else
		c->room = c->n = 0; /* from now on nothing fits */
	c->n += c->room ? len : 0;
}

static void put_byte(struct hodo_machine_code *c, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	hodo_code_put(c, &b, 1);
}

void hodo_code_put32(struct hodo_machine_code *c, int64_t number)
{
	int32_t n = (int32_t)number;

	hodo_code_put(c, &n, sizeof(n));
}

void hodo_code_put_distance(struct hodo_machine_code *c, uint64_t target)
{
	hodo_code_put32(c, (int64_t)(target - (c->address + c->n + 4)));
}

/* An instruction of one or two bytes (0x0f..) with a register and memory at disp(base). prefix: 0: none. */
static void put_memory(struct hodo_machine_code *c, unsigned prefix, bool wide, unsigned opcode, unsigned reg,
		       unsigned base, int64_t disp)
{
	if (prefix)
		put_byte(c, prefix);
	put_byte(c, 0x40 | (wide ? 8u : 0) | (reg & 8) >> 1 | (base & 8) >> 3);
	if (opcode > 0xff)
		put_byte(c, opcode >> 8);
	put_byte(c, opcode & 0xff);
	put_byte(c, 0x80 | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == HODO_CODE_RSP)
		put_byte(c, 0x24);
	hodo_code_put32(c, disp);
}

void hodo_code_constant(struct hodo_machine_code *c, unsigned reg, int64_t number)
{
	if (number == (int32_t)number) {
		put_byte(c, 0x48 | reg >> 3);
		put_byte(c, 0xc7);
		put_byte(c, 0xc0 | (reg & 7));
		hodo_code_put32(c, number);
		return;
	}
	put_byte(c, 0x48 | reg >> 3);
	put_byte(c, 0xb8 | (reg & 7));
	hodo_code_put(c, &number, sizeof(number));
}

/* hodo_code_constant() to rax, but with a fixed length, which must not depend on the object's address. */
static void put_address(struct hodo_machine_code *c, uint64_t address)
{
	hodo_code_put(c, "\x48\xb8", 2);
	hodo_code_put(c, &address, sizeof(address));
}

void hodo_code_store(struct hodo_machine_code *c, unsigned reg, unsigned bytes, unsigned disp)
{
	put_memory(c, bytes == 2 ? 0x66 : 0, bytes == 8, bytes == 1 ? 0x88 : 0x89, reg, HODO_CODE_RSP, disp);
}

void hodo_code_load(struct hodo_machine_code *c, unsigned reg, unsigned disp)
{
	put_memory(c, 0, true, 0x8b, reg, HODO_CODE_RSP, disp);
}

void hodo_code_store_vector(struct hodo_machine_code *c, unsigned reg, unsigned bytes, unsigned disp)
{
	put_memory(c, 0x66, bytes == 8, 0x0f7e, reg, HODO_CODE_RSP, disp);
}

void hodo_code_read(struct hodo_machine_code *c, unsigned disp, uint32_t what)
{
	put_memory(c, 0, true, 0x8d, HODO_CODE_R10, HODO_CODE_RSP, disp);
	if (what) {
		hodo_code_put(c, "\x41\xbb", 2); /* mov $what,%r11d */
		hodo_code_put32(c, (int32_t)what);
	}
	hodo_code_put(c, "\xff\x15", 2);
	hodo_code_put_distance(c, c->read);
}

/* ------------------------------------------------------------------------- steps */

/* Where a register is saved that no longer has the program's value; 0: it has. */
static bool is_saved(const struct hodo_machine_code *c, unsigned number, unsigned *at)
{
	*at = c->frame + (number == HODO_CODE_RAX ? HODO_SAVED_RAX : number == HODO_CODE_R10 ? HODO_SAVED_R10 :
			  HODO_SAVED_R11);
	return number == HODO_CODE_RAX || number == HODO_CODE_R10 || number == HODO_CODE_R11;
}

static int32_t stack(const struct hodo_machine_code *c)
{
	return (int32_t)(c->frame + HODO_SAVED_BYTES + HODO_SAVED_RED_ZONE);
}

static const struct number in_rax = { HODO_CODE_RAX, 0 };

/* To rax. */
static void settle(struct hodo_machine_code *c, struct number *n)
{
	if (n->disp || n->base == HODO_CODE_RSP) {
		put_memory(c, 0, true, 0x8d, HODO_CODE_RAX, n->base, n->disp);
	} else if (n->base != HODO_CODE_RAX) {
		put_byte(c, 0x48 | (n->base & 8) >> 1); /* mov %base,%rax */
		put_byte(c, 0x89);
		put_byte(c, 0xc0 | (n->base & 7) << 3);
	}
	*n = in_rax;
}

static struct number start(struct hodo_machine_code *c, const struct hodo_fetch_step *s)
{
	unsigned number, at;

	if (s->op == HODO_FETCH_CONSTANT) {
		hodo_code_constant(c, HODO_CODE_RAX, s->number);
	} else if (s->op == HODO_FETCH_ADDRESS) {
		put_address(c, (uint64_t)s->number + c->bias);
	} else if (s->op == HODO_FETCH_THREAD) {
		hodo_code_put(c, "\x64\x48\x8b\x04\x25\0\0\0\0", 9); /* mov %fs:0,%rax: the thread's own address */
	} else if (s->reg == HODO_FETCH_RIP) {
		put_address(c, c->pc);
	} else if (s->reg >= HODO_FETCH_XMM0) {
		number = s->reg - HODO_FETCH_XMM0;
		put_byte(c, 0x66); /* movq %xmm,%rax */
		put_byte(c, 0x48 | (number & 8) >> 1);
		hodo_code_put(c, "\x0f\x7e", 2);
		put_byte(c, 0xc0 | (number & 7) << 3);
	} else {
		number = hodo_fetch_number(s->reg);
		if (!is_saved(c, number, &at))
			return (struct number){ number, number == HODO_CODE_RSP ? stack(c) : 0 };
		hodo_code_load(c, HODO_CODE_RAX, at);
	}
	return in_rax;
}

/* An operation of rax with a number: opcode with 32 bits, or the one with r11 on rax. */
static void operate(struct hodo_machine_code *c, int64_t number, unsigned with_number, unsigned with_r11)
{
	if (number != (int32_t)number)
		hodo_code_constant(c, HODO_CODE_R11, number);
	put_byte(c, number != (int32_t)number ? 0x4c : 0x48);
	if (number != (int32_t)number) {
		put_byte(c, with_r11);
		put_byte(c, 0xd8);
		return;
	}
	put_byte(c, with_number);
	hodo_code_put32(c, number);
}

static void add(struct hodo_machine_code *c, struct number *n, int64_t number)
{
	int32_t sum;

	if (number == (int32_t)number && !__builtin_add_overflow(n->disp, (int32_t)number, &sum)) {
		n->disp = sum;
		return;
	}
	settle(c, n);
	operate(c, number, 0x05, 0x01);
}

/* rax + reg * scale */
static void put_index(struct hodo_machine_code *c, const struct hodo_fetch_step *s)
{
	unsigned number = hodo_fetch_number(s->reg), at;

	if (number == HODO_CODE_RSP)
		put_memory(c, 0, true, 0x8d, HODO_CODE_R11, HODO_CODE_RSP, stack(c));
	else if (is_saved(c, number, &at))
		hodo_code_load(c, HODO_CODE_R11, at);
	if (number == HODO_CODE_RSP || is_saved(c, number, &at))
		number = HODO_CODE_R11;
	put_byte(c, 0x48 | (number & 8) >> 2);
	hodo_code_put(c, "\x8d\x04", 2); /* lea (%rax,%index,scale),%rax */
	put_byte(c, (unsigned)__builtin_ctz(s->bytes) << 6 | (number & 7) << 3);
}

/* Loads bytes at disp(base), extended to 64 bits in rax. */
static void extend(struct hodo_machine_code *c, unsigned bytes, bool is_signed, unsigned base, int64_t disp)
{
	static const unsigned opcodes[2][9] = { { [1] = 0x0fb6, [2] = 0x0fb7, [4] = 0x8b, [8] = 0x8b },
						{ [1] = 0x0fbe, [2] = 0x0fbf, [4] = 0x63, [8] = 0x8b } };

	put_memory(c, 0, bytes == 8 || is_signed, opcodes[is_signed][bytes], HODO_CODE_RAX, base, disp);
}

static void load(struct hodo_machine_code *c, struct number *n, const struct hodo_fetch_step *s)
{
	if (!s->may_fault) {
		extend(c, s->bytes, s->is_signed, n->base, n->disp);
		*n = in_rax;
		return;
	}
	settle(c, n);
	hodo_code_read(c, c->scratch, s->bytes);
	hodo_code_put(c, "\x83\xf8", 2); /* cmp $bytes,%eax; jne */
	put_byte(c, s->bytes);
	hodo_code_put(c, "\x0f\x85", 2);
	c->fails[c->nfails++] = (uint16_t)c->n;
	hodo_code_put32(c, 0);
	extend(c, s->bytes, s->is_signed, HODO_CODE_RSP, c->scratch);
}

static void put_bits(struct hodo_machine_code *c, const struct hodo_fetch_step *s)
{
	unsigned left = 64u - s->at - s->bits, right = 64u - s->bits;

	hodo_code_put(c, "\x48\xc1\xe0", 3); /* shl; sar or shr */
	put_byte(c, left);
	hodo_code_put(c, s->is_signed ? "\x48\xc1\xf8" : "\x48\xc1\xe8", 3);
	put_byte(c, right);
}

unsigned hodo_code_fetch(struct hodo_machine_code *c, const struct hodo_fetch *f, unsigned bytes)
{
	struct number n = start(c, &f->step[0]);
	unsigned steps = f->n;
	const struct hodo_fetch_step *last = &f->step[steps - 1];

	c->nfails = 0;
	if (last->op == HODO_FETCH_BITS && !last->at && last->bits >= 8 * bytes)
		steps--; /* the bits that it cuts off are not stored */
	for (unsigned i = 1; i < steps; i++) {
		const struct hodo_fetch_step *s = &f->step[i];

		if (s->op == HODO_FETCH_ADD) {
			add(c, &n, s->number);
			continue;
		}
		if (s->op == HODO_FETCH_LOAD) {
			load(c, &n, s);
			continue;
		}
		settle(c, &n);
		if (s->op == HODO_FETCH_INDEX) {
			put_index(c, s);
		} else if (s->op == HODO_FETCH_AND) {
			operate(c, s->number, 0x25, 0x21);
		} else if (s->op == HODO_FETCH_SHIFT) {
			hodo_code_put(c, "\x48\xc1\xe0", 3);
			put_byte(c, (unsigned)s->number);
		} else {
			put_bits(c, s);
		}
	}
	if (n.disp || n.base == HODO_CODE_RSP)
		settle(c, &n);
	return n.base;
}

void hodo_code_failed(struct hodo_machine_code *c, int32_t number)
{
	if (!c->nfails)
		return;
	hodo_code_put(c, "\xeb\x07", 2); /* skips the next instruction */
	for (unsigned i = 0; i < c->nfails && c->room; i++) {
		int32_t distance = (int32_t)(c->n - (c->fails[i] + 4u));

		memcpy(c->to + c->fails[i], &distance, sizeof(distance));
	}
	hodo_code_constant(c, HODO_CODE_RAX, number);
	c->nfails = 0;
}
