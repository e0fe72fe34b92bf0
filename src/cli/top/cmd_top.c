/* SPDX-License-Identifier: MIT */
/* cmd_top.c - hodo top: a live table of events. */
#include "top.h"

#include <locale.h>
#include <string.h>
#include <unistd.h>

#define VERB "top"
#define RING_SIZE       (4u << 20)
#define RING_SIZE_CALLS (16u << 20)
#define AT(member) HODO_AT(struct hodo_top_options, member)

static int add_patterns(void *options, const char *value)
{
	struct hodo_top_options *o = options;
	struct hodo_why why;

	if (strncmp(value, "func:", 5) == 0 || strstr(value, ",func:"))
		return hodo_usage(VERB, "-e %s: name functions by --functions=GLOB", value);
	return hodo_pattern_add(&o->patterns, value, &why) == 0 ? 0 : hodo_usage(VERB, "-e %s", why.text);
}

static const char *const kinds[] = { "events", "spans", "counters", "threads", "cpus", NULL };
static const char *const columns[HODO_TOP_COLUMNS + 1] = {
	[HODO_TOP_NAME] = "name", [HODO_TOP_PID] = "", [HODO_TOP_NUMBER] = "number", [HODO_TOP_RATE] = "rate",
	[HODO_TOP_AVERAGE] = "average", [HODO_TOP_TOTAL] = "total", [HODO_TOP_BYTES] = "bytes",
	[HODO_TOP_LOST] = "lost", [HODO_TOP_STATE] = "state", [HODO_TOP_P50] = "p50", [HODO_TOP_P99] = "p99",
	[HODO_TOP_MAX] = "max", [HODO_TOP_ALL_P50] = "all_p50", [HODO_TOP_ALL_P99] = "all_p99",
	[HODO_TOP_ALL_MAX] = "all_max", [HODO_TOP_OPEN] = "open", [HODO_TOP_LAST] = "last", [HODO_TOP_LEAST] = "least",
	[HODO_TOP_MOST] = "most", [HODO_TOP_CPU] = "cpu",
};

static int add_functions(void *options, const char *value)
{
	struct hodo_functions *f = &((struct hodo_top_options *)options)->functions;

	f->all = true;
	return value ? hodo_function_options_names(&f->patterns, "--functions", value) : 0;
}

/* command: how many words follow a --; -1: there is none. */
static int set_target(struct hodo_top_target *t, char **words, int n, int command)
{
	int err = 0;

	if (n == 0)
		return t->kernel ? 0 : hodo_usage(VERB, "give a process ID, -- and a command, or -k");
	if (n > command && command >= 0)
		return hodo_usage(VERB, "either processes or a command, not both");
	if (command > 0) {
		t->run.command = words;
		return 0;
	}
	if (words[0][0] < '0' || words[0][0] > '9')
		return hodo_usage(VERB, "'%s' is not a process ID: put -- in front of a command", words[0]);
	for (; *words && !err; words++)
		err = hodo_attach_options_add(&t->attach, VERB, *words);
	return err;
}

static int run(void *options)
{
	struct hodo_top_options *o = options;
	struct hodo_top_target *t = &o->target;
	int err = set_target(t, o->args.words, o->args.n, o->args.command);

	if (err)
		return err;
	if (o->kind != HODO_TOP_KINDS && o->sort != HODO_TOP_RATE && !hodo_top_sortable(o->kind, o->sort))
		return hodo_usage(VERB, "--sort %s: the table of %s has no such column", columns[o->sort], kinds[o->kind]);
	if (o->functions.all && t->kernel)
		return hodo_usage(VERB, "--functions is for programs, and cannot be used with -k");
	err = hodo_function_options_check(&o->functions, &o->patterns, false);
	if (err)
		return err;
	if (!o->ring_size)
		o->ring_size = o->functions.all ? RING_SIZE_CALLS : RING_SIZE;
	o->output = o->args.look.json ? HODO_TOP_JSON : o->batch || !isatty(STDOUT_FILENO) ? HODO_TOP_BATCH :
		    HODO_TOP_SCREEN;
	/* Names in the table are shown in the terminal's character set. */
	setlocale(LC_CTYPE, "");
	if (t->kernel && hodo_kernel_patterns(&o->patterns, &t->kernel_patterns) < 0)
		return hodo_no_memory();
	if (t->kernel && (err = hodo_run_open_kernel(&t->run)))
		return err;
	if (t->run.command) {
		err = hodo_run_find(&t->run, o->functions.all);
		if (err)
			return err;
	} else if (t->attach.n) {
		hodo_top_find_watched(t);
		if (hodo_attach_find(&t->attach) == 0 && !t->watches)
			return HODO_EXIT_FAILURE;
	}
	return hodo_top_run(o);
}

