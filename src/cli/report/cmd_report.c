/* SPDX-License-Identifier: MIT */
/* cmd_report.c - hodo report. */
#define _GNU_SOURCE
#include "report.h"
#include <cli/fail_if.h>
#include <cli/selection.h>

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define SLOWEST 10u /* without --limit */

static const char *const keys[] = { "thread", "cpu", "process", "host", NULL };

static int set_by(void *options, const char *value)
{
	struct report_options *o = options;

	if (!*value || strchr(value, ','))
		return hodo_usage("report", "--by is thread, cpu, process, host or one field, not '%s'", value);
	o->stats.by = HODO_STATS_BY_FIELD;
	o->stats.by_text = value;
	for (unsigned i = 0; keys[i]; i++)
		if (strcmp(value, keys[i]) == 0)
			o->stats.by = (enum hodo_stats_by)(HODO_STATS_BY_THREAD + i);
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
static bool parse_keys(struct hodo_stats_pair *p)
{
	bool all = false;
	char *rest, *part;

	rest = p->fields = hodo_must(strdup(p->by));
	while ((part = strsep(&rest, ",")) != NULL) {
		if (strcmp(part, "thread") == 0)
			p->key |= HODO_STATS_KEY_THREAD;
		else if (strcmp(part, "cpu") == 0)
			p->key |= HODO_STATS_KEY_CPU;
		else if (strcmp(part, "process") == 0)
			p->key |= HODO_STATS_KEY_PROCESS;
		else if (strcmp(part, "all") == 0)
			all = true;
		else if (!*part || p->nfields == HODO_STATS_KEY_FIELDS_MAX)
			return false;
		else
			p->field[p->nfields++] = part;
	}
	/* A process's number means something else in another process; a CPU does not. */
	if (!all && p->nfields)
		p->key |= HODO_STATS_KEY_PROCESS;
	return true;
}

/* Splits "A,B" or "A,B by KEY,…". */
static bool parse_pair(struct hodo_stats_pair *p, char *text)
{
	char *end = text + strcspn(text, ", "), *by;

	*p = (struct hodo_stats_pair){ .begin = text };
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
		p->key = HODO_STATS_KEY_THREAD;
		return true;
	}
	p->by = by + 3 + strspn(by + 3, " ");
	return strncmp(by, "by ", 3) == 0 && !strchr(p->by, ' ') && parse_keys(p);
}

static bool same_pair(const struct hodo_stats_pair *a, const struct hodo_stats_pair *b)
{
	return strcmp(a->begin, b->begin) == 0 && strcmp(a->end, b->end) == 0 &&
	       strcmp(a->by ? a->by : "", b->by ? b->by : "") == 0;
}

