/* SPDX-License-Identifier: MIT */
/* formats.c - the list of formats, and how one is run. */
#define _GNU_SOURCE
#include <export/calls/call_tree.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the command makes with other modules: rows in a server, and files of Parquet. */
const struct hodo_export_format hodo_export_clickhouse = {
	.name = "clickhouse",
	.does = "tables in a server of ClickHouse, of many recordings and hosts",
	.whole_names = true,
	.elsewhere = true,
};

const struct hodo_export_format hodo_export_parquet = {
	.name = "parquet",
	.does = "tables for DuckDB, pandas, ClickHouse and the like",
	.whole_names = true,
	.elsewhere = true,
};

const struct hodo_export_format *const hodo_export_formats[] = {
	&hodo_export_callgrind,
	&hodo_export_chrome,
	&hodo_export_clickhouse,
	&hodo_export_csv,
	&hodo_export_ctf,
	&hodo_export_firefox,
	&hodo_export_folded,
	&hodo_export_jsonl,
	&hodo_export_otlp,
	&hodo_export_parquet,
	&hodo_export_perfetto,
	&hodo_export_pprof,
	&hodo_export_speedscope,
	NULL,
};

const struct hodo_export_format *hodo_export_format(const char *name)
{
	for (unsigned i = 0; hodo_export_formats[i]; i++)
		if (strcmp(hodo_export_formats[i]->name, name) == 0)
			return hodo_export_formats[i];
	return NULL;
}

static int read_events(const struct hodo_export_format *f, void *state, struct hodo_export *e)
{
	const struct hodo_read_event *event;
	int got, err = 0;

	while (!err && (got = hodo_read_next(e->reader, &event)) > 0)
		err = f->event(state, e, event);
	return err ? err : got;
}

static int read_timeline(const struct hodo_export_format *f, void *state, struct hodo_export *e)
{
	struct hodo_places places = hodo_symbols_places(e->symbols);
	struct hodo_timeline *timeline = hodo_timeline_new(e->reader, places, &f->timeline, state);
	int err = timeline ? hodo_timeline_read(timeline, e->since_ns, e->until_ns) : -ENOMEM;

	hodo_timeline_free(timeline);
	return err;
}

static int read_tree(const struct hodo_export_format *f, void *state, struct hodo_export *e,
		     struct hodo_call_tree **tree)
{
	struct hodo_call_options options = *f->tree;

	options.data = state;
	return hodo_call_tree_read(tree, e, &options);
}

int hodo_export_run(const struct hodo_export_format *f, struct hodo_export *e)
{
	void *state = calloc(1, f->state_bytes + 1);
	struct hodo_call_tree *tree = NULL;
	int err = 0;

	e->text = hodo_read_text_new();
	if (!state || !e->text)
		err = -ENOMEM;
	else if (f->open)
		err = f->open(state, e);
	if (!err && f->event)
		err = read_events(f, state, e);
	else if (!err && f->tree)
		err = read_tree(f, state, e, &tree);
	else if (!err)
		err = read_timeline(f, state, e);
	if (!err && f->write)
		err = f->write(state, e, tree);
	if (!err && tree && !f->tree->also.instant)
		hodo_call_tree_warn(tree, e, f->name);
	if (state && f->free)
		f->free(state);
	hodo_call_tree_free(tree);
	hodo_read_text_free(e->text);
	free(state);
	return err;
}
