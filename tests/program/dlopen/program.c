/* SPDX-License-Identifier: MIT */
/* program.c - all kinds of events, a tracepoint's probe and a role; prints their results. */
#include "version.h"
#include <hodo/roles.h>
#include <stdio.h>
#include <api/trace/all.h>

static int probed;

static void probe(void *data, const char *key, int age)
{
	(void)data, (void)key;
	probed += age;
}

int main(void)
{
	static const struct all_req req = { 3, "user17", 1 };
	int registered = register_trace_tp_evict(probe, NULL), role = hodo_thread_role("main"), sum = 0;

	for (int i = 0; i < 100; i++) {
		all_events(i, &req, NULL);
		sum += all_inlined(i);
	}
	printf("sum %d, probed %d, registered %d, role %d, enabled %d\n", sum, probed, registered, role,
	       trace_tp_evict_enabled());
	return 3;
}
