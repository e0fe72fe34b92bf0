/* SPDX-License-Identifier: MIT */
/* sym.c - an object's functions: where they come from, and finding them by address. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#define NESTED_MAX 16u /* functions that may start inside one that covers an address */

int hodo_sym_grow(void *array_pointer, uint32_t n, uint32_t *room, size_t element_bytes)
{
	void **array = array_pointer;
	uint32_t more = *room ? *room * 2 : 16;
	void *p;

	if (n < *room)
		return 0;
	if (more <= *room)
		return -ENOMEM;
	p = reallocarray(*array, more, element_bytes);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = more;
	return 0;
}

int hodo_sym_keep_text(struct hodo_sym *sym, char *text)
{
	if (hodo_sym_grow(&sym->texts, sym->ntexts, &sym->texts_room, sizeof(*sym->texts)) < 0) {
		free(text);
		return -ENOMEM;
	}
	sym->texts[sym->ntexts++] = text;
	return 0;
}

/* ------------------------------------------------------------------------- open */

static void forget(struct hodo_sym *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->functions[i].demangled);
	for (uint32_t i = 0; i < s->ntexts; i++)
		free(s->texts[i]);
	free(s->functions);
	free(s->files);
	free(s->texts);
	s->functions = NULL;
	s->files = NULL;
	s->texts = NULL;
	s->n = s->room = s->ntexts = s->texts_room = s->nfiles = s->files_room = 0;
}

static int set_build_id(struct hodo_sym *s, const uint8_t *id, size_t len)
{
	if (len > sizeof(s->build_id))
		return -EINVAL;
	if (len)
		memcpy(s->build_id, id, len);
	s->build_id_len = len;
	return 0;
}

/* The object's file, if it is still the one. */
static int open_object(struct hodo_sym *s, struct hodo_sym_elf *e)
{
	uint8_t id[HODO_SYM_BUILD_ID_MAX];
	size_t len;
	int err = *s->path ? hodo_sym_elf_open(e, s->path) : -ENOENT;

	if (err)
		return err;
	if (!s->build_id_len) {
		len = hodo_sym_elf_build_id(e, id);
		return set_build_id(s, id, len);
	}
	err = hodo_sym_elf_check(e, s->build_id, s->build_id_len);
	if (err)
		hodo_sym_elf_close(e);
	return err;
}

/* Symbols of the object and, where that has been stripped, of its debug file. */
static int collect(struct hodo_sym *s, struct hodo_sym_elf *e, const char *debug)
{
	struct hodo_sym_collect *c = hodo_sym_collect_new();
	struct hodo_sym_elf d = { .fd = -1 };
	bool full = false;
	int err = c ? 0 : -ENOMEM;

	if (!err && e->elf)
		err = hodo_sym_collect_add(c, s, e->elf, &full);
	if (!err && !full && debug && hodo_sym_elf_open(&d, debug) == 0) {
		err = hodo_sym_collect_add(c, s, d.elf, &full);
		hodo_sym_elf_close(&d);
	}
	if (!err)
		err = hodo_sym_collect_finish(c, s);
	hodo_sym_collect_free(c);
	return err ? err : s->n ? 0 : -ENODATA;
}

static int read_files(struct hodo_sym *s, const char *root)
{
	struct hodo_sym_elf e = { .fd = -1 };
	int object = open_object(s, &e), err;
	char *debug = NULL;

	if (!e.elf || !hodo_sym_has_lines(e.elf))
		debug = hodo_sym_debug_file(s, e.elf ? &e : NULL, root);
	err = e.elf || debug ? collect(s, &e, debug) : object;
	if (!err && (debug || (e.elf && hodo_sym_has_lines(e.elf))))
		s->debug_path = debug ? debug : strdup(s->path);
	else
		free(debug);
	hodo_sym_elf_close(&e);
	return err;
}

int hodo_sym_open(struct hodo_sym **sym, const struct hodo_sym_source *source)
{
	struct hodo_sym *s = calloc(1, sizeof(*s));
	int err = -ENOENT;

	*sym = NULL;
	if (!s)
		return -ENOMEM;
	s->path = strdup(source->path ? source->path : "");
	if (!s->path) {
		hodo_sym_close(s);
		return -ENOMEM;
	}
	if (source->build_id && set_build_id(s, source->build_id, source->build_id_len) < 0) {
		hodo_sym_close(s);
		return -EINVAL;
	}
	if (source->saved) {
		err = hodo_sym_saved_read(s, source->saved);
		if (err)
			forget(s);
	}
	if (err)
		err = read_files(s, source->debug_root ? source->debug_root : HODO_SYM_DEBUG_ROOT);
	if (err) {
		hodo_sym_close(s);
		return err;
	}
	*sym = s;
	return 0;
}

void hodo_sym_close(struct hodo_sym *sym)
{
	if (!sym)
		return;
	forget(sym);
	hodo_sym_lines_close(sym->lines);
	free(sym->debug_path);
	free(sym->path);
	free(sym);
}

/* ------------------------------------------------------------------------- find */

/* How many functions start at the address or below. */
static uint32_t count_below(const struct hodo_sym *sym, uint64_t address)
{
	uint32_t low = 0, high = sym->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sym->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t hodo_sym_starting(const struct hodo_sym *sym, uint64_t start)
{
	uint32_t n = count_below(sym, start);

	return n && sym->functions[n - 1].start == start ? n - 1 : HODO_SYM_NONE;
}

struct hodo_sym_function *hodo_sym_at(const struct hodo_sym *sym, uint64_t address)
{
	uint32_t n = count_below(sym, address);

	for (uint32_t i = n; i-- > 0 && n - i <= NESTED_MAX;)
		if (address < sym->functions[i].end)
			return &sym->functions[i];
	return NULL;
}

bool hodo_sym_find(struct hodo_sym *sym, uint64_t address, struct hodo_symbol *symbol)
{
	struct hodo_sym_function *f = hodo_sym_at(sym, address);

	if (!f)
		return false;
	f = &sym->functions[f->whole];
	if (!f->demangled)
		f->demangled = hodo_sym_demangle(f->name);
	symbol->name = f->demangled ? f->demangled : f->name;
	symbol->mangled = f->name;
	symbol->start = f->start;
	symbol->size = f->size;
	return true;
}

bool hodo_sym_line(struct hodo_sym *sym, uint64_t address, const char **file, uint32_t *line)
{
	if (sym->saved) {
		const struct hodo_sym_function *f = hodo_sym_at(sym, address);

		if (!f || f->file == HODO_SYM_NONE)
			return false;
		*file = sym->files[f->file];
		*line = f->line;
		return true;
	}
	if (!sym->lines_tried && sym->debug_path) {
		sym->lines_tried = true;
		sym->lines = hodo_sym_lines_open(sym);
	}
	return sym->lines && hodo_sym_lines_find(sym->lines, address, file, line);
}
