/* SPDX-License-Identifier: MIT */
/* main.c - the hodo command: finds the verb. */
#include "cli.h"

#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;
} verbs[] = {
	{ "record", hodo_cmd_record, "record the events of a program, or of running processes" },
	{ "print", hodo_cmd_print, "print the events of a recording as text or JSON" },
	{ "graph", hodo_cmd_graph, "show the calls of functions as an indented graph with times" },
	{ "report", hodo_cmd_report, "functions: calls, times and their distribution; what differs" },
	{ "export", hodo_cmd_export, "write a recording in the format of another tool" },
	{ "stat", hodo_cmd_stat, "count the events: rates, bytes, losses with their cause" },
	{ "top", hodo_cmd_top, "show live which events happen, how often, in which threads" },
	{ "list", hodo_cmd_list, "list the events that a program, library, recording or process has" },
	{ "enable", hodo_cmd_enable, "switch events of a recorded process on" },
	{ "disable", hodo_cmd_disable, "switch events of a process off" },
	{ "detach", hodo_cmd_detach, "end the recording of a process, whoever's" },
	{ "snapshot", hodo_cmd_snapshot, "write what a flight recorder holds, while it goes on" },
	{ "info", hodo_cmd_info, "tell what a recording is: processes, clock, duration, size" },
	{ "recover", hodo_cmd_recover, "make readable what a dead process or an interrupted recording left" },
	{ "doctor", hodo_cmd_doctor, "check what works on this machine, and how to mend it" },
};
#define NVERBS (sizeof(verbs) / sizeof(verbs[0]))

static void help(void)
{
	fputs("usage: hodo PROGRAM [ARGUMENT...]\n"
	      "       hodo VERB [options] [arguments]\n\n"
	      "Traces programs that have lines of <hodo/trace.h> in them: 'hodo ./app' records\n"
	      "the events of ./app in hodo.data, and shows a summary of them.\n\n", stdout);
	for (unsigned i = 0; i < NVERBS; i++)
		printf("  %-9s %s\n", verbs[i].name, verbs[i].does);
	fputs("\n'hodo VERB --help' and 'man hodo-VERB' tell more.\n", stdout);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* Letters to change, add or drop to make one word of the other. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[32], len = (unsigned)strlen(b);

	if (len >= 31 || strlen(a) >= 31)
		return 31;
	for (unsigned k = 0; k <= len; k++)
		row[k] = k;
	for (unsigned i = 0; a[i]; i++) {
		unsigned corner = row[0];

		row[0] = i + 1;
		for (unsigned k = 0; k < len; k++) {
			unsigned here = min3(row[k] + 1, row[k + 1] + 1, corner + (a[i] != b[k]));

			corner = row[k + 1];
			row[k + 1] = here;
		}
	}
	return row[len];
}

static int unknown(const char *name)
{
	unsigned best = 0, best_distance = 31;

	for (unsigned i = 0; i < NVERBS; i++) {
		unsigned d = distance(name, verbs[i].name);

		if (d < best_distance) {
			best = i;
			best_distance = d;
		}
	}
	if (best_distance <= 2)
		hodo_error("no verb '%s': did you mean 'hodo %s'?", name, verbs[best].name);
	else
		hodo_error("no verb '%s': 'hodo --help' lists them", name);
	return HODO_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	for (unsigned i = 0; i < NVERBS; i++)
		if (strcmp(argv[0], verbs[i].name) == 0)
			return verbs[i].run(argc, argv);
	return unknown(argv[0]);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		hodo_error("no verb given: 'hodo --help' lists them");
		return HODO_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("hodo %s\n", HODO_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		if (argc > 2 && argv[2][0] != '-') {
			char *verb[] = { argv[2], (char *)"--help", NULL };

			return run(2, verb);
		}
		help();
		return 0;
	}
	if (argv[1][0] == '-') {
		hodo_error("unknown option '%s': options come behind the verb; see 'hodo --help'", argv[1]);
		return HODO_EXIT_USAGE;
	}
	return run(argc - 1, argv + 1);
}
