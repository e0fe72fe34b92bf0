/* SPDX-License-Identifier: MIT */
/*
 * list_kernel.c - hodo list -k: the kernel's events, as the file `info` of the module's control tree tells.
 *
 * A line each, with tabs between name, id, state, source, object, filter, fields and format; "-" is nothing. What
 * stands behind those is of a later version.
 */
#define _GNU_SOURCE
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <record/kernel.h>
#include <record/pattern.h>

#include "cli.h"

#define INFO_MAX (64u << 20) /* bytes */

enum { NAME, ID, STATE, SOURCE, OBJECT, FILTER, FIELDS, FORMAT, COLUMNS };

/* An event: its columns, in the text. */
struct event {
	char *column[COLUMNS];
};

struct events {
	char *text;
	struct event *event;
	size_t n;
};

/* All of the file, which tells no size. 0 or negative errno. */
static int read_all(int fd, char **text)
{
	size_t len = 0, room = 1u << 16;
	char *grown;
	ssize_t n = 1;

	*text = malloc(room);
	while (*text && n != 0) {
		if (len + 1 == room) {
			grown = room < INFO_MAX ? realloc(*text, room *= 2) : NULL;
			if (!grown)
				return -ENOMEM;
			*text = grown;
		}
		n = read(fd, *text + len, room - len - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	}
	if (!*text)
		return -ENOMEM;
	(*text)[len] = 0;
	return strlen(*text) == len ? 0 : -EBADMSG;
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

/* 0; -EBADMSG: a line is none. */
static int parse(struct events *l, const struct hodo_pattern_list *patterns)
{
	char *text = l->text, *line;
	size_t room = 0;

	while ((line = strsep(&text, "\n")) != NULL) {
		struct event e, *grown;

		if (*line == 0 || *line == '#')
			continue;
		if (!split(line, &e))
			return -EBADMSG;
		if (!hodo_pattern_wants(patterns, e.column[NAME]))
			continue;
		if (l->n == room) {
			room = room ? room * 2 : 256;
			grown = reallocarray(l->event, room, sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			l->event = grown;
		}
		l->event[l->n++] = e;
	}
	if (l->n)
		qsort(l->event, l->n, sizeof(*l->event), by_name);
	return 0;
}

static void put_text(FILE *f, const struct events *l, bool color)
{
	int width = 0;

	for (size_t i = 0; i < l->n; i++)
		if ((int)strlen(l->event[i].column[NAME]) > width)
			width = (int)strlen(l->event[i].column[NAME]);
	width = width > 40 ? 40 : width;
	for (size_t i = 0; i < l->n; i++) {
		char *const *c = l->event[i].column;

		fputs(hodo_style(color, HODO_NAME), f);
		hodo_put_plain(f, c[NAME]);
		fprintf(f, "%s%*s  ", hodo_style(color, HODO_PLAIN),
			(int)strlen(c[NAME]) < width ? width - (int)strlen(c[NAME]) : 0, "");
		hodo_put_plain(f, c[STATE]);
		fprintf(f, "%*s  ", strlen(c[STATE]) < 7 ? 7 - (int)strlen(c[STATE]) : 0, "");
		hodo_put_plain(f, c[SOURCE]);
		fprintf(f, "%*s  (", strlen(c[SOURCE]) < 10 ? 10 - (int)strlen(c[SOURCE]) : 0, "");
		for (const char *p = c[FIELDS]; *p; p++)
			fputs(*p == ' ' ? ", " : (char[]){ *p, 0 }, f);
		fputc(')', f);
		if (c[OBJECT][0] && strcmp(c[OBJECT], "vmlinux") != 0) {
			fputs("  ", f);
			hodo_put_plain(f, c[OBJECT]);
		}
		if (c[FILTER][0]) {
			fputs("  if ", f);
			hodo_put_plain(f, c[FILTER]);
		}
		fputc('\n', f);
	}
}

static void put_fields_json(FILE *f, const char *fields)
{
	const char *between = "";

	while (*fields) {
		size_t len = strcspn(fields, " "), name = strcspn(fields, ":");
		char one[1024];

		snprintf(one, sizeof(one), "%.*s", (int)(name < len ? name : len), fields);
		fprintf(f, "%s{\"name\":", between);
		hodo_put_json(f, one);
		snprintf(one, sizeof(one), "%.*s", (int)(name < len ? len - name - 1 : 0),
			 fields + (name < len ? name + 1 : len));
		fputs(",\"type\":", f);
		hodo_put_json(f, one);
		fputc('}', f);
		fields += len + (fields[len] == ' ');
		between = ",";
	}
}

static void put_json(FILE *f, const struct events *l)
{
	static const struct {
		const char *key;
		int column;
	} texts[] = { { "state", STATE }, { "source", SOURCE }, { "object", OBJECT }, { "filter", FILTER },
		      { "format", FORMAT } };

	fputs("{\"version\":1,\"events\":[", f);
	for (size_t i = 0; i < l->n; i++) {
		fprintf(f, "%s{\"name\":", i ? "," : "");
		hodo_put_json(f, l->event[i].column[NAME]);
		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
			fprintf(f, ",\"%s\":", texts[k].key);
			hodo_put_json(f, l->event[i].column[texts[k].column]);
		}
		fputs(",\"fields\":[", f);
		put_fields_json(f, l->event[i].column[FIELDS]);
		fputs("]}", f);
	}
	fputs("]}\n", f);
}

static int put(const struct events *l, const struct hodo_list_args *a)
{
	char *data = NULL;
	size_t len;
	FILE *f = open_memstream(&data, &len);

	if (!f)
		return hodo_no_memory();
	if (a->json)
		put_json(f, l);
	else
		put_text(f, l, hodo_use_color(a->color, STDOUT_FILENO));
	if (!l->n && !a->quiet && !a->json)
		hodo_warning("the kernel has no event '%s': 'hodo list -k' lists all", a->path ? a->path : "*");
	return hodo_out_page(f, &data, &len, !a->no_pager);
}

int hodo_list_kernel(const struct hodo_list_args *a)
{
	struct hodo_pattern_list patterns = { 0 };
	char why[HODO_KERNEL_WHY_MAX];
	struct events l = { 0 };
	int status = HODO_EXIT_FAILURE, fd, err;

	if (a->path && hodo_pattern_add(&patterns, a->path, why, sizeof(why)) < 0)
		return hodo_usage("list", "%s", why);
	fd = hodo_kernel_open("info", O_RDONLY, why, sizeof(why));
	if (fd < 0) {
		hodo_error("%s", why);
	} else {
		err = read_all(fd, &l.text);
		if (!err)
			err = parse(&l, &patterns);
		if (err == -EBADMSG)
			hodo_error("%s/info is not what it should be: the loaded kernel module hodo is of another version:"
				   " load the one that came with this hodo", hodo_kernel_dir());
		else
			status = err ? hodo_list_failed("the kernel's list of events", err) : put(&l, a);
		close(fd);
	}
	hodo_pattern_free(&patterns);
	free(l.event);
	free(l.text);
	return status;
}
