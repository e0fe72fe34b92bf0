/* SPDX-License-Identifier: MIT */
/* cmd_report.c - hodo report. */
#define _GNU_SOURCE
#include "report.h"
#include <cli/fail_if.h>
#include <cli/selection.h>

#include <getopt.h>
#include <string.h>

static const char *const keys[] = { "thread", "cpu", "process", "host", NULL };

static int set_by(void *options, const char *value)
{
	struct report_options *o = options;

	if (!*value || strchr(value, ','))
		return hodo_usage("report", "--by is thread, cpu, process, host or one field, not '%s'", value);
	o->by = REPORT_BY_FIELD;
	o->by_text = value;
	for (unsigned i = 0; keys[i]; i++)
		if (strcmp(value, keys[i]) == 0)
			o->by = (enum report_by)(REPORT_BY_THREAD + i);
	return 0;
}

static int set_histogram(void *options, const char *value)
{
	struct report_options *o = options;

	o->histogram = true;
	o->histogram_of = value;
	return 0;
}

/* "thread,shard": what must be equal at both ends. */
static bool parse_keys(struct report_pair *p)
{
	bool all = false;
	char *rest, *part;

	rest = p->fields = hodo_must(strdup(p->by));
	while ((part = strsep(&rest, ",")) != NULL) {
		if (strcmp(part, "thread") == 0)
			p->key |= REPORT_KEY_THREAD;
		else if (strcmp(part, "cpu") == 0)
			p->key |= REPORT_KEY_CPU;
		else if (strcmp(part, "process") == 0)
			p->key |= REPORT_KEY_PROCESS;
		else if (strcmp(part, "all") == 0)
			all = true;
		else if (!*part || p->nfields == REPORT_KEY_FIELDS_MAX)
			return false;
		else
			p->field[p->nfields++] = part;
	}
	/* A process's number means something else in another process; a CPU does not. */
	if (!all && p->nfields)
		p->key |= REPORT_KEY_PROCESS;
	return true;
}

/* Splits "A,B" or "A,B by KEY,…". */
static bool parse_pair(struct report_pair *p, char *text)
{
	char *end = text + strcspn(text, ", "), *by;

	*p = (struct report_pair){ .begin = text };
	if (end == text || *end != ',')
		return false;
	*end++ = 0;
	p->end = end += strspn(end, " ");
	by = end + strcspn(end, ", ");
	if (by == end || *by == ',')
		return false;
	while (*by == ' ')
		*by++ = 0;
	if (!*by) {
		p->key = REPORT_KEY_THREAD;
		return true;
	}
	p->by = by + 3 + strspn(by + 3, " ");
	return strncmp(by, "by ", 3) == 0 && !strchr(p->by, ' ') && parse_keys(p);
}

static bool same_pair(const struct report_pair *a, const struct report_pair *b)
{
	return strcmp(a->begin, b->begin) == 0 && strcmp(a->end, b->end) == 0 &&
	       strcmp(a->by ? a->by : "", b->by ? b->by : "") == 0;
}

/* As one argument, or as separate words: --pair A,B by KEY. */
static int set_pair(void *options, const char *value)
{
	struct report_options *o = options;
	struct report_pair *pair = &o->pairs[o->npairs];
	char **rest = o->args.words, *text;
	const char *by = rest[0] && strcmp(rest[0], "by") == 0 ? rest[1] : NULL;

	if (o->npairs == REPORT_PAIRS_MAX)
		return hodo_usage("report", "at most %u pairs", REPORT_PAIRS_MAX);
	optind += by ? 2 : 0;
	if (asprintf(&text, "%s%s%s", value, by ? " by " : "", by ? by : "") < 0)
		return hodo_no_memory();
	o->npairs++; /* to be freed */
	if (!parse_pair(pair, text))
		return hodo_usage("report", "--pair is two events and what they share, such as kv:start,kv:done by key, "
				  "not '%s%s%s'", value, by ? " by " : "", by ? by : "");
	for (uint32_t i = 0; i + 1 < o->npairs; i++)
		if (same_pair(&o->pairs[i], pair))
			return hodo_usage("report", "--pair %s,%s is given twice", pair->begin, pair->end);
	return 0;
}

/* One of a list; given twice, it counts once. 0, or the exit status. */
static int add_value(struct report_options *o, const char *value, size_t len)
{
	char *event = hodo_must(strndup(value, len)), *dot = strrchr(event, '.'); /* events of spans have one, too */

	if (!dot || dot == event || !dot[1]) {
		free(event);
		return hodo_usage("report", "--values is an event and a field, such as kv:put.bytes, not '%.*s'", (int)len,
				  value);
	}
	*dot = 0;
	for (uint32_t i = 0; i < o->nvalues; i++) {
		if (strcmp(o->values[i].event, event) == 0 && strcmp(o->values[i].field, dot + 1) == 0) {
			free(event);
			return 0;
		}
	}
	if (o->nvalues == REPORT_VALUES_MAX) {
		free(event);
		return hodo_usage("report", "at most %u fields with --values", REPORT_VALUES_MAX);
	}
	o->values[o->nvalues++] = (struct report_value){ event, dot + 1 };
	return 0;
}

