/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - the handlers that the program set before its system calls went through us: many block all
 * signals while they run, and a trap would kill them. Those that it sets from now on have no such mask
 * (mask.c).
 */
#include "engine.h"

#define SIGNALS 64
#define TRIES 100u

static bool is_same(const struct hodo_engine_action *a, const struct hodo_engine_action *b)
{
	return a->handler == b->handler && a->flags == b->flags && a->mask == b->mask;
}

/*
 * Another thread may set it meanwhile: we find its handler when we set ours, and restore it, as if it came
 * later.
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
