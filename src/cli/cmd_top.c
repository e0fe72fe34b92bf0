/* SPDX-License-Identifier: MIT */
/* cmd_top.c - hodo top: a live table of events. */
#include "cli.h"
#include "top_loop.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <record/record.h>

#define VERB "top"
#define RING_SIZE (4u << 20)
#define DURATION_MAX_NS 1000000000000000000ll

struct args {
	struct hodo_args args;
	struct hodo_top_options o;
	struct hodo_top_target target;
	bool batch;
};

static int add_patterns(void *args, const char *value)
{
	struct args *a = args;
	char why[200];

	if (strncmp(value, "func:", 5) == 0 || strstr(value, ",func:"))
		return hodo_usage(VERB, "-e %s: functions are not counted here: hodo report does", value);
	return hodo_pattern_add(&a->o.patterns, value, why, sizeof(why)) == 0 ? 0 : hodo_usage(VERB, "-e %s", why);
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
		err = hodo_attach_options_add(&t->attach, VERB, *words);
	return err;
}

static int watch(struct hodo_top_options *o, struct hodo_top_target *t)
{
	if (t->command) {
		int err = hodo_launch_find(t->command[0], NULL);

		if (err)
			return hodo_cannot_run(t->command[0], err);
	} else {
		hodo_top_find_watched(t);
		if (hodo_attach_find(&t->attach) == 0 && !t->watches)
			return HODO_EXIT_FAILURE;
	}
	if (o->output == HODO_TOP_SCREEN && !isatty(STDOUT_FILENO))
		o->output = HODO_TOP_BATCH;
	return hodo_top_run(o, t);
}

static int run(void *args)
{
	struct args *a = args;
	int status = set_target(&a->target, a->args.words, a->args.n, a->args.command);

	a->o.color = a->args.color;
	a->o.output = a->args.json ? HODO_TOP_JSON : a->batch ? HODO_TOP_BATCH : HODO_TOP_SCREEN;
	/* Names in the table are shown as the terminal's language has them. */
	setlocale(LC_CTYPE, "");
	return status ? status : watch(&a->o, &a->target);
}

static void drop(void *args)
{
	struct args *a = args;

	hodo_top_target_free(&a->target);
	hodo_pattern_free(&a->o.patterns);
}

static const char *const kinds[] = { "events", "threads", "cpus", NULL };
static const char *const columns[HODO_TOP_COLUMNS + 1] = {
	[HODO_TOP_NAME] = "name", [HODO_TOP_PID] = "", [HODO_TOP_NUMBER] = "number", [HODO_TOP_RATE] = "rate",
	[HODO_TOP_AVERAGE] = "average", [HODO_TOP_TOTAL] = "total", [HODO_TOP_BYTES] = "bytes",
	[HODO_TOP_LOST] = "lost", [HODO_TOP_STATE] = "state",
};

static const char *const shown[HODO_TOP_COLUMNS + 1] = {
	"name", "pid", "number", "rate", "average", "total", "bytes", "lost", "state",
};

static const struct hodo_option options[] = {
	{ .name = "event", .letter = 'e', .kind = HODO_OPTION_CALL, .arg = "EVENT[,EVENT...]", .set = add_patterns,
	  .words = HODO_WORD_EVENT | HODO_WORD_LIST,
	  .help = "only these: PROVIDER:NAME, with * ? [...]; ! in\nfront leaves out" },
	{ .name = "interval", .letter = 'd', .kind = HODO_OPTION_SECONDS, .arg = "TIME",
	  HODO_AT(struct args, o.interval_ns), .min = HODO_TOP_INTERVAL_MIN_NS, .max = HODO_TOP_INTERVAL_MAX_NS,
	  .help = "time between two tables (1)" },
	{ .name = "iterations", .letter = 'n', .kind = HODO_OPTION_NUMBER, .arg = "N",
	  HODO_AT(struct args, o.iterations), .min = 1, .max = UINT64_MAX, .wants = "a number from 1 on",
	  .help = "end after N tables" },
	{ .name = "duration", .kind = HODO_OPTION_SECONDS, .arg = "TIME", HODO_AT(struct args, o.duration_ns),
	  .min = 1, .max = 1000000000000000000,
	  .help = "end after so long" },
	{ .name = "by", .kind = HODO_OPTION_CHOICE, .arg = "WHAT", HODO_AT(struct args, o.kind), .choices = kinds,
	  .help = "the table to begin with: events (the default), threads or\ncpus" },
	{ .name = "sort", .kind = HODO_OPTION_CHOICE, .arg = "COLUMN", HODO_AT(struct args, o.sort), .choices = columns,
	  .help = "by rate (the default), name, number, average, total,\nbytes, lost or state" },
	{ .name = "columns", .kind = HODO_OPTION_CHOICES, .arg = "NAMES", HODO_AT(struct args, o.columns),
	  .choices = shown, .words = HODO_WORD_LIST, .help = "besides the name these, with commas, if there is room" },
	{ .name = "buffer", .letter = 'm', .kind = HODO_OPTION_POWER, .arg = "SIZE", HODO_AT(struct args, o.ring_size),
	  .min = HODO_PAGE, .max = HODO_RING_MAX, .wants = "a size from 4K to 1T such as 16M",
	  .help = "buffer of each CPU in each process (4M); with K, M or G" },
	{ .name = "batch", HODO_AT(struct args, batch),
	  .help = "plain text, a table each interval; so without a terminal" },
	HODO_OPTION_JSON("one JSON object a line each interval"),
	HODO_OPTION_COLOR,
	{ 0 },
};

static const struct args defaults = {
	.o = { .interval_ns = 1000000000, .ring_size = RING_SIZE, .sort = HODO_TOP_RATE },
	.target = { .output = -1, .off = HODO_MAP_BYTES(struct hodo_bytes) },
};

const struct hodo_verb hodo_verb_top = {
	.name = VERB, .does = "show live which events happen, how often, in which threads",
	.usage = "[options] PID...\n[options] -- CMD [ARGUMENT...]",
	.about = "Shows which events happen in running processes, or in CMD, how often, in which\n"
		 "threads.\n",
	.notes = "On the screen, ? lists the keys; q ends.\n",
	.options = options, .column = 23, .aligned = true, .word = HODO_WORD_PID, .words = HODO_WORD_PID,
	.word_dashes = HODO_WORD_COMMAND,
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run, .drop = drop,
};
