/* SPDX-License-Identifier: MIT */
/* gen_main.c - writes one of the test recordings: gen_trace SCENARIO DIR [N]. */
#include "gen.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	if (argc < 3) {
		fprintf(stderr, "usage: gen_trace all|fixed|text|many|random|lost|short DIR [N]\n");
		return 2;
	}
	if (strcmp(argv[1], "all") == 0)
		gen_all(argv[2]);
	else if (strcmp(argv[1], "fixed") == 0)
		gen_fixed(argv[2], n);
	else if (strcmp(argv[1], "text") == 0)
		gen_text(argv[2], n);
	else if (strcmp(argv[1], "many") == 0)
		gen_many(argv[2], (unsigned)n);
	else if (strcmp(argv[1], "random") == 0)
		gen_random(argv[2], n);
	else if (strcmp(argv[1], "lost") == 0)
		gen_lost_only(argv[2]);
	else if (strcmp(argv[1], "short") == 0)
		gen_short(argv[2], n);
	else
		return 2;
	return 0;
}
