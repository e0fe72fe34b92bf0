/* SPDX-License-Identifier: MIT */
/* cmd_export.c - hodo export. */
#define _GNU_SOURCE
#include "cli.h"
#include "output_file.h"
#include <export/export.h>
#include <export/function_names.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help_head[] =
	"usage: hodo export --to FORMAT [options] [DIR]\n\n"
	"Writes a recording (hodo.data) in another format, beside it: hodo.data.SUFFIX.\n\n";
static const char help_tail[] =
	"\n"
	"  --to FORMAT        one of those above\n"
	"  -o, --output FILE  write FILE; -: standard output\n"
	"  -f, --force        replace FILE if it exists\n"
	"  --since TIME       events from this time on, in seconds\n"
	"  --until TIME       events before this time\n"
	"  -q, --quiet        no warnings, no word about the file or lost events\n"
	"  -h, --help\n\n"
	"--since and --until count from the recording's begin (0.25), or since the epoch\n"
	"(1795000123.5) if they are 1000000000 or more.\n";

#define PROGRESS_NS 200000000

enum { OPT_TO = HODO_OPT_VERB };

struct args {
	struct hodo_output_args out;
	const struct hodo_export_format *format;
};

static bool quiet_warnings;

static const char *make_help(void)
{
	static char help[4096];
	size_t len = (size_t)snprintf(help, sizeof(help), "%s", help_head);

	for (unsigned i = 0; hodo_export_formats[i] && len < sizeof(help); i++)
		len += (size_t)snprintf(help + len, sizeof(help) - len, "  %-10s  %s\n", hodo_export_formats[i]->name,
					hodo_export_formats[i]->does);
	if (len < sizeof(help))
		snprintf(help + len, sizeof(help) - len, "%s", help_tail);
	return help;
}

static int set_format(const char *verb, const char *name, struct args *a)
{
	char all[256] = "";

	a->format = hodo_export_format(name);
	if (a->format)
		return -1;
	for (unsigned i = 0; hodo_export_formats[i]; i++) {
		size_t len = strlen(all);

		snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", hodo_export_formats[i]->name);
	}
	return hodo_usage(verb, "there is no format '%s', but %s", name, all);
}

static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "to", required_argument, NULL, OPT_TO },
		HODO_OUTPUT_OPTIONS,
		{ 0 },
	};
	const char *help = make_help();
	int c;

	while ((c = hodo_getopt(argc, argv, ":o:fqh", options, help)) != -1) {
		int status = c == OPT_TO ? set_format(argv[0], optarg, a) : hodo_output_option(&a->out, argv[0], c);

		if (status >= 0)
			return status;
	}
	if (!a->format)
		return hodo_usage(argv[0], "--to FORMAT is missing");
	return hodo_output_dir(&a->out, argc, argv);
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
	int64_t told_ns; /* when; INT64_MAX: never */
	bool told;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int write_and_tell(void *data, const void *bytes, size_t len)
{
	struct progress *p = data;
	int64_t now = now_ns();
	char size[32];

	p->bytes += len;
	if (now > p->told_ns && now - p->told_ns >= PROGRESS_NS) {
		/* The next message begins where this line does. */
		fprintf(stderr, "hodo: %s written\033[K\r", hodo_human_bytes(p->bytes, size));
		fflush(stderr);
		p->told_ns = now;
		p->told = true;
	}
	return hodo_output_write(p->output, bytes, len);
}

static int export(struct hodo_export *e, struct hodo_output *t, const struct args *a)
{
	struct hodo_callers *callers = hodo_callers_new(e->symbols);
	struct progress progress = { .output = t, .told_ns = INT64_MAX };
	struct hodo_export_out out;
	char size[32];
	int err, status;

	if (t->path && !a->out.quiet && isatty(STDERR_FILENO))
		progress.told_ns = now_ns();
	hodo_export_out_init(&out, write_and_tell, &progress);
	e->out = &out;
	e->warn = warn;
	hodo_read_symbols(e->reader, hodo_function_name_at, e->symbols);
	if (callers)
		hodo_read_code(e->reader, &hodo_callers_ops, callers);
	err = callers ? a->format->run(e) : -ENOMEM;
	if (!err || t->failed_write)
		err = hodo_export_flush(&out);
	if (progress.told)
		fputs("\033[K", stderr);
	status = hodo_output_close(t, a->out.dir, err);
	if (!status && !a->out.quiet) {
		if (t->path)
			hodo_error("%s in %s", hodo_human_bytes(out.written, size), t->path);
		hodo_tell_lost(e->reader);
	}
	hodo_export_out_free(&out);
	hodo_callers_free(callers);
	return status;
}

int hodo_cmd_export(int argc, char **argv)
{
	struct args a = { 0 };
	struct hodo_output t = { .fd = -1 };
	struct hodo_export e = { 0 };
	char *path;
	int status = parse_args(argc, argv, &a);

	if (status >= 0)
		return status;
	quiet_warnings = a.out.quiet;
	e.reader = hodo_open(a.out.dir, a.out.quiet);
	if (!e.reader)
		return HODO_EXIT_FAILURE;
	status = hodo_parse_range(e.reader, a.out.since, a.out.until, argv[0], &e.since_ns, &e.until_ns);
	if (status == 0) {
		hodo_read_limit(e.reader, e.since_ns, e.until_ns);
		e.symbols = hodo_symbols_new(a.out.dir);
		if (!e.symbols) {
			hodo_error("out of memory");
			status = HODO_EXIT_FAILURE;
		}
	}
	if (status == 0) {
		path = a.out.path || !*a.format->suffix ? strdup(a.out.path ? a.out.path : "-")
							 : hodo_output_beside(a.out.dir, a.format->suffix);
		status = hodo_output_open(&t, argv[0], path, a.format->binary ? a.format->name : NULL, &a.out);
		free(path);
	}
	if (status == 0)
		status = export(&e, &t, &a);
	hodo_symbols_free(e.symbols);
	hodo_read_close(e.reader);
	free(t.path);
	return status;
}