static void drop(void *options)
{
	struct hodo_top_options *o = options;

	hodo_top_target_free(&o->target);
	hodo_pattern_free(&o->patterns);
	hodo_functions_free(&o->functions);
}

static const struct hodo_columns *const shown[] = { &hodo_top_columns, NULL };

static const struct hodo_option options[] = {
	{ .name = "event", .letter = 'e', .kind = HODO_OPTION_CALL, .arg = "EVENT[,EVENT...]", .set = add_patterns,
	  .words = HODO_WORD_EVENT | HODO_WORD_LIST,
	  .help = "only these: PROVIDER:NAME, with * ? [...]; a\n"
		  "leading ! leaves out" },
	{ .name = "kernel", .letter = 'k', AT(target.kernel),
	  .help = "the kernel too, or only the kernel (root, CAP_PERFMON)" },
	{ .name = "functions", .kind = HODO_OPTION_CALL, .arg = "GLOB,...", .optional = true, .set = add_functions,
	  .help = "functions too: all, GLOB, or FILE!GLOB" },
	{ .name = "interval", .letter = 'd', .kind = HODO_OPTION_SECONDS, .arg = "TIME",
	  AT(interval_ns), .min = HODO_TOP_INTERVAL_MIN_NS, .max = HODO_TOP_INTERVAL_MAX_NS,
	  .help = "time between two tables (1)" },
	{ .name = "iterations", .letter = 'n', .kind = HODO_OPTION_NUMBER, .arg = "N",
	  AT(iterations), .min = 1, .max = UINT64_MAX, .wants = "a number from 1 on",
	  .help = "end after N tables" },
	{ .name = "duration", .kind = HODO_OPTION_SECONDS, .arg = "TIME", AT(duration_ns),
	  .min = 1, .max = 1000000000000000000,
	  .help = "end after this time" },
	{ .name = "by", .kind = HODO_OPTION_CHOICE, .arg = "WHAT", AT(kind), .choices = kinds,
	  .help = "first table: events, spans, counters, threads or cpus" },
	{ .name = "sort", .kind = HODO_OPTION_CHOICE, .arg = "COLUMN", AT(sort), .choices = columns,
	  .help = "by rate (the default), name, total, p99, max, cpu, ..." },
	{ .name = "columns", .kind = HODO_OPTION_CHOICES, .arg = "NAMES", AT(columns),
	  .tables = shown, .words = HODO_WORD_LIST,
	  .help = "these besides the name, by commas, as room allows" },
	{ .name = "buffer", .letter = 'm', .kind = HODO_OPTION_POWER, .arg = "SIZE", AT(ring_size),
	  .min = HODO_PAGE, .max = HODO_RING_MAX, .wants = "a size from 4K to 1T such as 16M",
	  .help = "buffer of each CPU in each process (4M; functions 16M)" },
	{ .name = "batch", AT(batch),
	  .help = "plain text, a table per interval; default if no terminal" },
	HODO_OPTION_JSON("one JSON object per line for each interval"),
	HODO_OPTION_COLOR,
	{ 0 },
};

static const struct hodo_top_options defaults = {
	.interval_ns = 1000000000, .sort = HODO_TOP_RATE, .kind = HODO_TOP_KINDS,
	.target = { .run = { .signal_fd = -1, .kernel_fd = -1 }, .output = -1,
		    .off = HODO_MAP_BYTES(struct hodo_bytes) },
};

const struct hodo_verb hodo_verb_top = {
	.name = VERB, .does = "show live which events happen, and how long spans take",
	.usage = "[options] PID...\n[options] -- CMD [ARGUMENT...]\n[options] -k [PID... | -- CMD [ARGUMENT...]]",
	.about = "Shows which events happen, how often, in which threads, how long spans take.\n",
	.notes = "On the screen, ? lists the keys; q ends.\n",
	.options = options, .column = 23, .aligned = true, .word = HODO_WORD_PID, .words = HODO_WORD_PID,
	.word_dashes = HODO_WORD_COMMAND,
	.args_bytes = sizeof(struct hodo_top_options), .defaults = &defaults, .run = run, .drop = drop,
};
