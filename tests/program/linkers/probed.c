/* SPDX-License-Identifier: MIT */
/* probed.c - all ways into libhodo, from C and C++: events of fixed and of variable size, spans, probes, roles. */
#include <hodo/roles.h>
#include <hodo/trace.h>

HODO_TRACEPOINT(builds, point, (int, n));

static int probed;

static void probe(void *data, int n)
{
	(void)data;
	probed += n;
}

int main(void)
{
	int error = register_trace_builds_point(probe, 0);

	hodo_thread_role("main");
	HODO_EVENT(builds, fixed, 1);
	HODO_EVENT(builds, text, "text");
	trace_builds_point(7);
	{
		HODO_SPAN(builds, span);
	}
	if (error == 0)
		unregister_trace_builds_point(probe, 0);
	return error == 0 && probed != 7; /* otherwise libhodo is not loaded */
}
