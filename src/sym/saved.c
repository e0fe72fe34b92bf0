/* SPDX-License-Identifier: MIT */
/*
 * saved.c - symbols kept in a file of text, to be read where the object is not
 * (docs/format.md, "Saved symbols"):
 *
 *	hodo-symbols 1
 *	build_id 4b1c…            or nothing behind the word
 *	path /usr/bin/kvd
 *	f src/kv.c                a source file; they are counted from 0
 *	s 1040 2f 0 12 main       start, size, source file, line, name
 *	s 1100 8 - 0 main.cold 1040   … and the start of the function that it is a part of
 *	end 2                     symbols
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVED_MAX_BYTES (1u << 30)
#define FILES_MAX       (1u << 20)
#define WORDS_MAX       6u

/* ------------------------------------------------------------------------ write */

struct files {
	const char **names; /* as lines.c has them: the same text is mostly at the same place */
	uint32_t n, room;
	uint32_t *slots; /* by text: index + 1 */
	uint32_t mask;
};

static void put_encoded(FILE *f, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c == '%' || c == 0x7f)
			fprintf(f, "%%%02x", c);
		else
			fputc(c, f);
	}
}

static uint32_t hash_text(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h;
}

/* Doubles the table of slots. 0 or -ENOMEM. */
static int spread(struct files *files)
{
	uint32_t mask = files->mask ? files->mask * 2 + 1 : 255;
	uint32_t *slots = calloc((size_t)mask + 1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < files->n; i++) {
		uint32_t h = hash_text(files->names[i]);

		while (slots[h & mask])
			h++;
		slots[h & mask] = i + 1;
	}
	free(files->slots);
	files->slots = slots;
	files->mask = mask;
	return 0;
}

/* The file's number, written when it is new; HODO_SYM_NONE: too many, or no memory. */
static uint32_t file_number(FILE *f, struct files *files, const char *name)
{
	uint32_t h = hash_text(name);

	if (files->n >= files->mask / 2 && spread(files) < 0)
		return HODO_SYM_NONE;
	for (; files->slots[h & files->mask]; h++) {
		uint32_t i = files->slots[h & files->mask] - 1;

		if (files->names[i] == name || strcmp(files->names[i], name) == 0)
			return i;
	}
	if (files->n == FILES_MAX ||
	    hodo_sym_grow(&files->names, files->n, &files->room, sizeof(*files->names)) < 0)
		return HODO_SYM_NONE;
	fputs("f ", f);
	put_encoded(f, name);
	fputc('\n', f);
	files->names[files->n] = name;
	files->slots[h & files->mask] = files->n + 1;
	return files->n++;
}

static void put_function(FILE *f, struct hodo_sym *sym, uint32_t i, struct files *files)
{
	const struct hodo_sym_function *s = &sym->functions[i];
	uint32_t line = 0, file = HODO_SYM_NONE;
	const char *name;

	if (hodo_sym_line(sym, s->start, &name, &line))
		file = file_number(f, files, name);
	fprintf(f, "s %llx %llx ", (unsigned long long)s->start, (unsigned long long)s->size);
	if (file == HODO_SYM_NONE)
		fputs("- 0 ", f);
	else
		fprintf(f, "%u %u ", file, line);
	put_encoded(f, s->name);
	if (s->whole != i)
		fprintf(f, " %llx", (unsigned long long)sym->functions[s->whole].start);
	fputc('\n', f);
}

int hodo_sym_save(struct hodo_sym *sym, int fd)
{
	struct files files = { 0 };
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *f = own < 0 ? NULL : fdopen(own, "w");
	int err = 0;

	if (!f) {
		err = -errno;
		if (own >= 0)
			close(own);
		return err;
	}
	fputs("hodo-symbols 1\nbuild_id ", f);
	for (size_t i = 0; i < sym->build_id_len; i++)
		fprintf(f, "%02x", sym->build_id[i]);
	fputs("\npath ", f);
	put_encoded(f, sym->path);
	fputc('\n', f);
	for (uint32_t i = 0; i < sym->n && !ferror(f); i++)
		put_function(f, sym, i, &files);
	fprintf(f, "end %u\n", sym->n);
	if (ferror(f))
		err = -EIO;
	if (fclose(f) != 0 && !err)
		err = errno ? -errno : -EIO;
	free(files.names);
	free(files.slots);
	return err;
}

/* ------------------------------------------------------------------------- read */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %XX in place. */
static int decode(char *s)
{
	char *out = s;

	for (; *s; s++) {
		char c = *s;

		if (c == '%') {
			int high = hex(s[1]), low = high < 0 ? -1 : hex(s[2]);

			if (low < 0 || (high << 4 | low) == 0)
				return -EBADMSG;
			c = (char)(high << 4 | low);
			s += 2;
		}
		*out++ = c;
	}
	*out = 0;
	return 0;
}

static int parse_number(const char *s, unsigned base, uint64_t max, uint64_t *number)
{
	uint64_t n = 0;

	if (!*s)
		return -EBADMSG;
	for (; *s; s++) {
		int digit = hex(*s);

		if (digit < 0 || (unsigned)digit >= base || n > (max - (unsigned)digit) / base)
			return -EBADMSG;
		n = n * base + (unsigned)digit;
	}
	*number = n;
	return 0;
}

