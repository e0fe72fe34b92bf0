/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.c - functions of the kernel that runs, its modules' too, as /proc/kallsyms has them:
 *
 *	ffffffff8136f4c0 T vfs_read
 *	ffffffffc0123000 t ext4_sync_fs	[ext4]
 *
 * Sizes are not told: a function reaches up to the next one.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_NAME "/proc/kallsyms"
#define SIZE_MAX_BYTES (1u << 20) /* of one function: behind a module's last one there is nothing */

struct line {
	uint64_t start;
	uint32_t rank; /* lower is better */
	char *name;
};

struct lines {
	struct line *line;
	uint32_t n, room;
};

static uint32_t rank_of(char type, const char *name)
{
	uint32_t underscores = (uint32_t)strspn(name, "_");

	return (underscores < 100 ? underscores : 100) * 4 + (type == 'T' ? 0 : type == 't' ? 2 : 1);
}

/* 0; -ENOMEM; -ENODATA: what cannot be read is shown as zeros. */
static int add_line(struct hodo_sym *sym, struct lines *l, char *text)
{
	unsigned long long start;
	char type, *name;
	int at, err;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text, "%llx %c %n", &start, &type, &at) != 2 || !strchr("tTwW", type))
		return 0;
	if (start == 0)
		return -ENODATA;
	text[at + (int)strcspn(text + at, "\t ")] = 0;
	if (!text[at] || l->n == HODO_SYM_FUNCTIONS_MAX)
		return 0;
	name = strdup(text + at);
	if (!name)
		return -ENOMEM;
	err = hodo_sym_keep_text(sym, name);
	if (err || hodo_sym_grow(&l->line, l->n, &l->room, sizeof(*l->line)) < 0)
		return -ENOMEM;
	l->line[l->n++] = (struct line){ start, rank_of(type, name), name };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : strcmp(x->name, y->name);
}

/* The best name of each address. 0 or a negative errno. */
static int settle(struct hodo_sym *sym, struct lines *l)
{
	if (l->n == 0)
		return -ENODATA;
	qsort(l->line, l->n, sizeof(*l->line), by_start);
	sym->functions = calloc(l->n, sizeof(*sym->functions));
	if (!sym->functions)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++) {
		struct hodo_sym_function *last = sym->n ? &sym->functions[sym->n - 1] : NULL;

		if (last && last->start == l->line[i].start)
			continue;
		if (last && l->line[i].start - last->start < last->size)
			last->size = l->line[i].start - last->start;
		sym->functions[sym->n] = (struct hodo_sym_function){
			.start = l->line[i].start, .size = SIZE_MAX_BYTES, .name = l->line[i].name,
			.whole = sym->n, .file = HODO_SYM_NONE,
		};
		sym->n++;
	}
	for (uint32_t i = 0; i < sym->n; i++)
		sym->functions[i].end = sym->functions[i].start + sym->functions[i].size;
	return 0;
}

int hodo_sym_open_kernel(struct hodo_sym **sym, const char *path, const uint8_t *build_id, size_t len)
{
	struct hodo_sym *s = calloc(1, sizeof(*s));
	FILE *f = fopen(FILE_NAME, "re");
	struct lines lines = { 0 };
	char *text = NULL;
	size_t room = 0;
	int err = !f ? -errno : !s || len > sizeof(s->build_id) ? -ENOMEM : 0;

	if (!err)
		s->path = strdup(path);
	if (!err && !s->path)
		err = -ENOMEM;
	if (!err) {
		memcpy(s->build_id, build_id, len);
		s->build_id_len = len;
		s->saved = true; /* there are no lines to be looked for */
	}
	while (!err && getline(&text, &room, f) > 0)
		err = add_line(s, &lines, text);
	if (!err)
		err = settle(s, &lines);
	free(lines.line);
	free(text);
	if (f)
		fclose(f);
	if (err) {
		hodo_sym_close(s);
		s = NULL;
	}
	*sym = s;
	return err;
}
