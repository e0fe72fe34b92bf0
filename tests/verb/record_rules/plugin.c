/* SPDX-License-Identifier: MIT */
/* plugin.c - an event that comes and goes with its library. */
#include <hodo/trace.h>

__attribute__((visibility("default"))) void plugin_event(int n);

void plugin_event(int n)
{
	HODO_EVENT(plugin, event, n, HODO_F(half, n / 2));
}
