/* SPDX-License-Identifier: MIT */
/* main.c - the hodo command: which verb is asked for. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

#include <base/distance.h>
#include <record/record.h>

static const struct hodo_verb *inverse_of(const char *name)
{
	for (const struct hodo_verb *const *v = hodo_verbs; *v; v++)
		if ((*v)->undoes && strcmp((*v)->undoes, name) == 0)
			return *v;
	return NULL;
}

static void help(void)
{
	fputs("usage: hodo PROGRAM [ARGUMENT...] | hodo VERB [options] [arguments]\n\n"
	      "'hodo ./app' records ./app and shows a summary; 'hodo VERB --help' says more.\n\n", stdout);
	for (const struct hodo_verb *const *v = hodo_verbs; *v; v++) {
		const struct hodo_verb *inverse = inverse_of((*v)->name);

		if ((*v)->undoes)
			continue;
		printf("  %-9s %s", (*v)->name, (*v)->does);
		if (inverse)
			printf("; '%s' %s", inverse->name, inverse->undoing ? inverse->undoing : "undoes it");
		putchar('\n');
	}
}

/* ------------------------------------------------------------------ words that are no verb */

#define TYPO(name) (strlen(name) < 4 ? 1u : 2u) /* letters */

/* The most similar verb, and the number of differing letters. */
static const char *nearest(const char *name, unsigned *letters)
{
	const char *best = NULL;

	*letters = HODO_EDIT_DISTANCE_MAX;
	for (const struct hodo_verb *const *v = hodo_verbs; *v; v++) {
		unsigned d = hodo_edit_distance(name, (*v)->name);

		if (d < *letters) {
			best = (*v)->name;
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
 * Runs a program if it is clearly one: a path, or a name in PATH that is not a mistyped verb. In longer
 * names, two typos are more likely than such a program.
 */
static int run_program(char **argv)
{
	unsigned letters;
	const char *like = nearest(argv[0], &letters);
	bool slip = letters <= (strlen(argv[0]) < 6 ? 1 : 2);

	if (strchr(argv[0], '/'))
		return hodo_record_program(argv);
	if (hodo_launch_find(argv[0], NULL) < 0)
		return no_verb(argv[0], like, letters, false);
	return slip ? no_verb(argv[0], like, letters, true) : hodo_record_program(argv);
}

static int help_of(const char *verb)
{
	unsigned letters;
	const char *like = nearest(verb, &letters);

	if (hodo_verb_find(verb)) {
		hodo_verb_help(stdout, hodo_verb_find(verb), false);
		return 0;
	}
	if (letters <= TYPO(verb))
		return no_verb(verb, like, letters, false);
	hodo_error("no verb '%s': 'hodo --help' lists them", verb);
	return HODO_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *first = argc < 2 ? "" : argv[1];
	const struct hodo_verb *verb;

	if (!*first) {
		hodo_error("no verb and no program given: 'hodo --help' lists the verbs");
		return HODO_EXIT_USAGE;
	}
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		printf("hodo %s\n", HODO_VERSION);
		return 0;
	}
	if (strcmp(first, "--help") == 0 || strcmp(first, "--help=all") == 0 || strcmp(first, "-h") == 0 ||
	    strcmp(first, "help") == 0) {
		if (argc > 2 && argv[2][0] != '-')
			return help_of(argv[2]);
		help();
		return 0;
	}
	verb = argc == 3 ? hodo_verb_find(argv[2]) : NULL;
	if (strcmp(first, "--options") == 0 && verb) {
		hodo_verb_heads(stdout, verb);
		return 0;
	}
	if (strcmp(first, "--complete") == 0)
		return hodo_complete(argc - 2, argv + 2);
	if (strcmp(first, "--") == 0 && argc > 2)
		return hodo_record_program(argv + 2);
	if (strcmp(first, "--") == 0) {
		hodo_error("no program given after '--': 'hodo -- PROGRAM' records it");
		return HODO_EXIT_USAGE;
	}
	if (first[0] == '-') {
		hodo_error("unknown option '%s': options come after the verb; see 'hodo --help'", first);
		return HODO_EXIT_USAGE;
	}
	verb = hodo_verb_find(first);
	return verb ? hodo_verb_run(verb, argc - 1, argv + 1) : run_program(argv + 1);
}
