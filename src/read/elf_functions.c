/* SPDX-License-Identifier: MIT */
/* elf_functions.c - the traceable functions of a file: found, put in order, named. */
#include "elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#define NESTED_MAX 16u /* symbols that may start inside one that covers an address */

int hodo_read_functions_add(struct hodo_functions *f, uint64_t addr, enum hodo_read_slot slot)
{
	if (f->n == HODO_FUNCTIONS_FOUND_MAX)
		return 0;
	if (hodo_read_grow(&f->list, f->n, &f->room, sizeof(*f->list)) < 0)
		return -ENOMEM;
	f->list[f->n++] = (struct hodo_read_function){
		.size = sizeof(*f->list), .addr = addr, .slot = slot, .name = ""
	};
	return 0;
}

int hodo_read_functions_exit(struct hodo_functions *f, uint64_t addr)
{
	if (f->nexits == HODO_FUNCTIONS_FOUND_MAX)
		return 0;
	if (hodo_read_grow(&f->exits, f->nexits, &f->exits_room, sizeof(*f->exits)) < 0)
		return -ENOMEM;
	f->exits[f->nexits++] = addr;
	return 0;
}

void hodo_read_functions_free(struct hodo_functions *f)
{
	if (!f)
		return;
	free(f->list);
	free(f->exits);
	free(f->symbols);
	free(f);
}

/* ---------------------------------------------------------------------- sections */

const uint8_t *hodo_read_elf_section(struct hodo_read_elf *e, const char *name, uint64_t *addr, size_t *size)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(e->elf, &names) != 0)
		return NULL;
	while ((scn = elf_nextscn(e->elf, scn)) != NULL) {
		GElf_Shdr sh;
		Elf_Data *data;
		const char *found;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(e->elf, names, sh.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			return NULL;
		*addr = sh.sh_addr;
		*size = data->d_size;
		return data->d_buf;
	}
	return NULL;
}

static int section_relocations(struct hodo_read_elf *e, Elf_Scn *scn, const GElf_Shdr *sh,
			       int (*each)(void *arg, uint64_t offset, uint32_t type, int64_t addend,
					   const char *symbol, uint64_t value),
			       void *arg)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	Elf_Scn *table = sh->sh_link ? elf_getscn(e->elf, sh->sh_link) : NULL;
	size_t n = data ? data->d_size / sizeof(Elf64_Rela) : 0;
	GElf_Shdr table_sh = { 0 };
	int err = 0;

	if (table && gelf_getshdr(table, &table_sh) && table_sh.sh_type == SHT_DYNSYM)
		symbols = elf_getdata(table, NULL);
	for (size_t i = 0; i < n && i < INT32_MAX && !err; i++) {
		const char *name = NULL;
		GElf_Sym sym = { 0 };
		GElf_Rela r;

		if (!gelf_getrela(data, (int)i, &r))
			return -EBADMSG;
		if (symbols && GELF_R_SYM(r.r_info) && gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym))
			name = elf_strptr(e->elf, table_sh.sh_link, sym.st_name);
		err = each(arg, r.r_offset, (uint32_t)GELF_R_TYPE(r.r_info), r.r_addend, name ? name : "",
			   sym.st_value);
	}
	return err;
}

int hodo_read_elf_relocations(struct hodo_read_elf *e,
			      int (*each)(void *arg, uint64_t offset, uint32_t type, int64_t addend,
					  const char *symbol, uint64_t value),
			      void *arg)
{
	Elf_Scn *scn = NULL;
	int err = 0;

	while (!err && (scn = elf_nextscn(e->elf, scn)) != NULL) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA && (sh.sh_flags & SHF_ALLOC))
			err = section_relocations(e, scn, &sh, each, arg);
	}
	return err;
}

/* ----------------------------------------------------------------------- symbols */

static int by_start(const void *a, const void *b)
{
	const struct hodo_elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int read_table(struct hodo_read_elf *e, struct hodo_functions *f, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data ? data->d_size / sizeof(Elf64_Sym) : 0;

	for (size_t i = 1; i < n && i < INT32_MAX && f->nsymbols < HODO_FUNCTIONS_FOUND_MAX; i++) {
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s))
			break;
		if ((GELF_ST_TYPE(s.st_info) != STT_FUNC && GELF_ST_TYPE(s.st_info) != STT_GNU_IFUNC) ||
		    s.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(e->elf, sh->sh_link, s.st_name);
		if (!name || !*name)
			continue;
		if (hodo_read_grow(&f->symbols, f->nsymbols, &f->symbols_room, sizeof(*f->symbols)) < 0)
			return -ENOMEM;
		f->symbols[f->nsymbols++] = (struct hodo_elf_symbol){
			s.st_value, s.st_size > UINT64_MAX - s.st_value ? UINT64_MAX : s.st_value + s.st_size, name
		};
	}
	return 0;
}

