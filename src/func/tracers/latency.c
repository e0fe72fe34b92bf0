/* SPDX-License-Identifier: MIT */
/*
 * latency.c - the latency tracer: records only calls that took at least the limit, and what each of them
 * called.
 *
 * An open frame has a list of what it has called so far, a node for each function; the list moves along when
 * a coroutine's frames are parked. When a call is over, its list is recorded or discarded, and the call
 * becomes a node of its caller. Nodes come from a pool of the process: a thread takes some at a time and
 * keeps those that become free. If a list reaches LIST_MAX functions, or the pool is empty, one node with
 * function 0 counts all others.
 */
#include <func/func.h>
#include <func/threads.h>
#include "tracers.h"
#include <errno.h>
#include <user/libc/sys.h>

struct node {
	uint64_t function; /* 0: others */
	uint64_t calls, ticks, max;
	uint32_t next; /* number of a node, 0: none */
	uint32_t reserved;
};
#define NODES (1u << 18)
#define NODES_TAKEN 64u
#define LIST_MAX 64u

/* hodo_frame.user: this tracer saw the entry; and the index of the list's first node. */
#define SEEN HODO_USER(LATENCY)
#define LIST_SHIFT 40

static struct node *pool;  /* [0] is not used */
static uint32_t pool_used; /* only returned to threads' lists */

static uint32_t list_of(const struct hodo_frame *frame)
{
	uint32_t i = (uint32_t)(frame->user >> LIST_SHIFT);

	return i < NODES ? i : 0;
}

static void set_list(struct hodo_frame *frame, uint32_t first)
{
	frame->user = (frame->user & ((1ull << LIST_SHIFT) - 1)) | (uint64_t)first << LIST_SHIFT;
}

/* A node, 0 if there is none. */
static uint32_t take(struct hodo_func_thread *t)
{
	uint32_t i = t->latency_free, first;

	if (i) {
		t->latency_free = pool[i].next;
		return i;
	}
	if (hodo_load(&pool_used) >= NODES - NODES_TAKEN)
		return 0;
	first = hodo_add(&pool_used, NODES_TAKEN);
	if (first >= NODES - NODES_TAKEN)
		return 0;
	first += 1;
	for (uint32_t n = first + 1; n < first + NODES_TAKEN; n++)
		pool[n].next = n + 1 < first + NODES_TAKEN ? n + 1 : 0;
	t->latency_free = first + 1;
	return first;
}

static void count(struct node *n, uint64_t ticks)
{
	n->calls++;
	n->ticks += ticks;
	if (ticks > n->max)
		n->max = ticks;
}

/* Counts a call for the caller's frame. The latest callee comes first: it will probably be called again. */
static void add_callee(struct hodo_func_thread *t, struct hodo_frame *caller, uint64_t function, uint64_t ticks)
{
	uint32_t first = list_of(caller), before = 0, others = 0, length = 0, i;

	for (i = first; i && pool[i].function != function; i = pool[i].next) {
		if (!pool[i].function)
			others = i;
		before = i;
		length++;
	}
	if (i && before) {
		pool[before].next = pool[i].next;
		pool[i].next = first;
		set_list(caller, i);
	} else if (!i && others) {
		i = others;
	} else if (!i) {
		i = take(t);
		if (i) {
			pool[i] = (struct node){ .function = length + 1 < LIST_MAX ? function : 0, .next = first };
			set_list(caller, i);
		} else {
			/* No node left: the current one counts all others from now on. */
			i = first;
			pool[i].function = 0;
		}
	}
	if (i)
		count(&pool[i], ticks);
}

static void emit_callees(const struct hodo_frame *frame)
{
	for (uint32_t i = list_of(frame); i; i = pool[i].next) {
		struct __attribute__((packed, aligned(8))) {
			uint64_t addr;
			uint32_t frame;
			uint64_t calls, ticks, max;
			uint32_t beyond;
		} f = { pool[i].function, HODO_FRAME32(frame->at), pool[i].calls, pool[i].ticks, pool[i].max, 0 };

		hodo_func_emit(HODO_FUNC_CALLEE, &f, 36);
	}
}

static void give_back(struct hodo_func_thread *t, uint32_t first)
{
	uint32_t last = first;

	if (!first)
		return;
	while (pool[last].next)
		last = pool[last].next;
	pool[last].next = t->latency_free;
	t->latency_free = first;
}

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	if (!(frame->user & HODO_USER_NO_EXIT))
		frame->user |= SEEN;
}

static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	struct hodo_func_thread *t = hodo_func_thread(shadow);
	uint64_t ticks = hodo_func_ticks(frame, end, now);
	struct hodo_frame *caller = shadow->n && !frame->parked ? &shadow->frames[shadow->n - 1] : 0;

	if (!(frame->user & SEEN))
		return;
	if (ticks >= hodo_func_config.limit_ticks) {
		emit_callees(frame);
		hodo_func_emit_call(frame, end, ticks);
	}
	give_back(t, list_of(frame));
	if (caller && (caller->user & SEEN))
		add_callee(t, caller, frame->function, ticks);
}

/* The pool stays forever: open frames have nodes of it. */
static int start(const struct hodo_functions_config *config)
{
	void *p;

	if (pool)
		return 0;
	p = hodo_map(NODES * sizeof(*pool));
	if (!p)
		return -ENOMEM;
	hodo_store_release(&pool, p);
	return 0;
}

const struct hodo_builtin_ops hodo_builtin_latency = { .enter = enter, .exit = leave, .start = start };
