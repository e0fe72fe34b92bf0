/* SPDX-License-Identifier: MIT */
/* true.c - the smallest program that has an event: what the start-up cost is measured on. */
#include "sites.h"

int main(int argc, char **argv)
{
	if (argc > 1)
		BENCH_NUM(argc, (uint64_t)argc);
	return 0;
}
