/* SPDX-License-Identifier: MIT */
/* cmd_print.c - hodo print. */
#include "cli.h"
#include "selection.h"
#include <sym/recording_symbols.h>

#include <unistd.h>

#define FLUSH_BYTES (128u << 10)

static int flush(struct hodo_out *out, struct hodo_read_text *text)
{
	size_t len;
	const char *data = hodo_read_text_data(text, &len);
	int err = hodo_out_write(out, data, len);

	hodo_read_text_clear(text);
	return err;
}

/* Prints all events. 1: more than the limit, 0 all, or a negative errno. */
static int print_events(struct hodo_read *r, const struct hodo_args *a, struct hodo_out *out,
			struct hodo_read_text *text, unsigned flags)
{
	const struct hodo_read_event *e;
	uint64_t n = 0;
	int got = 0, err = 0;

	while (n < a->look.limit && !err && (got = hodo_read_next(r, &e)) > 0) {
		size_t len;

		err = a->look.json ? hodo_read_text_json(text, e) : hodo_read_text_line(text, e, flags);
		n++;
		hodo_read_text_data(text, &len);
		if (len >= FLUSH_BYTES && flush(out, text) < 0)
			return 1;
	}
	flush(out, text);
	return err ? err : n == a->look.limit && got > 0 ? 1 : got;
}

static int run(void *args)
{
	struct hodo_args *a = args;
	unsigned flags = hodo_use_color(a->color, STDOUT_FILENO) ? HODO_READ_COLOR : 0;
	struct hodo_read_text *text = hodo_must(hodo_read_text_new());
	struct hodo_symbols *symbols = hodo_open_symbols(a, a->dir);
	struct hodo_callers *callers = hodo_must(hodo_callers_new(symbols));
	HODO_AUTO_READ struct hodo_read *r = NULL;
	struct hodo_out out;
	int got, status = hodo_open_selected(&r, a);

	if (!status) {
		hodo_must(hodo_read_spans(r) < 0 ? NULL : r);
		hodo_read_symbols(r, hodo_function_name_at, symbols);
		hodo_read_code(r, &hodo_callers_ops, callers);
		hodo_out_start(&out, !a->no_pager);
		got = print_events(r, a, &out, text, flags);
		status = hodo_out_finish(&out);
		if (got < 0 && !status)
			status = hodo_cannot_read(a->dir, got);
		/* Complete only when all packets were passed. */
		if (got == 0 && !a->quiet)
			hodo_tell_lost(r);
	}
	hodo_callers_free(callers);
	hodo_symbols_free(symbols);
	hodo_read_text_free(text);
	return status;
}

static const struct hodo_option options[] = {
	HODO_OPTION_JSON("one JSON object per line"),
	{ .name = "around", .kind = HODO_OPTION_NAME, .arg = "TIME[,SPAN]", HODO_AT(struct hodo_args, around),
	  .wants = "a time, and how far around it", .help = "only within SPAN (10ms) of TIME" },
	HODO_OPTION_LIMIT("events", "only the first N events"),
	HODO_OPTION_FULL_NAMES,
	HODO_OPTION_DEBUGINFOD,
	HODO_OPTION_COLOR,
	HODO_OPTION_NO_PAGER,
	HODO_OPTION_QUIET("do not report warnings or lost events"),
	HODO_OPTIONS_SELECTION,
	{ 0 },
};

const struct hodo_verb hodo_verb_print = {
	.name = "print", .does = "print the events of a recording as text or JSON",
	.usage = "[options] [DIR]",
	.about = "Prints the events of a recording (hodo.data) in time order, processes merged:\n\n"
		 "  [HH:MM:SS.nnnnnnnnn] CPU TID COMM provider:name field=value ...\n\n"
		 "Times are local. CPU is -1 for events of threads without restartable sequences.\n"
		 "TID is PID/TID in events of the kernel, where they differ. The end of a span, a\n"
		 "system call or a call has its duration, and the fields of its begin.\n",
	.options = options, .column = 26, .word = HODO_WORD_DIR, .one = HODO_ONE_RECORDING,
	.args_bytes = sizeof(struct hodo_args), .selects = HODO_SELECT, .run = run,
};
