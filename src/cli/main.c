/* SPDX-License-Identifier: MIT */
/* main.c - the hodo command: finds the verb. */
#include "cli.h"
#include "complete.h"

#include <string.h>
#include <unistd.h>

#include <record/launch.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;
} verbs[] = {
	{ "record", hodo_cmd_record, "record the events of a program, or of running processes" },
	{ "print", hodo_cmd_print, "print the events of a recording as text or JSON" },
	{ "graph", hodo_cmd_graph, "show the calls of functions as an indented graph with times" },
	{ "report", hodo_cmd_report, "tell counts, times and their distribution of all that was recorded" },
	{ "export", hodo_cmd_export, "write a recording in the format of another tool" },
	{ "view", hodo_cmd_view, "write a recording as one HTML page: timeline, flames, histograms" },
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

bool hodo_is_verb(const char *name)
{
	for (unsigned i = 0; i < NVERBS; i++)
		if (strcmp(name, verbs[i].name) == 0)
			return true;
	return false;
}

int hodo_run_verb(int argc, char **argv)
{
	for (unsigned i = 0; i < NVERBS; i++)
		if (strcmp(argv[0], verbs[i].name) == 0)
			return verbs[i].run(argc, argv);
	return HODO_EXIT_USAGE;
}

const char *hodo_verb(unsigned i, const char **does)
{
	if (i >= NVERBS)
		return NULL;
	*does = verbs[i].does;
	return verbs[i].name;
}

/* ------------------------------------------------------------------ words that are no verb */

#define WORD_MAX 31
#define TYPO(name) (strlen(name) < 4 ? 1u : 2u) /* letters */

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to change, add, drop or swap with the next to make one word of the other. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];
	unsigned len = (unsigned)strlen(b);

	if (len > WORD_MAX || strlen(a) > WORD_MAX)
		return WORD_MAX;
	for (unsigned k = 0; k <= len; k++)
		above[k] = before[k] = k;
	for (unsigned i = 0; a[i]; i++) {
		unsigned *next = before;

		row[0] = i + 1;
		for (unsigned k = 0; k < len; k++) {
			row[k + 1] = min(min(above[k + 1], row[k]) + 1, above[k] + (a[i] != b[k]));
			if (i > 0 && k > 0 && a[i] == b[k - 1] && a[i - 1] == b[k])
				row[k + 1] = min(row[k + 1], before[k - 1] + 1);
		}
		before = above;
		above = row;
		row = next;
	}
	return above[len];
}

/* The verb that is most like it, and how many letters are between them. */
static const char *nearest(const char *name, unsigned *letters)
{
	const char *best = NULL;

	*letters = WORD_MAX;
	for (unsigned i = 0; i < NVERBS; i++) {
		unsigned d = distance(name, verbs[i].name);

		if (d < *letters) {
			best = verbs[i].name;
			*letters = d;
		}
	}
	return best;
}

static int no_verb(const char *name, const char *like, unsigned letters, bool program)
{
	if (program)
		hodo_error("no verb '%s': did you mean 'hodo %s'? 'hodo -- %s' records the program", name, like, name);
	else if (letters <= TYPO(name))
		hodo_error("no verb '%s': did you mean 'hodo %s'?", name, like);
	else if (access(name, X_OK) == 0)
		hodo_error("no verb '%s', and no program in PATH: 'hodo ./%s' records the one that is here", name, name);
	else
		hodo_error("no verb '%s', and no program in PATH: 'hodo --help' lists the verbs", name);
	return HODO_EXIT_USAGE;
}

/*
 * A program, if it is one beyond doubt: by a path, or by a name in PATH which is not a verb with a slip of the
 * finger. In longer names two slips are more likely than such a program.
 */
static int run_program(char **argv)
{
	unsigned letters;
	const char *like = nearest(argv[0], &letters);
	bool slip = letters <= (strlen(argv[0]) < 6 ? 1 : 2);

	if (strchr(argv[0], '/'))
		return hodo_record_program(argv);
	if (hodo_launch_check(argv[0]) < 0)
		return no_verb(argv[0], like, letters, false);
	return slip ? no_verb(argv[0], like, letters, true) : hodo_record_program(argv);
}

static int help_of(const char *verb)
{
	char *argv[] = { (char *)verb, (char *)"--help", NULL };
	unsigned letters;
	const char *like = nearest(verb, &letters);

	if (hodo_is_verb(verb))
		return hodo_run_verb(2, argv);
	if (letters <= TYPO(verb))
		return no_verb(verb, like, letters, false);
	hodo_error("no verb '%s': 'hodo --help' lists them", verb);
	return HODO_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *first = argc < 2 ? "" : argv[1];

	if (!*first) {
		hodo_error("no verb and no program given: 'hodo --help' lists the verbs");
		return HODO_EXIT_USAGE;
	}
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		printf("hodo %s\n", HODO_VERSION);
		return 0;
	}
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
		if (argc > 2 && argv[2][0] != '-')
			return help_of(argv[2]);
		help();
		return 0;
	}
	if (strcmp(first, "--complete") == 0)
		return hodo_complete(argc - 2, argv + 2);
	if (strcmp(first, "--") == 0 && argc > 2)
		return hodo_record_program(argv + 2);
	if (strcmp(first, "--") == 0) {
		hodo_error("no program given behind '--': 'hodo -- PROGRAM' records it");
		return HODO_EXIT_USAGE;
	}
	if (first[0] == '-') {
		hodo_error("unknown option '%s': options come behind the verb; see 'hodo --help'", first);
		return HODO_EXIT_USAGE;
	}
	return hodo_is_verb(first) ? hodo_run_verb(argc - 1, argv + 1) : run_program(argv + 1);
}
