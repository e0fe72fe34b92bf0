/* SPDX-License-Identifier: MIT */
/* cmd_report.c - hodo report. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	struct report_options o;
	struct report_look look;
	const char *diff;
	uint64_t limit; /* rows of each table */
};

static const char *const keys[] = { "thread", "cpu", "process", NULL };

static int set_by(void *args, const char *value)
{
	struct args *a = args;

	if (!*value || strchr(value, ','))
		return hodo_usage("report", "--by is thread, cpu, process or one field, not '%s'", value);
	a->o.by = REPORT_BY_FIELD;
	a->o.by_text = value;
	for (unsigned i = 0; keys[i]; i++)
		if (strcmp(value, keys[i]) == 0)
			a->o.by = (enum report_by)(REPORT_BY_THREAD + i);
	return 0;
}

static int set_histogram(void *args, const char *value)
{
	struct args *a = args;

	a->look.histogram = true;
	a->look.histogram_of = value;
	return 0;
}

static bool same_pair(const struct report_pair *a, const struct report_pair *b)
{
	return strcmp(a->begin, b->begin) == 0 && strcmp(a->end, b->end) == 0 &&
	       strcmp(a->by ? a->by : "", b->by ? b->by : "") == 0;
}

static int set_limit(void *args, const char *value)
{
	struct args *a = args;

	return hodo_parse_number(value, UINT64_MAX, &a->limit) == 0 ? 0 :
	       hodo_usage("report", "'%s' is no number of rows", value);
}

/* In one argument, or as it would be said: --pair A,B by KEY. */
static int set_pair(void *args, const char *value)
{
	struct args *a = args;
	struct report_pair *pair = &a->o.pairs[a->o.npairs];
	char *text = NULL, **rest = a->o.args.words;
	int err;

	if (a->o.npairs == REPORT_PAIRS_MAX)
		return hodo_usage("report", "%u pairs at the most", REPORT_PAIRS_MAX);
	if (rest[0] && strcmp(rest[0], "by") == 0 && rest[1]) {
		if (asprintf(&text, "%s by %s", value, rest[1]) < 0)
			return hodo_no_memory();
		optind += 2;
	}
	err = report_pair_parse(pair, text ? text : value);
	a->o.npairs++; /* to be freed */
	if (err == -EINVAL)
		err = hodo_usage("report", "--pair is two events and what they share, such as kv:start,kv:done by key, "
					   "not '%s'", text ? text : value);
	free(text);
	for (uint32_t i = 0; !err && i + 1 < a->o.npairs; i++)
		if (same_pair(&a->o.pairs[i], pair))
			return hodo_usage("report", "--pair %s,%s is there twice", pair->begin, pair->end);
	return err < 0 ? hodo_no_memory() : err;
}

static int set_values(void *args, const char *value)
{
	struct args *a = args;
	int err;

	if (a->o.nvalues == REPORT_VALUES_MAX)
		return hodo_usage("report", "%u fields at the most with --values", REPORT_VALUES_MAX);
	err = report_value_parse(&a->o.values[a->o.nvalues++], value);
	if (err == -EINVAL)
		return hodo_usage("report", "--values is an event and a field, such as kv:put.bytes, not '%s'", value);
	return err ? hodo_no_memory() : 0;
}

static int show(const struct args *a)
{
	struct report rep = { 0 }, other = { 0 };
	struct hodo_text text = { 0 };
	int status = report_read(&rep, a->o.args.dir, &a->o), err;

	if (!status && a->diff)
		status = report_read(&other, a->diff, &a->o);
	if (!status) {
		err = report_put(&text, &rep, a->diff ? &other : NULL, &a->look);
		text.error = err ? err : text.error;
		if (!a->diff && !a->o.args.json && !a->o.args.quiet && report_empty(&rep))
			hodo_warning("%s has no events: 'hodo info' shows what it is", a->o.args.dir);
		status = hodo_out_text(&text, !a->o.args.no_pager);
	}
	report_free(&other);
	report_free(&rep);
	return status;
}

static const struct hodo_columns *const tables[] = {
	&report_columns[REPORT_FUNCTIONS], &report_columns[REPORT_EVENTS], &report_columns[REPORT_SPANS],
	&report_columns[REPORT_VALUES], &report_columns[REPORT_RUNNING], &report_columns[REPORT_OFF],
	&report_columns[REPORT_LATENCY], NULL,
};

static int run(void *args)
{
	struct args *a = args;
	int status = hodo_look_make(&a->look.table, &a->o.args, tables);

	if (status)
		return status < 0 ? 0 : status;
	a->look.table.limit = a->limit;
	a->o.diff = a->diff != NULL;
	return show(a);
}

static void drop(void *args)
{
	report_options_free(&((struct args *)args)->o);
}

static const char *const sorts[] = { "total", "self", "calls", "avg", "p50", "p99", "max", "min", "name", NULL };
static const struct hodo_option options[] = {
	{ .name = "pair", .kind = HODO_OPTION_CALL, .arg = "A,B [by KEY]", .set = set_pair,
	  .words = HODO_WORD_EVENT | HODO_WORD_LIST,
	  .help = "times from event A to the next B of its thread, or\n"
		  "with the same KEY: fields, process, cpu, with commas" },
	{ .name = "by", .kind = HODO_OPTION_CALL, .arg = "KEY", .choices = keys, .set = set_by,
	  .help = "split by thread, cpu, process or a field" },
	{ .name = "values", .kind = HODO_OPTION_CALL, .arg = "EVENT.FIELD", .set = set_values, .words = HODO_WORD_EVENT,
	  .help = "the distribution of a field's numbers" },
	{ .name = "histogram", .letter = 'H', .kind = HODO_OPTION_CALL, .arg = "GLOB", .optional = true,
	  .set = set_histogram, .help = "draw distributions: all, or those of such names" },
	HODO_OPTION_COLUMNS("these columns, with commas; help: which there are", tables),
	{ .name = "sort", .kind = HODO_OPTION_TEXT, .arg = "KEY", HODO_AT(struct args, o.args.sort), .choices = sorts,
	  .help = "total, self, calls, avg, p50, p99, max, min or name,\nor another column" },
	{ .name = "limit", .letter = 'n', .kind = HODO_OPTION_CALL, .arg = "N", .set = set_limit,
	  .help = "the first N of each table" },
	HODO_OPTION_THREAD("of this thread, or of those whose name matches a glob"),
	HODO_OPTION_SINCE("S", NULL),
	HODO_OPTION_UNTIL("S", "from S seconds after its begin, or the epoch, to there"),
	HODO_OPTION_DIFF(struct args, diff, "what is different in that recording"),
	HODO_OPTIONS_SHOWN("one JSON object"),
	HODO_OPTION_QUIET("no warnings, no word about lost events"),
	{ 0 },
};

static const struct args defaults = { .limit = UINT64_MAX };

const struct hodo_verb hodo_verb_report = {
	.name = "report", .does = "show counts, times and their distribution of all that was recorded",
	.usage = "[options] [DIR]",
	.about = "What a recording (hodo.data) says in numbers: calls and times of functions,\n"
		 "events, spans, values; with the kernel's sched events, threads on and off CPUs.\n",
	.options = options, .column = 26, .word = HODO_WORD_DIR, .one = "one recording, and another with --diff",
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run, .drop = drop,
};
