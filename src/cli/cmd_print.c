/* SPDX-License-Identifier: MIT */
/* cmd_print.c - hodo print. */
#include "cli.h"
#include <export/symbols.h>
#include <record/record.h>

#include <unistd.h>

struct args {
	struct hodo_args args;
	struct hodo_event_filter *filter; /* NULL: none */
	uint64_t limit;
};

#define FLUSH_BYTES (128u << 10)

static int set_filter(void *args, const char *expr)
{
	struct args *a = args;
	char why[200] = "out of memory";

	if (a->filter)
		return hodo_usage("print", "only one --filter can be given: join them with &&");
	return hodo_event_filter_new(&a->filter, expr, why, sizeof(why)) == 0 ? 0 :
	       hodo_usage("print", "--filter: %s", why);
}

static int flush(struct hodo_out *out, struct hodo_read_text *text)
{
	size_t len;
	const char *data = hodo_read_text_data(text, &len);
	int err = hodo_out_write(out, data, len);

	hodo_read_text_clear(text);
	return err;
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

		if (taken == 0)
			continue;
		if (taken < 0)
			return taken;
		err = a->args.look.json ? hodo_read_text_json(text, e) : hodo_read_text_line(text, e, flags);
		n++;
		hodo_read_text_data(text, &len);
		if (len >= FLUSH_BYTES && flush(out, text) < 0)
			return 1;
	}
	flush(out, text);
	return err ? err : n == a->limit && got > 0 ? 1 : got;
}

static int run(void *args)
{
	struct args *a = args;
	unsigned flags = hodo_use_color(a->args.color, STDOUT_FILENO) ? HODO_READ_COLOR : 0;
	struct hodo_read_text *text = hodo_must(hodo_read_text_new());
	struct hodo_symbols *symbols = hodo_must(hodo_symbols_new(a->args.dir));
	struct hodo_callers *callers = hodo_must(hodo_callers_new(symbols));
	HODO_AUTO_READ struct hodo_read *r = NULL;
	struct hodo_out out;
	int got, status = hodo_open_range(&r, &a->args);

	if (!status) {
		hodo_read_symbols(r, hodo_function_name_at, symbols);
		hodo_read_code(r, &hodo_callers_ops, callers);
		hodo_out_start(&out, !a->args.no_pager);
		got = print_events(r, a, &out, text, flags);
		status = hodo_out_finish(&out);
		if (got < 0 && !status)
			status = hodo_cannot_read(a->args.dir, got);
		/* Complete only when all packets were passed. */
		if (got == 0 && !a->args.quiet)
			hodo_tell_lost(r);
	}
	hodo_callers_free(callers);
	hodo_symbols_free(symbols);
	hodo_read_text_free(text);
	return status;
}

static void drop(void *args)
{
	hodo_event_filter_free(((struct args *)args)->filter);
}

static const struct hodo_option options[] = {
	HODO_OPTION_JSON("one JSON object a line"),
	HODO_OPTIONS_RANGE("from this time on", "before this time"),
	{ .name = "filter", .kind = HODO_OPTION_CALL, .arg = "EXPR", .set = set_filter,
	  .help = "only events for which EXPR holds, see hodo-filter(7)" },
	{ .name = "limit", .letter = 'n', .kind = HODO_OPTION_NUMBER, .arg = "N", HODO_AT(struct args, limit),
	  .max = UINT64_MAX, .wants = "a number of events", .help = "the first N events only" },
	HODO_OPTION_COLOR,
	HODO_OPTION_NO_PAGER,
	HODO_OPTION_QUIET("no warnings, no word about lost events"),
	{ 0 },
};

static const struct args defaults = { .limit = UINT64_MAX };

const struct hodo_verb hodo_verb_print = {
	.name = "print", .does = "print the events of a recording as text or JSON",
	.usage = "[options] [DIR]",
	.about = "Prints the events of a recording (hodo.data) in time order, processes merged:\n\n"
		 "  [HH:MM:SS.nnnnnnnnn] CPU TID COMM provider:name field=value ...\n\n"
		 "Times are local. CPU is -1 for events of threads without restartable sequences.\n"
		 "TID is PID/TID in events of the kernel, where they differ.\n",
	.notes = "TIME is in seconds, with up to nine decimals: from the recording's begin (0.25),\n"
		 "or since the epoch (1795000123.5) if it is 1000000000 or more.\n",
	.options = options, .column = 19, .word = HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run, .drop = drop,
};
