/* SPDX-License-Identifier: MIT */
/* cmd_switch.c - hodo enable and hodo disable: events of a running process. */
#include "cli.h"

#include <stdio.h>

#include <record/record.h>

#include "target.h"

struct args {
	struct hodo_args args;
	pid_t pid;
	struct hodo_pattern_list patterns;
};

/* The process and the events. 0 or the exit status. */
static int take_words(struct args *a, const char *verb)
{
	struct hodo_why why;
	char **words = a->args.words;
	int err;

	if (!words[0])
		return hodo_usage(verb, "give a process ID");
	err = hodo_target_parse(verb, words[0], &a->pid);
	if (err)
		return err;
	if (!*++words)
		return hodo_usage(verb, "no events given: '*:*' is all of them");
	for (; *words; words++)
		if (hodo_pattern_add(&a->patterns, *words, &why) < 0)
			return hodo_usage(verb, "%s", why.text);
	for (uint32_t i = 0; i < a->patterns.n; i++)
		if (a->patterns.pattern[i].text[0] == '!')
			return hodo_usage(verb, "'%s': use 'hodo enable' to switch an event on, 'hodo "
					  "disable' to switch it off", a->patterns.pattern[i].text);
	return 0;
}

/* All patterns, even if one of them matches nothing. */
static int switch_all(struct hodo_target *t, const struct args *a, bool on)
{
	int status = 0;

	for (uint32_t i = 0; i < a->patterns.n; i++) {
		const char *pattern = a->patterns.pattern[i].text;
		struct hodo_msg_answer answer;

		if (hodo_target_ask(t, on ? HODO_CONTROL_ENABLE : HODO_CONTROL_DISABLE, pattern, &answer, NULL) < 0)
			return hodo_error("%s", t->why.text);
		if (answer.result == 0) {
			hodo_error("no event of process %d matches %s: 'hodo list %d' lists them", (int)t->pid, pattern,
				   (int)t->pid);
			status = HODO_EXIT_FAILURE;
		} else if (!a->args.quiet) {
			fprintf(stderr, "hodo: %d event%s of process %d %s %s\n", answer.result,
				answer.result == 1 ? "" : "s", (int)t->pid, answer.result == 1 ? "is" : "are",
				on ? "on" : "off");
		}
	}
	return status;
}

static int run(void *args)
{
	struct args *a = args;
	HODO_AUTO(hodo_target_close) struct hodo_target t = { .fd = -1, .pidfd = -1 };
	int status = take_words(a, a->args.verb->name);

	if (status)
		return status;
	if (hodo_target_control(&t, a->pid) < 0)
		return hodo_error("%s", t.why.text);
	return switch_all(&t, a, a->args.verb == &hodo_verb_enable);
}

static void drop(void *args)
{
	hodo_pattern_free(&((struct args *)args)->patterns);
}

static const struct hodo_option options[] = {
	HODO_OPTION_QUIET("do not report how many"),
	{ 0 },
};

#define SWITCHING                                                                                              \
	.usage = "[options] PID EVENT[,EVENT...]...", .options = options, .column = 19, .word = HODO_WORD_PID, \
	.words = HODO_WORD_EVENT | HODO_WORD_LIST, .args_bytes = sizeof(struct args), .run = run, .drop = drop

const struct hodo_verb hodo_verb_enable = {
	.name = "enable", .does = "switch events of a recorded process on", SWITCHING,
	.about = "Switches events of the recorded process PID on, including those that its\n"
		 "recording left out or 'hodo disable' switched off. EVENT is PROVIDER:NAME, with\n"
		 "* ? [...].\n",
};

const struct hodo_verb hodo_verb_disable = {
	.name = "disable", .does = "switch events of a process off", .undoes = "enable", SWITCHING,
	.about = "Switches events of the process PID off, until 'hodo enable' switches them on\n"
		 "again: in this recording and in later ones. EVENT is PROVIDER:NAME, with\n"
		 "* ? [...].\n",
};
