/* SPDX-License-Identifier: MIT */
/* all_c.c - the events of all.h from C; prints how many it recorded if a library was there. */
#include "all.h"
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	struct all_req req = { 3, "user17", 1 };

	for (int i = 0; i < rounds; i++)
		all_events(i, &req, NULL);
	return 0;
}
