/* SPDX-License-Identifier: MIT */
/*
 * exits.c - where a call of a function ends: at its returns, and where it jumps to another function. Some
 * parts of functions have frames that begin like functions'; only all jumps together reveal them.
 */
#include "code_impl.h"

#include <errno.h>
#include <string.h>

#include <base/vec.h>

static int add(struct hodo_probe_object *o, uint64_t addr, uint32_t function, uint64_t since,
	       enum hodo_probe_leave leave)
{
	struct hodo_probe_exit *x;

	if (o->nexits == HODO_PROBE_EXITS_MAX)
		return 0;
	x = hodo_vec_add(o->exits, o->nexits);
	if (!x)
		return -ENOMEM;
	*x = (struct hodo_probe_exit){ .addr = addr, .function = function, .since = (uint32_t)(addr - since),
				       .leave = (uint8_t)leave };
	o->functions[function].nexits++;
	return 0;
}

/* The function that begins at the address, unless it is the one that contains the jump. */
static struct hodo_probe_function *begins_at(const struct hodo_probe_object *o, uint32_t function, uint64_t address)
{
	const struct hodo_probe_function *f = &o->functions[function];

	if (address >= f->start && address < f->end)
		return NULL;
	f = hodo_probe_function_at(o, address);
	return f && f->start == address ? &o->functions[f - o->functions] : NULL;
}

/* Whether a jump's target is in another function, and not in a part of this one. */
static bool is_elsewhere(const struct hodo_probe_object *o, const struct hodo_probe_function *f, uint64_t target)
{
	const struct hodo_probe_function *to;

	if (target >= f->start && target < f->end)
		return false;
	to = hodo_probe_function_at(o, target);
	/* A part jumps back into its function, and the function to the part: neither leaves the call. */
	return !to || to->reason == HODO_PROBE_PLT || (!to->part && to->start == target);
}

#define SITE_BACK_BYTES 7u /* lea back(%rip),%r10 */
#define SITE_BACK_MAX   64

/*
 * Whether it is an event's jump, which returns after it: hodo/trace_user.h. It is no exit, and the place where it
 * returns is reached, although the instruction before that never goes on.
 */
static bool is_site(struct hodo_probe_object *o, uint32_t function, uint64_t addr)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, addr);
	const uint8_t *lea = s->bytes + (addr - s->start) - SITE_BACK_BYTES;
	int32_t distance;

	if (addr - o->functions[function].start < SITE_BACK_BYTES || memcmp(lea, "\x4c\x8d\x15", 3) != 0)
		return false;
	memcpy(&distance, lea + 3, sizeof(distance));
	if (distance <= 0 || distance > SITE_BACK_MAX)
		return false;
	hodo_probe_mark(o, addr + (uint64_t)distance, addr + (uint64_t)distance + 1, HODO_PROBE_MARK_TARGET);
	return true;
}

int hodo_probe_exits_take(struct hodo_probe_object *o, uint32_t function, const struct hodo_instruction *i,
			  uint64_t addr, const struct hodo_probe_tables *tables)
{
	struct hodo_probe_function *to = NULL;

	switch (i->kind) {
	case HODO_INSTRUCTION_RETURN: return add(o, addr, function, tables->since, HODO_PROBE_RETURN);
	case HODO_INSTRUCTION_JUMP:
		if (!is_elsewhere(o, &o->functions[function], i->target))
			return 0;
		return add(o, addr, function, tables->since, HODO_PROBE_TAIL);
	case HODO_INSTRUCTION_JUMP_REGISTER:
	case HODO_INSTRUCTION_JUMP_MEMORY:
		if (is_site(o, function, addr) || i->notrack || i->indexed)
			return 0;
		return add(o, addr, function, tables->since, HODO_PROBE_TAIL_INDIRECT);
	case HODO_INSTRUCTION_JUMP_IF:
		to = begins_at(o, function, i->target);
		if (to)
			to->branched = true;
		return 0;
	default:
		if (i->kind == HODO_INSTRUCTION_CALL || i->disp)
			to = begins_at(o, function, i->target);
		if (to)
			to->entered = true;
		return 0;
	}
}

void hodo_probe_exits_drop_tables(struct hodo_probe_object *o, struct hodo_probe_function *f)
{
	uint32_t n = f->exit;

	for (uint32_t i = f->exit; i < o->nexits; i++)
		if (o->exits[i].leave != HODO_PROBE_TAIL_INDIRECT)
			o->exits[n++] = o->exits[i];
	f->nexits -= o->nexits - n;
	o->nexits = n;
}

/* A jump to what turned out to be a part of the function is not an exit. */
static bool is_exit(const struct hodo_probe_object *o, const struct hodo_probe_exit *x)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, x->addr);
	struct hodo_instruction i;

	return x->leave != HODO_PROBE_TAIL ||
	       !hodo_instruction_decode(&i, s->bytes + (x->addr - s->start), s->end - x->addr, x->addr) ||
	       is_elsewhere(o, &o->functions[x->function], i.target);
}

/*
 * Code after an instruction that never continues is only reached by jumps: one must lead to it, or it may be
 * data.
 */
static bool is_reached(const struct hodo_probe_object *o, const struct hodo_probe_exit *x)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, x->addr);
	uint64_t since = x->addr - x->since;

	if (since == o->functions[x->function].start)
		return true;
	for (uint64_t at = since; at <= x->addr; at++)
		if (s->marks[at - s->start] & HODO_PROBE_MARK_TARGET)
			return true;
	return false;
}

void hodo_probe_exits_settle(struct hodo_probe_object *o)
{
	uint32_t n = 0;

	/* No compiler turns a call into a conditional jump if nothing else leads to the function. */
	for (uint32_t i = 0; i < o->nfunctions; i++)
		o->functions[i].part |= o->functions[i].branched && !o->functions[i].entered;
	for (uint32_t i = 0; i < o->nfunctions; i++) {
		struct hodo_probe_function *f = &o->functions[i];
		uint32_t first = f->exit, all = f->nexits;

		f->exit = n;
		f->nexits = 0;
		for (uint32_t k = first; k < first + all; k++) {
			if (!is_exit(o, &o->exits[k]))
				continue;
			o->exits[n] = o->exits[k];
			o->exits[n].unsure = !is_reached(o, &o->exits[n]);
			n++;
			f->nexits++;
		}
	}
	o->nexits = n;
}
