/* SPDX-License-Identifier: MIT */
/* all_c.c - runs the events of all.h from C, for a number of rounds; with LIBRARY, as run_all() of a shared library. */
#include "all.h"
#include <stdlib.h>

int run_all(int rounds);
int unused_function(int v);

/* Nothing calls this: it has a separate section, which --gc-sections may drop with its site. */
__attribute__((noinline)) int unused_function(int v)
{
	HODO_EVENT(all, unused, v);
	return v;
}

__attribute__((visibility("default"))) int run_all(int rounds)
{
	struct all_req req = { 3, "user17", 1 };

	for (int i = 0; i < rounds; i++) {
		all_events(i, &req, NULL);
		for (int k = 0; k < 4; k++)
			HODO_EVENT(all, unrolled, k);
	}
	return 0;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	return run_all(argc > 1 ? atoi(argv[1]) : 1);
}
#endif
