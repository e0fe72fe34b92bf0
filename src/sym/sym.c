/* SPDX-License-Identifier: MIT */
/* sym.c - an object's functions: where they come from, and which is at an address. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#include <elf/demangle.h>

/* ------------------------------------------------------------------------- open */

static int set_build_id(struct hodo_sym *s, const uint8_t *id, size_t len)
{
	if (len > sizeof(s->build_id))
		return -EINVAL;
	if (len)
		memcpy(s->build_id, id, len);
	s->build_id_len = len;
	return 0;
}

static int read_files(struct hodo_sym *s, const char *root)
{
	struct hodo_elf_object o;
	int err = hodo_elf_object_open(&o, s->path, s->build_id, s->build_id_len, root);

	if (err)
		return err;
	memcpy(s->build_id, o.build_id, o.build_id_len);
	s->build_id_len = o.build_id_len;
	s->debug_path = o.lines;
	s->symbols = o.symbols;
	s->functions = calloc(s->symbols.n, sizeof(*s->functions));
	return s->functions ? 0 : -ENOMEM;
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
			hodo_sym_forget(s);
	}
	if (err)
		err = read_files(s, source->debug_root);
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
	hodo_sym_forget(sym);
	hodo_sym_lines_close(sym->lines);
	free(sym->debug_path);
	free(sym->path);
	free(sym);
}

/* ------------------------------------------------------------------------ table */

int hodo_sym_keep_text(struct hodo_sym *sym, char *text)
{
	char **kept = hodo_vec_add(sym->symbols.texts, sym->symbols.ntexts);

	if (!kept) {
		free(text);
		return -ENOMEM;
	}
	*kept = text;
	return 0;
}

void hodo_sym_forget(struct hodo_sym *s)
{
	for (uint32_t i = 0; s->functions && i < s->symbols.n; i++)
		free(s->functions[i].demangled);
	hodo_elf_symbols_free(&s->symbols);
	free(s->functions);
	free(s->files);
	s->functions = NULL;
	s->files = NULL;
	s->nfiles = 0;
}

bool hodo_sym_find(struct hodo_sym *sym, uint64_t address, struct hodo_symbol *symbol)
{
	uint32_t i = hodo_elf_symbols_at(&sym->symbols, address);
	const struct hodo_elf_symbol *s;
	struct hodo_sym_function *f;

	if (i == HODO_ELF_NONE)
		return false;
	i = sym->symbols.list[i].whole;
	s = &sym->symbols.list[i];
	f = &sym->functions[i];
	if (!f->demangled)
		f->demangled = hodo_elf_demangle(s->name);
	symbol->name = f->demangled ? f->demangled : s->name;
	symbol->mangled = s->name;
	symbol->start = s->start;
	symbol->size = s->size;
	return true;
}

bool hodo_sym_line(struct hodo_sym *sym, uint64_t address, const char **file, uint32_t *line)
{
	if (sym->saved) {
		uint32_t i = hodo_elf_symbols_at(&sym->symbols, address);

		if (i == HODO_ELF_NONE || !sym->functions[i].file)
			return false;
		*file = sym->files[sym->functions[i].file - 1];
		*line = sym->functions[i].line;
		return true;
	}
	if (!sym->lines_tried && sym->debug_path) {
		sym->lines_tried = true;
		sym->lines = hodo_sym_lines_open(sym);
	}
	return sym->lines && hodo_sym_lines_find(sym->lines, address, file, line);
}
