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

static const char help[] =
	"usage: hodo list [options] [FILE | DIR | PID]\n"
	"       hodo list -k [EVENT[,EVENT...]]\n"
	"       hodo list --pids\n\n"
	"Lists the events that a program or library FILE offers, those of a recording\n"
	"DIR (hodo.data), or those of a process, and whether they are on: kind, fields,\n"
	"first place in the source, format of marks; and tells how many functions can be\n"
	"traced.\n\n"
	"  -k, --kernel     the kernel's events, or those named EVENT: PROVIDER:NAME,\n"
	"                   with * ? [...]; root only\n"
	"  --pids           the processes that listen, and who records them\n"
	"  --functions      the functions in place of the events\n"
	"  --events         the events only, no word about functions\n"
	"  --json           one JSON object\n"
	"  --color WHEN     auto, always or never\n"
	"  --no-pager       also on a terminal\n"
	"  -q, --quiet      no warnings\n"
	"  -h, --help\n";

enum { OPT_FUNCTIONS = HODO_OPT_VERB, OPT_EVENTS, OPT_PIDS };

static int by_name(const void *a, const void *b)
{
	const struct hodo_read_class *x = *(const struct hodo_read_class *const *)a;
	const struct hodo_read_class *y = *(const struct hodo_read_class *const *)b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->object, y->object);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void put_labels_json(FILE *f, const struct hodo_read_labels *l)
{
	fputs(",\"labels\":{", f);
	for (uint32_t i = 0; i < l->n; i++) {
		fputs(i ? "," : "", f);
		hodo_put_json(f, l->names[i]);
		fprintf(f, ":%lld", (long long)l->values[i]);
	}
	fputc('}', f);
}

/* off: no -e asked for it, or nobody records. */
static const char *state_name(uint8_t state)
{
	return state & HODO_STATE_DISABLED ? "disabled" : !(state & HODO_STATE_RECORDED) ? "off" :
	       state & HODO_STATE_FILTERED ? "filtered" : "on";
}

static void put_class_json(FILE *f, const struct hodo_list *l, const struct hodo_read_class *c)
{
	fputs("{\"name\":", f);
	hodo_put_json(f, c->name);
	if (l->states)
		fprintf(f, ",\"state\":\"%s\",\"loaded\":%s,\"probed\":%s", state_name(l->states[c->id]),
			l->states[c->id] & HODO_STATE_LOADED ? "true" : "false",
			l->states[c->id] & HODO_STATE_PROBED ? "true" : "false");
	fprintf(f, ",\"kind\":\"%s\",\"fields\":[", hodo_read_kind_name(c->kind));
	for (uint32_t i = 0; i < c->nfields; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", f);
		hodo_put_json(f, c->fields[i].name);
		fprintf(f, ",\"type\":\"%s\"", hodo_read_type_name(c->fields[i].type));
		if (c->fields[i].labels)
			put_labels_json(f, c->fields[i].labels);
		fputc('}', f);
	}
	fputs("],\"format\":", f);
	hodo_put_json(f, c->format);
	fputs(",\"file\":", f);
	hodo_put_json(f, c->file);
	fprintf(f, ",\"line\":%u,\"func\":", c->line);
	hodo_put_json(f, c->func);
	fputs(",\"object\":", f);
	hodo_put_json(f, c->object);
	if (c->sites)
		fprintf(f, ",\"sites\":%u", c->sites);
	fputc('}', f);
}

static void put_labels(FILE *f, const struct hodo_read_labels *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		fputs(i ? "|" : " ", f);
		hodo_put_plain(f, l->names[i]);
	}
}

static void put_class(FILE *f, const struct hodo_list *l, const struct hodo_read_class *c, size_t width)
{
	size_t len = strlen(c->name);

	fputs(hodo_style(l->color, HODO_NAME), f);
	hodo_put_plain(f, c->name);
	fprintf(f, "%s%*s", hodo_style(l->color, HODO_PLAIN), (int)(len < width ? width - len : 0), "");
	if (l->states)
		fprintf(f, "  %-8s", state_name(l->states[c->id]));
	fprintf(f, "  %-10s  (", hodo_read_kind_name(c->kind));
	for (uint32_t i = 0; i < c->nfields; i++) {
		fputs(i ? ", " : "", f);
		hodo_put_plain(f, c->fields[i].name);
		fprintf(f, ":%s", hodo_read_type_name(c->fields[i].type));
		if (c->fields[i].labels)
			put_labels(f, c->fields[i].labels);
	}
	fputc(')', f);
	if (*c->file) {
		fprintf(f, "  %s", hodo_style(l->color, HODO_DIM));
		hodo_put_plain(f, c->file);
		fprintf(f, ":%u%s", c->line, hodo_style(l->color, HODO_PLAIN));
	}
	if (c->sites > 1)
		fprintf(f, " and %u more", c->sites - 1);
	if (*c->format) {
		fputs("  \"", f);
		hodo_put_plain(f, c->format);
		fputc('"', f);
	}
	fputc('\n', f);
}

