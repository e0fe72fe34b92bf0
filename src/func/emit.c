/* SPDX-License-Identifier: MIT */
/*
 * emit.c - writes libhodo's own events from dispatch and from the direct writers, preserving the program's
 * vector registers: the ring's writer in assembly uses none, and calls of C code go through hodo_x86_keep().
 */
#include "func.h"
#include "threads.h"
#include <user/event/event.h>

struct call_fields {
	uint64_t addr;
	uint32_t at, beyond; /* beyond: read, not written */
};
#define CALL_FIELDS_LEN 12

/* The direct writers' slow path; vector registers are kept by the caller. */
void hodo_func_record_slow(long event, long pc, long at)
{
	struct call_fields f = { (uint64_t)pc, HODO_FRAME32(at), 0 };

	hodo_emit_slow(&hodo_func_states[event], &f, CALL_FIELDS_LEN);
}

static void emit_kept(long state, long pieces, long count)
{
	const struct hodo_piece *p = (const struct hodo_piece *)pieces;
	size_t total = 0;

	for (long i = 0; i < count; i++)
		total += p[i].len;
	hodo_user_ops.emit_pieces((struct hodo_state *)state, p, (size_t)count, total);
}

void hodo_func_emit_pieces(enum hodo_func_event event, const struct hodo_piece *pieces, size_t count, size_t total)
{
	struct hodo_state *state = &hodo_func_states[event];

	if (!state->on || !hodo_load(state->on))
		return;
	if (hodo_x86_try(state, pieces, count, total, HODO_ON_RECORD) == HODO_TRY_DONE)
		return;
	/*
	 * Around the program's tracers they are already saved; saving them twice would overflow small signal
	 * stacks.
	 */
	if (hodo_func_tls.in_tracer)
		emit_kept((long)state, (long)pieces, (long)count);
	else
		hodo_x86_keep(emit_kept, (long)state, (long)pieces, (long)count);
}

void hodo_func_emit(enum hodo_func_event event, const void *data, size_t len)
{
	struct hodo_piece piece = { data, len };

	hodo_func_emit_pieces(event, &piece, 1, len);
}

void hodo_func_emit_at(enum hodo_func_event event, uint64_t addr, uint64_t at)
{
	struct call_fields f = { addr, HODO_FRAME32(at), 0 };

	hodo_func_emit(event, &f, CALL_FIELDS_LEN);
}
