/* SPDX-License-Identifier: MIT */
/*
 * build_replacements.c - functions replaced by others. The slot of the entry's window jumps to the
 * replacement; after that jump comes the usual content of a slot: the copy of the first instructions, and the
 * way back. Calling that calls the original.
 *
 * Also the place where a program that has just started asks for the plan with these.
 */
#include <string.h>

#include "build_impl.h"

#define JUMP_BYTES   6u  /* jmp or call *disp32(%rip) */
#define ENDBR_BYTES  4u  /* the original may be called indirectly */
#define HOOK_BYTES   (JUMP_BYTES + ENDBR_BYTES)

static bool jumps(const struct hodo_instruction *i)
{
	return i->kind == HODO_INSTRUCTION_JUMP || i->kind == HODO_INSTRUCTION_JUMP_IF ||
	       i->kind == HODO_INSTRUCTION_LOOP;
}

/*
 * Whether it jumps to its own start: each iteration would call the replacement, from the middle of the
 * original.
 */
static bool loops(const struct hodo_probe_object *o, const struct hodo_probe_function *f, uint64_t window)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);
	struct hodo_instruction i = { 0 };

	for (uint64_t at = f->start; s && at < f->end && at < s->end; at += i.length) {
		if (!hodo_instruction_decode(&i, s->bytes + (at - s->start), s->end - at, at))
			return true;
		if (jumps(&i) && i.target >= f->start && i.target <= window)
			return true;
	}
	return false;
}

static int add(struct hodo_probe_piece *b, struct hodo_probe_replacement *r, uint64_t cell)
{
	const struct hodo_probe_function *f = hodo_probe_function_at(b->target->object, r->addr);
	const struct hodo_plan_hook h = { .kind = HODO_HOOK_REPLACE, .bytes = HOOK_BYTES, .replacement = r,
					  .state = cell };
	uint32_t items = b->nitems;
	struct hodo_build_place place;
	int err;

	r->reason = HODO_PROBE_NO_INSTRUCTION;
	if (!f || f->start != r->addr || f->part)
		return 0;
	err = hodo_build_entry(b, f, false, &place);
	r->reason = place.reason;
	r->trap = place.trap;
	if (err || place.reason)
		return err;
	if (loops(b->target->object, f, b->items[place.item].window.addr)) {
		r->reason = HODO_PROBE_LOOP;
		if (b->nitems > items)
			hodo_build_take_back(b, items, NULL);
		return 0;
	}
	err = hodo_build_add_hook(b, &place, &h);
	r->reason = place.reason;
	b->built.replaced += !err && !place.reason;
	return err;
}

static int add_start(struct hodo_probe_piece *b)
{
	const struct hodo_plan_hook h = { .kind = HODO_HOOK_START, .bytes = JUMP_BYTES };
	struct hodo_build_place place;
	int err = hodo_build_at(b, b->target->start, &place);

	return err || place.reason ? err : hodo_build_add_hook(b, &place, &h);
}

int hodo_build_replacements(struct hodo_probe_piece *b)
{
	const struct hodo_probe_target *t = b->target;
	uint64_t cells = b->data.addr + HODO_PLAN_POOL_BYTES +
			 hodo_build_states(t) * sizeof(struct hodo_plan_state);
	int err = 0;

	for (uint32_t i = 0; i < t->nreplacements && !err; i++)
		err = add(b, &t->replacements[i], cells + sizeof(uint64_t) * i);
	return !err && t->start ? add_start(b) : err;
}

size_t hodo_build_put_replacement(const struct hodo_plan_item *x, struct hodo_plan_hook *h, uint64_t address,
				  uint8_t *to)
{
	bool start = h->kind == HODO_HOOK_START;
	uint64_t cell = start ? x->pool + sizeof(uint64_t) * HODO_IMPORT_START : h->state;
	int32_t distance = (int32_t)(cell - (address + JUMP_BYTES));

	memcpy(to, start ? "\xff\x15" : "\xff\x25", 2);
	memcpy(to + 2, &distance, sizeof(distance));
	if (start) {
		h->first = address;
		return JUMP_BYTES;
	}
	memcpy(to + JUMP_BYTES, "\xf3\x0f\x1e\xfa", ENDBR_BYTES);
	h->first = address + JUMP_BYTES;
	return HOOK_BYTES;
}
