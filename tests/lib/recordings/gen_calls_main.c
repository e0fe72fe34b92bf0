/* SPDX-License-Identifier: MIT */
/* gen_calls_main.c - writes one of the recordings: gen_calls SCENARIO DIR [N]. */
#include "gen_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(const char *top);
		void (*make_n)(const char *top, uint64_t n);
	} all[] = {
		{ "calls", gen_calls, NULL },   { "whole", gen_whole, NULL },     { "kinds", gen_kinds, NULL },
		{ "found", gen_found, NULL },   { "profile", gen_profile, NULL }, { "lossy", gen_lossy, NULL },
		{ "fork", gen_fork, NULL },     { "deep", NULL, gen_deep },       { "many", NULL, gen_many_calls },
		{ "mad", NULL, gen_mad },       { "around", NULL, gen_around },   { "inside", gen_inside, NULL },
		{ "again", gen_again, NULL },   { "profile_old", gen_profile_old, NULL },
		{ "inside_open", gen_inside_open, NULL },
		{ "late", gen_late, NULL },     { "late_lost", gen_late_lost, NULL },
		{ "exit_lost", gen_exit_lost, NULL }, { "spans", gen_spans, NULL },
		{ "spans_many", NULL, gen_spans_many }, { "spans_mad", NULL, gen_spans_mad },
		{ "spans_left", NULL, gen_spans_left }, { "spans_off", gen_spans_off, NULL },
	};

	for (unsigned i = 0; argc > 2 && i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(argv[1], all[i].name) != 0)
			continue;
		if (all[i].make)
			all[i].make(argv[2]);
		else
			all[i].make_n(argv[2], argc > 3 ? strtoull(argv[3], NULL, 10) : 1000);
		return 0;
	}
	fprintf(stderr, "usage: gen_calls SCENARIO DIR [N]\n");
	return 2;
}
