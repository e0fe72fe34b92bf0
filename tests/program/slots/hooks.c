/* SPDX-License-Identifier: MIT */
/* hooks.c - a program's own hooks for -finstrument-functions, which count. In the program, or in a library (then prints
 * the counts when it is unloaded). */
#include <stdio.h>

static long entered, left;

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *site)
{
	entered++;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *site)
{
	left++;
}

__attribute__((no_instrument_function, destructor)) static void tell(void)
{
	printf("own hooks: %ld %ld\n", entered, left);
}
