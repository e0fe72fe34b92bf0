/* SPDX-License-Identifier: MIT */
/* cmd_view.c - hodo view. */
#define _GNU_SOURCE
#include "cli.h"
#include "output_file.h"
#include "selection.h"
#include <export/view.h>

#include <string.h>

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

static bool is_wanted(void *data, const struct hodo_read_process *process, uint32_t pid, uint32_t tid,
		      const char *comm)
{
	return hodo_selects_thread(data, process, pid, tid, comm);
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
	struct hodo_view *v = view;

	v->out = text;
	v->symbols = symbols;
	v->progress = show_progress;
	v->progress_data = output;
	return hodo_view_write(v);
}

static int run(void *args)
{
	struct args *a = args;
	struct hodo_args *in = &a->out.args;
	struct kept kept = { .quiet = in->quiet };
	struct hodo_view v = { .version = HODO_VERSION, .warnings = warnings, .warnings_data = &kept, .dir = in->dir,
			       .limit = a->limit, .wanted = in->thread || in->process ? is_wanted : NULL,
			       .wanted_data = in };
	HODO_AUTO_READ struct hodo_read *r = NULL;
	HODO_AUTO_FREE char *title = NULL;
	char shown[32], rows[32];
	size_t len;
	int status;

	hodo_view_page(&len);
	if (len == 0)
		return hodo_error("view: this hodo was built without the page: build it where npm and the network are");
	in->warn = on_warning;
	in->warn_data = &kept;
	status = hodo_open_selected(&r, in);
	if (!status) {
		v.reader = r;
		v.title = title = hodo_must(a->title ? strdup(a->title) : title_of(r));
		v.since_ns = in->since_ns;
		v.until_ns = in->until_ns;
		status = hodo_output_make(&a->out, "html", "the page", r, write_page, &v);
	}
	if (!status && !in->quiet && v.shown < v.rows)
		hodo_warning("%s of %s slices and points are shown: the longest; --since and --until, --thread or a "
			     "larger --limit show others", hodo_grouped(v.shown, shown), hodo_grouped(v.rows, rows));
	if (!status && !in->quiet)
		hodo_tell_lost(r);
	for (uint32_t i = 0; i < kept.n; i++)
		free(kept.text[i]);
	return status;
}

static const struct hodo_option options[] = {
	HODO_OPTION_OUTPUT,
	HODO_OPTION_FORCE,
	{ .name = "title", .kind = HODO_OPTION_TEXT, .arg = "TEXT", HODO_AT(struct args, title),
	  .help = "what the page is called" },
	{ .name = "limit", .kind = HODO_OPTION_NUMBER, .arg = "N", HODO_AT(struct args, limit), .min = 1,
	  .max = 50000000, .wants = "a number from 1 to 50000000",
	  .help = "slices and points to show at most (2000000); of more, the\n"
		  "longest are shown, and exact figures over all" },
	HODO_OPTION_QUIET("no warnings, no word about the file or lost events"),
	HODO_OPTIONS_SELECTION,
	{ 0 },
};

static const struct args defaults = { .limit = HODO_VIEW_LIMIT };

const struct hodo_verb hodo_verb_view = {
	.name = "view", .does = "write a recording as one HTML page: timeline, flames, histograms",
	.usage = "[options] [DIR]",
	.about = "Writes a recording (hodo.data) as one HTML file, beside it: hodo.data.html.\n"
		 "Opened in a browser, also on another machine and without a network, it shows a\n"
		 "timeline, flame graphs, histograms and a table of the events.\n",
	.options = options, .column = 22, .word = HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .defaults = &defaults,
	.selects = HODO_SELECT | HODO_SELECT_SPANS | HODO_SELECT_ANY_THREAD, .run = run,
};