static int set_values(void *options, const char *value)
{
	size_t len = strcspn(value, ",");
	int status = add_value(options, value, len);

	for (; !status && value[len]; status = add_value(options, value, len)) {
		value += len + 1;
		len = strcspn(value, ",");
	}
	return status;
}

static int run(void *options)
{
	const struct report_options *o = options;
	struct report rep = { 0 }, other = { 0 };
	struct hodo_page page;
	int status;

	if (o->args.look.fail_ifs && !o->diff)
		return hodo_usage("report", "--fail-if compares two recordings: give the other with --diff");
	status = report_read(&rep, o->args.dir, o);

	if (!status && o->diff)
		status = report_read(&other, o->diff, o);
	if (!status) {
		hodo_page_begin(&page, &o->args);
		report_put(&page, &rep, o->diff ? &other : NULL);
		if (!o->diff && !o->args.look.json && !o->args.quiet && !hodo_selection_given(&o->args) &&
		    report_empty(&rep))
			hodo_warning("%s has no events: 'hodo info' shows what it is", o->args.dir);
		status = hodo_page_end(&page);
	}
	report_free(&other);
	report_free(&rep);
	return hodo_fail_if_status(&o->args.look, status);
}

static const struct hodo_columns *const tables[] = {
	&report_columns[REPORT_FUNCTIONS], &report_columns[REPORT_EVENTS], &report_columns[REPORT_SPANS],
	&report_columns[REPORT_VALUES], &report_columns[REPORT_RUNNING], &report_columns[REPORT_OFF],
	&report_columns[REPORT_LATENCY], &report_slowest_columns[0], &report_slowest_columns[1], NULL,
};

static void drop(void *options)
{
	struct report_options *o = options;

	for (uint32_t i = 0; i < o->npairs; i++) {
		free(o->pairs[i].begin);
		free(o->pairs[i].fields);
	}
	for (uint32_t i = 0; i < o->nvalues; i++)
		free(o->values[i].event);
}

static const char *const sorts[] = { "total", "self", "calls", "avg", "p50", "p99", "max", "min", "name", NULL };
static const struct hodo_option options[] = {
	{ .name = "pair", .kind = HODO_OPTION_CALL, .arg = "A,B [by KEY]", .set = set_pair,
	  .words = HODO_WORD_EVENT | HODO_WORD_LIST,
	  .help = "times from event A to the next B of its thread, or\n"
		  "with the same KEY: fields, process, cpu, by commas" },
	{ .name = "by", .kind = HODO_OPTION_CALL, .arg = "KEY", .choices = keys, .set = set_by,
	  .help = "split by thread, cpu, process, host or a field" },
	{ .name = "values", .kind = HODO_OPTION_CALL, .arg = "EVENT.FIELD", .set = set_values,
	  .words = HODO_WORD_EVENT | HODO_WORD_LIST,
	  .help = "the distributions of fields' numbers, by commas" },
	{ .name = "histogram", .letter = 'H', .kind = HODO_OPTION_CALL, .arg = "GLOB", .optional = true,
	  .set = set_histogram, .help = "draw distributions: all, or only of these names" },
	HODO_OPTION_COLUMNS("these columns, separated by commas; help lists them", tables),
	{ .name = "sort", .kind = HODO_OPTION_TEXT, .arg = "KEY", HODO_AT(struct hodo_args, look.sort),
	  .choices = sorts, .help = "total, self, calls, avg, p50, max or another column" },
	HODO_OPTION_LIMIT("rows", "only the first N of each table"),
	HODO_OPTION_DIFF(struct report_options, diff, "compare with that recording"),
	HODO_OPTION_FAIL_IF,
	HODO_OPTION_FULL_NAMES,
	HODO_OPTIONS_SHOWN("one JSON object"),
	HODO_OPTION_QUIET("do not report warnings or lost events"),
	HODO_OPTIONS_SELECTION,
	{ .help = "Symbols:" },
	HODO_OPTION_DEBUGINFOD,
	{ 0 },
};

const struct hodo_verb hodo_verb_report = {
	.name = "report", .does = "show counts, times and distributions of everything recorded",
	.usage = "[options] [DIR]",
	.about = "Summarizes a recording (hodo.data): calls and times of functions, events, spans,\n"
		 "values; with the kernel's sched events, threads on and off CPUs.\n",
	.options = options, .tables = tables, .column = 26, .word = HODO_WORD_DIR,
	.one = "one recording, and another with --diff", .args_bytes = sizeof(struct report_options),
	.selects = HODO_SELECT | HODO_SELECT_SPANS | HODO_SELECT_ANY_THREAD,
	.run = run, .drop = drop,
};
