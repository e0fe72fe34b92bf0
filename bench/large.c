/* SPDX-License-Identifier: MIT */
/* large.c - a program with 2.4 MB of code that ends at once, to measure the start of one with functions to
 * trace. */
#include "many_functions.h"

#define DECLARE(n) void many_run_##n(uint32_t x, uint32_t *table);
#define RUN(n) many_run_##n(1, table);
#define SEVEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6)
SEVEN(DECLARE, 0)

int main(int argc, char **argv)
{
	static uint32_t table[MANY_TABLE];

	(void)argv;
	if (argc > 100) { /* never */
		SEVEN(RUN, 0)
	}
	return 0;
}
