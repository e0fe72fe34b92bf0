/* SPDX-License-Identifier: MIT */
/*
 * saved.c - symbols saved in a text file, for use without the object (docs/format.md, "Saved symbols"):
 *
 *	hodo-symbols 1
 *	build_id 4b1c…            or nothing behind the word
 *	path /usr/bin/kvd
 *	f src/kv.c                a source file; they are counted from 0
 *	s 1040 2f 0 12 main       start, size, source file, line, name
 *	s 1100 8 - 0 main.cold 1040   behind the name: the start of the function that it is a part of
 *	end 2                     symbols
 */
#include "sym_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <base/file.h>
#include <base/intern.h>
#include <base/order.h>
#include <base/quantity.h>

#define SAVED_MAX_BYTES (1u << 30)
#define FILES_MAX       (1u << 20)
#define WORDS_MAX       6u

/* ------------------------------------------------------------------------ write */

static void add_encoded(struct hodo_text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c == '%' || c == 0x7f)
			hodo_text_printf(t, "%%%02x", c);
		else
			hodo_text_char(t, *s);
	}
}

/* The file's number; writes a new one; HODO_STRINGS_NONE: too many, or no memory. */
static uint32_t file_number(struct hodo_text *t, struct hodo_strings *files, const char *name)
{
	uint32_t known = files->map.n, number = known < FILES_MAX ? hodo_strings_add(files, name) : HODO_STRINGS_NONE;

	if (number == known) {
		hodo_text_add(t, "f ");
		add_encoded(t, name);
		hodo_text_char(t, '\n');
	}
	return number;
}

static void add_saved(struct hodo_text *t, struct hodo_sym *sym, uint32_t i, struct hodo_strings *files)
{
	const struct hodo_elf_symbol *s = &sym->object.symbols.list[i];
	uint32_t line = 0, file = HODO_STRINGS_NONE;
	const char *name;

	if (hodo_sym_line(sym, s->start, &name, &line))
		file = file_number(t, files, name);
	hodo_text_printf(t, "s %llx %llx ", (unsigned long long)s->start, (unsigned long long)s->size);
	if (file == HODO_STRINGS_NONE)
		hodo_text_add(t, "- 0 ");
	else
		hodo_text_printf(t, "%u %u ", file, line);
	add_encoded(t, s->name);
	if (s->whole != i)
		hodo_text_printf(t, " %llx", (unsigned long long)sym->object.symbols.list[s->whole].start);
	hodo_text_char(t, '\n');
}

static int write_to(void *fd, const void *data, size_t len)
{
	return hodo_file_write(*(const int *)fd, data, len);
}

int hodo_sym_save(struct hodo_sym *sym, int fd)
{
	struct hodo_text t = HODO_TEXT_TO(write_to, &fd);
	const struct hodo_elf_symbols *all = &sym->object.symbols;
	struct hodo_strings files = { 0 };
	uint32_t n = 0;
	int err;

	hodo_text_add(&t, "hodo-symbols 1\nbuild_id ");
	for (size_t i = 0; i < sym->object.build_id_len; i++)
		hodo_text_printf(&t, "%02x", sym->object.build_id[i]);
	hodo_text_add(&t, "\npath ");
	add_encoded(&t, sym->path);
	hodo_text_char(&t, '\n');
	for (uint32_t i = 0; i < all->n && !t.error; i = hodo_elf_symbols_next(all, i), n++)
		add_saved(&t, sym, i, &files);
	hodo_text_printf(&t, "end %u\n", n);
	err = hodo_text_flush(&t);
	hodo_text_free(&t);
	hodo_strings_free(&files);
	return err;
}

/* ------------------------------------------------------------------------- read */

/* If the file's name does not contain the build-id, its contents must match the requested object. */
static int read_build_id(struct hodo_sym *sym, const char *s)
{
	uint8_t id[sizeof(sym->object.build_id)];
	int len = hodo_hex_bytes(id, sizeof(id), s);

	if (len < 0)
		return -EBADMSG;
	if (!sym->object.build_id_len)
		return 0;
	return (size_t)len == sym->object.build_id_len && !memcmp(id, sym->object.build_id, (size_t)len) ? 0 : -ESTALE;
}

static int read_file(struct hodo_sym *sym, char *name)
{
	char **file;

	if (sym->nfiles == FILES_MAX || !hodo_percent_decode(name))
		return -EBADMSG;
	file = hodo_vec_add(sym->files, sym->nfiles);
	if (!file)
		return -ENOMEM;
	*file = name;
	return 0;
}

static int add_function(struct hodo_sym *sym, const struct hodo_elf_symbol *symbol, const struct hodo_sym_function *f)
{
	uint32_t n = sym->object.symbols.n;
	struct hodo_sym_function *function = hodo_vec_add(sym->functions, n);
	struct hodo_elf_symbol *added = function ? hodo_vec_add(sym->object.symbols.list, sym->object.symbols.n) : NULL;

	if (!added)
		return -ENOMEM;
	*function = *f;
	*added = *symbol;
	return 0;
}

