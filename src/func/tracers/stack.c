/* SPDX-License-Identifier: MIT */
/*
 * stack.c - the stack tracer: the deepest stack of each thread, and the chain of calls that reached it.
 *
 * Recorded when the deepest call returns, so that each descent is one event; and every 64 KiB on the way
 * down, so that the cause of a stack overflow is known although nothing returned.
 */
#include <func/func.h>
#include <func/threads.h>
#include "tracers.h"

#define STEP_SHIFT 16
#define CHAIN_MAX (sizeof(((struct hodo_func_thread *)0)->chain) / sizeof(uint64_t))

static void report(struct hodo_func_thread *t, const struct hodo_frame *frame, bool in_chain)
{
	struct __attribute__((packed)) {
		uint64_t bytes;
		uint32_t depth, length;
	} head = { t->shadow.stack_high - frame->at, frame->depth, 0 };
	struct hodo_piece pieces[2] = { { &head, sizeof(head) }, { t->chain, 0 } };
	uint32_t n = 0;

	if (!in_chain)
		t->chain[n++] = frame->function;
	n += hodo_func_chain(&t->shadow, t->chain + n, CHAIN_MAX - n);
	head.length = n;
	pieces[1].len = n * sizeof(t->chain[0]);
	hodo_func_emit_pieces(HODO_FUNC_STACK, pieces, 2, sizeof(head) + pieces[1].len);
}

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	struct hodo_func_thread *t = hodo_func_thread(shadow);
	uint64_t at = frame->at;
	uint32_t step;

	if (t->stack_min && at >= t->stack_min)
		return;
	/* Signal stacks and coroutines' stacks are not the thread's own. */
	if (at - shadow->stack_low >= shadow->stack_high - shadow->stack_low)
		return;
	if (!t->stack_min)
		t->stack_step = 0;
	t->stack_min = t->stack_pending = at;
	step = (uint32_t)((shadow->stack_high - at) >> STEP_SHIFT);
	if (step > t->stack_step) {
		t->stack_step = step;
		t->stack_pending = 0;
		report(t, frame, true);
	}
}

static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	struct hodo_func_thread *t = hodo_func_thread(shadow);

	if (frame->at != t->stack_pending)
		return;
	t->stack_pending = 0;
	report(t, frame, false);
}

/* Each new recording, also a fork child's, starts over. */
static int start(const struct hodo_functions_config *config)
{
	struct hodo_func_thread *t;

	for (uint32_t i = 0; (t = hodo_func_thread_at(i)); i++)
		hodo_store(&t->stack_min, 0);
	return 0;
}

const struct hodo_builtin_ops hodo_builtin_stack = { .enter = enter, .exit = leave, .start = start };
