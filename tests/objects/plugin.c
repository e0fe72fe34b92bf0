/* SPDX-License-Identifier: MIT */
/* plugin.c - a library with events. VERSION: built with headers of another version, as far as they say so. */
#include <hodo/abi.h>
#ifdef VERSION
#undef HODO_ABI_VERSION
#define HODO_ABI_VERSION VERSION
#endif
#include <hodo/trace.h>

__attribute__((visibility("default"))) int plugin_work(int n);

int plugin_work(int n)
{
	HODO_EVENT(plugin, work, n);
	return n;
}
