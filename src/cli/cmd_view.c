/* SPDX-License-Identifier: MIT */
/* cmd_view.c - hodo view. */
#define _GNU_SOURCE
#include "cli.h"
#include <cli/output/output_file.h>
#include "selection.h"
#include <export/view/view.h>

#include <string.h>

#define WARNINGS_MAX 200u /* that the page shows */

struct args {
	struct hodo_output_args out;
	const char *title, *diff;
	uint32_t limit;
};

/* Warnings found while reading, for the page and for standard error. */
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

/* Large recordings take a while. */
static void show_progress(void *output, uint64_t events)
{
	char n[32];

	hodo_output_progress(output, hodo_grouped(events, n), "events read");
}

static int write_page(void *view, struct hodo_output *output, struct hodo_text *text, struct hodo_symbols *symbols)
{
	struct hodo_view_input *v = view;

	v->out = text;
	v->symbols = symbols;
	v->progress = show_progress;
	v->progress_data = output;
	if (v->after) {
		v->after->progress = show_progress;
		v->after->progress_data = output;
	}
	return hodo_view_write(v);
}

/* A recording that is shown. */
struct shown {
	struct hodo_args args;
	struct kept kept;
	struct hodo_view_input view;
	struct hodo_read *reader;
	char *title;
	/* Of the one that is compared; the other's are the output's. */
	struct hodo_symbols *symbols;
	struct hodo_callers *callers;
};

static int open_shown(struct shown *s, const struct args *a, const char *dir)
{
	int status;

	s->args = a->out.args;
	s->args.dir = dir;
	s->args.warn = on_warning;
	s->args.warn_data = &s->kept;
	s->kept.quiet = s->args.quiet;
	status = hodo_open_selected(&s->reader, &s->args);
	if (status)
		return status;
	s->title = hodo_must(a->title ? strdup(a->title) : title_of(s->reader));
	s->view = (struct hodo_view_input){ .version = HODO_VERSION, .warnings = warnings, .warnings_data = &s->kept,
				      .dir = dir, .limit = a->limit, .reader = s->reader, .title = s->title,
				      .select = hodo_selection_of(&s->args), .since_ns = s->args.since_ns,
				      .until_ns = s->args.until_ns };
	return 0;
}

static void name_functions(struct shown *s)
{
	s->symbols = hodo_must(hodo_symbols_new(s->args.dir));
	hodo_ask_debuginfod(&s->args, s->symbols);
	s->callers = hodo_must(hodo_callers_new(s->symbols));
	hodo_read_symbols(s->reader, hodo_function_name_at, s->symbols);
	hodo_read_code(s->reader, &hodo_callers_ops, s->callers);
	s->view.symbols = s->symbols;
}

/* Messages about it once it is on the page. */
static void tell_shown(const struct shown *s)
{
	char shown[32], rows[32];

	if (s->view.shown < s->view.rows)
		hodo_warning("%s of %s slices and points are shown, the longest ones: --since and --until, "
			     "--thread or a larger --limit show others", hodo_grouped(s->view.shown, shown),
			     hodo_grouped(s->view.rows, rows));
	hodo_tell_lost(s->reader);
}

static void close_shown(struct shown *s)
{
	hodo_callers_free(s->callers);
	hodo_symbols_free(s->symbols);
	hodo_read_close(s->reader);
	free(s->title);
	for (uint32_t i = 0; i < s->kept.n; i++)
		free(s->kept.text[i]);
}

static int run(void *args)
{
	struct args *a = args;
	struct shown one = { 0 }, after = { 0 };
	size_t len;
	int status;

	hodo_view_page(&len);
	if (len == 0)
		return hodo_error("view: this hodo was built without the page: build it where npm and a "
				  "network are available");
	status = open_shown(&one, a, a->out.args.dir);
	if (!status && a->diff) {
		status = open_shown(&after, a, a->diff);
		one.view.after = &after.view;
	}
	if (!status && a->diff)
		name_functions(&after);
	if (!status)
		status = hodo_output_make(&a->out, "html", "the page", one.reader, write_page, &one.view);
	if (!status && !a->out.args.quiet) {
		tell_shown(&one);
		if (a->diff)
			tell_shown(&after);
	}
	close_shown(&one);
	close_shown(&after);
	return status;
}

static const struct hodo_option options[] = {
	HODO_OPTION_OUTPUT,
	HODO_OPTION_FORCE,
	{ .name = "title", .kind = HODO_OPTION_TEXT, .arg = "TEXT", HODO_AT(struct args, title),
	  .help = "the page's title" },
	{ .name = "limit", .kind = HODO_OPTION_NUMBER, .arg = "N", HODO_AT(struct args, limit), .min = 1,
	  .max = 50000000, .wants = "a number from 1 to 50000000",
	  .help = "show at most N slices and points (2000000): the longest\n"
		  "ones, with exact figures over all" },
	HODO_OPTION_DIFF(struct args, diff, "compare with that recording on the same page"),
	HODO_OPTION_FULL_NAMES,
	HODO_OPTION_DEBUGINFOD,
	HODO_OPTION_QUIET("do not report the file, warnings or lost events"),
	HODO_OPTIONS_SELECTION,
	{ 0 },
};

static const struct args defaults = { .out.is_ours = hodo_view_is, .limit = HODO_VIEW_LIMIT };

const struct hodo_verb hodo_verb_view = {
	.name = "view", .does = "write a recording as one HTML page: timeline, flames, histograms",
	.usage = "[options] [DIR]",
	.about = "Writes a recording (hodo.data) as one HTML file next to it: hodo.data.html.\n"
		 "In a browser, on any machine and without a network, it shows a timeline,\n"
		 "flame graphs, histograms and a table of the events.\n",
	.options = options, .column = 22, .word = HODO_WORD_DIR, .one = "one recording, and another with --diff",
	.args_bytes = sizeof(struct args), .defaults = &defaults,
	.selects = HODO_SELECT | HODO_SELECT_SPANS | HODO_SELECT_ANY_THREAD, .run = run,
};
