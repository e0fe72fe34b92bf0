/* SPDX-License-Identifier: MIT */
/* cmd_list.c - hodo list. */
#define _GNU_SOURCE
#include "cli.h"
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
	const struct hodo_read_class *x = *(const struct hodo_read_class *const *)a;
	const struct hodo_read_class *y = *(const struct hodo_read_class *const *)b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->object, y->object);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* off: no -e asked for it, or nobody records. */
static const char *state_name(uint8_t state)
{
	return state & HODO_STATE_DISABLED ? "disabled" : !(state & HODO_STATE_RECORDED) ? "off" :
	       state & HODO_STATE_FILTERED ? "filtered" : "on";
}

/* ------------------------------------------------------------------------- tables */

/* What a process says of an event; NULL: there is no process. */
static const uint8_t *state_of(const struct hodo_table *t, const void *row)
{
	const struct hodo_list *l = t->context;

	return l->states ? &l->states[((const struct hodo_read_class *)row)->id] : NULL;
}

static struct hodo_cell state(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const uint8_t *state = state_of(t, row);

	return hodo_cell_string(state ? state_name(*state) : NULL);
}

/* argument: the bit of the state. */
static struct hodo_cell state_bit(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const uint8_t *state = state_of(t, row);

	return state ? (struct hodo_cell){ .type = HODO_CELL_BOOL, .u = !!(*state & (unsigned)c->argument) }
		     : hodo_cell_string(NULL);
}

static struct hodo_cell kind(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(hodo_read_kind_name(((const struct hodo_read_class *)row)->kind));
}

static struct hodo_cell sites(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	uint32_t n = ((const struct hodo_read_class *)row)->sites;

	return n ? hodo_cell_u64(n) : hodo_cell_string(NULL);
}

static void put_fields(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	hodo_text_char(to, '(');
	for (uint32_t i = 0; i < c->nfields; i++) {
		const struct hodo_read_labels *labels = c->fields[i].labels;

		hodo_text_add(to, i ? ", " : "");
		hodo_add_plain(to, c->fields[i].name);
		hodo_text_printf(to, ":%s", hodo_read_type_name(c->fields[i].type));
		for (uint32_t k = 0; labels && k < labels->n; k++) {
			hodo_text_add(to, k ? "|" : " ");
			hodo_add_plain(to, labels->names[k]);
		}
	}
	hodo_text_char(to, ')');
}