/* As one argument, or as separate words: --pair A,B by KEY. */
static int set_pair(void *options, const char *value)
{
	struct report_options *o = options;
	struct hodo_stats_pair *pair = &o->stats.pairs[o->stats.npairs];
	char **rest = o->args.words, *text;
	const char *by = rest[0] && strcmp(rest[0], "by") == 0 ? rest[1] : NULL;

	if (o->stats.npairs == HODO_STATS_PAIRS_MAX)
		return hodo_usage("report", "at most %u pairs", HODO_STATS_PAIRS_MAX);
	optind += by ? 2 : 0;
	if (asprintf(&text, "%s%s%s", value, by ? " by " : "", by ? by : "") < 0)
		return hodo_no_memory();
	o->stats.npairs++; /* to be freed */
	if (!parse_pair(pair, text))
		return hodo_usage("report", "--pair is two events and what they share, such as kv:start,kv:done by key, "
				  "not '%s%s%s'", value, by ? " by " : "", by ? by : "");
	for (uint32_t i = 0; i + 1 < o->stats.npairs; i++)
		if (same_pair(&o->stats.pairs[i], pair))
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
	for (uint32_t i = 0; i < o->stats.nvalues; i++) {
		if (strcmp(o->stats.values[i].event, event) == 0 && strcmp(o->stats.values[i].field, dot + 1) == 0) {
			free(event);
			return 0;
		}
	}
	if (o->stats.nvalues == HODO_STATS_VALUES_MAX) {
		free(event);
		return hodo_usage("report", "at most %u fields with --values", HODO_STATS_VALUES_MAX);
	}
	o->stats.values[o->stats.nvalues++] = (struct hodo_stats_value){ event, dot + 1 };
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

/* Reports what was requested but is not in the recording, and what does not count. */
static void warn(const struct hodo_stats_events *ev, const char *dir)
{
	const struct hodo_stats_options *o = ev->o;
	uint64_t n;
	char number[32];

	for (uint32_t i = 0; i < o->npairs; i++)
		for (unsigned side = 0; side < 2; side++)
			if (!hodo_stats_series_at(&ev->rows, i)->seen[side])
				hodo_warning("%s: no event '%s'%s: 'hodo stat' lists the events", dir,
					     side ? o->pairs[i].end : o->pairs[i].begin,
					     o->pairs[i].nfields ? " with the fields to pair by" : "");
	for (uint32_t i = 0; i < o->nvalues; i++)
		if (!(ev->findings.values >> i & 1))
			hodo_warning("%s: no event '%s' with a number '%s': 'hodo list' lists the events",
				     dir, o->values[i].event, o->values[i].field);
	if (o->by == HODO_STATS_BY_FIELD && !ev->findings.by)
		hodo_warning("%s: no event has a field '%s': 'hodo list' lists the fields", dir, o->by_text);
	if (ev->findings.dropped)
		hodo_warning("%s: %s of the begins were dropped, because more than a million were waiting for "
			     "their end", dir, hodo_grouped(ev->findings.dropped, number));
	if (ev->rows.others)
		hodo_warning("%s: there are more groups than can be shown: the rest is in (others)", dir);
	n = ev->findings.unsure_times;
	if (n)
		hodo_warning("%s: events were lost in %s time%s on or off CPUs, which %s not counted", dir,
			     hodo_grouped(n, number), hodo_plural(n), n == 1 ? "is" : "are");
	n = ev->findings.unsure_spans;
	if (n)
		hodo_warning("%s: events were lost in %s span%s: a begin and its end may belong to different spans", dir,
			     hodo_grouped(n, number), hodo_plural(n));
	if (ev->rows.unmeasured)
		hodo_warning("%s: too many spans and fields: some have no percentiles", dir);
	if (hodo_runs_forgotten(ev->runs))
		hodo_warning("%s: there were too many threads: %s of them were dropped, with their times off CPUs",
			     dir, hodo_grouped(hodo_runs_forgotten(ev->runs), number));
}

static int read_all(struct report *rep, const char *dir, const struct report_options *o)
{
	struct hodo_args args = o->args;
	int err, status;

	rep->o = o;
	args.dir = dir;
	status = hodo_open_selected(&rep->r, &args);
	if (status)
		return status;
	rep->symbols = hodo_open_symbols(&o->args, dir);
	err = hodo_stats_read(&rep->stats, rep->r, rep->symbols, &o->stats);
	if (err)
		return err == -ENOMEM ? hodo_no_memory() :
					hodo_error("%s: cannot be read further: %s", dir, strerror(-err));
	if (!o->args.quiet) {
		warn(&rep->stats.events, dir);
		hodo_tell_unnamed(rep->symbols);
		hodo_tell_lost(rep->r);
	}
	return 0;
}

static void free_all(struct report *rep)
{
	hodo_stats_free(&rep->stats);
	hodo_symbols_free(rep->symbols);
	hodo_read_close(rep->r);
}

static int run(void *options)
{
	struct report_options *o = options;
	struct report rep = { 0 }, other = { 0 };
	struct hodo_page page;
	int status;

	if (o->args.look.fail_ifs && !o->diff)
		return hodo_usage("report", "--fail-if compares two recordings: give the other with --diff");
	o->stats.select = hodo_selection_of(&o->args);
	o->stats.slowest = o->args.look.limit == UINT64_MAX ? SLOWEST : o->args.look.limit;
	o->stats.json = o->args.look.json;
	o->stats.compares = o->diff;
	status = read_all(&rep, o->args.dir, o);
	if (!status && o->diff)
		status = read_all(&other, o->diff, o);
	if (!status) {
		hodo_page_begin(&page, &o->args);
		report_put(&page, &rep, o->diff ? &other : NULL);
		if (!o->diff && !o->args.look.json && !o->args.quiet && !hodo_selection_given(&o->args) &&
		    report_empty(&rep))
			hodo_warning("%s has no events: 'hodo info' shows what it is", o->args.dir);
		status = hodo_page_end(&page);
	}
	free_all(&other);
	free_all(&rep);
	return hodo_fail_if_status(&o->args.look, status);
}

static const struct hodo_columns *const tables[] = {
	&report_columns[HODO_STATS_FUNCTIONS], &report_columns[HODO_STATS_EVENTS], &report_columns[HODO_STATS_SPANS],
	&report_columns[HODO_STATS_VALUES], &report_columns[HODO_STATS_RUNNING], &report_columns[HODO_STATS_OFF],
	&report_columns[HODO_STATS_LATENCY], &report_slowest_columns[0], &report_slowest_columns[1], NULL,
};

static void drop(void *options)
{
	struct report_options *o = options;

	for (uint32_t i = 0; i < o->stats.npairs; i++) {
		free(o->stats.pairs[i].begin);
		free(o->stats.pairs[i].fields);
	}
	for (uint32_t i = 0; i < o->stats.nvalues; i++)
		free(o->stats.values[i].event);
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
