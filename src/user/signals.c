/* SPDX-License-Identifier: MIT */
/* signals.c - all signals blocked, for as long as a thread must not be interrupted. */
#include "sys.h"

uint64_t hodo_signals_all = ~0ull;

uint64_t hodo_signals_block(void)
{
	uint64_t old = 0;

	hodo_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &hodo_signals_all, &old, sizeof(old));
	return old;
}
