/* SPDX-License-Identifier: MIT */
/* window.c - finds what a probe replaces. Boundaries come from decode.c; a window decodes its instructions again. */
#include "window.h"

#include <core/search.h>
#include <string.h>

#define BACK_MAX 4u /* instructions considered before an exit: together they have 5 bytes */

/* Why the bytes are refused. */
static enum hodo_probe_reason refused_bytes(const struct hodo_probe_segment *s, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at++) {
		uint8_t m = s->marks[at - s->start];

		if (m & HODO_PROBE_MARK_SITE)
			return HODO_PROBE_SITE;
		if (m & HODO_PROBE_MARK_RSEQ)
			return HODO_PROBE_RSEQ;
		if (m & HODO_PROBE_MARK_TAKEN)
			return HODO_PROBE_OVERLAP;
	}
	return HODO_PROBE_FINE;
}

/* Appends the instruction at the window's end. padding: it follows one that never continues. */
static enum hodo_probe_reason take(const struct hodo_probe_object *o, const struct hodo_probe_segment *s,
				   struct hodo_probe_window *w, struct hodo_instruction *i, uint64_t limit,
				   bool padding)
{
	uint64_t addr = w->addr + w->len;
	const uint8_t *bytes = s->bytes + (addr - s->start);

	if (w->n == HODO_PROBE_WINDOW_INSTRUCTIONS)
		return HODO_PROBE_SHORT;
	if (!hodo_instruction_decode(i, bytes, limit - addr, addr))
		return HODO_PROBE_UNDECODED;
	if (w->len + i->length > (int)HODO_PROBE_WINDOW_BYTES)
		return HODO_PROBE_SHORT;
	if (i->kind == HODO_INSTRUCTION_UNMOVABLE)
		return i->reason;
	if (i->kind == HODO_INSTRUCTION_BREAKPOINT && !padding)
		return HODO_PROBE_BREAKPOINT;
	if (o->shadow_stacks && hodo_instruction_is_call(i))
		return HODO_PROBE_CALL_SHADOW;
	w->at[w->n++] = w->len;
	memcpy(w->bytes + w->len, bytes, i->length);
	w->len = (uint8_t)(w->len + i->length);
	return HODO_PROBE_FINE;
}

/* Checks known jumps into an otherwise complete window. */
static enum hodo_probe_reason check_targets(const struct hodo_probe_object *o, const struct hodo_probe_segment *s,
					    struct hodo_probe_window *w)
{
	const uint8_t *marks = s->marks + (w->addr - s->start);

	for (unsigned k = 1, i = 1; k < w->len; k++) {
		bool begins = i < w->n && w->at[i] == k;

		i += begins;
		if (begins && k < HODO_PROBE_JUMP_BYTES)
			w->boundaries |= (uint8_t)(1u << k);
		if (!(marks[k] & HODO_PROBE_MARK_TARGET))
			continue;
		/* Bytes after the jump stay unchanged: instructions there are not harmed. */
		if (!begins && (k < HODO_PROBE_JUMP_BYTES))
			return HODO_PROBE_INSIDE;
		/* Nothing traps there: jumps to the exit itself are missed. */
		if (begins && k >= HODO_PROBE_JUMP_BYTES)
			return HODO_PROBE_ENTERED;
		if (begins)
			w->entered |= (uint8_t)(1u << k);
	}
	return w->entered && !o->enter_windows ? HODO_PROBE_ENTERED : HODO_PROBE_FINE;
}

static bool is_filler(const struct hodo_probe_segment *s, uint64_t addr, uint64_t limit)
{
	struct hodo_instruction i;

	return !(s->marks[addr - s->start] & HODO_PROBE_MARK_TARGET) &&
	       hodo_instruction_decode(&i, s->bytes + (addr - s->start), limit - addr, addr) &&
	       (i.kind == HODO_INSTRUCTION_NOP || i.kind == HODO_INSTRUCTION_BREAKPOINT);
}

/* Whole instructions from start on that cover five bytes, and the one at `last`, before which the probe is. */
static enum hodo_probe_reason scan(const struct hodo_probe_object *o, const struct hodo_probe_segment *s,
				   const struct hodo_probe_function *f, uint64_t start, uint64_t last,
				   struct hodo_probe_window *w)
{
	bool ended = false, inside = false;
	enum hodo_probe_reason err;