static void put_fields_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	hodo_json_array(j, key);
	for (uint32_t i = 0; i < c->nfields; i++) {
		const struct hodo_read_labels *labels = c->fields[i].labels;

		hodo_json_object(j, NULL);
		hodo_json_string(j, "name", c->fields[i].name);
		hodo_json_string(j, "type", hodo_read_type_name(c->fields[i].type));
		if (labels)
			hodo_json_object(j, "labels");
		for (uint32_t k = 0; labels && k < labels->n; k++)
			hodo_json_i64(j, labels->names[k], labels->values[k]);
		if (labels)
			hodo_json_end(j);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

static void put_place(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	hodo_add_plain(to, c->file);
	if (*c->file)
		hodo_text_printf(to, ":%u", c->line);
}

static void put_more_sites(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	if (c->sites > 1)
		hodo_text_printf(to, "and %u more", c->sites - 1);
}

static void put_format(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_read_class *c = row;

	if (!*c->format)
		return;
	hodo_text_char(to, '"');
	hodo_add_plain(to, c->format);
	hodo_text_char(to, '"');
}

#define ROW(name) HODO_MEMBER(struct hodo_read_class, name)
static const struct hodo_column columns[] = {
	{ "name", .most = 40, .style = HODO_NAME, ROW(name) },
	{ "state", .width = 8, .flags = HODO_OPTIONAL | HODO_IF_ANY, .get = state },
	{ "loaded", .as = HODO_AS_FLAG, .flags = HODO_OPTIONAL, .get = state_bit, .argument = HODO_STATE_LOADED },
	{ "probed", .as = HODO_AS_FLAG, .flags = HODO_OPTIONAL, .get = state_bit, .argument = HODO_STATE_PROBED },
	{ "kind", .width = 10, .get = kind },
	{ "fields", .put = put_fields, .put_json = put_fields_json },
	{ "format", ROW(format), .put = put_format },
	{ "file", ROW(file) },
	{ "line", .as = HODO_AS_ID, ROW(line) },
	{ "func", ROW(func) },
	{ "object", ROW(object) },
	{ "sites", .flags = HODO_NOTE | HODO_OPTIONAL, .get = sites, .put = put_more_sites },
	{ "place", .style = HODO_DIM, .flags = HODO_TEXT_ONLY, .put = put_place },
};
static const struct hodo_columns events = { "events", HODO_COLUMNS(columns), .headless = true,
					    .text = "name,state,kind,fields,place,sites,format" };

/* ------------------------------------------------------------------------- output */

static void put_text(struct hodo_text *to, const struct hodo_list *l, const struct hodo_table *t,
		     const struct hodo_table *functions, const struct hodo_list_args *a)
{
	char by[384];

	if (!a->functions)
		hodo_table_put(to, t, a->look.color);
	else if (functions->n)
		hodo_table_put(to, functions, a->look.color);
	if (!a->functions && !a->events)
		hodo_function_list_count(to, &l->functions, a->path);
	if (!l->answer || a->functions || a->events)
		return;
	hodo_text_printf(to, "process %d is %s", (int)l->pid,
			 l->answer->by == HODO_BY_NOBODY ? "not recorded" : "recorded");
	hodo_add_plain(to, hodo_list_recorded_by(l->answer, by, sizeof(by)));
	hodo_text_char(to, '\n');
}

static void put_json(struct hodo_text *to, const struct hodo_list *l, const struct hodo_table *t,
		     const struct hodo_table *functions, const struct hodo_list_args *a)
{
	struct hodo_json j = { .text = to };

	hodo_json_object(&j, NULL);
	hodo_json_u64(&j, "version", 1);
	if (l->pid) {
		hodo_json_i64(&j, "pid", l->pid);
		hodo_json_bool(&j, "listens", l->answer != NULL);
		if (l->answer)
			hodo_list_recorded_by_json(&j, l->answer);
	}
	if (!a->functions)
		hodo_table_put_json(&j, "events", t);
	if (!a->events)
		hodo_table_put_json(&j, "functions", functions);
	hodo_json_end(&j);
	hodo_text_char(to, '\n');
}

static int put_list(struct hodo_list *l, const struct hodo_list_args *a)
{
	struct hodo_table t = { .columns = &events, .context = l, .first = l->classes, .n = l->n };
	struct hodo_table functions = hodo_function_table(&l->functions);
	struct hodo_text text = { 0 };
	int err = hodo_table_arrange(&t, &a->look);

	if (!err)
		err = hodo_table_arrange(&functions, &a->look);
	if (a->look.json)
		put_json(&text, l, &t, &functions, a);
	else
		put_text(&text, l, &t, &functions, a);
	text.error = text.error ? text.error : err;
	hodo_table_free(&t);
	hodo_table_free(&functions);
	return hodo_out_text(&text, !a->args.no_pager);
}

int hodo_list_table(struct hodo_table *t, const char *key, const struct hodo_list_args *a)
{
	struct hodo_text text = { .error = hodo_table_arrange(t, &a->look) };
	struct hodo_json j = { .text = &text };

	if (a->look.json) {
		hodo_json_object(&j, NULL);
		hodo_json_u64(&j, "version", 1);
		hodo_table_put_json(&j, key, t);
		hodo_json_end(&j);
		hodo_text_char(&text, '\n');
	} else {
		hodo_table_put(&text, t, a->look.color);
	}
	hodo_table_free(t);
	return hodo_out_text(&text, !a->args.no_pager);
}

/* The same event in several processes stands once. */
static void join(struct hodo_list *l)
{
	size_t kept = 0;

	qsort(l->classes, l->n, sizeof(*l->classes), by_name);
	for (size_t i = 0; i < l->n; i++) {
		const struct hodo_read_class *c = l->classes[i];
		size_t k = kept;

		/* Definitions that differ stand apart; more than a few of one name are not looked through. */
		while (k > 0 && kept - k < 8 && strcmp(l->classes[k - 1]->name, c->name) == 0 &&
		       !(strcmp(l->classes[k - 1]->object, c->object) == 0 &&
			 hodo_read_class_same(l->classes[k - 1], c)))
			k--;
		if (k > 0 && strcmp(l->classes[k - 1]->object, c->object) == 0 &&
		    hodo_read_class_same(l->classes[k - 1], c))
			continue;
		l->classes[kept++] = c;
	}
	l->n = kept;
}

int hodo_list_put(struct hodo_list *l, const struct hodo_list_args *a)
{
	join(l);
	return put_list(l, a);
}

int hodo_list_failed(const char *path, int err)
{
	return hodo_cannot_read(path, err);
}

static int list_recording(const struct hodo_list_args *a)
{
	struct hodo_read *r = hodo_open(a->path, a->args.quiet);
	struct hodo_list l = { 0 };
	size_t n = 0;
	int status, err;

	if (!r)
		return HODO_EXIT_FAILURE;
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
		n += hodo_read_process(r, i)->nclasses;
	l.classes = calloc(n ? n : 1, sizeof(*l.classes));
	for (uint32_t i = 0; l.classes && i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nclasses; k++)
			l.classes[l.n++] = p->classes[k];
	}
	err = l.classes ? 0 : -ENOMEM;
	/* Which functions were seen only the events show. */
	if (!err && (a->functions || (a->look.json && !a->events)))
		err = hodo_function_list_recording(&l.functions, r, a->path);
	else if (!err)
		hodo_function_list_objects(&l.functions, r);
	status = err ? hodo_list_failed(a->path, err) : hodo_list_put(&l, a);
	free(l.classes);
	hodo_function_list_free(&l.functions);
	hodo_read_close(r);
	return status;
}

static void warn(void *data, const char *text)
{
	(void)data;
	hodo_warning("%s", text);
}

