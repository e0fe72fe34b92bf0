/* SPDX-License-Identifier: MIT */
/* cmd_export.c - hodo export. */
#include <cli/cli.h>
#include "export_clickhouse.h"
#include "export_otlp.h"
#include <cli/output/output_file.h>
#include <cli/selection.h>
#include <export/export.h>

#include <string.h>

#define RETRY_NS 60000000000ull

struct args {
	struct hodo_output_args out;
	const char *tables;
	const struct hodo_export_format *format;
	struct hodo_export export;
	struct hodo_otlp_args otlp;
	struct hodo_clickhouse_args clickhouse;
};

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
	return hodo_usage("export", "no format '%s': the formats are %s", name, all);
}

static int set_endpoint(void *args, const char *url)
{
	return hodo_otlp_endpoint(&((struct args *)args)->otlp, "export", "--endpoint", url);
}

static int set_header(void *args, const char *header)
{
	return hodo_otlp_header(&((struct args *)args)->otlp, "export", "--header", header);
}

static int set_url(void *args, const char *url)
{
	return hodo_clickhouse_url(&((struct args *)args)->clickhouse, url);
}

static bool is_of_otlp(const struct hodo_otlp_args *a)
{
	return a->endpoint || a->state || a->nheaders || a->otlp.json || a->otlp.service || a->gzip;
}

/* 0, or the exit status: options that are for other formats. */
static int check(const struct args *a)
{
	const struct hodo_clickhouse_args *c = &a->clickhouse;
	bool otlp = a->format == &hodo_export_otlp, to_server = a->format == &hodo_export_clickhouse;

	if (!a->format)
		return hodo_usage("export", "--to FORMAT is missing");
	if (!otlp && is_of_otlp(&a->otlp))
		return hodo_usage("export", "--endpoint, --gzip, --header, --json, --service and --state are for "
				  "--to otlp");
	if (!to_server && (c->url || c->database || c->cluster))
		return hodo_usage("export", "--url, --database and --cluster are for --to clickhouse");
	if (!otlp && !to_server && a->otlp.retry_ns != RETRY_NS)
		return hodo_usage("export", "--retry is for --to clickhouse and --to otlp");
	if (a->format != &hodo_export_parquet && !to_server && a->tables)
		return hodo_usage("export", "--tables is for --to clickhouse and --to parquet");
	if (a->otlp.endpoint && a->out.path)
		return hodo_usage("export", "--endpoint and -o exclude each other");
	if (a->otlp.gzip && !hodo_otlp_sends(&a->otlp))
		return hodo_usage("export", "--gzip is for what is sent: add --endpoint");
	if (!to_server && a->out.args.n > 1)
		return hodo_usage("export", HODO_ONE_RECORDING ", not '%s' too", a->out.args.words[1]);
	return 0;
}

/* --------------------------------------------------------------------------- run */

static int write_export(void *data, struct hodo_output *output, struct hodo_text *text, struct hodo_symbols *symbols)
{
	struct args *a = data;

	a->export.out = text;
	a->export.symbols = symbols;
	return hodo_export_run(a->format, &a->export);
}

static int write_folder(void *data, void *folder, struct hodo_symbols *symbols)
{
	struct args *a = data;
	struct hodo_text none = { 0 };
	int err;

	a->export.out = &none;
	a->export.file = hodo_output_append;
	a->export.folder = folder;
	a->export.symbols = symbols;
	err = hodo_export_run(a->format, &a->export);
	hodo_text_free(&none);
	return err;
}

static int run(void *args)
{
	struct args *a = args;
	HODO_AUTO_READ struct hodo_read *r = NULL;
	int status = a->format == &hodo_export_otlp && !a->otlp.endpoint && !a->out.path ?
		     hodo_otlp_endpoint_of_environment(&a->otlp) : 0;

	if (!status)
		status = check(a);
	if (status)
		return status;
	a->out.args.each_event = a->format->each_event;
	a->out.args.full_names = a->out.args.full_names || a->format->whole_names;
	if (a->format == &hodo_export_clickhouse) {
		a->clickhouse.tables = a->tables;
		a->clickhouse.retry_ns = a->otlp.retry_ns;
		return hodo_clickhouse_export(&a->clickhouse, &a->out);
	}
	status = hodo_open_selected(&r, &a->out.args);
	a->export = (struct hodo_export){ .reader = r, .warn = hodo_output_warn(a->out.args.quiet),
					  .since_ns = a->out.args.since_ns, .until_ns = a->out.args.until_ns,
					  .otlp = &a->otlp.otlp };
	a->otlp.otlp.version = HODO_VERSION;
	if (!status && a->format == &hodo_export_parquet)
		status = hodo_output_parquet(&a->out, r, a->tables);
	else if (!status && hodo_otlp_sends(&a->otlp))
		status = hodo_otlp_export(&a->otlp, &a->out, a->format, &a->export);
	else if (!status && a->format->folder)
		status = hodo_output_folder(&a->out, a->format->suffix, r, write_folder, a);
	else if (!status)
		status = hodo_output_make(&a->out, a->format->suffix, a->format->binary ? a->format->name : NULL, r,
					  write_export, a);
	if (!status && !a->out.args.quiet)
		hodo_tell_lost(r);
	return status;
}

