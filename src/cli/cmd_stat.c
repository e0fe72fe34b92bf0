/* SPDX-License-Identifier: MIT */
/* cmd_stat.c - hodo stat. */
#include "recording_tables.h"
#include "fail_if.h"
#include "selection.h"

struct args {
	struct hodo_args args;
	const char *diff;
};

/* --------------------------------------------------------------------------- JSON */

static void put_json(struct hodo_json *j, const struct hodo_stat *s)
{
	struct hodo_read_lost lost = hodo_read_lost(s->r, NULL);

	hodo_table_put_json(j, "events", &s->table);
	hodo_json_u64(j, "recorded", s->totals.events);
	hodo_json_u64(j, "discarded", hodo_lost_discarded(&lost));
	hodo_json_u64(j, "overwritten", lost.overwritten);
	hodo_json_u64(j, "damaged", lost.damaged);
	hodo_json_u64(j, "limited", s->total.limited);
	hodo_json_u64(j, "duration_ns", s->duration_ns);
	hodo_json_array(j, "processes");
	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++) {
		const struct hodo_read_process *p = hodo_read_process(s->r, i);
		struct hodo_process_row row = hodo_process_row(s->r, p);

		row.events = 0;
		for (uint32_t k = 0; k < p->nclasses; k++)
			row.events += p->classes[k]->count;
		hodo_put_object(j, NULL, &hodo_process_columns,
				"pid,ppid,comm,exe,recorded,discarded,overwritten,complete,lost,warnings", &row);
	}
	hodo_json_end(j);
	hodo_put_json_unrecorded(j, s->r);
}

/* --------------------------------------------------------------------------- text */

static void put_losses(struct hodo_text *to, const struct hodo_stat *s, bool color)
{
	struct hodo_read_lost lost = hodo_read_lost(s->r, NULL);

	if (hodo_lost_all(&lost))
		hodo_put_lost(to, s->r, color);
	if (!hodo_put_unended(to, s->r, color) && !hodo_lost_all(&lost) && !hodo_read_unrecorded(s->r, 0))
		hodo_text_add(to, "no event was lost\n");
	hodo_put_unrecorded(to, s->r, color);
}

/* About missing events that were not lost, such as those of a library that cannot be recorded. */
static void put_warnings(struct hodo_text *to, const struct hodo_stat *s)
{
	uint64_t n = 0;
	char buf[32];

	for (uint32_t i = 0; i < hodo_read_nprocesses(s->r); i++)
		n += hodo_read_process(s->r, i)->nwarnings;
	if (n)
		hodo_text_printf(to, "%s warning%s while it was recorded: 'hodo info' shows %s\n", hodo_grouped(n, buf),
				 n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

static int put(const struct hodo_stat *s, const struct hodo_stat *other, const struct args *a)
{
	const struct hodo_show *look = &a->args.look;
	struct hodo_page page;

	hodo_page_begin(&page, &a->args);
	if (other) {
		hodo_table_diff(&page.text, &page.json, "events", &s->table, &other->table, look, NULL);
	} else if (look->json) {
		put_json(&page.json, s);
	} else {
		hodo_stat_put_table(&page.text, s, look->color);
		put_losses(&page.text, s, look->color);
		put_warnings(&page.text, s);
	}
	return hodo_page_end(&page);
}

/* Counts one recording, and then the other of --diff. */
static int show(const char *dir, const struct hodo_stat *before, const struct args *a)
{
	struct hodo_args args = a->args;
	struct hodo_read *r = NULL;
	struct hodo_stat s = { 0 };
	int err, status;

	args.dir = dir;
	status = hodo_open_selected(&r, &args);
	if (status) {
		hodo_read_close(r);
		return status;
	}
	err = hodo_stat_count(&s, r, &a->args.look);
	s.args = &a->args;
	if (err < 0)
		status = hodo_cannot_read(dir, err);
	else if (a->diff && !before)
		status = show(a->diff, &s, a);
	else
		status = put(before ? before : &s, before ? &s : NULL, a);
	hodo_stat_free(&s);
	hodo_read_close(r);
	return status;
}

static const struct hodo_columns *const tables[] = { &hodo_stat_columns, NULL };

static int run(void *args)
{
	const struct args *a = args;

	if (a->args.look.fail_ifs && !a->diff)
		return hodo_usage("stat", "--fail-if compares two recordings: give the other with --diff");
	return hodo_fail_if_status(&a->args.look, show(a->args.dir, NULL, a));
}

static const struct hodo_option options[] = {
	HODO_OPTION_COLUMNS("these columns, separated by commas; help lists them", tables),
	HODO_OPTION_SORT("sort by this column instead of the count", tables),
	HODO_OPTION_DIFF(struct args, diff, "compare with that recording"),
	HODO_OPTION_FAIL_IF,
	HODO_OPTION_LIMIT("rows", "only the first N lines of the table"),
	HODO_OPTIONS_SHOWN("one JSON object"),
	HODO_OPTION_QUIET("no warnings"),
	HODO_OPTIONS_SELECTION,
	{ 0 },
};

const struct hodo_verb hodo_verb_stat = {
	.name = "stat", .does = "count events: rates, bytes, losses and their causes",
	.usage = "[options] [DIR]",
	.about = "Counts the events of a recording (hodo.data): how many of each, how often, how\n"
		 "many bytes; then how many were lost, why, and what would have kept them.\n",
	.options = options, .tables = tables, .column = 26, .word = HODO_WORD_DIR, .one = HODO_ONE_RECORDING,
	.args_bytes = sizeof(struct args), .selects = HODO_SELECT, .run = run,
};
