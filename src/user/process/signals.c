/* SPDX-License-Identifier: MIT */
/* signals.c - blocks all signals while a thread must not be interrupted. */
#include <user/libc/sys.h>

uint64_t hodo_signals_all = ~0ull;

uint64_t hodo_signals_block(void)
{
	uint64_t old = 0;

	hodo_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &hodo_signals_all, &old, sizeof(old));
	return old;
}

void hodo_signals_restore(uint64_t old)
{
	old &= hodo_signals_all; /* it may be older than hodo_signals_all */
	hodo_sys4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, 0, sizeof(old));
}