static void put_text(FILE *f, const struct hodo_list *l, const struct hodo_list_args *a)
{
	char by[384];
	size_t width = 0;

	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->classes[i]->name) > width)
			width = strlen(l->classes[i]->name);
	width = width > 40 ? 40 : width;
	for (size_t i = 0; i < l->n && !a->functions; i++)
		put_class(f, l, l->classes[i], width);
	if (a->functions)
		hodo_function_list_text(f, &l->functions);
	else if (!a->events)
		hodo_function_list_count(f, &l->functions, a->path);
	if (!l->answer || a->functions || a->events)
		return;
	fprintf(f, "process %d is %s", (int)l->pid, l->answer->by == HODO_BY_NOBODY ? "not recorded" : "recorded");
	hodo_put_plain(f, hodo_list_recorded_by(l->answer, by, sizeof(by)));
	fputc('\n', f);
}

static void put_process_json(FILE *f, const struct hodo_list *l)
{
	static const char *const by[] = { "nobody", "hodo", "flight" };

	fprintf(f, ",\"pid\":%d,\"listens\":%s", (int)l->pid, l->answer ? "true" : "false");
	if (!l->answer)
		return;
	fprintf(f, ",\"recorded_by\":\"%s\"", by[l->answer->by <= HODO_BY_FLIGHT ? l->answer->by : HODO_BY_NOBODY]);
	if (l->answer->recorder)
		fprintf(f, ",\"recorder\":%u", l->answer->recorder);
	if (l->answer->by == HODO_BY_FLIGHT) {
		fputs(",\"flight\":", f);
		hodo_put_json(f, l->answer->path);
	}
}

static void put_json(FILE *f, const struct hodo_list *l, const struct hodo_list_args *a)
{
	fputs("{\"version\":1", f);
	if (l->pid)
		put_process_json(f, l);
	if (!a->functions) {
		fputs(",\"events\":[", f);
		for (size_t i = 0; i < l->n; i++) {
			fputs(i ? "," : "", f);
			put_class_json(f, l, l->classes[i]);
		}
		fputc(']', f);
	}
	if (!a->events) {
		fputc(',', f);
		hodo_function_list_json(f, &l->functions);
	}
	fputs("}\n", f);
}

static int put_list(struct hodo_list *l, const struct hodo_list_args *a)
{
	char *data = NULL;
	size_t len;
	FILE *f = open_memstream(&data, &len);

	if (!f)
		return hodo_no_memory();
	l->color = hodo_use_color(a->color, STDOUT_FILENO);
	if (a->json)
		put_json(f, l, a);
	else
		put_text(f, l, a);
	return hodo_out_page(f, &data, &len, !a->no_pager);
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
	struct hodo_read *r = hodo_open(a->path, a->quiet);
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
	/* Which functions were seen only the events tell. */
	if (!err && (a->functions || (a->json && !a->events)))
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
	if (a->quiet || a->json)
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

	if (!a->quiet)
		o.warn = warn;
	if (hodo_read_elf_open(&elf, a->path, &o) < 0) {
		hodo_error("%s: give a program, a library or a recording's directory", error);
		return HODO_EXIT_FAILURE;
	}
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

/* The exit status to leave with, or -1 to go on. */
static int parse_args(int argc, char **argv, struct hodo_list_args *a)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "functions", no_argument, NULL, OPT_FUNCTIONS },
		{ "events", no_argument, NULL, OPT_EVENTS },
		{ "pids", no_argument, NULL, OPT_PIDS },
		{ "kernel", no_argument, NULL, 'k' },
		{ "color", required_argument, NULL, HODO_OPT_COLOR },
		{ "no-pager", no_argument, NULL, HODO_OPT_NO_PAGER },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = hodo_getopt(argc, argv, ":kqh", options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?')
			return HODO_EXIT_USAGE;
		if (c == HODO_OPT_COLOR && hodo_set_color(&a->color, argv[0], optarg))
			return HODO_EXIT_USAGE;
		a->no_pager |= c == HODO_OPT_NO_PAGER;
		a->json |= c == HODO_OPT_JSON;
		a->functions |= c == OPT_FUNCTIONS;
		a->events |= c == OPT_EVENTS;
		a->pids |= c == OPT_PIDS;
		a->kernel |= c == 'k';
		a->quiet |= c == 'q';
	}
	if (a->functions && a->events)
		return hodo_usage(argv[0], "--events or --functions, not both: without them, all are told of");
	if (a->pids && (a->functions || a->events || optind < argc))
		return hodo_usage(argv[0], "--pids lists processes, and takes no DIR, --functions or --events");
	if (a->kernel && (a->pids || a->functions || a->events))
		return hodo_usage(argv[0], "-k lists the kernel's events, and takes no --pids, --functions or --events");
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one program, recording or process at a time, not '%s' too",
				  argv[optind + 1]);
	a->path = optind < argc ? argv[optind] : a->kernel ? NULL : HODO_DIR_DEFAULT;
	return -1;
}

int hodo_cmd_list(int argc, char **argv)
{
	struct hodo_list_args a = { 0 };
	int status = parse_args(argc, argv, &a);
	struct stat st;

	if (status >= 0)
		return status;
	if (a.kernel)
		return hodo_list_kernel(&a);
	if (a.pids)
		return hodo_list_pids(&a);
	if (stat(a.path, &st) < 0)
		/* Of a recording that is not there it says so. */
		return *a.path && !a.path[strspn(a.path, "0123456789")] ? hodo_list_process(&a) : list_recording(&a);
	return S_ISDIR(st.st_mode) ? list_recording(&a) : list_binary(&a);
}
