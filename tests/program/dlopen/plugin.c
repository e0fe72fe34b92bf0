/* SPDX-License-Identifier: MIT */
/* plugin.c - a library with events. */
#include "version.h"
#include <hodo/trace.h>

__attribute__((visibility("default"))) int plugin_work(int n);

int plugin_work(int n)
{
	HODO_EVENT(plugin, work, n);
	return n;
}
