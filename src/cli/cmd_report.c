/* SPDX-License-Identifier: MIT */
/* cmd_report.c - hodo report. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: hodo report [options] [DIR]\n\n"
	"What a recording (hodo.data) says in numbers: calls and times of functions,\n"
	"events, spans, values; with the kernel's sched events, threads on and off CPUs.\n\n"
	"  --pair A,B [by KEY]     times from event A to the next B of its thread, or\n"
	"                          with the same KEY: fields, process, cpu, with commas\n"
	"  --by KEY                split by thread, cpu, process or a field\n"
	"  --values EVENT.FIELD    the distribution of a field's numbers\n"
	"  -H, --histogram[=GLOB]  draw distributions: all, or those of such names\n"
	"  --sort KEY              total, self, calls, avg, p50, p99, max, min or name\n"
	"  -n, --limit N           the first N of each table\n"
	"  --thread TID|COMM       of this thread, or of those whose name matches a glob\n"
	"  --since S, --until S    from S seconds after its begin, or the epoch, to there\n"
	"  --diff DIR              what is different in that recording\n"
	"  --json                  one JSON object\n"
	"  --color WHEN            auto, always or never\n"
	"  --no-pager              also on a terminal\n"
	"  -q, --quiet             no warnings, no word about lost events\n"
	"  -h, --help\n";

enum { OPT_SORT = HODO_OPT_VERB, OPT_THREAD, OPT_DIFF, OPT_PAIR, OPT_BY, OPT_VALUES };
static const char *const sorts[] = { "total", "self", "calls", "avg", "p50", "p99", "max", "min", "name" };

struct args {
	struct report_options o;
	struct report_look look;
	const char *dir, *diff;
	enum hodo_color color;
	bool json, no_pager;
};

static int set_sort(struct args *a, const char *verb)
{
	for (unsigned i = 0; i < sizeof(sorts) / sizeof(*sorts); i++) {
		if (strcmp(optarg, sorts[i]) == 0) {
			a->look.sort = (enum report_sort)i;
			return -1;
		}
	}
	return hodo_usage(verb, "--sort is total, self, calls, avg, p50, p99, max, min or name, not '%s'", optarg);
}

static int set_by(struct args *a, const char *verb)
{
	static const char *const bys[] = { NULL, "thread", "cpu", "process" };

	if (!*optarg || strchr(optarg, ','))
		return hodo_usage(verb, "--by is thread, cpu, process or one field, not '%s'", optarg);
	a->o.by = REPORT_BY_FIELD;
	a->o.by_field = optarg;
	for (unsigned i = REPORT_BY_THREAD; i <= REPORT_BY_PROCESS; i++)
		if (strcmp(optarg, bys[i]) == 0)
			a->o.by = (enum report_by)i;
	return -1;
}

static bool same_pair(const struct report_pair *a, const struct report_pair *b)
{
	return strcmp(a->begin, b->begin) == 0 && strcmp(a->end, b->end) == 0 &&
	       strcmp(a->by ? a->by : "", b->by ? b->by : "") == 0;
}

/* In one argument, or as it would be said: --pair A,B by KEY. */
static int set_pair(struct args *a, int argc, char **argv)
{
	struct report_pair *pair = &a->o.pairs[a->o.npairs];
	char *text = NULL;
	int err;

	if (a->o.npairs == REPORT_PAIRS_MAX)
		return hodo_usage(argv[0], "%u pairs at the most", REPORT_PAIRS_MAX);
	if (optind + 1 < argc && strcmp(argv[optind], "by") == 0) {
		if (asprintf(&text, "%s by %s", optarg, argv[optind + 1]) < 0)
			return hodo_no_memory();
		optind += 2;
	}
	err = report_pair_parse(pair, text ? text : optarg);
	a->o.npairs++; /* to be freed */
	if (err == -EINVAL)
		err = hodo_usage(argv[0], "--pair is two events and what they share, such as kv:start,kv:done by key, "
					  "not '%s'", text ? text : optarg);
	free(text);
	for (uint32_t i = 0; !err && i + 1 < a->o.npairs; i++)
		if (same_pair(&a->o.pairs[i], pair))
			return hodo_usage(argv[0], "--pair %s,%s is there twice", pair->begin, pair->end);
	return err == 0 ? -1 : err < 0 ? hodo_no_memory() : err;
}

