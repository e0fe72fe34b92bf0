/* SPDX-License-Identifier: MIT */
/*
 * loop.c - the loop tracer: which callback held an event loop for longer than the limit.
 *
 * A callback is what the loop's function calls directly: the traced function whose frame follows the loop's.
 * select.c has the set of loop functions, which is consulted only for calls that took longer than the limit.
 */
#include <func/dispatch.h>
#include <func/func.h>
#include <func/slots/slots.h>
#include "tracers.h"

static int set = -1;

static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	const struct hodo_frame *loop = shadow->n && !frame->parked ? &shadow->frames[shadow->n - 1] : 0;
	uint64_t ticks = hodo_func_ticks(frame, end, now);
	int loops = hodo_load(&set);

	if (loop && loops >= 0 && ticks >= hodo_func_config.limit_ticks && !(frame->user & HODO_USER_NO_EXIT) &&
	    (hodo_dispatch_sets(loop->function) >> loops & 1)) {
		struct {
			uint64_t addr, loop, ticks;
		} f = { frame->function, loop->function, ticks };

		hodo_func_emit(HODO_FUNC_HELD, &f, sizeof(f));
	}
}

/* Under the control lock, as stop(). */
static int start(const struct hodo_functions_config *config)
{
	int fresh = hodo_select_patterns(hodo_func_config_texts() + config->patterns_len, config->loops,
					 config->loops_len), old = set;

	if (fresh < 0)
		return fresh;
	if (old >= 0)
		hodo_select_put(old);
	hodo_store(&set, fresh);
	/*
	 * In a fork child the set is unchanged, and the loader's lock may be held by a thread that is not
	 * there.
	 */
	if (fresh != old)
		hodo_slots_select();
	return 0;
}

static void stop(void)
{
	if (set >= 0)
		hodo_select_put(set);
	hodo_store(&set, -1);
}

const struct hodo_builtin_ops hodo_builtin_loop = { .exit = leave, .start = start, .stop = stop };
