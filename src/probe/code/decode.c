/* SPDX-License-Identifier: MIT */
/*
 * decode.c - decodes each function's instructions once, from its start to its end, and keeps the results as
 * marks on the bytes. Between functions, it only looks for padding: nop and int3.
 */
#include "code_impl.h"

#define LOCK_PREFIX 0xf0
#define LEA         0x8d

/* Notes what the instruction tells about other places. */
static void note(struct hodo_probe_object *o, uint32_t function, const struct hodo_instruction *i,
		 struct hodo_probe_tables *tables)
{
	if (hodo_instruction_has_target(i) && (i->kind != HODO_INSTRUCTION_CALL || i->target != tables->start))
		hodo_probe_mark(o, i->target, i->target + 1, HODO_PROBE_MARK_TARGET);
	if (i->kind == HODO_INSTRUCTION_JUMP_REGISTER || (i->kind == HODO_INSTRUCTION_JUMP_MEMORY && i->indexed))
		tables->jumps = true;
	if (i->absolute)
		hodo_probe_tables_add(tables, (uint64_t)(int64_t)i->table);
	if (i->kind != HODO_INSTRUCTION_PLAIN || !i->disp || i->opcode != LEA)
		return;
	/* A label in the function, a jump target or a base for computations. */
	if (i->target > tables->start && i->target < tables->end)
		o->functions[function].labels = true;
	else
		hodo_probe_tables_add(tables, i->target);
}

static int decode_function(struct hodo_probe_object *o, uint32_t function, const struct hodo_elf *e)
{
	struct hodo_probe_function *f = &o->functions[function];
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);
	struct hodo_probe_tables tables = { .o = o, .e = e, .segment = s, .start = f->start, .end = f->end,
					    .since = f->start };
	struct hodo_instruction i;
	bool ended = false;
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
		/* Padding belongs to what follows: execution does not continue from here to there. */
		if (ended && i.kind == HODO_INSTRUCTION_NOP)
			continue;
		if (ended)
			tables.since = at;
		note(o, function, &i, &tables);
		err = hodo_probe_exits_take(o, function, &i, at, &tables);
		ended = hodo_instruction_ends(&i) ||
			(i.kind == HODO_INSTRUCTION_UNMOVABLE && i.reason == HODO_PROBE_UNDEFINED);
	}
	if (!err && tables.jumps && (hodo_probe_tables_mark(&tables) || f->labels))
		hodo_probe_exits_drop_tables(o, f);
	return err;
}

/* The padding after it is decoded, since a window may extend into it. */
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
 * A jump to a place where no instruction begins shows that the function contains data, or code that decodes
 * differently. A jump past a lock prefix is usual, and targets the same instruction.
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
	if (!err)
		hodo_probe_exits_settle(o);
	return err;
}