static int set_values(struct args *a, const char *verb)
{
	int err;

	if (a->o.nvalues == REPORT_VALUES_MAX)
		return hodo_usage(verb, "%u fields at the most with --values", REPORT_VALUES_MAX);
	err = report_value_parse(&a->o.values[a->o.nvalues++], optarg);
	if (err == -EINVAL)
		return hodo_usage(verb, "--values is an event and a field, such as kv:put.bytes, not '%s'", optarg);
	return err ? hodo_no_memory() : -1;
}

/* -1: go on; else the exit status. */
static int set_option(struct args *a, int c, int argc, char **argv)
{
	switch (c) {
	case OPT_SORT:
		return set_sort(a, argv[0]);
	case OPT_BY:
		return set_by(a, argv[0]);
	case OPT_PAIR:
		return set_pair(a, argc, argv);
	case OPT_VALUES:
		return set_values(a, argv[0]);
	case 'n':
		if (hodo_parse_number(optarg, UINT64_MAX, &a->look.limit) < 0)
			return hodo_usage(argv[0], "'%s' is no number of rows", optarg);
		return -1;
	case 'H':
		a->look.histogram = true;
		a->look.histogram_of = optarg;
		return -1;
	case HODO_OPT_COLOR:
		c = hodo_set_color(&a->color, argv[0], optarg);
		return c ? c : -1;
	case HODO_OPT_NO_PAGER:
		a->no_pager = true;
		return -1;
	case OPT_THREAD:
		a->o.thread = optarg;
		return -1;
	case HODO_OPT_SINCE:
		a->o.since = optarg;
		return -1;
	case HODO_OPT_UNTIL:
		a->o.until = optarg;
		return -1;
	case OPT_DIFF:
		a->diff = optarg;
		return -1;
	case HODO_OPT_JSON:
		a->json = true;
		return -1;
	case 'q':
		a->o.quiet = true;
		return -1;
	default:
		return c == 'h' ? 0 : HODO_EXIT_USAGE;
	}
}

static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "pair", required_argument, NULL, OPT_PAIR },
		{ "by", required_argument, NULL, OPT_BY },
		{ "values", required_argument, NULL, OPT_VALUES },
		{ "histogram", optional_argument, NULL, 'H' },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "limit", required_argument, NULL, 'n' },
		{ "thread", required_argument, NULL, OPT_THREAD },
		{ "since", required_argument, NULL, HODO_OPT_SINCE },
		{ "until", required_argument, NULL, HODO_OPT_UNTIL },
		{ "diff", required_argument, NULL, OPT_DIFF },
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "color", required_argument, NULL, HODO_OPT_COLOR },
		{ "no-pager", no_argument, NULL, HODO_OPT_NO_PAGER },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = hodo_getopt(argc, argv, ":n:Hqh", options, help)) != -1) {
		int status = set_option(a, c, argc, argv);

		if (status >= 0)
			return status;
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording, and another with --diff, not '%s' too", argv[optind + 1]);
	a->dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	a->o.diff = a->diff != NULL;
	return -1;
}

static int put(FILE *f, const struct report *rep, const struct args *a)
{
	struct report other = { 0 };
	int status = 0, err;

	if (a->diff)
		status = report_read(&other, a->diff, &a->o);
	if (!status) {
		err = a->diff ? report_put_diff(f, rep, &other, &a->look, a->json)
			      : report_put(f, rep, &a->look, a->json);
		status = err ? hodo_no_memory() : 0;
	}
	report_free(&other);
	return status;
}

static int run(const struct args *a)
{
	struct report rep = { 0 };
	char *data = NULL;
	size_t len = 0;
	int status = report_read(&rep, a->dir, &a->o);
	FILE *f = status ? NULL : open_memstream(&data, &len);

	if (!status && !f)
		status = hodo_no_memory();
	if (!status)
		status = put(f, &rep, a);
	if (!status && !a->diff && !a->json && !a->o.quiet && report_empty(&rep))
		hodo_warning("%s has no events: 'hodo info' tells what it is", a->dir);
	if (f && status) {
		fclose(f);
		free(data);
	} else if (f) {
		status = hodo_out_page(f, &data, &len, !a->no_pager);
	}
	report_free(&rep);
	return status;
}

int hodo_cmd_report(int argc, char **argv)
{
	struct args *a = calloc(1, sizeof(*a));
	int status;

	if (!a)
		return hodo_no_memory();
	a->look.limit = UINT64_MAX;
	status = parse_args(argc, argv, a);
	if (status < 0) {
		a->look.color = hodo_use_color(a->color, STDOUT_FILENO);
		status = run(a);
	}
	report_options_free(&a->o);
	free(a);
	return status;
}