static int read_function(struct hodo_sym *sym, char *text)
{
	const struct hodo_elf_symbols *all = &sym->object.symbols;
	struct hodo_elf_symbol s = { .first = all->n };
	struct hodo_sym_function f = { 0 };
	char *word[WORDS_MAX];
	uint64_t n;
	unsigned words = 0;

	while (text && words < WORDS_MAX)
		word[words++] = strsep(&text, " ");
	if (text || words < 5 || all->n == HODO_ELF_SYMBOLS_MAX ||
	    hodo_parse_hex(word[0], &s.start) < 0 ||
	    hodo_parse_hex(word[1], &s.size) < 0 ||
	    (all->n && all->list[all->n - 1].start >= s.start) || !*word[4] || !hodo_percent_decode(word[4]))
		return -EBADMSG;
	if (strcmp(word[2], "-") != 0) {
		if (hodo_parse_number(word[2], UINT32_MAX, &n) < 0 || n >= sym->nfiles)
			return -EBADMSG;
		f.file = (uint32_t)n + 1;
	}
	s.end = s.start; /* the whole function's, until all functions are known */
	if (hodo_parse_number(word[3], UINT32_MAX, &n) < 0 ||
	    (words == 6 && hodo_parse_hex(word[5], &s.end) < 0))
		return -EBADMSG;
	f.line = (uint32_t)n;
	s.name = word[4];
	return add_function(sym, &s, &f);
}

static int settle(struct hodo_elf_symbols *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct hodo_elf_symbol *s = &all->list[i], *whole;

		whole = bsearch(&s->end, all->list, all->n, sizeof(*s), hodo_order_u64);
		if (!whole)
			return -EBADMSG;
		s->whole = (uint32_t)(whole - all->list);
	}
	for (uint32_t i = 0; i < all->n; i++) {
		struct hodo_elf_symbol *s = &all->list[i];

		if (!s->size)
			s->end = i + 1 < all->n ? s[1].start : s->start + 1;
		else if (__builtin_add_overflow(s->start, s->size, &s->end))
			s->end = UINT64_MAX;
	}
	return 0;
}

static char *next_line(char **p)
{
	char *line = *p, *eol = strchr(line, '\n');

	if (!eol)
		return NULL;
	*eol = 0;
	*p = eol + 1;
	return line;
}

static int parse(struct hodo_sym *sym, char *p)
{
	char *line = next_line(&p);
	uint64_t n;
	int err;

	if (!line || strcmp(line, "hodo-symbols 1") != 0)
		return -EBADMSG;
	line = next_line(&p);
	if (!line || strncmp(line, "build_id ", 9) != 0)
		return -EBADMSG;
	err = read_build_id(sym, line + 9);
	line = next_line(&p);
	if (!line || strncmp(line, "path ", 5) != 0 || !hodo_percent_decode(line + 5))
		return -EBADMSG;
	/* Without a build-id, the file's name is a hash of the path, which proves nothing. */
	if (!err && !sym->object.build_id_len && *sym->path && strcmp(line + 5, sym->path) != 0)
		err = -ESTALE;
	while (!err && (line = next_line(&p)) != NULL) {
		if (strncmp(line, "end ", 4) == 0)
			return hodo_parse_number(line + 4, UINT32_MAX, &n) == 0 && n == sym->object.symbols.n && !*p ?
			       settle(&sym->object.symbols) : -EBADMSG;
		if (strncmp(line, "s ", 2) == 0)
			err = read_function(sym, line + 2);
		else if (strncmp(line, "f ", 2) == 0)
			err = read_file(sym, line + 2);
		/* Other words belong to later versions. */
	}
	return err ? err : -EBADMSG;
}

static int read_text(const char *path, char **text)
{
	int fd = hodo_file_open(AT_FDCWD, path), err;
	struct hodo_text t = { 0 };

	if (fd < 0)
		return fd == -ESTALE ? -EBADMSG : fd;
	err = hodo_file_read(fd, SAVED_MAX_BYTES, &t);
	close(fd);
	if (!err && (!t.len || memchr(hodo_text_string(&t), 0, t.len)))
		err = -EBADMSG;
	if (err)
		hodo_text_free(&t);
	*text = t.data;
	return err;
}

int hodo_sym_saved_take(struct hodo_sym *sym, char *text)
{
	int err = text ? hodo_sym_keep_text(sym, text) : -ENOMEM;

	if (!err)
		err = parse(sym, text);
	if (!err)
		sym->saved = true;
	return err;
}

int hodo_sym_saved_read(struct hodo_sym *sym, const char *path)
{
	char *text = NULL;
	int err = read_text(path, &text);

	return err ? err : hodo_sym_saved_take(sym, text);
}
