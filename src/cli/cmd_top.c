/* SPDX-License-Identifier: MIT */
/* cmd_top.c - hodo top: a live table of events. */
#include "cli.h"
#include "top_loop.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <record/pattern.h>

#define VERB "top"
#define RING_SIZE (4u << 20)
#define DURATION_MAX_NS 1000000000000000000ll

static const char usage_text[] =
	"usage: hodo top [options] PID...\n"
	"       hodo top [options] -- CMD [ARGUMENT...]\n"
	"\n"
	"Shows which events happen in running processes, or in CMD, how often, in which\n"
	"threads.\n"
	"\n"
	"  -e, --event EVENT[,EVENT...]  only these: PROVIDER:NAME, with * ? [...]; ! in\n"
	"                       front leaves out\n"
	"  -d, --interval SECONDS  time between two tables (1)\n"
	"  -n, --iterations N   end after N tables\n"
	"      --duration SECONDS  end after so long\n"
	"      --by WHAT        the table to begin with: events (the default), threads or\n"
	"                       cpus\n"
	"      --sort COLUMN    by rate (the default), name, number, average, total,\n"
	"                       bytes, lost or state\n"
	"  -m, --buffer SIZE    buffer of each CPU in each process (4M); with K, M or G\n"
	"      --batch          plain text, a table each interval; so without a terminal\n"
	"      --json           one JSON object a line each interval\n"
	"      --color WHEN     auto, always or never\n"
	"  -h, --help\n"
	"\n"
	"On the screen, ? lists the keys; q ends.\n";

