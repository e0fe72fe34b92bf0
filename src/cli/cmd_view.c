/* SPDX-License-Identifier: MIT */
/* cmd_view.c - hodo view. */
#define _GNU_SOURCE
#include "cli.h"
#include "output_file.h"
#include <export/function_names.h>
#include <export/view.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
	"usage: hodo view [options] [DIR]\n\n"
	"Writes a recording (hodo.data) as one HTML file, beside it: hodo.data.html.\n"
	"Opened in a browser, also on another machine and without a network, it shows a\n"
	"timeline, flame graphs, histograms and a table of the events.\n\n"
	"  -o, --output FILE  write FILE; -: standard output\n"
	"  -f, --force        replace FILE if it exists\n"
	"  --title TEXT       what the page is called\n"
	"  --since TIME       events from this time on, in seconds\n"
	"  --until TIME       events before this time\n"
	"  --thread TID|COMM  of this thread, or of threads whose name matches a glob\n"
	"  --limit N          slices and points to show at most (2000000); of more, the\n"
	"                     longest are shown, and exact figures over all\n"
	"  -q, --quiet        no warnings, no word about the file or lost events\n"
	"  -h, --help\n\n"
	"--since and --until count from the recording's begin (0.25), or since the epoch\n"
	"(1795000123.5) if they are 1000000000 or more.\n";

#define LIMIT_MAX    50000000u
#define WARNINGS_MAX 200u /* that the page tells of */

enum { OPT_TITLE = HODO_OPT_VERB, OPT_THREAD, OPT_LIMIT };

struct args {
	struct hodo_output_args out;
	const char *title, *thread;
	uint64_t limit;
};

/* What reading finds, for the page and for standard error. */
struct told {
	bool quiet;
	uint32_t n;
	char *text[WARNINGS_MAX];
};

/* The exit status to leave with, or -1 to go on. */
static int set_option(struct args *a, const char *verb, int c)
{
	switch (c) {
	case OPT_LIMIT:
		if (hodo_parse_number(optarg, LIMIT_MAX, &a->limit) < 0 || a->limit == 0)
			return hodo_usage(verb, "--limit is a number from 1 to %u, not '%s'", LIMIT_MAX, optarg);
		return -1;
	case OPT_TITLE:
		a->title = optarg;
		return -1;
	case OPT_THREAD:
		a->thread = optarg;
		return -1;
	default:
		return hodo_output_option(&a->out, verb, c);
	}
}

static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		HODO_OUTPUT_OPTIONS,
		{ "title", required_argument, NULL, OPT_TITLE },
		{ "thread", required_argument, NULL, OPT_THREAD },
		{ "limit", required_argument, NULL, OPT_LIMIT },
		{ 0 },
	};
	int c;

	while ((c = hodo_getopt(argc, argv, ":o:fqh", options, help)) != -1) {
		int status = set_option(a, argv[0], c);

		if (status >= 0)
			return status;
	}
	return hodo_output_dir(&a->out, argc, argv);
}

/* --------------------------------------------------------------------- recording */

static void on_warning(void *data, const char *text)
{
	struct told *told = data;

	if (!told->quiet)
		hodo_warning("%s", text);
	if (told->n < WARNINGS_MAX && (told->text[told->n] = strdup(text)))
		told->n++;
}

static const char *const *warnings(void *data, uint32_t *n)
{
	struct told *told = data;

	*n = told->n;
	return (const char *const *)told->text;
}

static bool is_wanted(void *data, uint32_t tid, const char *comm)
{
	return hodo_thread_is(data, tid, comm);
}

static struct hodo_read *open_recording(const char *dir, struct told *told)
{
	char error[512] = "";
	struct hodo_read_options o = { .size = sizeof(o), .warn = on_warning, .data = told,
				       .error = error, .error_bytes = sizeof(error) };
	struct hodo_read *r;

	if (hodo_read_open(&r, dir, &o) == 0)
		return r;
	hodo_error("%s", error);
	return NULL;
}

/* "kvd[412] and 2 more", made of the processes that were recorded. */
static char *title_of(const struct hodo_read *r)
{
	uint32_t n = hodo_read_nprocesses(r);
	const struct hodo_read_process *p = n ? hodo_read_process(r, 0) : NULL;
	char more[32] = "", *title;

	for (uint32_t i = 1; p && p->kernel && i < n; i++)
		p = hodo_read_process(r, i);
	if (n > 1)
		snprintf(more, sizeof(more), " and %u more", n - 1);
	if (!p)
		return strdup("hodo");
	if (p->kernel)
		return strdup("the kernel");
	return asprintf(&title, "%s[%u]%s", p->comm, p->pid, more) < 0 ? NULL : title;
}

