/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.c - functions of the running kernel and its modules, from /proc/kallsyms:
 *
 *	ffffffff8136f4c0 T vfs_read
 *	ffffffffc0123000 t ext4_sync_fs	[ext4]
 *
 * There are no sizes: a function extends to the next one.
 */
#include "sym_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <core/symbol_name.h>

#define FILE_NAME "/proc/kallsyms"
#define SIZE_MAX_BYTES (1u << 20) /* of one function: a module's last one has no successor */

/* 0; -ENOMEM; -ENODATA: unreadable addresses are shown as zeros. */
static int add_line(struct hodo_sym *sym, char *text)
{
	struct hodo_elf_symbols *all = &sym->object.symbols;
	struct hodo_elf_symbol *symbol;
	unsigned long long start;
	unsigned binding;
	char type, *name;
	int at;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text, "%llx %c %n", &start, &type, &at) != 2 || !strchr("tTwW", type))
		return 0;
	if (start == 0)
		return -ENODATA;
	text[at + (int)strcspn(text + at, "\t ")] = 0;
	if (!text[at] || all->n == HODO_ELF_SYMBOLS_MAX)
		return 0;
	name = strdup(text + at);
	symbol = name && hodo_sym_keep_text(sym, name) == 0 ? hodo_vec_add(all->list, all->n) : NULL;
	if (!symbol)
		return -ENOMEM;
	binding = type == 'T' ? STB_GLOBAL : type == 't' ? STB_LOCAL : STB_WEAK;
	symbol->start = start;
	symbol->end = start > UINT64_MAX - SIZE_MAX_BYTES ? UINT64_MAX : start + SIZE_MAX_BYTES;
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
	FILE *f = err ? NULL : fopen(FILE_NAME, "re");
	char *text = NULL;
	size_t room = 0;

	if (err)
		return err;
	err = f ? 0 : -errno;
	(*sym)->saved = true; /* there are no lines to find */
	while (!err && getline(&text, &room, f) > 0)
		err = add_line(*sym, text);
	if (!err)
		err = settle(*sym);
	free(text);
	if (f)
		fclose(f);
	if (err) {
		hodo_sym_close(*sym);
		*sym = NULL;
	}
	return err;
}