	*w = (struct hodo_probe_window){ .addr = start };
	if (o->no_jumps)
		return HODO_PROBE_NO_JUMPS;
	while (w->len < HODO_PROBE_JUMP_BYTES || start + w->len <= last) {
		uint64_t addr = start + w->len, limit = addr < f->end ? f->end : f->room;
		struct hodo_instruction i;

		if (addr >= f->room)
			return HODO_PROBE_SHORT;
		if (inside)
			return HODO_PROBE_CALL_INSIDE;
		/* After an instruction that never continues comes other code, which is left alone, or
		 * padding. */
		if (ended && (addr <= last || !is_filler(s, addr, limit)))
			return HODO_PROBE_SHORT;
		if (addr == last)
			w->hooks = (uint8_t)(1u << w->n);
		err = take(o, s, w, &i, limit, ended || addr >= f->end);
		if (err)
			return err;
		inside = hodo_instruction_is_call(&i);
		ended |= hodo_instruction_ends(&i);
	}
	err = refused_bytes(s, start, start + w->len);
	return err ? err : check_targets(o, s, w);
}

/* One instruction, of which only the first byte is replaced. */
static enum hodo_probe_reason scan_one(const struct hodo_probe_object *o, const struct hodo_probe_segment *s,
				       const struct hodo_probe_function *f, uint64_t addr, struct hodo_probe_window *w)
{
	struct hodo_instruction i;
	enum hodo_probe_reason err;

	*w = (struct hodo_probe_window){ .addr = addr, .hooks = 1 };
	err = take(o, s, w, &i, f->end, false);
	return err ? err : refused_bytes(s, addr, addr + 1);
}

/* Uses a trap if possible; why: what prevents a jump. */
static void fall_back(const struct hodo_probe_object *o, const struct hodo_probe_segment *s,
		      const struct hodo_probe_function *f, uint64_t addr, enum hodo_probe_reason why,
		      struct hodo_probe_window *w)
{
	enum hodo_probe_reason err = scan_one(o, s, f, addr, w);

	w->kind = err ? HODO_PROBE_NONE : HODO_PROBE_TRAP;
	w->reason = (uint8_t)(err ? err : why);
}

/* The segment, if the function can have probes; else the window has the reason. */
static const struct hodo_probe_segment *begin(const struct hodo_probe_object *o, const struct hodo_probe_function *f,
					      uint64_t addr, struct hodo_probe_window *w)
{
	const struct hodo_probe_segment *s = f ? hodo_probe_segment_at(o, f->start) : NULL;

	*w = (struct hodo_probe_window){ .addr = addr };
	if (f && f->reason)
		w->reason = f->reason;
	else if (!s || f->end > s->end)
		w->reason = HODO_PROBE_NO_CODE;
	return w->reason ? NULL : s;
}

/* At a certain instruction. */
static void window(const struct hodo_probe_object *o, const struct hodo_probe_segment *s,
		   const struct hodo_probe_function *f, uint64_t addr, struct hodo_probe_window *w)
{
	enum hodo_probe_reason err = scan(o, s, f, addr, addr, w);

	if (err)
		fall_back(o, s, f, addr, err, w);
	else
		w->kind = HODO_PROBE_JUMP;
}

void hodo_probe_window_entry(const struct hodo_probe_object *o, const struct hodo_probe_function *f,
			     struct hodo_probe_window *w)
{
	const struct hodo_probe_segment *s = begin(o, f, f->start, w);
	struct hodo_instruction i;
	uint64_t addr = f->start;

	if (!s)
		return;
	if (f->part) {
		w->reason = HODO_PROBE_NO_INSTRUCTION;
		return;
	}
	/* With IBT, indirect calls must find it. */
	if (hodo_instruction_decode(&i, s->bytes + (addr - s->start), f->end - addr, addr) &&
	    i.kind == HODO_INSTRUCTION_ENDBR && f->end - addr > i.length)
		addr += i.length;
	window(o, s, f, addr, w);
}

