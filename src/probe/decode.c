/* SPDX-License-Identifier: MIT */
/*
 * decode.c - each function's instructions, from its begin to its end, once: what is found is kept as marks of the
 * bytes. Between the functions only what fills gaps is looked at: nop and int3.
 */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>

#include <base/vec.h>
#include <core/search.h>

#define LOCK_PREFIX 0xf0

static int add_exit(struct hodo_probe_object *o, uint64_t addr, uint32_t function, enum hodo_probe_leave leave)
{
	struct hodo_probe_exit *x = hodo_vec_add(o->exits, o->nexits);

	if (!x)
		return -ENOMEM;
	*x = (struct hodo_probe_exit){ .addr = addr, .function = function, .leave = (uint8_t)leave };
	o->functions[function].nexits++;
	return 0;
}

/* Whether the address, which a jump leads to, is of another function, and not of a part of this one. */
static bool is_elsewhere(const struct hodo_probe_object *o, uint32_t function, uint64_t target)
{
	const struct hodo_probe_function *f = &o->functions[function], *to;

	if (target >= f->start && target < f->end)
		return false;
	to = hodo_probe_function_at(o, target);
	/* A part goes back into its function, and that to the part: neither leaves the call. */
	return !to || to->reason == HODO_PROBE_PLT || (!to->part && to->start == target);
}

static int take(struct hodo_probe_object *o, uint32_t function, const struct hodo_instruction *i, uint64_t addr,
		struct hodo_probe_tables *tables)
{
	if (hodo_instruction_has_target(i) && (i->kind != HODO_INSTRUCTION_CALL || i->target != tables->start))
		hodo_probe_mark(o, i->target, i->target + 1, HODO_PROBE_MARK_TARGET);
	switch (i->kind) {
	case HODO_INSTRUCTION_RETURN: return add_exit(o, addr, function, HODO_PROBE_RETURN);
	case HODO_INSTRUCTION_JUMP:
		return is_elsewhere(o, function, i->target) ? add_exit(o, addr, function, HODO_PROBE_TAIL) : 0;
	case HODO_INSTRUCTION_JUMP_MEMORY:
		tables->jumps |= i->indexed;
		if (i->absolute)
			hodo_probe_tables_add(tables, (uint64_t)(int64_t)i->table);
		return i->indexed || i->notrack ? 0 : add_exit(o, addr, function, HODO_PROBE_TAIL_INDIRECT);
	case HODO_INSTRUCTION_JUMP_REGISTER:
		tables->jumps = true;
		return i->notrack ? 0 : add_exit(o, addr, function, HODO_PROBE_TAIL_INDIRECT);
	default:
		if (!i->disp || i->opcode != 0x8d) /* lea */
			return 0;
		/* A label of its own, to jump to or to reckon from. */
		if (i->target > tables->start && i->target < tables->end)
			o->functions[function].labels = true;
		else
			hodo_probe_tables_add(tables, i->target);
		return 0;
	}
}

/* Jumps through registers are those of the tables, where there are any: they lead on in the function. */
static void drop_table_jumps(struct hodo_probe_object *o, struct hodo_probe_function *f)
{
	uint32_t n = f->exit;

	for (uint32_t i = f->exit; i < o->nexits; i++)
		if (o->exits[i].leave != HODO_PROBE_TAIL_INDIRECT)
			o->exits[n++] = o->exits[i];
	f->nexits -= o->nexits - n;
	o->nexits = n;
}

static int decode_function(struct hodo_probe_object *o, uint32_t function, const struct hodo_elf *e)
{
	struct hodo_probe_function *f = &o->functions[function];
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);
	struct hodo_probe_tables tables = { .e = e, .segment = s, .start = f->start, .end = f->end };
	struct hodo_instruction i;
	int err = 0;

	f->exit = o->nexits;
	f->nexits = 0;
	if (f->reason || !s || f->end > s->end)
		return 0;
	for (uint64_t at = f->start; at < f->end && !err; at += i.length) {
		if (!hodo_instruction_decode(&i, s->bytes + (at - s->start), f->end - at, at)) {
			f->unsure = true;
			break;
		}
		s->marks[at - s->start] |= i.length;
		o->ninstructions++;
		err = take(o, function, &i, at, &tables);
	}
	if (!err && tables.jumps && (hodo_probe_tables_mark(&tables) || f->labels))
		drop_table_jumps(o, f);
	return err;
}

/* What fills the gap behind it: decoded, since a window may reach into it. */
static void decode_gap(struct hodo_probe_object *o, uint32_t function)
{
	struct hodo_probe_function *f = &o->functions[function];
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);
	uint64_t end = function + 1 < o->nfunctions ? o->functions[function + 1].start : f->end + 16;
	struct hodo_instruction i;

	if (!s || f->end > s->end)
		return;
	end = end < s->end ? end : s->end;
	while (f->room < end && f->room - f->end < 16) {
		uint64_t at = f->room - s->start;

		if (!hodo_instruction_decode(&i, s->bytes + at, end - f->room, f->room) ||
		    (i.kind != HODO_INSTRUCTION_NOP && i.kind != HODO_INSTRUCTION_BREAKPOINT))
			return;
		s->marks[at] |= i.length;
		f->room += i.length;
	}
}

/*
 * A jump that leads to where no instruction begins says that data stands in the function, or code that another decoder
 * sees otherwise. One behind a lock prefix is usual, and is of the same instruction.
 */
static bool is_sure(const struct hodo_probe_segment *s, const struct hodo_probe_function *f)
{
	const uint8_t *marks = s->marks - s->start, *bytes = s->bytes - s->start;

	for (uint64_t at = f->start + 1; at < f->end; at++)
		if ((marks[at] & (HODO_PROBE_MARK_TARGET | HODO_PROBE_MARK_LENGTH)) == HODO_PROBE_MARK_TARGET &&
		    !((marks[at - 1] & HODO_PROBE_MARK_LENGTH) && bytes[at - 1] == LOCK_PREFIX))
			return false;
	return true;
}

int hodo_probe_object_decode(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	int err = 0;

	hodo_probe_functions_sort(o);
	for (uint32_t i = 0; i < o->nfunctions && !err; i++)
		err = decode_function(o, i, e);
	for (uint32_t i = 0; i < o->nfunctions && !err; i++) {
		struct hodo_probe_function *f = &o->functions[i];
		const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);

		decode_gap(o, i);
		if (s && f->end <= s->end && !f->reason && !is_sure(s, f))
			f->unsure = true;
	}
	return err;
}
