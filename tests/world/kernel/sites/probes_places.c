// SPDX-License-Identifier: MIT
/* probes_places.c - places of the tracepoint in another file than the code that registers probes. */
#include "probes.h"

void places_step(int n)
{
	trace_sprobe_step(n, "places");
}

bool places_enabled(void)
{
	return trace_sprobe_step_enabled();
}
