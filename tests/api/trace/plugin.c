/* SPDX-License-Identifier: MIT */
/* plugin.c - a library to open and close; OTHER: the same event with another field, refused while the first is open. */
#include <hodo/trace.h>

int plugin_work(int n);

static __attribute__((constructor)) void opened(void) { HODO_EVENT(plug, opened); }
static __attribute__((destructor)) void closed(void) { HODO_EVENT(plug, closed); }

__attribute__((visibility("default"))) int plugin_work(int n)
{
#ifdef OTHER
	HODO_EVENT(plug, work, HODO_F(text, "other"), n);
#else
	HODO_EVENT(plug, work, n);
#endif
	HODO_EVENT(plug, always, n);
	return n;
}
