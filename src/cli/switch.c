/* SPDX-License-Identifier: MIT */
/* switch.c - hodo enable and hodo disable: events of a process that runs. */
#include "switch.h"

#include <stdio.h>

#include <record/pattern.h>

#include "cli.h"
#include "target.h"

struct args {
	pid_t pid;
	bool quiet;
	struct hodo_pattern_list patterns;
};

/* The exit status to leave with, or -1 to go on. */
static int parse(int argc, char **argv, const char *help, struct args *a)
{
	static const struct option options[] = {
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char why[200];
	int c, err;

	while ((c = hodo_getopt(argc, argv, ":qh", options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?')
			return HODO_EXIT_USAGE;
		a->quiet = true;
	}
	if (optind == argc)
		return hodo_usage(argv[0], "no process given");
	err = hodo_target_parse(argv[0], argv[optind], &a->pid);
	if (err)
		return err;
	if (++optind == argc)
		return hodo_usage(argv[0], "no events given: '*:*' is all of them");
	for (; optind < argc; optind++)
		if (hodo_pattern_add(&a->patterns, argv[optind], why, sizeof(why)) < 0)
			return hodo_usage(argv[0], "%s", why);
	for (uint32_t i = 0; i < a->patterns.n; i++)
		if (a->patterns.pattern[i].text[0] == '!')
			return hodo_usage(argv[0], "'%s': an event is switched on by 'hodo enable', and off by"
					  " 'hodo disable'", a->patterns.pattern[i].text);
	return -1;
}

/* All patterns, also if one of them matches nothing. */
static int switch_all(struct hodo_target *t, const struct args *a, bool on)
{
	int status = 0;

	for (uint32_t i = 0; i < a->patterns.n; i++) {
		const char *pattern = a->patterns.pattern[i].text;
		struct hodo_msg_answer answer;
		char why[HODO_WHY_MAX];

		if (hodo_target_ask(t, on ? HODO_CONTROL_ENABLE : HODO_CONTROL_DISABLE, pattern, &answer, NULL, why,
				    sizeof(why)) < 0) {
			hodo_error("%s", why);
			return HODO_EXIT_FAILURE;
		}
		if (answer.result == 0) {
			hodo_error("no event of process %d matches %s: 'hodo list %d' names them", (int)t->pid, pattern,
				   (int)t->pid);
			status = HODO_EXIT_FAILURE;
		} else if (!a->quiet) {
			fprintf(stderr, "hodo: %d event%s of process %d %s %s\n", answer.result,
				answer.result == 1 ? "" : "s", (int)t->pid, answer.result == 1 ? "is" : "are",
				on ? "on" : "off");
		}
	}
	return status;
}

int hodo_switch_events(int argc, char **argv, bool on, const char *help)
{
	struct args a = { 0 };
	struct hodo_target t;
	char why[HODO_WHY_MAX];
	int status = parse(argc, argv, help, &a);

	if (status < 0 && hodo_target_control(&t, a.pid, why, sizeof(why)) < 0) {
		hodo_error("%s", why);
		status = HODO_EXIT_FAILURE;
	} else if (status < 0) {
		status = switch_all(&t, &a, on);
		hodo_target_close(&t);
	}
	hodo_pattern_free(&a.patterns);
	return status;
}