/* -------------------------------------------------------------------------- page */

static void tell(const struct hodo_view *v, const struct hodo_output *t, uint64_t bytes)
{
	char size[32], shown[32], rows[32];

	if (t->path)
		hodo_error("%s in %s", hodo_human_bytes(bytes, size), t->path);
	if (v->shown < v->rows)
		hodo_warning("%s of %s slices and points are shown: the longest; --since and --until, --thread or a "
			     "larger --limit show others", hodo_grouped(v->shown, shown), hodo_grouped(v->rows, rows));
	hodo_tell_lost(v->reader);
}

/* Large recordings take a while: on a terminal, how far it is. */
static void show_progress(void *data, uint64_t events)
{
	struct timespec *told = data, now;
	char n[32];

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == told->tv_sec)
		return;
	if (told->tv_sec) {
		/* The next message begins where this line does. */
		fprintf(stderr, "hodo: %s events read\033[K\r", hodo_grouped(events, n));
		fflush(stderr);
	}
	*told = now;
}

static int write_page(struct hodo_view *v, struct hodo_output *t, const struct args *a)
{
	struct hodo_callers *callers = hodo_callers_new(v->symbols);
	bool show = !a->out.quiet && isatty(STDERR_FILENO);
	struct timespec told = { 0 };
	struct hodo_export_out out;
	int err = -ENOMEM, status;

	if (show) {
		v->progress = show_progress;
		v->progress_data = &told;
	}
	hodo_export_out_init(&out, hodo_output_write, t);
	v->out = &out;
	hodo_read_symbols(v->reader, hodo_function_name_at, v->symbols);
	if (callers) {
		hodo_read_code(v->reader, &hodo_callers_ops, callers);
		err = hodo_view_write(v);
	}
	if (!err)
		err = hodo_export_flush(&out);
	if (show)
		fputs("\033[K", stderr);
	status = hodo_output_close(t, a->out.dir, err);
	if (!status && !a->out.quiet)
		tell(v, t, out.written);
	hodo_export_out_free(&out);
	hodo_callers_free(callers);
	return status;
}

static int run(const struct args *a, const char *verb, struct hodo_view *v, struct hodo_output *t)
{
	char *title = a->title ? strdup(a->title) : title_of(v->reader), *path;
	int status = hodo_parse_range(v->reader, a->out.since, a->out.until, verb, &v->since_ns, &v->until_ns);

	if (status == 0) {
		hodo_read_limit(v->reader, v->since_ns, v->until_ns);
		v->symbols = hodo_symbols_new(a->out.dir);
		if (!v->symbols || !title) {
			hodo_error("out of memory");
			status = HODO_EXIT_FAILURE;
		}
	}
	if (status == 0) {
		path = a->out.path ? strdup(a->out.path) : hodo_output_beside(a->out.dir, "html");
		status = hodo_output_open(t, verb, path, "the page", &a->out);
		free(path);
	}
	v->title = title;
	if (status == 0)
		status = write_page(v, t, a);
	free(title);
	return status;
}

int hodo_cmd_view(int argc, char **argv)
{
	struct args a = { .limit = HODO_VIEW_LIMIT };
	struct hodo_output t = { .fd = -1 };
	struct told told = { 0 };
	struct hodo_view v = { .version = HODO_VERSION, .warnings = warnings, .warnings_data = &told };
	int status = parse_args(argc, argv, &a);
	size_t len;

	if (status >= 0)
		return status;
	hodo_view_page(&len);
	if (len == 0) {
		hodo_error("view: this hodo was built without the page: build it where npm and the network are");
		return HODO_EXIT_FAILURE;
	}
	told.quiet = a.out.quiet;
	v.reader = open_recording(a.out.dir, &told);
	if (!v.reader)
		return HODO_EXIT_FAILURE;
	v.dir = a.out.dir;
	v.limit = (uint32_t)a.limit;
	if (a.thread) {
		v.wanted = is_wanted;
		v.wanted_data = (void *)(uintptr_t)a.thread;
	}
	status = run(&a, argv[0], &v, &t);
	hodo_symbols_free(v.symbols);
	hodo_read_close(v.reader);
	for (uint32_t i = 0; i < told.n; i++)
		free(told.text[i]);
	free(t.path);
	return status;
}
