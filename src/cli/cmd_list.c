/* SPDX-License-Identifier: MIT */
/* cmd_list.c - hodo list. */
#include "list.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <pack/tree.h>

static int list_recording(const struct hodo_list_args *a)
{
	HODO_AUTO_READ struct hodo_read *r = hodo_open(a->path, a->args.quiet);
	HODO_AUTO(hodo_list_free) struct hodo_list l = { 0 };
	int err;

	if (!r)
		return HODO_EXIT_FAILURE;
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nclasses; k++)
			hodo_list_add_class(&l, p->classes[k], p->classes[k]->object);
	}
	l.short_names = hodo_shortens_names(&a->args);
	/* Which functions were seen only the events show. */
	err = hodo_list_add_recorded(&l, r, a->functions || (a->args.look.json && !a->events) ? a->path : NULL);
	return err ? hodo_cannot_read(a->path, err) : hodo_list_put(&l, a);
}

static bool is_packed(const char *path)
{
	struct hodo_tree *tree;
	int err = hodo_tree_open(&tree, path);

	hodo_tree_close(tree);
	return !err || err == -EPROTONOSUPPORT;
}

static void warn_empty(const struct hodo_list *l, const struct hodo_list_args *a)
{
	if (a->args.quiet || a->args.look.json)
		return;
	if (a->functions && !l->nfunctions)
		hodo_warning("%s has no traceable functions: build it with the flags of 'pkg-config hodo-functions' (libhodo-dev)",
			     a->path);
	else if (a->sdt && !l->nsdt)
		hodo_warning("%s has no static probes: nothing in it uses <sys/sdt.h>", a->path);
	else if (!a->functions && !a->sdt && !l->n && !l->nsdt && !l->nfunctions)
		hodo_warning("%s has no events: nothing in it uses <hodo/trace.h>", a->path);
}

static int list_binary(const struct hodo_list_args *a)
{
	char error[512] = "";
	struct hodo_read_options o = hodo_read_options(error, a->args.quiet);
	HODO_AUTO(hodo_list_free) struct hodo_list l = { 0 };
	int err = hodo_list_add_file(&l, a->path, a->path, &o, a), status;

	if (*error)
		return hodo_error("%s: give a program, a library or a recording's directory", error);
	if (err)
		return hodo_cannot_read(a->path, err);
	status = hodo_list_put(&l, a);
	warn_empty(&l, a);
	return status;
}

static const struct hodo_columns *const tables[] = { &hodo_list_columns, &hodo_sdt_columns, &hodo_function_columns,
						   &hodo_seen_function_columns, NULL };
static const struct hodo_columns *const sdt_tables[] = { &hodo_sdt_columns, NULL };
static const struct hodo_columns *const kernel_tables[] = { &hodo_list_kernel_columns, NULL };
static const struct hodo_columns *const pids_tables[] = { &hodo_list_pids_columns, NULL };

static int run(void *args)
{
	struct hodo_list_args *a = args;
	const struct hodo_args *in = &a->args;
	struct stat st;
	int status;

	if (a->functions + a->events + a->sdt > 1)
		return hodo_usage("list", "one of --events, --sdt and --functions: without them, all are listed");
	if (a->pids && (a->functions || a->events || a->sdt || in->n))
		return hodo_usage("list", "--pids lists processes, and takes no DIR, --functions, --sdt or --events");
	if (a->kernel && (a->pids || a->functions || a->events || a->sdt))
		return hodo_usage("list", "-k lists the kernel's events, and takes no --pids, --functions, --sdt or --events");
	if (in->n > 1)
		return hodo_usage("list", "one program, recording or process at a time, not '%s' too", in->words[1]);
	a->path = a->kernel && !in->n ? NULL : in->dir;
	status = hodo_look_make(&a->args, a->kernel ? kernel_tables : a->pids ? pids_tables :
						  a->sdt ? sdt_tables : a->functions ? tables + 2 : tables);
	if (status != HODO_GO_ON)
		return status;
	if (a->kernel)
		return hodo_list_kernel(a);
	if (a->pids)
		return hodo_list_pids(a);
	if (stat(a->path, &st) < 0)
		/* Of a recording that is not there it says so. */
		return *a->path && !a->path[strspn(a->path, "0123456789")] ? hodo_list_process(a) : list_recording(a);
	return S_ISDIR(st.st_mode) || is_packed(a->path) ? list_recording(a) : list_binary(a);
}

static const struct hodo_option options[] = {
	{ .name = "kernel", .letter = 'k', HODO_AT(struct hodo_list_args, kernel),
	  .help = "the kernel's events, or those named EVENT: PROVIDER:NAME,\nwith * ? [...]; root only" },
	{ .name = "pids", HODO_AT(struct hodo_list_args, pids), .help = "the processes that listen, and who records them" },
	{ .name = "functions", HODO_AT(struct hodo_list_args, functions), .help = "the functions in place of the events" },
	{ .name = "sdt", HODO_AT(struct hodo_list_args, sdt),
	  .help = "the static probes of <sys/sdt.h> (USDT) in place of the\nevents" },
	{ .name = "events", HODO_AT(struct hodo_list_args, events), .help = "the events only, no word about functions" },
	HODO_OPTION_COLUMNS("these columns, with commas; help: which there are", tables),
	HODO_OPTION_SORT("by this column, in place of the name", tables),
	HODO_OPTION_FULL_NAMES,
	HODO_OPTIONS_SHOWN("one JSON object"),
	HODO_OPTION_QUIET("no warnings"),
	{ 0 },
};

const struct hodo_verb hodo_verb_list = {
	.name = "list", .does = "list the events that a program, library, recording or process has",
	.usage = "[options] [FILE | DIR | PID]\n-k [EVENT[,EVENT...]]\n--pids",
	.about = "Lists the events that a program or library FILE offers, those of a recording\n"
		 "DIR (hodo.data), or those of a process, and whether they are on: kind, fields,\n"
		 "first place in the source, format of marks; the static probes (USDT) of a FILE;\n"
		 "and says how many functions can be traced.\n",
	.options = options, .column = 19, .word = HODO_WORD_FILE | HODO_WORD_DIR | HODO_WORD_PID,
	.word_k = HODO_WORD_EVENT | HODO_WORD_LIST, .args_bytes = sizeof(struct hodo_list_args), .run = run,
};
