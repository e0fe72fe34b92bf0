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
	/* Only the events show which functions were seen. */
	err = hodo_list_add_recorded(&l, r, a->functions || (a->args.look.json && !a->events) ? a->path : NULL,
				     &a->args);
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
		hodo_warning("%s has no slots for tracing functions: 'hodo record --functions' patches functions, see 'hodo "
			     "doctor'; the flags of 'pkg-config hodo-functions' (libhodo-dev) make slots", a->path);
	else if (a->sdt && !l->nsdt)
		hodo_warning("%s has no static probes: nothing in it uses <sys/sdt.h>", a->path);
	else if (!a->functions && !a->sdt && !l->n && !l->nsdt && !l->nfunctions)
		hodo_warning("%s has no events: nothing in it uses <hodo/trace.h>", a->path);
}

static int list_binary(const struct hodo_list_args *a)
{
	struct hodo_why why = { "" };
	struct hodo_read_options o = hodo_read_options(&why, a->args.quiet);
	HODO_AUTO(hodo_list_free) struct hodo_list l = { 0 };
	int err = hodo_list_add_file(&l, a->path, a->path, &o, a), status;

	if (why.text[0])
		return hodo_error("%s: give a program, a library or a recording's directory", why.text);
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
		return hodo_usage("list", "--pids lists processes: leave out DIR, --functions, --sdt and "
				  "--events");
	if (a->kernel && (a->pids || a->functions || a->events || a->sdt))
		return hodo_usage("list", "-k lists the kernel's events: leave out --pids, --functions, "
				  "--sdt and --events");
	if (in->n > 1)
		return hodo_usage("list", "one program, recording or process at a time, not '%s' too", in->words[1]);
	a->path = a->kernel && !in->n ? NULL : in->dir;
	status = hodo_show_make(&a->args, a->kernel ? kernel_tables : a->pids ? pids_tables :
						  a->sdt ? sdt_tables : a->functions ? tables + 2 : tables);
	if (status != HODO_GO_ON)
		return status;
	if (a->kernel)
		return hodo_list_kernel(a);
	if (a->pids)
		return hodo_list_pids(a);
	if (stat(a->path, &st) < 0)
		/* For a missing recording, this gives the message. */
		return *a->path && !a->path[strspn(a->path, "0123456789")] ? hodo_list_process(a) : list_recording(a);
	return S_ISDIR(st.st_mode) || is_packed(a->path) ? list_recording(a) : list_binary(a);
}

static const struct hodo_option options[] = {
	{ .name = "kernel", .letter = 'k', HODO_AT(struct hodo_list_args, kernel),
	  .help = "the kernel's events, or those named EVENT: PROVIDER:NAME,\nwith * ? [...] (root, CAP_PERFMON)" },
	{ .name = "pids", HODO_AT(struct hodo_list_args, pids),
	  .help = "the processes that listen, and their recorders" },
	{ .name = "functions", HODO_AT(struct hodo_list_args, functions),
	  .help = "functions instead of events" },
	{ .name = "sdt", HODO_AT(struct hodo_list_args, sdt),
	  .help = "static probes of <sys/sdt.h> (USDT) instead of events" },
	{ .name = "events", HODO_AT(struct hodo_list_args, events),
	  .help = "only the events; do not mention functions" },
	HODO_OPTION_COLUMNS("these columns, separated by commas; help lists them", tables),
	HODO_OPTION_SORT("sort by this column instead of the name", tables),
	HODO_OPTION_FULL_NAMES,
	HODO_OPTION_DEBUGINFOD,
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
