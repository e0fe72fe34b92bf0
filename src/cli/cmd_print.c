/* SPDX-License-Identifier: MIT */
/* cmd_print.c - hodo print. */
#define _GNU_SOURCE
#include "cli.h"
#include <export/symbols.h>
#include <record/event_filter.h>

#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: hodo print [options] [DIR]\n\n"
	"Prints the events of a recording (hodo.data) in time order, processes merged:\n\n"
	"  [HH:MM:SS.nnnnnnnnn] CPU TID COMM provider:name field=value ...\n\n"
	"Times are local. CPU is -1 for events of threads without restartable sequences.\n"
	"TID is PID/TID in events of the kernel, where they differ.\n\n"
	"  --json           one JSON object a line\n"
	"  --since TIME     from this time on\n"
	"  --until TIME     before this time\n"
	"  --filter EXPR    only events for which EXPR holds, see hodo-filter(7)\n"
	"  -n, --limit N    the first N events only\n"
	"  --color WHEN     auto, always or never\n"
	"  --no-pager       also on a terminal\n"
	"  -q, --quiet      no warnings, no word about lost events\n"
	"  -h, --help\n\n"
	"TIME is in seconds, with up to nine decimals: from the recording's begin (0.25),\n"
	"or since the epoch (1795000123.5) if it is 1000000000 or more.\n";

struct args {
	const char *dir;
	const char *since, *until;
	struct hodo_event_filter *filter; /* NULL: none */
	uint64_t limit;
	enum hodo_color color;
	bool json, quiet, no_pager;
};

#define FLUSH_BYTES (128u << 10)

enum { OPT_FILTER = HODO_OPT_VERB };

static int set_filter(struct args *a, const char *verb, const char *expr)
{
	char why[200] = "out of memory";

	if (a->filter)
		return hodo_usage(verb, "only one --filter can be given: join them with &&");
	return hodo_event_filter_new(&a->filter, expr, why, sizeof(why)) == 0 ? 0 :
	       hodo_usage(verb, "--filter: %s", why);
}

/* The exit status to leave with, or -1 to go on. */
static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "since", required_argument, NULL, HODO_OPT_SINCE },
		{ "until", required_argument, NULL, HODO_OPT_UNTIL },
		{ "filter", required_argument, NULL, OPT_FILTER },
		{ "limit", required_argument, NULL, 'n' },
		{ "color", required_argument, NULL, HODO_OPT_COLOR },
		{ "no-pager", no_argument, NULL, HODO_OPT_NO_PAGER },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = hodo_getopt(argc, argv, ":n:qh", options, help)) != -1) {
		switch (c) {
		case HODO_OPT_JSON:
			a->json = true;
			break;
		case HODO_OPT_SINCE:
			a->since = optarg;
			break;
		case HODO_OPT_UNTIL:
			a->until = optarg;
			break;
		case OPT_FILTER:
			c = set_filter(a, argv[0], optarg);
			if (c)
				return c;
			break;
		case 'n':
			if (hodo_parse_number(optarg, UINT64_MAX, &a->limit) < 0)
				return hodo_usage(argv[0], "-n is a number of events, not '%s'", optarg);
			break;
		case HODO_OPT_COLOR:
			c = hodo_set_color(&a->color, argv[0], optarg);
			if (c)
				return c;
			break;
		case HODO_OPT_NO_PAGER:
			a->no_pager = true;
			break;
		case 'q':
			a->quiet = true;
			break;
		case 'h':
			return 0;
		default:
			return HODO_EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one recording at a time, not '%s' too", argv[optind + 1]);
	a->dir = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	return -1;
}

static int set_limits(struct hodo_read *r, const struct args *a, const char *verb)
{
	int64_t since, until;
	int status = hodo_parse_range(r, a->since, a->until, verb, &since, &until);

	if (status == 0)
		hodo_read_limit(r, since, until);
	return status;
}

/* Prints all events. 1: more than the limit, 0 all, or a negative errno. */
static int print_events(struct hodo_read *r, const struct args *a, struct hodo_out *out,
			struct hodo_read_text *text, unsigned flags)
{
	const struct hodo_read_event *e;
	uint64_t n = 0;
	int got = 0, err = 0;

	while (n < a->limit && !err && (got = hodo_read_next(r, &e)) > 0) {
		int taken = a->filter ? hodo_event_filter_takes(a->filter, e) : 1;
		size_t len;
		const char *data;

		if (taken == 0)
			continue;
		if (taken < 0)
			return taken;
		err = a->json ? hodo_read_text_json(text, e) : hodo_read_text_line(text, e, flags);
		n++;
		data = hodo_read_text_data(text, &len);
		if (len < FLUSH_BYTES)
			continue;
		if (hodo_out_write(out, data, len) < 0)
			return 1;
		hodo_read_text_clear(text);
	}
	if (!out->err) {
		size_t len;
		const char *data = hodo_read_text_data(text, &len);

		hodo_out_write(out, data, len);
	}
	return err ? err : n == a->limit && got > 0 ? 1 : got;
}

/* NULL where there is nothing better than the address itself. */
static const char *name_of(void *symbols, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(symbols, process, ts_ns, address, &place);
	return strncmp(place.name, "0x", 2) == 0 ? NULL : place.name;
}

static int print(const struct args *a, const char *verb)
{
	struct hodo_symbols *symbols;
	struct hodo_callers *callers;
	struct hodo_read_text *text;
	struct hodo_read *r;
	struct hodo_out out;
	unsigned flags;
	int status, got;

	r = hodo_open(a->dir, a->quiet);
	if (!r)
		return HODO_EXIT_FAILURE;
	status = set_limits(r, a, verb);
	text = hodo_read_text_new();
	symbols = hodo_symbols_new(a->dir);
	callers = symbols ? hodo_callers_new(symbols) : NULL;
	if (status || !text || !callers) {
		if (!status)
			status = hodo_no_memory();
		hodo_callers_free(callers);
		hodo_symbols_free(symbols);
		hodo_read_text_free(text);
		hodo_read_close(r);
		return status;
	}
	flags = hodo_use_color(a->color, STDOUT_FILENO) ? HODO_READ_COLOR : 0;
	hodo_read_symbols(r, name_of, symbols);
	hodo_read_code(r, &hodo_callers_ops, callers);
	hodo_out_start(&out, !a->no_pager);
	got = print_events(r, a, &out, text, flags);
	status = hodo_out_finish(&out);
	if (got < 0 && !status)
		status = hodo_cannot_read(a->dir, got);
	/* Complete only when all packets were passed. */
	if (got == 0 && !a->quiet)
		hodo_tell_lost(r);
	hodo_callers_free(callers);
	hodo_symbols_free(symbols);
	hodo_read_text_free(text);
	hodo_read_close(r);
	return status;
}

int hodo_cmd_print(int argc, char **argv)
{
	struct args a = { .limit = UINT64_MAX };
	int status = parse_args(argc, argv, &a);

	if (status < 0)
		status = print(&a, argv[0]);
	hodo_event_filter_free(a.filter);
	return status;
}
