/* SPDX-License-Identifier: MIT */
/*
 * loop.c - the loop tracer: which callback held an event loop for longer than the limit.
 *
 * A callback is what a loop's function calls itself: the traced function
 * whose frame comes next after the loop's. Which functions are loops is looked
 * up when one is entered, in a table of their addresses that is filled under the control lock.
 */
#include "func.h"

#define LOOPS_MAX 1024u
#define SLOTS (4 * LOOPS_MAX)

static uint64_t slots[SLOTS]; /* open addressing; 0: free, 1: was in use */
static uint32_t used;
static int set = -1;

static uint32_t hash(uint64_t function)
{
	return (uint32_t)((function * 0x9e3779b97f4a7c15ull) >> 40) & (SLOTS - 1);
}

static bool is_loop(uint64_t function)
{
	uint64_t at;

	for (uint32_t i = hash(function); (at = hodo_load(&slots[i])); i = (i + 1) & (SLOTS - 1)) {
		if (at == function)
			return true;
	}
	return false;
}

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	if (is_loop(frame->function))
		frame->user |= HODO_USER(LOOP);
}

static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	const struct hodo_frame *loop = shadow->n && !frame->parked ? &shadow->frames[shadow->n - 1] : 0;
	struct {
		uint64_t addr, loop, ticks;
	} f;

	if (!loop || !(loop->user & HODO_USER(LOOP)) || (frame->user & HODO_USER_NO_EXIT))
		return;
	f.addr = frame->function;
	f.loop = loop->function;
	f.ticks = hodo_func_ticks(frame, end, now);
	if (f.ticks >= hodo_func_config.limit_ticks)
		hodo_func_emit(HODO_FUNC_HELD, &f, sizeof(f));
}

/* ------------------------------------------------------- under the control lock */

/* Which of the slot's functions are still there, and which are new. */
static bool is_selected(uint64_t function)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];

		if (!o->in_use || function < o->text || function >= o->text_end)
			continue;
		for (uint32_t f = 0; f < o->nfunctions; f++) {
			if (o->text + o->functions[f].addr == function)
				return o->functions[f].sets >> set & 1;
		}
	}
	return false;
}

static bool add(uint64_t function)
{
	uint32_t i = hash(function);

	if (is_loop(function))
		return true;
	if (used >= LOOPS_MAX)
		return false;
	while (slots[i] > 1)
		i = (i + 1) & (SLOTS - 1);
	if (slots[i] == 0)
		used++;
	hodo_store(&slots[i], function);
	return true;
}

static void objects(void)
{
	static bool warned;

	if (set < 0)
		return;
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (slots[i] > 1 && !is_selected(slots[i]))
			hodo_store(&slots[i], 1);
	}
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];

		for (uint32_t f = 0; o->in_use && f < o->nfunctions; f++) {
			if (!(o->functions[f].sets >> set & 1) || add(o->text + o->functions[f].addr) || warned)
				continue;
			warned = true;
			hodo_catalog_warning((const char *const[]){ "more than 1024 functions are named as event"
							" loops: the others are not taken for such" }, 1);
		}
	}
}

static int start(const struct hodo_functions_config *config)
{
	int fresh = hodo_select_patterns(hodo_func_config_texts() + config->patterns_len, config->loops,
					 config->loops_len), old = set;

	if (fresh < 0)
		return fresh;
	if (set >= 0)
		hodo_select_put(set);
	set = fresh;
	for (uint32_t i = 0; i < SLOTS; i++)
		hodo_store(&slots[i], 0);
	used = 0;
	/* In a fork child the set is what it was, and the loader's lock may be held by a thread that is not there. */
	if (set == old)
		objects();
	else
		hodo_slots_select();
	return 0;
}

static void stop(void)
{
	if (set >= 0)
		hodo_select_put(set);
	set = -1;
}

const struct hodo_builtin_ops hodo_builtin_loop = {
	.enter = enter, .exit = leave, .start = start, .stop = stop, .objects = objects,
};
