/* SPDX-License-Identifier: MIT */
/* sym.c - an object's functions by address, and where they come from. */
#include "sym_impl.h"
#include "store.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <base/rights.h>
#include <base/scope.h>
#include <elf/demangle.h>

int hodo_sym_new(struct hodo_sym **sym, const char *path, const uint8_t *build_id, size_t len)
{
	struct hodo_sym *s;

	*sym = NULL;
	if (len > sizeof(s->object.build_id))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (s)
		s->path = strdup(path);
	if (!s || !s->path) {
		free(s);
		return -ENOMEM;
	}
	if (len)
		memcpy(s->object.build_id, build_id, len);
	s->object.build_id_len = len;
	*sym = s;
	return 0;
}

/* Empties the table. */
static void forget(struct hodo_sym *s)
{
	for (uint32_t i = 0; s->functions && i < s->object.symbols.n; i++) {
		free(s->functions[i].demangled);
		free(s->functions[i].brief);
	}
	hodo_elf_object_close(&s->object);
	free(s->functions);
	free(s->files);
	free(s->by_name);
	s->by_name = NULL;
	s->functions = NULL;
	s->files = NULL;
	s->nfiles = 0;
}

void hodo_sym_close(struct hodo_sym *sym)
{
	if (!sym)
		return;
	forget(sym);
	hodo_sym_lines_close(sym->lines);
	free(sym->path);
	free(sym);
}

bool hodo_sym_find(struct hodo_sym *sym, uint64_t address, struct hodo_symbol *symbol)
{
	uint32_t i = hodo_elf_symbols_at(&sym->object.symbols, address);
	const struct hodo_elf_symbol *s;
	struct hodo_sym_function *f;

	if (i == HODO_ELF_NONE)
		return false;
	i = sym->object.symbols.list[i].whole;
	s = &sym->object.symbols.list[i];
	f = &sym->functions[i];
	if (!f->demangled)
		f->demangled = hodo_elf_demangle(s->name);
	symbol->name = f->demangled ? f->demangled : s->name;
	symbol->mangled = s->name;
	symbol->start = s->start;
	symbol->size = s->size;
	symbol->index = i;
	return true;
}

bool hodo_sym_has_lines(const struct hodo_sym *sym)
{
	return sym->saved ? sym->nfiles > 0 : sym->object.lines != NULL;
}

/* ----------------------------------------------------------------------- where they come from */

/* Of the file and its debug file. */
static int read_files(struct hodo_sym *s, const char *path, const char *root)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	uint8_t id[HODO_ELF_BUILD_ID_MAX];
	size_t len = s->object.build_id_len;
	int err = hodo_rights_of(&rights, s->owner);

	memcpy(id, s->object.build_id, len);
	if (!err)
		err = hodo_elf_object_open(&s->object, path, id, len, root);
	if (err)
		return err;
	s->functions = calloc(s->object.symbols.n, sizeof(*s->functions));
	return s->functions ? 0 : -ENOMEM;
}

/* Of a file in the store, which is ours. full: only if it has all symbols, not those alone that are exported. */
static bool read_stored(struct hodo_sym *s, const struct hodo_sym_source *source, enum hodo_store_kind kind, bool full)
{
	HODO_AUTO_FREE char *path = NULL;

	if (source->store)
		path = hodo_store_find(source->store, s->object.build_id, s->object.build_id_len, kind);
	s->owner = geteuid();
	if (path && read_files(s, path, source->debug_root) == 0 && (!full || s->object.symbols.full))
		return true;
	forget(s);
	return false;
}

int hodo_sym_open(struct hodo_sym **sym, const struct hodo_sym_source *source)
{
	size_t len = source->build_id ? source->build_id_len : 0;
	int err = hodo_sym_new(sym, source->path ? source->path : "", source->build_id, len);

	if (err || read_stored(*sym, source, HODO_STORE_DEBUGINFO, true) ||
	    (source->saved && hodo_sym_saved_read(*sym, source->saved) == 0) ||
	    (source->saved_text && hodo_sym_saved_take(*sym, strdup(source->saved_text)) == 0))
		return err;
	forget(*sym);
	(*sym)->owner = source->owner;
	err = read_files(*sym, (*sym)->path, source->debug_root);
	if (err && err != -ENOMEM) {
		forget(*sym);
		err = read_stored(*sym, source, HODO_STORE_EXECUTABLE, false) ? 0 : err;
	}
	if (err) {
		hodo_sym_close(*sym);
		*sym = NULL;
	}
	return err;
}