/* .symtab, or what has been left by strip(1). */
static int read_symbols(struct hodo_read_elf *e, struct hodo_functions *f)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	int err = 0;

	for (unsigned i = 0; i < 2 && !f->nsymbols && !err; i++) {
		Elf_Scn *scn = NULL;

		while (!err && (scn = elf_nextscn(e->elf, scn)) != NULL) {
			GElf_Shdr sh;

			if (gelf_getshdr(scn, &sh) && sh.sh_type == types[i])
				err = read_table(e, f, scn, &sh);
		}
	}
	if (f->nsymbols)
		qsort(f->symbols, f->nsymbols, sizeof(*f->symbols), by_start);
	return err;
}

const struct hodo_elf_symbol *hodo_read_elf_symbol(const struct hodo_functions *f, uint64_t addr)
{
	uint32_t low = 0, high = f->nsymbols;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->symbols[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i-- > 0 && low - i <= NESTED_MAX;) {
		const struct hodo_elf_symbol *s = &f->symbols[i];

		if (addr >= s->end && addr != s->start)
			continue;
		/* The first of those that start there. */
		while (i > 0 && s[-1].start == s->start && low - i <= NESTED_MAX) {
			s--;
			i--;
		}
		return s;
	}
	return NULL;
}

/* ------------------------------------------------------------------------- order */

static int by_addr(const void *a, const void *b)
{
	const struct hodo_read_function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void sort_functions(struct hodo_functions *f)
{
	uint32_t kept = 0;

	if (f->n)
		qsort(f->list, f->n, sizeof(*f->list), by_addr);
	for (uint32_t i = 0; i < f->n; i++)
		if (kept == 0 || f->list[kept - 1].addr != f->list[i].addr)
			f->list[kept++] = f->list[i];
	f->n = kept;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hodo_elf_symbol *s = hodo_read_elf_symbol(f, f->list[i].addr);

		if (s)
			f->list[i].name = s->name;
	}
}

/* The last that starts at the address or below; NULL: none. */
static struct hodo_read_function *function_below(const struct hodo_functions *f, uint64_t addr)
{
	uint32_t low = 0, high = f->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->list[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &f->list[low - 1] : NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct hodo_read_function *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* f for f.cold, whose exits are f's. */
static struct hodo_read_function *whole_of(struct hodo_read_function **named, uint32_t n, const char *part)
{
	const char *cold = strstr(part, ".cold");
	struct hodo_read_function key, *k = &key, **hit = NULL;
	char *name;

	if (!cold || cold == part)
		return NULL;
	name = strndup(part, (size_t)(cold - part));
	key.name = name;
	if (name && n)
		hit = bsearch(&k, named, n, sizeof(*named), by_name);
	free(name);
	return hit ? *hit : NULL;
}

static int count_exits(struct hodo_functions *f)
{
	struct hodo_read_function **named = calloc(f->n ? f->n : 1, sizeof(*named));

	if (!named)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		named[i] = &f->list[i];
	qsort(named, f->n, sizeof(*named), by_name);
	for (uint32_t i = 0; i < f->nexits; i++) {
		const struct hodo_elf_symbol *s = hodo_read_elf_symbol(f, f->exits[i]);
		struct hodo_read_function *below = function_below(f, f->exits[i]);

		/* Of another function than the symbol's: it is in a part that lies elsewhere. */
		if (s && (!below || below->addr < s->start))
			below = whole_of(named, f->n, s->name);
		if (below)
			below->exits++;
	}
	free(named);
	return 0;
}

int hodo_read_elf_functions(struct hodo_read_elf *elf, const struct hodo_read_function **functions, uint32_t *n)
{
	static int (*const readers[])(struct hodo_read_elf *, struct hodo_functions *) = {
		hodo_read_slots_calls, hodo_read_slots_xray, hodo_read_slots_patchable
	};
	struct hodo_functions *f = elf->functions;
	int err = 0;

	*functions = NULL;
	*n = 0;
	if (!f) {
		f = calloc(1, sizeof(*f));
		err = f ? read_symbols(elf, f) : -ENOMEM;
		for (unsigned i = 0; i < sizeof(readers) / sizeof(readers[0]) && err != -ENOMEM; i++)
			err = readers[i](elf, f);
		if (err != -ENOMEM) {
			sort_functions(f);
			err = count_exits(f);
		}
		if (err) {
			hodo_read_functions_free(f);
			return -ENOMEM;
		}
		elf->functions = f;
	}
	*functions = f->list;
	*n = f->n;
	return 0;
}