static void tell_empty(const struct hodo_list *l, const struct hodo_list_args *a)
{
	if (a->args.quiet || a->look.json)
		return;
	if (a->functions && !l->functions.n)
		hodo_warning("%s has no traceable functions: build it with the flags of 'pkg-config hodo-functions'",
			     a->path);
	else if (!a->functions && !l->n && !l->functions.n)
		hodo_warning("%s has no events: nothing in it uses <hodo/trace.h>", a->path);
}

static int list_binary(const struct hodo_list_args *a)
{
	char error[512] = "";
	struct hodo_read_options o = { .size = sizeof(o), .error = error, .error_bytes = sizeof(error) };
	struct hodo_read_elf *elf;
	struct hodo_list l = { 0 };
	int status, err;

	if (!a->args.quiet)
		o.warn = warn;
	if (hodo_read_elf_open(&elf, a->path, &o) < 0)
		return hodo_error("%s: give a program, a library or a recording's directory", error);
	l.n = hodo_read_elf_nclasses(elf);
	l.classes = calloc(l.n ? l.n : 1, sizeof(*l.classes));
	for (size_t i = 0; l.classes && i < l.n; i++)
		l.classes[i] = hodo_read_elf_class(elf, (uint32_t)i);
	err = l.classes ? 0 : -ENOMEM;
	if (!err && !a->events)
		err = hodo_function_list_file(&l.functions, elf, a->path);
	if (!err) {
		status = put_list(&l, a);
		tell_empty(&l, a);
	} else {
		status = hodo_list_failed(a->path, err);
	}
	free(l.classes);
	hodo_function_list_free(&l.functions);
	hodo_read_elf_close(elf);
	return status;
}

static const struct hodo_columns *const tables[] = { &events, &hodo_function_columns, &hodo_seen_function_columns,
						   NULL };
static const struct hodo_columns *const kernel_tables[] = { &hodo_list_kernel_columns, NULL };
static const struct hodo_columns *const pids_tables[] = { &hodo_list_pids_columns, NULL };

static int run(void *args)
{
	struct hodo_list_args *a = args;
	const struct hodo_args *in = &a->args;
	struct stat st;
	int status;

	if (a->functions && a->events)
		return hodo_usage("list", "--events or --functions, not both: without them, both are listed");
	if (a->pids && (a->functions || a->events || in->n))
		return hodo_usage("list", "--pids lists processes, and takes no DIR, --functions or --events");
	if (a->kernel && (a->pids || a->functions || a->events))
		return hodo_usage("list", "-k lists the kernel's events, and takes no --pids, --functions or --events");
	if (in->n > 1)
		return hodo_usage("list", "one program, recording or process at a time, not '%s' too", in->words[1]);
	a->path = a->kernel && !in->n ? NULL : in->dir;
	status = hodo_look_make(&a->look, in, a->kernel ? kernel_tables : a->pids ? pids_tables :
						a->functions ? tables + 1 : tables);
	if (status)
		return status < 0 ? 0 : status;
	if (a->kernel)
		return hodo_list_kernel(a);
	if (a->pids)
		return hodo_list_pids(a);
	if (stat(a->path, &st) < 0)
		/* Of a recording that is not there it says so. */
		return *a->path && !a->path[strspn(a->path, "0123456789")] ? hodo_list_process(a) : list_recording(a);
	return S_ISDIR(st.st_mode) ? list_recording(a) : list_binary(a);
}

static const struct hodo_option options[] = {
	{ .name = "kernel", .letter = 'k', HODO_AT(struct hodo_list_args, kernel),
	  .help = "the kernel's events, or those named EVENT: PROVIDER:NAME,\nwith * ? [...]; root only" },
	{ .name = "pids", HODO_AT(struct hodo_list_args, pids), .help = "the processes that listen, and who records them" },
	{ .name = "functions", HODO_AT(struct hodo_list_args, functions), .help = "the functions in place of the events" },
	{ .name = "events", HODO_AT(struct hodo_list_args, events), .help = "the events only, no word about functions" },
	HODO_OPTION_COLUMNS("these columns, with commas; help: which there are", tables),
	HODO_OPTION_SORT("by this column, in place of the name", tables),
	HODO_OPTION_JSON("one JSON object"),
	HODO_OPTION_COLOR,
	HODO_OPTION_NO_PAGER,
	HODO_OPTION_QUIET("no warnings"),
	{ 0 },
};

const struct hodo_verb hodo_verb_list = {
	.name = "list", .does = "list the events that a program, library, recording or process has",
	.usage = "[options] [FILE | DIR | PID]\n-k [EVENT[,EVENT...]]\n--pids",
	.about = "Lists the events that a program or library FILE offers, those of a recording\n"
		 "DIR (hodo.data), or those of a process, and whether they are on: kind, fields,\n"
		 "first place in the source, format of marks; and says how many functions can be\n"
		 "traced.\n",
	.options = options, .column = 19, .word = HODO_WORD_FILE | HODO_WORD_DIR | HODO_WORD_PID,
	.word_k = HODO_WORD_EVENT | HODO_WORD_LIST, .args_bytes = sizeof(struct hodo_list_args), .run = run,
};