/* Whether the function's instructions are certain there; else the window has the reason. */
static bool begins(const struct hodo_probe_segment *s, const struct hodo_probe_function *f, uint64_t addr,
		   struct hodo_probe_window *w)
{
	if (f->unsure && addr != f->start)
		w->reason = HODO_PROBE_UNSURE;
	else if (!(s->marks[addr - s->start] & HODO_PROBE_MARK_LENGTH))
		w->reason = HODO_PROBE_NO_INSTRUCTION;
	return !w->reason;
}

void hodo_probe_window_at(const struct hodo_probe_object *o, uint64_t addr, struct hodo_probe_window *w)
{
	const struct hodo_probe_function *f = hodo_probe_function_at(o, addr);
	const struct hodo_probe_segment *s = begin(o, f, addr, w);

	if (!f)
		w->reason = HODO_PROBE_NO_INSTRUCTION;
	else if (s && begins(s, f, addr, w))
		window(o, s, f, addr, w);
}

/* The instruction before the one at addr, if it always continues there; 0: none. */
static uint64_t before(const struct hodo_probe_segment *s, const struct hodo_probe_function *f, uint64_t addr)
{
	struct hodo_instruction i;

	for (uint64_t at = addr; at > f->start && addr - at < HODO_INSTRUCTION_MAX;) {
		uint8_t length = s->marks[--at - s->start] & HODO_PROBE_MARK_LENGTH;

		if (!length)
			continue;
		/* A call or system call may return later: it is left outside. */
		return length == addr - at && hodo_instruction_decode(&i, s->bytes + (at - s->start), length, at) &&
			       !hodo_instruction_ends(&i) && !hodo_instruction_is_call(&i) &&
			       i.kind != HODO_INSTRUCTION_SYSCALL ? at : 0;
	}
	return 0;
}

void hodo_probe_window_exit(const struct hodo_probe_object *o, const struct hodo_probe_exit *x,
			    struct hodo_probe_window *w)
{
	const struct hodo_probe_function *f = &o->functions[x->function];
	const struct hodo_probe_segment *s = begin(o, f, x->addr, w);
	enum hodo_probe_reason err = HODO_PROBE_SHORT;
	uint64_t start = x->addr;

	if (!s || !begins(s, f, x->addr, w))
		return;
	if (x->unsure) {
		w->reason = HODO_PROBE_UNSURE;
		return;
	}
	for (unsigned k = 0; err == HODO_PROBE_SHORT && start && k <= BACK_MAX; k++) {
		err = scan(o, s, f, start, x->addr, w);
		if (err == HODO_PROBE_SHORT)
			start = before(s, f, start);
	}
	if (err)
		fall_back(o, s, f, x->addr, err, w);
	else
		w->kind = HODO_PROBE_JUMP;
}

bool hodo_probe_window_hook(struct hodo_probe_window *w, uint64_t addr)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->addr + w->at[i] != addr)
			continue;
		w->hooks |= (uint8_t)(1u << i);
		return true;
	}
	return false;
}

/* ---------------------------------------------------------------------- together */

/* A jump replaces all its instructions, a trap only its byte. */
static uint64_t taken_bytes(const struct hodo_probe_window *w)
{
	return w->kind == HODO_PROBE_JUMP ? w->len : w->kind == HODO_PROBE_TRAP;
}

void hodo_probe_window_keep(const struct hodo_probe_object *o, const struct hodo_probe_window *w)
{
	hodo_probe_mark(o, w->addr, w->addr + taken_bytes(w), HODO_PROBE_MARK_TAKEN);
}

void hodo_probe_window_drop(const struct hodo_probe_object *o, const struct hodo_probe_window *w)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, w->addr);

	for (uint64_t k = 0; s && k < taken_bytes(w); k++)
		s->marks[w->addr - s->start + k] &= (uint8_t)~HODO_PROBE_MARK_TAKEN;
}

enum hodo_probe_reason hodo_probe_window_compare(const struct hodo_probe_window *w, const uint8_t *now)
{
	for (unsigned k = 0; k < w->len; k++)
		if (now[k] != w->bytes[k])
			return now[k] == 0xcc ? HODO_PROBE_BREAKPOINT : HODO_PROBE_CHANGED;
	return HODO_PROBE_FINE;
}
