/* SPDX-License-Identifier: MIT */
/*
 * list_kernel.c - hodo list -k: the kernel's events, as the file `info` of the module's control tree says.
 *
 * A line each, with tabs between name, id, state, source, object, filter, fields and format; "-" means none.
 * Further columns belong to later versions.
 */
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <base/file.h>
#include <base/vec.h>
#include <record/record.h>

#define INFO_MAX (64u << 20) /* bytes */

enum { NAME, ID, STATE, SOURCE, OBJECT, FILTER, FIELDS, FORMAT, COLUMNS };

/* An event: its columns, in the text. */
struct event {
	char *column[COLUMNS];
};

struct events {
	struct hodo_text text;
	struct event *event;
	size_t n;
};

static void free_events(struct events *l)
{
	free(l->event);
	hodo_text_free(&l->text);
}

/* Undoes \ooo in place. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
		    s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = 0;
}

static bool split(char *line, struct event *e)
{
	for (unsigned int i = 0; i < COLUMNS; i++) {
		char *column = strsep(&line, "\t");

		if (!column)
			return false;
		if (strcmp(column, "-") == 0)
			*column = 0;
		unescape(column);
		e->column[i] = column;
	}
	return e->column[NAME][0] != 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct event *)a)->column[NAME], ((const struct event *)b)->column[NAME]);
}

/* 0; -EBADMSG: a line is not valid. */
static int parse(struct events *l, const struct hodo_pattern_list *patterns)
{
	char *text = (char *)hodo_text_string(&l->text), *line;

	if (strlen(text) != l->text.len)
		return -EBADMSG;
	while ((line = strsep(&text, "\n")) != NULL) {
		struct event e;

		if (*line == 0 || *line == '#')
			continue;
		if (!split(line, &e))
			return -EBADMSG;
		if (hodo_pattern_wants(patterns, e.column[NAME]))
			*hodo_must(hodo_vec_add(l->event, l->n)) = e;
	}
	if (l->n)
		qsort(l->event, l->n, sizeof(*l->event), by_name);
	return 0;
}

/* ------------------------------------------------------------------------- output */

static void put_fields(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	hodo_text_char(to, '(');
	for (const char *p = ((const struct event *)row)->column[FIELDS]; *p; p++)
		hodo_text_add(to, *p == ' ' ? ", " : (char[]){ *p, 0 });
	hodo_text_char(to, ')');
}

static void put_object(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const char *object = ((const struct event *)row)->column[OBJECT];

	if (strcmp(object, "vmlinux") != 0)
		hodo_add_plain(to, object);
}

static void put_filter(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const char *filter = ((const struct event *)row)->column[FILTER];

	hodo_text_add(to, *filter ? "if " : "");
	hodo_add_plain(to, filter);
}

static void put_fields_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const char *fields = ((const struct event *)row)->column[FIELDS];

	hodo_json_array(j, key);
	while (*fields) {
		size_t len = strcspn(fields, " "), name = strcspn(fields, ":");

		hodo_json_object(j, NULL);
		hodo_json_bytes(j, "name", fields, name < len ? name : len);
		hodo_json_bytes(j, "type", fields + (name < len ? name + 1 : len), name < len ? len - name - 1 : 0);
		hodo_json_end(j);
		fields += len + (fields[len] == ' ');
	}
	hodo_json_end(j);
}

#define EVENT(i) HODO_MEMBER(struct event, column[i])
static const struct hodo_column columns[] = {
	{ "name", .most = 40, .style = HODO_NAME, EVENT(NAME) },
	{ "state", .width = 7, EVENT(STATE) },
	{ "source", .width = 10, EVENT(SOURCE) },
	{ "object", EVENT(OBJECT), .put = put_object },
	{ "filter", EVENT(FILTER), .put = put_filter },
	{ "format", EVENT(FORMAT) },
	{ "fields", EVENT(FIELDS), .put = put_fields, .put_json = put_fields_json },
};
const struct hodo_columns hodo_list_kernel_columns = { "kernel events", HODO_COLUMNS(columns), .headless = true,
						       .text = "name,state,source,fields,object,filter" };

static int put(const struct events *l, const struct hodo_list_args *a)
{
	struct hodo_table t = { .columns = &hodo_list_kernel_columns, .first = l->event, .n = l->n,
				.stride = sizeof(*l->event) };

	if (!l->n && !a->args.quiet && !a->args.look.json)
		hodo_warning("the kernel has no event '%s': 'hodo list -k' lists all", a->path ? a->path : "*");
	return hodo_list_table(&t, "events", a);
}

int hodo_list_kernel(const struct hodo_list_args *a)
{
	HODO_AUTO(hodo_pattern_free) struct hodo_pattern_list patterns = { 0 };
	struct hodo_why why;
	HODO_AUTO(free_events) struct events l = { 0 };
	int err;
	HODO_AUTO_CLOSE int fd = -1;

	if (a->path && hodo_pattern_add(&patterns, a->path, &why) < 0)
		return hodo_usage("list", "%s", why.text);
	fd = hodo_kernel_open("info", O_RDONLY, &why);
	if (fd < 0)
		return hodo_error("%s", why.text);
	err = hodo_file_read(fd, INFO_MAX, &l.text);
	if (!err)
		err = parse(&l, &patterns);
	if (err == -EBADMSG)
		return hodo_error("%s/info cannot be understood: the loaded kernel module hodo is another "
				  "version: load the one that came with this hodo", hodo_kernel_dir());
	return err ? hodo_cannot_read("the kernel's list of events", err) : put(&l, a);
}
