/* SPDX-License-Identifier: MIT */
/*
 * brief.c - short names of functions that are unique in an object.
 *
 * Without parameters overloads look the same. Their mangled names begin alike, up to the parameters, so they
 * are adjacent in sorted order, or separated by a few templates; const ones begin with _ZNK instead of _ZN.
 */
#include "sym_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include <core/search.h>
#include <elf/demangle.h>

#define NEIGHBOURS 8u /* compared on either side */

static bool is_mangled(const char *name)
{
	return name[0] == '_' && name[1] == 'Z';
}

static int by_name(const void *a, const void *b, void *symbols)
{
	const struct hodo_elf_symbol *list = symbols;

	return strcmp(list[*(const uint32_t *)a].name, list[*(const uint32_t *)b].name);
}

/* False: no memory. */
static bool sort(struct hodo_sym *sym)
{
	const struct hodo_elf_symbols *s = &sym->object.symbols;

	if (sym->by_name)
		return true;
	sym->by_name = malloc((s->n + 1) * sizeof(*sym->by_name));
	if (!sym->by_name)
		return false;
	sym->nby_name = 0;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->list[i].whole == i && is_mangled(s->list[i].name))
			sym->by_name[sym->nby_name++] = i;
	qsort_r(sym->by_name, sym->nby_name, sizeof(*sym->by_name), by_name, s->list);
	return true;
}

/* Whether the name at that place begins as this one does. */
static bool is_beside(const struct hodo_sym *sym, uint32_t place, const char *name)
{
	return strncmp(sym->object.symbols.list[sym->by_name[place]].name, name, 4) == 0;
}

/* Whether another function at that place looks the same: constructors occur twice, with one name. */
static bool is_alike(const struct hodo_sym *sym, uint32_t place, const char *mangled, const char *brief)
{
	const char *other = sym->object.symbols.list[sym->by_name[place]].name;
	char *its, *own;
	bool alike;

	if (strcmp(other, mangled) == 0)
		return false;
	its = hodo_elf_demangle_brief(other, false);
	alike = its && strcmp(its, brief) == 0;
	free(its);
	if (!alike)
		return false;
	its = hodo_elf_demangle(other);
	own = hodo_elf_demangle(mangled);
	alike = its && own && strcmp(its, own) != 0;
	free(its);
	free(own);
	return alike;
}

/* Searches around the place of a mangled name, or of its const or non-const variant. */
static bool has_alike(const struct hodo_sym *sym, const char *name, const char *mangled, const char *brief)
{
	const struct hodo_elf_symbol *list = sym->object.symbols.list;
	uint32_t at = hodo_search(i, sym->nby_name, strcmp(list[sym->by_name[i]].name, name) >= 0);

	for (uint32_t i = at; i < sym->nby_name && i - at <= NEIGHBOURS && is_beside(sym, i, name); i++)
		if (is_alike(sym, i, mangled, brief))
			return true;
	for (uint32_t i = at; i-- > 0 && at - i <= NEIGHBOURS && is_beside(sym, i, name);)
		if (is_alike(sym, i, mangled, brief))
			return true;
	return false;
}

static bool looks_like_another(struct hodo_sym *sym, const char *mangled, const char *brief)
{
	char *other = NULL;
	bool alike;

	if (!sort(sym))
		return false;
	if (has_alike(sym, mangled, mangled, brief))
		return true;
	if (strncmp(mangled, "_ZN", 3) != 0 ||
	    (mangled[3] == 'K' ? asprintf(&other, "_ZN%s", mangled + 4) : asprintf(&other, "_ZNK%s", mangled + 3)) < 0)
		return false;
	alike = has_alike(sym, other, mangled, brief);
	free(other);
	return alike;
}

const char *hodo_sym_brief(struct hodo_sym *sym, const struct hodo_symbol *symbol)
{
	struct hodo_sym_function *f = &sym->functions[symbol->index];

	if (f->brief || !is_mangled(symbol->mangled))
		return f->brief ? f->brief : symbol->name;
	f->brief = hodo_elf_demangle_brief(symbol->mangled, false);
	if (f->brief && looks_like_another(sym, symbol->mangled, f->brief)) {
		free(f->brief);
		f->brief = hodo_elf_demangle_brief(symbol->mangled, true);
	}
	return f->brief ? f->brief : symbol->name;
}
