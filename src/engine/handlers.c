/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - the program's handlers that it set before its system calls went through us: many block all signals
 * while they run, and would be killed by a trap. Those that it sets from now on have no such mask (mask.c).
 */
#include "engine.h"

#define SIGNALS 64
#define TRIES 100u

static bool is_same(const struct hodo_engine_action *a, const struct hodo_engine_action *b)
{
	return a->handler == b->handler && a->flags == b->flags && a->mask == b->mask;
}

/*
 * Another thread may set it meanwhile: its own is what we then find when we set ours, and goes back, as if it came
 * after.
 */
static void clean(int signal)
{
	struct hodo_engine_action seen, ours, was;

	if (hodo_sys4(SYS_rt_sigaction, signal, 0, &seen, HODO_ENGINE_SET_BYTES) != 0 ||
	    !(seen.mask & HODO_ENGINE_SIGNALS))
		return;
	ours = seen;
	ours.mask &= ~HODO_ENGINE_SIGNALS;
	for (unsigned i = 0; i < TRIES; i++) {
		if (hodo_sys4(SYS_rt_sigaction, signal, &ours, &was, HODO_ENGINE_SET_BYTES) != 0 ||
		    is_same(&was, &seen))
			return;
		seen = ours;
		ours = was;
	}
}

void hodo_engine_clean_handlers(void)
{
	for (int signal = 1; signal <= SIGNALS; signal++) {
		if (signal != SIGTRAP && signal != SIGILL && signal != SIGKILL && signal != SIGSTOP)
			clean(signal);
	}
}