enum { OPT_DURATION = HODO_OPT_VERB, OPT_BY, OPT_SORT, OPT_BATCH };

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "interval", required_argument, NULL, 'd' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "by", required_argument, NULL, OPT_BY },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "buffer", required_argument, NULL, 'm' },
	{ "batch", no_argument, NULL, OPT_BATCH },
	{ "json", no_argument, NULL, HODO_OPT_JSON },
	{ "color", required_argument, NULL, HODO_OPT_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* The place of a word in a list, or -1. */
static int place_of(const char *word, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

static int set_by(struct hodo_top_options *o, const char *value)
{
	static const char *const words[] = { "events", "threads", "cpus" };
	int i = place_of(value, words, HODO_TOP_KINDS);

	if (i < 0)
		return hodo_usage(VERB, "--by is events, threads or cpus, not '%s'", value);
	o->kind = (enum hodo_top_kind)i;
	return 0;
}

static int set_sort(struct hodo_top_options *o, const char *value)
{
	static const char *const words[HODO_TOP_COLUMNS] = {
		[HODO_TOP_NAME] = "name", [HODO_TOP_PID] = "", [HODO_TOP_NUMBER] = "number", [HODO_TOP_RATE] = "rate",
		[HODO_TOP_AVERAGE] = "average", [HODO_TOP_TOTAL] = "total", [HODO_TOP_BYTES] = "bytes",
		[HODO_TOP_LOST] = "lost", [HODO_TOP_STATE] = "state",
	};
	int i = *value ? place_of(value, words, HODO_TOP_COLUMNS) : -1;

	if (i < 0)
		return hodo_usage(VERB, "--sort is name, number, rate, average, total, bytes, lost or state, not '%s'",
				  value);
	o->sort = (enum hodo_top_column)i;
	return 0;
}

static int set_buffer(struct hodo_top_options *o, const char *value)
{
	uint64_t size;

	if (hodo_parse_size(value, &size) < 0 || size < HODO_PAGE || size > HODO_RING_MAX)
		return hodo_usage(VERB, "-m is a size from 4K to 1T such as 16M, not '%s'", value);
	for (o->ring_size = 1; o->ring_size < size;)
		o->ring_size <<= 1;
	return 0;
}

static int set_time(int64_t *ns, const char *name, const char *value, int64_t min, int64_t max)
{
	if (hodo_parse_seconds(value, ns) == 0 && *ns >= min && *ns <= max)
		return 0;
	return hodo_usage(VERB, "%s is a time in seconds such as 2 or 0.5, not '%s'", name, value);
}

/* 0 or the exit status. */
static int set_option(struct hodo_top_options *o, int option, const char *value)
{
	char why[200];

	switch (option) {
	case 'e':
		if (strncmp(value, "func:", 5) == 0 || strstr(value, ",func:"))
			return hodo_usage(VERB, "-e %s: functions are not counted here: hodo report does", value);
		if (hodo_pattern_add(&o->patterns, value, why, sizeof(why)) < 0)
			return hodo_usage(VERB, "-e %s", why);
		return 0;
	case 'd':
		return set_time(&o->interval_ns, "-d", value, HODO_TOP_INTERVAL_MIN_NS, HODO_TOP_INTERVAL_MAX_NS);
	case 'n':
		if (hodo_parse_number(value, UINT64_MAX, &o->iterations) < 0 || o->iterations == 0)
			return hodo_usage(VERB, "-n is a number from 1 on, not '%s'", value);
		return 0;
	case OPT_DURATION:
		return set_time(&o->duration_ns, "--duration", value, 1, DURATION_MAX_NS);
	case OPT_BY:
		return set_by(o, value);
	case OPT_SORT:
		return set_sort(o, value);
	case 'm':
		return set_buffer(o, value);
	case OPT_BATCH:
		o->output = HODO_TOP_BATCH;
		return 0;
	case HODO_OPT_JSON:
		o->output = HODO_TOP_JSON;
		return 0;
	case HODO_OPT_COLOR:
		return hodo_parse_color(value, &o->color) == 0 ? 0 :
		       hodo_usage(VERB, "--color is auto, always or never, not '%s'", value);
	}
	return HODO_EXIT_USAGE; /* hodo_getopt() has said why */
}

static int add_process(struct hodo_attach_options *a, const char *text)
{
	struct hodo_target *grown;
	pid_t pid;
	int err = hodo_target_parse(VERB, text, &pid);

	if (err)
		return err;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->target[i].pid == pid)
			return 0;
	grown = realloc(a->target, (a->n + 1) * sizeof(*grown));
	if (!grown || a->n == HODO_ATTACH_MAX)
		return hodo_usage(VERB, "%u processes at most", HODO_ATTACH_MAX);
	a->target = grown;
	a->target[a->n++] = (struct hodo_target){ pid, -1, -1 };
	return 0;
}

/* command: how many words stand behind a --, all of them the last; -1: there is none. */
static int set_target(struct hodo_top_target *t, char **words, int n, int command)
{
	int err = 0;

	if (n == 0)
		return hodo_usage(VERB, "no process: its number is wanted, or -- and a command");
	if (n > command && command >= 0)
		return hodo_usage(VERB, "either processes or a command, not both");
	if (command > 0) {
		t->command = words;
		return 0;
	}
	if (words[0][0] < '0' || words[0][0] > '9')
		return hodo_usage(VERB, "'%s' is no process's number: to run a command, put -- in front of it", words[0]);
	for (; *words && !err; words++)
		err = add_process(&t->attach, *words);
	return err;
}

static int run(struct hodo_top_options *o, struct hodo_top_target *t)
{
	if (t->command) {
		int err = hodo_launch_check(t->command[0]);

		if (err)
			return hodo_cannot_run(t->command[0], err);
	} else {
		int status = hodo_top_find_watched(t);

		if (status)
			return status;
		if (hodo_attach_find(&t->attach) + t->watches == 0)
			return HODO_EXIT_FAILURE;
	}
	if (o->output == HODO_TOP_SCREEN && !isatty(STDOUT_FILENO))
		o->output = HODO_TOP_BATCH;
	return hodo_top_run(o, t);
}

/* Options may stand behind the processes' numbers, but not in the command. */
static int count_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argc - i - 1;
	return -1;
}

int hodo_cmd_top(int argc, char **argv)
{
	struct hodo_top_options o = { .interval_ns = 1000000000, .ring_size = RING_SIZE, .sort = HODO_TOP_RATE };
	struct hodo_top_target target = { .output = -1 };
	int option, status = 0, command = count_command(argc, argv);

	optind = 0;
	while (!status && (option = hodo_getopt(argc, argv, ":e:d:n:m:h", long_options, usage_text)) != -1) {
		if (option == 'h') {
			hodo_pattern_free(&o.patterns);
			return 0;
		}
		status = set_option(&o, option, optarg);
	}
	if (!status)
		status = set_target(&target, argv + optind, argc - optind, command);
	/* Names in the table are shown as the terminal's language has them. */
	setlocale(LC_CTYPE, "");
	if (!status)
		status = run(&o, &target);
	hodo_top_target_free(&target);
	hodo_pattern_free(&o.patterns);
	return status;
}
