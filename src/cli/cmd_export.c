/* SPDX-License-Identifier: MIT */
/* cmd_export.c - hodo export. */
#define _GNU_SOURCE
#include "cli.h"
#include "output_file.h"
#include <base/clock.h>
#include <export/export.h>
#include <export/function_names.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_NS 200000000

struct args {
	struct hodo_output_args out;
	const struct hodo_export_format *format;
};

static bool quiet_warnings;

static const char *format_name(unsigned i, const char **does)
{
	const struct hodo_export_format *format = hodo_export_formats[i];

	*does = format ? format->does : "";
	return format ? format->name : NULL;
}

static int set_format(void *args, const char *name)
{
	struct args *a = args;
	char all[256] = "";

	a->format = hodo_export_format(name);
	if (a->format)
		return 0;
	for (unsigned i = 0; hodo_export_formats[i]; i++) {
		size_t len = strlen(all);

		snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", hodo_export_formats[i]->name);
	}
	return hodo_usage("export", "there is no format '%s', but %s", name, all);
}

/* --------------------------------------------------------------------------- run */

static void warn(const char *text)
{
	if (!quiet_warnings)
		hodo_warning("%s", text);
}

/* The file, and how far it is: on a terminal. */
struct progress {
	struct hodo_output *output;
	uint64_t bytes;
	int64_t shown_ns; /* when; INT64_MAX: never */
	bool shown;
};

static int write_and_show(void *data, const void *bytes, size_t len)
{
	struct progress *p = data;
	int64_t now = hodo_now_ns();
	char size[32];

	p->bytes += len;
	if (now > p->shown_ns && now - p->shown_ns >= PROGRESS_NS) {
		/* The next message begins where this line does. */
		fprintf(stderr, "hodo: %s written\033[K\r", hodo_human_bytes(p->bytes, size));
		fflush(stderr);
		p->shown_ns = now;
		p->shown = true;
	}
	return hodo_output_write(p->output, bytes, len);
}

static int export(struct hodo_export *e, struct hodo_output *t, const struct args *a)
{
	struct hodo_callers *callers = hodo_callers_new(e->symbols);
	struct progress progress = { .output = t, .shown_ns = INT64_MAX };
	struct hodo_text out;
	char size[32];
	int err, status;

	if (t->path && !a->out.args.quiet && isatty(STDERR_FILENO))
		progress.shown_ns = hodo_now_ns();
	out = (struct hodo_text)HODO_TEXT_TO(write_and_show, &progress);
	e->out = &out;
	e->warn = warn;
	hodo_read_symbols(e->reader, hodo_function_name_at, e->symbols);
	if (callers)
		hodo_read_code(e->reader, &hodo_callers_ops, callers);
	err = callers ? hodo_export_run(a->format, e) : -ENOMEM;
	if (!err || t->failed_write)
		err = hodo_text_flush(&out);
	if (progress.shown)
		fputs("\033[K", stderr);
	status = hodo_output_close(t, a->out.args.dir, err);
	if (!status && !a->out.args.quiet) {
		if (t->path)
			hodo_error("%s in %s", hodo_human_bytes(out.written, size), t->path);
		hodo_tell_lost(e->reader);
	}
	hodo_text_free(&out);
	hodo_callers_free(callers);
	return status;
}

static int run(void *args)
{
	const struct args *a = args;
	const struct hodo_args *in = &a->out.args;
	struct hodo_output t = { .fd = -1 };
	struct hodo_export e = { 0 };
	char *path;
	int status;

	if (!a->format)
		return hodo_usage("export", "--to FORMAT is missing");
	quiet_warnings = in->quiet;
	status = hodo_open_range(&e.reader, in, &e.since_ns, &e.until_ns);
	if (!e.reader)
		return HODO_EXIT_FAILURE;
	if (status == 0) {
		e.symbols = hodo_symbols_new(in->dir);
		if (!e.symbols)
			status = hodo_no_memory();
	}
	if (status == 0) {
		path = a->out.path || !*a->format->suffix ? strdup(a->out.path ? a->out.path : "-")
							   : hodo_output_beside(in->dir, a->format->suffix);
		status = hodo_output_open(&t, "export", path, a->format->binary ? a->format->name : NULL, &a->out);
		free(path);
	}
	if (status == 0)
		status = export(&e, &t, a);
	hodo_symbols_free(e.symbols);
	hodo_read_close(e.reader);
	free(t.path);
	return status;
}

static const struct hodo_option options[] = {
	{ .name = "to", .kind = HODO_OPTION_CALL, .arg = "FORMAT", .choice = format_name, .set = set_format,
	  .help = "one of those above" },
	HODO_OPTION_OUTPUT,
	HODO_OPTION_FORCE,
	HODO_OPTION_SINCE("TIME", "events from this time on, in seconds"),
	HODO_OPTION_UNTIL("TIME", "events before this time"),
	HODO_OPTION_QUIET("no warnings, no word about the file or lost events"),
	{ 0 },
};

const struct hodo_verb hodo_verb_export = {
	.name = "export", .does = "write a recording in the format of another tool",
	.usage = "--to FORMAT [options] [DIR]",
	.about = "Writes a recording (hodo.data) in another format, beside it: hodo.data.SUFFIX.\n",
	.notes = HODO_NOTE_RANGE,
	.options = options, .column = 21, .word = HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .run = run,
};
