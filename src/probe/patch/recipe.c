/* SPDX-License-Identifier: MIT */
/* recipe.c - copies instructions to another address. A copy's length does not depend on where the slot is. */
#include "recipe.h"

#include <errno.h>
#include <string.h>

#define JUMP_BYTES      5u /* E9 rel32 */
#define JUMP_IF_BYTES   6u /* 0F 8x rel32 */
#define LOOP_MORE_BYTES 7u /* behind the loop: EB 05, E9 rel32 */
#define LITERAL_BYTES   8u
#define NOP             0x90

/* ------------------------------------------------------------------------- make */

static unsigned copy_bytes(const struct hodo_instruction *i)
{
	switch (i->kind) {
	case HODO_INSTRUCTION_JUMP: return JUMP_BYTES;
	case HODO_INSTRUCTION_JUMP_IF: return JUMP_IF_BYTES;
	case HODO_INSTRUCTION_LOOP: return i->length + LOOP_MORE_BYTES;
	case HODO_INSTRUCTION_CALL: return HODO_PROBE_PUSH_BYTES + JUMP_BYTES;
	case HODO_INSTRUCTION_CALL_REGISTER:
	case HODO_INSTRUCTION_CALL_POINTER: return HODO_PROBE_PUSH_BYTES + i->length;
	default: return i->length;
	}
}

/* Adds an address that the slot must reach. */
static void reach(struct hodo_probe_recipe *r, uint64_t address)
{
	r->low = address < r->low ? address : r->low;
	r->high = address > r->high ? address : r->high;
}

/* The offset in the slot of the copy of the instruction at that address; -1: not in the window. */
static int local(const struct hodo_probe_recipe *r, uint64_t address)
{
	for (unsigned k = 0; k < r->n; k++)
		if (address == r->addr + r->from[k])
			return r->at[k];
	return -1;
}

int hodo_probe_recipe_make(struct hodo_probe_recipe *r, const struct hodo_probe_window *w, uint64_t bias,
			   uint16_t hook_bytes)
{
	unsigned bytes = 0;

	if (w->kind == HODO_PROBE_NONE || hook_bytes > HODO_PROBE_HOOK_BYTES)
		return -EINVAL;
	*r = (struct hodo_probe_recipe){ .addr = w->addr + bias, .n = w->n, .len = w->len, .hooks = w->hooks,
					 .hook_bytes = hook_bytes, .back = true };
	r->low = r->high = r->addr;
	reach(r, r->addr + r->len);
	memcpy(r->code, w->bytes, sizeof(r->code));
	for (unsigned k = 0; k < r->n; k++) {
		struct hodo_instruction *i = &r->instruction[k];

		r->from[k] = w->at[k];
		if (!hodo_instruction_decode(i, r->code + w->at[k], r->len - w->at[k], r->addr + w->at[k]) ||
		    i->kind == HODO_INSTRUCTION_UNMOVABLE)
			return -EINVAL;
		r->at[k] = (uint16_t)bytes;
		bytes += (r->hooks >> k & 1 ? hook_bytes : 0) + copy_bytes(i);
		r->back = !hodo_instruction_ends(i) && !hodo_instruction_is_call(i);
		if (hodo_instruction_has_target(i) || i->disp)
			reach(r, i->target);
	}
	bytes += r->back ? JUMP_BYTES : 0;
	for (unsigned k = 0; k < r->n; k++)
		bytes += hodo_instruction_is_call(&r->instruction[k]) ? LITERAL_BYTES : 0;
	r->bytes = (uint16_t)bytes;
	return 0;
}

/* ------------------------------------------------------------------------- emit */

struct output {
	const struct hodo_probe_recipe *r;
	uint64_t slot;
	uint8_t *to;
	unsigned n, literal; /* where the next byte and the next literal go */
	bool too_far;
};

static void put(struct output *o, const void *bytes, size_t len)
{
	memcpy(o->to + o->n, bytes, len);
	o->n += (unsigned)len;
}

static void put_byte(struct output *o, uint8_t byte)
{
	put(o, &byte, 1);
}

/* The distance to an address from after these four bytes and `more` following ones. */
static void put_distance(struct output *o, uint64_t address, unsigned more)
{
	int64_t distance = (int64_t)(address - (o->slot + o->n + 4 + more));
	int32_t narrow = (int32_t)distance;

	o->too_far |= narrow != distance;
	put(o, &narrow, sizeof(narrow));
}

