/* SPDX-License-Identifier: MIT */
/* plugin.c - the library that program.c opens. */
#include <hodo/trace.h>

void plugin_call(int n);

static __attribute__((constructor)) void up(void)
{
	HODO_EVENT(plugin, up);
}

void plugin_call(int n)
{
	HODO_EVENT(plugin, call, n);
}