static const struct hodo_option options[] = {
	{ .name = "to", .kind = HODO_OPTION_CALL, .arg = "FORMAT", .choice = format_name, .set = set_format,
	  .help = "one of those above" },
	HODO_OPTION_OUTPUT,
	HODO_OPTION_FORCE,
	{ .help = "Messages:" },
	HODO_OPTION_QUIET("do not report the file, warnings or lost events"),
	{ .help = "Of clickhouse:" },
	{ .name = "url", .kind = HODO_OPTION_CALL, .arg = "URL", .set = set_url,
	  .help = "the server's interface of HTTP, http://localhost:8123" },
	{ .name = "database", .kind = HODO_OPTION_NAME, .arg = "DB", HODO_AT(struct args, clickhouse.database),
	  .wants = "a database's name", .help = "make tables there (hodo)" },
	{ .name = "cluster", .kind = HODO_OPTION_NAME, .arg = "CLUSTER", HODO_AT(struct args, clickhouse.cluster),
	  .wants = "a cluster's name", .help = "and in DB_CLUSTER tables over all its servers" },
	{ .help = "Of otlp:" },
	{ .name = "endpoint", .kind = HODO_OPTION_CALL, .arg = "URL", .set = set_endpoint,
	  .help = "send to a collector, http://localhost:4318" },
	{ .name = "gzip", HODO_AT(struct args, otlp.gzip), .help = "compress what is sent" },
	{ .name = "header", .kind = HODO_OPTION_CALL, .arg = "HEADER", .set = set_header,
	  .help = "NAME: VALUE with each request, for credentials" },
	{ .name = "json", HODO_AT(struct args, otlp.otlp.json), .help = "send JSON in place of protobuf" },
	{ .name = "service", .kind = HODO_OPTION_NAME, .arg = "SERVICE", HODO_AT(struct args, otlp.otlp.service),
	  .wants = "a service's name", .help = "the service's name; else each program's" },
	{ .name = "state", .kind = HODO_OPTION_NAME, .arg = "FILE", HODO_AT(struct args, otlp.state),
	  .wants = "a file's name", .words = HODO_WORD_FILE | HODO_WORD_NEW,
	  .help = "note there what was sent (DIR.otlp-sent)" },
	{ .help = "Of clickhouse and otlp:" },
	{ .name = "retry", .kind = HODO_OPTION_SECONDS, .arg = "TIME", HODO_AT(struct args, otlp.retry_ns),
	  .max = 86400000000000ull, .wants = "a time up to a day",
	  .help = "how long to try again what is not taken (60)" },
	HODO_OPTIONS_SELECTION,
	{ .help = "Names of functions:" },
	HODO_OPTION_FULL_NAMES,
	HODO_OPTION_DEBUGINFOD,
	{ .help = "Which tables:" },
	{ .name = "tables", .kind = HODO_OPTION_NAME, .arg = "NAMES", HODO_AT(struct args, tables),
	  .wants = "names of tables, with commas between them",
	  .help = "only these: spans,kv:get (clickhouse, parquet)" },
	{ 0 },
};

static const struct args defaults = { .otlp.retry_ns = RETRY_NS };

const struct hodo_verb hodo_verb_export = {
	.name = "export", .does = "write a recording in the format of another tool",
	.usage = "--to FORMAT [options] [DIR...]",
	.about = "Writes a recording (hodo.data) in another format, next to it: hodo.data.SUFFIX.\n",
	.options = options, .column = 26, .word = HODO_WORD_DIR, .words = HODO_WORD_DIR,
	.args_bytes = sizeof(struct args), .defaults = &defaults, .selects = HODO_SELECT | HODO_SELECT_SPANS,
	.run = run,
};
