/* SPDX-License-Identifier: MIT */
/* plugin.c - a library that traced.c opens and closes: with a function for one role, and an event loop. */
#include <time.h>
#include <hodo/tracer.h>

__attribute__((noinline)) void plugin_draw(void)
{
	HODO_ONLY_IN("main");
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void plugin_wait(void)
{
	struct timespec t = { 0, 300000000 };

	nanosleep(&t, 0);
	__asm__ volatile("" ::: "memory");
}

void plugin_loop(void)
{
	plugin_draw();
	plugin_wait();
	__asm__ volatile("" ::: "memory");
}
