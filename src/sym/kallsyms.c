/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.c - functions of the running kernel and its modules. There are no sizes: a function extends to the next one.
 */
#include "sym_impl.h"

#include <errno.h>
#include <stdlib.h>

#include <base/scope.h>
#include <core/symbol_name.h>
#include <proc/kallsyms.h>

#define SIZE_MAX_BYTES (1u << 20) /* of one function: a module's last one has no successor */

/* 0; -ENOMEM; -ENODATA: unreadable addresses are shown as zeros. */
static int add(struct hodo_sym *sym, const struct hodo_kallsym *s)
{
	struct hodo_elf_symbols *all = &sym->object.symbols;
	struct hodo_elf_symbol *symbol;
	unsigned binding;
	char *name;

	if (s->address == 0)
		return -ENODATA;
	if (all->n == HODO_ELF_SYMBOLS_MAX)
		return 0;
	name = strdup(s->name);
	symbol = name && hodo_sym_keep_text(sym, name) == 0 ? hodo_vec_add(all->list, all->n) : NULL;
	if (!symbol)
		return -ENOMEM;
	binding = s->type == 'T' ? STB_GLOBAL : s->type == 't' ? STB_LOCAL : STB_WEAK;
	symbol->start = s->address;
	symbol->end = s->address > UINT64_MAX - SIZE_MAX_BYTES ? UINT64_MAX : s->address + SIZE_MAX_BYTES;
	symbol->name = name;
	symbol->rank = hodo_symbol_rank(name, STT_FUNC, binding, 0);
	return 0;
}

static int settle(struct hodo_sym *sym)
{
	struct hodo_elf_symbols *s = &sym->object.symbols;

	if (!s->n)
		return -ENODATA;
	hodo_elf_symbols_sort(s);
	for (uint32_t i = 0; i < s->n; i++)
		s->list[i].size = s->list[i].end - s->list[i].start;
	sym->functions = calloc(s->n, sizeof(*sym->functions));
	return sym->functions ? 0 : -ENOMEM;
}

int hodo_sym_open_kernel(struct hodo_sym **sym, const char *path, const uint8_t *build_id, size_t len)
{
	int err = hodo_sym_new(sym, path, build_id, len);
	HODO_AUTO(hodo_kallsyms_close) struct hodo_kallsyms all = { .file = NULL };
	struct hodo_kallsym symbol;

	if (err)
		return err;
	err = hodo_kallsyms_open(&all);
	(*sym)->saved = true; /* there are no lines to find */
	while (!err && hodo_kallsyms_next(&all, &symbol))
		err = add(*sym, &symbol);
	if (!err)
		err = settle(*sym);
	if (err) {
		hodo_sym_close(*sym);
		*sym = NULL;
	}
	return err;
}
