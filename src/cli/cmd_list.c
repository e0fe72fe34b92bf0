/* SPDX-License-Identifier: MIT */
/* cmd_list.c - hodo list. */
#define _GNU_SOURCE
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
	"usage: hodo list [options] [FILE | DIR]\n\n"
	"Lists the events that a program or library FILE offers, or those of a recording\n"
	"DIR (hodo.data): kind, fields, first place in the source, format of marks.\n\n"
	"  --json           one JSON object\n"
	"  -q, --quiet      no warnings\n"
	"  -h, --help\n";

struct list {
	const struct hodo_read_class **classes;
	size_t n;
};

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

static void put_class_json(FILE *f, const struct hodo_read_class *c)
{
	fputs("{\"name\":", f);
	hodo_put_json(f, c->name);
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

static void put_class(FILE *f, const struct hodo_read_class *c, size_t width)
{
	size_t len = strlen(c->name);

	hodo_put_plain(f, c->name);
	fprintf(f, "%*s  %-10s  (", (int)(len < width ? width - len : 0), "", hodo_read_kind_name(c->kind));
	for (uint32_t i = 0; i < c->nfields; i++) {
		fputs(i ? ", " : "", f);
		hodo_put_plain(f, c->fields[i].name);
		fprintf(f, ":%s", hodo_read_type_name(c->fields[i].type));
		if (c->fields[i].labels)
			put_labels(f, c->fields[i].labels);
	}
	fputs(")  ", f);
	hodo_put_plain(f, c->file);
	fprintf(f, ":%u", c->line);
	if (c->sites > 1)
		fprintf(f, " and %u more", c->sites - 1);
	if (*c->format) {
		fputs("  \"", f);
		hodo_put_plain(f, c->format);
		fputc('"', f);
	}
	fputc('\n', f);
}

static int put_list(const struct list *l, bool json)
{
	char *data = NULL;
	size_t len, width = 0;
	FILE *f = open_memstream(&data, &len);

	if (!f) {
		hodo_error("out of memory");
		return HODO_EXIT_FAILURE;
	}
	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->classes[i]->name) > width)
			width = strlen(l->classes[i]->name);
	width = width > 40 ? 40 : width;
	if (json)
		fputs("{\"version\":1,\"events\":[", f);
	for (size_t i = 0; i < l->n; i++) {
		if (json && i)
			fputc(',', f);
		if (json)
			put_class_json(f, l->classes[i]);
		else
			put_class(f, l->classes[i], width);
	}
	if (json)
		fputs("]}\n", f);
	return hodo_out_stream(f, &data, &len);
}

/* The same event in several processes stands once. */
static void join(struct list *l)
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

static int list_recording(const char *path, bool json, bool quiet)
{
	struct hodo_read *r = hodo_open(path, quiet);
	struct list l = { 0 };
	size_t n = 0;
	int status;

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
	if (l.classes) {
		join(&l);
		status = put_list(&l, json);
	} else {
		hodo_error("out of memory");
		status = HODO_EXIT_FAILURE;
	}
	free(l.classes);
	hodo_read_close(r);
	return status;
}

static void warn(void *data, const char *text)
{
	(void)data;
	hodo_warning("%s", text);
}

static int list_binary(const char *path, bool json, bool quiet)
{
	char error[512] = "";
	struct hodo_read_options o = { .size = sizeof(o), .error = error, .error_bytes = sizeof(error) };
	struct hodo_read_elf *elf;
	struct list l = { 0 };
	int status;

	if (!quiet)
		o.warn = warn;
	if (hodo_read_elf_open(&elf, path, &o) < 0) {
		hodo_error("%s: give a program, a library or a recording's directory", error);
		return HODO_EXIT_FAILURE;
	}
	l.n = hodo_read_elf_nclasses(elf);
	l.classes = calloc(l.n ? l.n : 1, sizeof(*l.classes));
	for (size_t i = 0; l.classes && i < l.n; i++)
		l.classes[i] = hodo_read_elf_class(elf, (uint32_t)i);
	if (l.classes) {
		status = put_list(&l, json);
		if (!l.n && !quiet && !json)
			hodo_warning("%s has no events: nothing in it uses <hodo/trace.h>", path);
	} else {
		hodo_error("out of memory");
		status = HODO_EXIT_FAILURE;
	}
	free(l.classes);
	hodo_read_elf_close(elf);
	return status;
}

int hodo_cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, HODO_OPT_JSON },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false, quiet = false;
	const char *path;
	struct stat st;
	int c;

	while ((c = hodo_getopt(argc, argv, ":qh", options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?')
			return HODO_EXIT_USAGE;
		json |= c == HODO_OPT_JSON;
		quiet |= c == 'q';
	}
	if (argc - optind > 1)
		return hodo_usage(argv[0], "one program or recording at a time, not '%s' too",
				  argv[optind + 1]);
	path = optind < argc ? argv[optind] : HODO_DIR_DEFAULT;
	if (stat(path, &st) < 0) {
		if (path[strspn(path, "0123456789")] == 0) {
			hodo_error(
				"this version cannot list running processes: give the file of its program, "
				"/proc/%s/exe",
				path);
			return HODO_EXIT_FAILURE;
		}
		return list_recording(path, json, quiet); /* says what is missing */
	}
	return S_ISDIR(st.st_mode) ? list_recording(path, json, quiet) : list_binary(path, json, quiet);
}
