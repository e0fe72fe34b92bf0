/* SPDX-License-Identifier: MIT */
/* fetch.c - makes fetch programs step by step, and puts them into words. */
#include "fetch.h"

#include <inttypes.h>

#include <base/text.h>
#include <elf/sdt.h>

/* Above the stack pointer are return addresses, and above the first of them the code that started the thread;
 * below it, the red zone. */
#define STACK_BELOW (-128)
#define STACK_ABOVE 2048
/* A frame pointer's frame is below it, its callers' above. */
#define FRAME_BELOW (-65536)
#define FRAME_ABOVE 2048

/* DWARF's numbers of registers, in the order of instruction encodings. */
static const uint8_t by_instruction[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

unsigned hodo_fetch_general(unsigned number)
{
	return by_instruction[number & 15];
}

unsigned hodo_fetch_number(unsigned reg)
{
	unsigned number = 0;

	while (number < 15 && by_instruction[number] != reg)
		number++;
	return number;
}

static bool push(struct hodo_fetch *f, struct hodo_fetch_step step)
{
	if (f->n == HODO_FETCH_STEPS_MAX)
		return false;
	f->step[f->n++] = step;
	return true;
}

bool hodo_fetch_start(struct hodo_fetch *f, enum hodo_fetch_op op, unsigned reg, int64_t number)
{
	if (op == HODO_FETCH_REGISTER && reg >= HODO_FETCH_REGISTERS)
		return false;
	*f = (struct hodo_fetch){ 0 };
	if (op == HODO_FETCH_REGISTER && reg == HODO_FETCH_RSP)
		hodo_fetch_mapped(f, STACK_BELOW, STACK_ABOVE);
	return push(f, (struct hodo_fetch_step){ .op = (uint8_t)op, .reg = (uint8_t)reg, .number = number });
}

bool hodo_fetch_add(struct hodo_fetch *f, int64_t number)
{
	struct hodo_fetch_step *last = f->n ? &f->step[f->n - 1] : NULL;

	if (!last || __builtin_add_overflow(f->distance, number, &f->distance))
		return false;
	if (!number)
		return true;
	if (last->op == HODO_FETCH_ADD || last->op == HODO_FETCH_CONSTANT || last->op == HODO_FETCH_ADDRESS) {
		last->number = (int64_t)((uint64_t)last->number + (uint64_t)number);
		f->n -= last->op == HODO_FETCH_ADD && !last->number;
		return true;
	}
	return push(f, (struct hodo_fetch_step){ .op = HODO_FETCH_ADD, .number = number });
}

bool hodo_fetch_index(struct hodo_fetch *f, unsigned reg, unsigned scale)
{
	f->low = f->high = 0;
	return f->n && reg < HODO_FETCH_RIP && (scale == 1 || scale == 2 || scale == 4 || scale == 8) &&
	       push(f, (struct hodo_fetch_step){ .op = HODO_FETCH_INDEX, .reg = (uint8_t)reg,
						 .bytes = (uint8_t)scale });
}

/* The number is no longer a known address. */
static bool forget(struct hodo_fetch *f)
{
	f->distance = f->low = f->high = 0;
	return f->n > 0;
}

bool hodo_fetch_and(struct hodo_fetch *f, uint64_t mask)
{
	return forget(f) && push(f, (struct hodo_fetch_step){ .op = HODO_FETCH_AND, .number = (int64_t)mask });
}

bool hodo_fetch_shift(struct hodo_fetch *f, unsigned bits)
{
	return forget(f) && bits < 64 && push(f, (struct hodo_fetch_step){ .op = HODO_FETCH_SHIFT, .number = bits });
}

void hodo_fetch_mapped(struct hodo_fetch *f, int64_t low, int64_t high)
{
	f->low = low;
	f->high = high;
}

void hodo_fetch_frame(struct hodo_fetch *f)
{
	hodo_fetch_mapped(f, FRAME_BELOW, FRAME_ABOVE);
}

bool hodo_fetch_faults(const struct hodo_fetch *f, uint32_t bytes)
{
	return f->distance < f->low || f->distance >= f->high || f->high - f->distance < (int64_t)bytes;
}

bool hodo_fetch_load(struct hodo_fetch *f, unsigned bytes, bool is_signed)
{
	struct hodo_fetch_step step = { .op = HODO_FETCH_LOAD, .bytes = (uint8_t)bytes, .is_signed = is_signed,
					.may_fault = hodo_fetch_faults(f, bytes) };

	return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && forget(f) && push(f, step);
}

bool hodo_fetch_bits(struct hodo_fetch *f, unsigned at, unsigned bits, bool is_signed)
{
	if (!f->n || !bits || at > 64 || bits > 64 - at)
		return false;
	forget(f);
	if (at == 0 && bits == 64)
		return true;
	return push(f, (struct hodo_fetch_step){ .op = HODO_FETCH_BITS, .at = (uint8_t)at, .bits = (uint8_t)bits,
						 .is_signed = is_signed });
}

/* ------------------------------------------------------------------------- words */

static const char *name_of(unsigned reg, char name[HODO_SDT_NAME_SIZE])
{
	struct hodo_sdt_register r = { HODO_SDT_GENERAL, (uint8_t)hodo_fetch_number(reg), 8, 0 };

	if (reg >= HODO_FETCH_XMM0)
		r = (struct hodo_sdt_register){ .kind = HODO_SDT_VECTOR, .number = (uint8_t)(reg - HODO_FETCH_XMM0) };
	else if (reg == HODO_FETCH_RIP)
		r.kind = HODO_SDT_RIP;
	return hodo_sdt_register_name(&r, name) + 1;
}

static void put_start(const struct hodo_fetch *f, unsigned *i, struct hodo_text *to)
{
	const struct hodo_fetch_step *first = &f->step[0], *next = first + 1;
	bool stack = first->op == HODO_FETCH_REGISTER && (first->reg == HODO_FETCH_RSP || first->reg == HODO_FETCH_RBP);
	int64_t n = f->n > 1 && next->op == HODO_FETCH_ADD ? next->number : 0;
	unsigned load = n ? 2 : 1;
	char name[HODO_SDT_NAME_SIZE];

	*i = 1;
	if (stack && f->n > load && f->step[load].op == HODO_FETCH_LOAD) {
		hodo_text_printf(to, "%.0" PRId64 "(%%%s)", n, name_of(first->reg, name));
		*i = load + 1;
	} else if (first->op == HODO_FETCH_REGISTER) {
		hodo_text_add(to, name_of(first->reg, name));
	} else if (first->op == HODO_FETCH_CONSTANT) {
		hodo_text_printf(to, "constant %" PRId64, first->number);
	} else if (first->op == HODO_FETCH_THREAD) {
		hodo_text_add(to, "fs");
	} else if (f->n > 1 && next->op == HODO_FETCH_LOAD) {
		hodo_text_printf(to, "(0x%" PRIx64 ")", (uint64_t)first->number);
		*i = 2;
	} else {
		hodo_text_printf(to, "0x%" PRIx64, (uint64_t)first->number);
	}
}

void hodo_fetch_words(const struct hodo_fetch *f, struct hodo_text *to)
{
	char name[HODO_SDT_NAME_SIZE];
	unsigned i = 0;

	if (f->n)
		put_start(f, &i, to);
	for (; i < f->n; i++) {
		const struct hodo_fetch_step *s = &f->step[i];
		int64_t n = s->op == HODO_FETCH_ADD ? s->number : 0;

		if (s->op == HODO_FETCH_ADD && i + 1 < f->n && f->step[i + 1].op == HODO_FETCH_LOAD)
			s = &f->step[++i];
		if (s->op == HODO_FETCH_LOAD)
			hodo_text_printf(to, " -> %+" PRId64, n);
		else if (s->op == HODO_FETCH_ADD)
			hodo_text_printf(to, " %c %" PRIu64, n < 0 ? '-' : '+', n < 0 ? -(uint64_t)n : (uint64_t)n);
		else if (s->op == HODO_FETCH_INDEX)
			hodo_text_printf(to, " + %s * %u", name_of(s->reg, name), s->bytes);
		else if (s->op == HODO_FETCH_AND)
			hodo_text_printf(to, " & 0x%" PRIx64, (uint64_t)s->number);
		else if (s->op == HODO_FETCH_SHIFT)
			hodo_text_printf(to, " << %" PRId64, s->number);
		else if (s->at || (s->bits != 8 && s->bits != 16 && s->bits != 32))
			hodo_text_printf(to, " bits %u..%u", s->at, s->at + s->bits - 1u);
	}
}

/* --------------------------------------------------------------- registers by name */

bool hodo_fetch_register(struct hodo_fetch *f, const char *name, unsigned *bytes)
{
	struct hodo_sdt_arg arg;
	const char *at = name;
	unsigned reg;

	/* The same names as in USDT operands. */
	if (!hodo_sdt_arg_next(&at, &arg) || arg.form != HODO_SDT_REGISTER)
		return false;
	if (arg.reg.kind == HODO_SDT_GENERAL && arg.reg.number < 16)
		reg = hodo_fetch_general(arg.reg.number);
	else if (arg.reg.kind == HODO_SDT_VECTOR && arg.reg.number < 16)
		reg = HODO_FETCH_XMM0 + arg.reg.number;
	else if (arg.reg.kind == HODO_SDT_RIP)
		reg = HODO_FETCH_RIP;
	else
		return false;
	*bytes = arg.reg.bytes < 8 ? arg.reg.bytes : 8;
	if (!hodo_fetch_start(f, HODO_FETCH_REGISTER, reg, 0))
		return false;
	return *bytes == 8 || hodo_fetch_bits(f, arg.reg.shift, 8 * *bytes, false);
}
