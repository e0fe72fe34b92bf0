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

#define WARNINGS_MAX 200u /* that the page shows */

struct args {
	struct hodo_output_args out;
	const char *title;
	uint32_t limit;
};

/* What reading finds, for the page and for standard error. */
struct kept {
	bool quiet;
	uint32_t n;
	char *text[WARNINGS_MAX];
};

/* --------------------------------------------------------------------- recording */

static void on_warning(void *data, const char *text)
{
	struct kept *kept = data;

	if (!kept->quiet)
		hodo_warning("%s", text);
	if (kept->n < WARNINGS_MAX && (kept->text[kept->n] = strdup(text)))
		kept->n++;
}

static const char *const *warnings(void *data, uint32_t *n)
{
	struct kept *kept = data;

	*n = kept->n;
	return (const char *const *)kept->text;
}

static bool is_wanted(void *data, uint32_t tid, const char *comm)
{
	return hodo_thread_is(data, tid, comm);
}

static struct hodo_read *open_recording(const char *dir, struct kept *kept)
{
	char error[512] = "";
	struct hodo_read_options o = { .size = sizeof(o), .warn = on_warning, .data = kept,
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

static void print_size(const struct hodo_view *v, const struct hodo_output *t, uint64_t bytes)
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
	struct timespec *shown = data, now;
	char n[32];

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == shown->tv_sec)
		return;
	if (shown->tv_sec) {
		/* The next message begins where this line does. */
		fprintf(stderr, "hodo: %s events read\033[K\r", hodo_grouped(events, n));
		fflush(stderr);
	}
	*shown = now;
}

static int write_page(struct hodo_view *v, struct hodo_output *t, const struct args *a)
{
	struct hodo_callers *callers = hodo_callers_new(v->symbols);
	bool show = !a->out.args.quiet && isatty(STDERR_FILENO);
	struct timespec shown = { 0 };
	struct hodo_text out;
	int err = -ENOMEM, status;

	if (show) {
		v->progress = show_progress;
		v->progress_data = &shown;
	}
	out = (struct hodo_text)HODO_TEXT_TO(hodo_output_write, t);
	v->out = &out;
	hodo_read_symbols(v->reader, hodo_function_name_at, v->symbols);
	if (callers) {
		hodo_read_code(v->reader, &hodo_callers_ops, callers);
		err = hodo_view_write(v);
	}
	if (!err)
		err = hodo_text_flush(&out);
	if (show)
		fputs("\033[K", stderr);
	status = hodo_output_close(t, a->out.args.dir, err);
	if (!status && !a->out.args.quiet)
		print_size(v, t, out.written);
	hodo_text_free(&out);
	hodo_callers_free(callers);
	return status;
}

static int view(const struct args *a, struct hodo_view *v, struct hodo_output *t)
{
	const struct hodo_args *in = &a->out.args;
	char *title = a->title ? strdup(a->title) : title_of(v->reader), *path;
	int status = hodo_parse_range(v->reader, in->since, in->until, "view", &v->since_ns, &v->until_ns);

	if (status == 0) {
		hodo_read_limit(v->reader, v->since_ns, v->until_ns);
		v->symbols = hodo_symbols_new(in->dir);
		if (!v->symbols || !title)
			status = hodo_no_memory();
	}
	if (status == 0) {
		path = a->out.path ? strdup(a->out.path) : hodo_output_beside(in->dir, "html");
		status = hodo_output_open(t, "view", path, "the page", &a->out);
		free(path);
	}
	v->title = title;
	if (status == 0)
		status = write_page(v, t, a);
	free(title);
	return status;
}

static int run(void *args)
{
	const struct args *a = args;
	const struct hodo_args *in = &a->out.args;
	struct hodo_output t = { .fd = -1 };
	struct kept kept = { .quiet = in->quiet };
	struct hodo_view v = { .version = HODO_VERSION, .warnings = warnings, .warnings_data = &kept, .dir = in->dir,
			       .limit = a->limit };
	size_t len;
	int status;

	hodo_view_page(&len);
	if (len == 0)
		return hodo_error("view: this hodo was built without the page: build it where npm and the network are");
	v.reader = open_recording(in->dir, &kept);
	if (!v.reader)
		return HODO_EXIT_FAILURE;
	if (in->thread) {
		v.wanted = is_wanted;
		v.wanted_data = (void *)(uintptr_t)in->thread;
	}
	status = view(a, &v, &t);
	hodo_symbols_free(v.symbols);
	hodo_read_close(v.reader);
	for (uint32_t i = 0; i < kept.n; i++)
		free(kept.text[i]);
	free(t.path);
	return status;
}

static const struct hodo_option options[] = {
	HODO_OPTION_OUTPUT,
	HODO_OPTION_FORCE,
	{ .name = "title", .kind = HODO_OPTION_TEXT, .arg = "TEXT", HODO_AT(struct args, title),
	  .help = "what the page is called" },
	HODO_OPTION_SINCE("TIME", "events from this time on, in seconds"),
	HODO_OPTION_UNTIL("TIME", "events before this time"),
	HODO_OPTION_THREAD("of this thread, or of threads whose name matches a glob"),
	{ .name = "limit", .kind = HODO_OPTION_NUMBER, .arg = "N", HODO_AT(struct args, limit), .min = 1,
	  .max = 50000000, .wants = "a number from 1 to 50000000",
	  .help = "slices and points to show at most (2000000); of more, the\n"
		  "longest are shown, and exact figures over all" },
	HODO_OPTION_QUIET("no warnings, no word about the file or lost events"),
	{ 0 },
};

static const struct args defaults = { .limit = HODO_VIEW_LIMIT };

const struct hodo_verb hodo_verb_view = {
	.name = "view", .does = "write a recording as one HTML page: timeline, flames, histograms",
	.usage = "[options] [DIR]",
	.about = "Writes a recording (hodo.data) as one HTML file, beside it: hodo.data.html.\n"
		 "Opened in a browser, also on another machine and without a network, it shows a\n"
		 "timeline, flame graphs, histograms and a table of the events.\n",
	.notes = HODO_NOTE_RANGE,
	.options = options, .column = 21, .word = HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run,
};
