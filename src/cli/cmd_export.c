/* SPDX-License-Identifier: MIT */
/* cmd_export.c - hodo export. */
#include "cli.h"
#include "output_file.h"
#include "selection.h"
#include <export/export.h>

#include <string.h>

struct args {
	struct hodo_output_args out;
	const struct hodo_export_format *format;
	struct hodo_export export;
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
	return hodo_usage("export", "there is no format '%s', but %s", name, all);
}

/* --------------------------------------------------------------------------- run */

static void warn(const char *text)
{
	hodo_warning("%s", text);
}

static void say_nothing(const char *text)
{
}

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
	int status;

	if (!a->format)
		return hodo_usage("export", "--to FORMAT is missing");
	a->out.args.full_names = a->out.args.full_names || a->format->whole_names;
	status = hodo_open_selected(&r, &a->out.args);
	a->export = (struct hodo_export){ .reader = r, .warn = a->out.args.quiet ? say_nothing : warn,
					  .since_ns = a->out.args.since_ns, .until_ns = a->out.args.until_ns };
	if (!status && a->format->folder)
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
	HODO_OPTION_FULL_NAMES,
	HODO_OPTION_QUIET("no warnings, no word about the file or lost events"),
	HODO_OPTIONS_SELECTION,
	{ 0 },
};

const struct hodo_verb hodo_verb_export = {
	.name = "export", .does = "write a recording in the format of another tool",
	.usage = "--to FORMAT [options] [DIR]",
	.about = "Writes a recording (hodo.data) in another format, beside it: hodo.data.SUFFIX.\n",
	.options = options, .column = 26, .word = HODO_WORD_DIR, .one = "one recording at a time",
	.args_bytes = sizeof(struct args), .selects = HODO_SELECT | HODO_SELECT_SPANS, .run = run,
};