/* To a jump's target: within the window its copy, else the original. */
static void put_target(struct output *o, uint64_t target)
{
	int at = local(o->r, target);

	put_distance(o, at < 0 ? target : o->slot + (unsigned)at, 0);
}

static void put_push(struct output *o, uint64_t address)
{
	put(o, "\xff\x35", 2);
	put_distance(o, o->slot + o->literal, 0);
	memcpy(o->to + o->literal, &address, sizeof(address));
	o->literal += LITERAL_BYTES;
}

/* Unchanged except for its displacement. */
static void put_copy(struct output *o, const struct hodo_instruction *i, const uint8_t *code)
{
	if (!i->disp) {
		put(o, code, i->length);
		return;
	}
	put(o, code, i->disp);
	put_distance(o, i->target, i->length - i->disp - 4u);
	put(o, code + i->disp + 4, i->length - i->disp - 4u);
}

/* call becomes jmp: /2 in the ModRM byte becomes /4. */
static void put_jump_of_call(struct output *o, const struct hodo_instruction *i, const uint8_t *code)
{
	uint8_t *modrm = o->to + o->n + i->modrm;

	put_copy(o, i, code);
	*modrm = (uint8_t)((*modrm & ~0x38) | 4 << 3);
}

static void put_instruction(struct output *o, unsigned k)
{
	const struct hodo_instruction *i = &o->r->instruction[k];
	const uint8_t *code = o->r->code + o->r->from[k];
	uint64_t behind = o->r->addr + o->r->from[k] + i->length;

	switch (i->kind) {
	case HODO_INSTRUCTION_JUMP:
		put_byte(o, 0xe9);
		put_target(o, i->target);
		break;
	case HODO_INSTRUCTION_JUMP_IF:
		put_byte(o, 0x0f);
		put_byte(o, (uint8_t)(0x80 | (i->opcode & 15)));
		put_target(o, i->target);
		break;
	case HODO_INSTRUCTION_LOOP:
		put(o, code, i->length - 1u);
		put(o, "\x02\xeb\x05\xe9", 4); /* skips the jump for the loop's end, to the jump for its target */
		put_target(o, i->target);
		break;
	case HODO_INSTRUCTION_CALL:
		put_push(o, behind);
		put_byte(o, 0xe9);
		put_distance(o, i->target, 0);
		break;
	case HODO_INSTRUCTION_CALL_REGISTER:
	case HODO_INSTRUCTION_CALL_POINTER:
		put_push(o, behind);
		put_jump_of_call(o, i, code);
		break;
	default: put_copy(o, i, code); break;
	}
}

int hodo_probe_recipe_emit(const struct hodo_probe_recipe *r, uint64_t slot, uint8_t *to, hodo_probe_hook_fn hook,
			   void *arg)
{
	struct output o = { .r = r, .slot = slot, .to = to, .literal = r->bytes };

	for (unsigned k = 0; k < r->n; k++)
		o.literal -= hodo_instruction_is_call(&r->instruction[k]) ? LITERAL_BYTES : 0;
	for (unsigned k = 0; k < r->n; k++) {
		if (r->hooks >> k & 1) {
			size_t n = hook ? hook(arg, k, slot + o.n, to + o.n, r->hook_bytes) : 0;

			if (n > r->hook_bytes)
				return -EINVAL;
			memset(to + o.n + n, NOP, r->hook_bytes - n);
			o.n += r->hook_bytes;
		}
		put_instruction(&o, k);
	}
	if (r->back) {
		put_byte(&o, 0xe9);
		put_distance(&o, r->addr + r->len, 0);
	}
	return o.too_far ? -ERANGE : 0;
}

int hodo_probe_recipe_jump(const struct hodo_probe_recipe *r, uint64_t slot, uint8_t to[HODO_PROBE_JUMP_BYTES])
{
	int64_t distance = (int64_t)(slot - (r->addr + JUMP_BYTES));
	int32_t narrow = (int32_t)distance;

	to[0] = 0xe9;
	memcpy(to + 1, &narrow, sizeof(narrow));
	return narrow == distance ? 0 : -ERANGE;
}