/* A file whose name does not say which build it is of must be of the object that is asked for. */
static int read_build_id(struct hodo_sym *sym, const char *s)
{
	size_t len = strlen(s) / 2;

	if (strlen(s) % 2 != 0 || len > sizeof(sym->build_id))
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		int high = hex(s[2 * i]), low = hex(s[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EBADMSG;
		if (!sym->build_id_len)
			continue;
		if (len != sym->build_id_len || sym->build_id[i] != (high << 4 | low))
			return -ESTALE;
	}
	return sym->build_id_len && !len ? -ESTALE : 0;
}

static int read_file(struct hodo_sym *sym, char *name)
{
	if (sym->nfiles == FILES_MAX || decode(name) < 0)
		return -EBADMSG;
	if (hodo_sym_grow(&sym->files, sym->nfiles, &sym->files_room, sizeof(*sym->files)) < 0)
		return -ENOMEM;
	sym->files[sym->nfiles++] = name;
	return 0;
}

static int read_function(struct hodo_sym *sym, char *text)
{
	struct hodo_sym_function f = { .file = HODO_SYM_NONE, .whole = HODO_SYM_NONE };
	char *word[WORDS_MAX];
	uint64_t whole, n;
	unsigned words = 0;

	while (text && words < WORDS_MAX)
		word[words++] = strsep(&text, " ");
	if (text || words < 5 || sym->n == HODO_SYM_FUNCTIONS_MAX ||
	    parse_number(word[0], 16, UINT64_MAX, &f.start) < 0 ||
	    parse_number(word[1], 16, UINT64_MAX, &f.size) < 0 ||
	    (sym->n && sym->functions[sym->n - 1].start >= f.start) || !*word[4] || decode(word[4]) < 0)
		return -EBADMSG;
	if (strcmp(word[2], "-") != 0) {
		if (parse_number(word[2], 10, UINT32_MAX, &n) < 0 || n >= sym->nfiles)
			return -EBADMSG;
		f.file = (uint32_t)n;
	}
	if (parse_number(word[3], 10, UINT32_MAX, &n) < 0 ||
	    (words == 6 && parse_number(word[5], 16, UINT64_MAX, &whole) < 0))
		return -EBADMSG;
	f.line = (uint32_t)n;
	f.name = word[4];
	/* Kept until all functions are known. */
	f.end = words == 6 ? whole : f.start;
	if (hodo_sym_grow(&sym->functions, sym->n, &sym->room, sizeof(*sym->functions)) < 0)
		return -ENOMEM;
	sym->functions[sym->n++] = f;
	return 0;
}

static int settle(struct hodo_sym *sym)
{
	for (uint32_t i = 0; i < sym->n; i++) {
		struct hodo_sym_function *f = &sym->functions[i];

		f->whole = hodo_sym_starting(sym, f->end);
		if (f->whole == HODO_SYM_NONE)
			return -EBADMSG;
	}
	for (uint32_t i = 0; i < sym->n; i++) {
		struct hodo_sym_function *f = &sym->functions[i];

		if (!f->size)
			f->end = i + 1 < sym->n ? f[1].start : f->start + 1;
		else if (__builtin_add_overflow(f->start, f->size, &f->end))
			f->end = UINT64_MAX;
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
	while (!err && (line = next_line(&p)) != NULL) {
		if (strncmp(line, "end ", 4) == 0)
			return parse_number(line + 4, 10, UINT32_MAX, &n) == 0 && n == sym->n && !*p ? settle(sym)
												      : -EBADMSG;
		if (strncmp(line, "s ", 2) == 0)
			err = read_function(sym, line + 2);
		else if (strncmp(line, "f ", 2) == 0)
			err = read_file(sym, line + 2);
		/* Other words are of later versions. */
	}
	return err ? err : -EBADMSG;
}

static int read_text(const char *path, char **text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW), err = 0;
	struct stat st;
	size_t got = 0;

	*text = NULL;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)SAVED_MAX_BYTES)
		err = -EBADMSG;
	else if (!(*text = malloc((size_t)st.st_size + 1)))
		err = -ENOMEM;
	while (!err && got < (size_t)st.st_size) {
		ssize_t n = pread(fd, *text + got, (size_t)st.st_size - got, (off_t)got);

		if (n > 0)
			got += (size_t)n;
		else if (n == 0 || errno != EINTR)
			err = n == 0 ? -EBADMSG : -errno;
	}
	close(fd);
	if (!err) {
		(*text)[got] = 0;
		err = memchr(*text, 0, got) ? -EBADMSG : 0;
	}
	if (err)
		free(*text);
	return err;
}

int hodo_sym_saved_read(struct hodo_sym *sym, const char *path)
{
	char *text;
	int err = read_text(path, &text);

	if (!err)
		err = hodo_sym_keep_text(sym, text);
	if (!err)
		err = parse(sym, text);
	if (!err)
		sym->saved = true;
	return err;
}
