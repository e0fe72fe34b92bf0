/* SPDX-License-Identifier: MIT */
/* slots.c - see slots.h. */
#include "slots.h"

#include <errno.h>
#include <stdlib.h>

#include <base/vec.h>
#include <core/search.h>

#define FOUND_MAX (1u << 24)

int hodo_elf_slots_add(struct hodo_elf_slots *s, uint64_t addr, enum hodo_elf_slot slot)
{
	struct hodo_elf_function *f;

	if (s->n == FOUND_MAX)
		return 0;
	f = hodo_vec_add(s->list, s->n);
	if (!f)
		return -ENOMEM;
	*f = (struct hodo_elf_function){ .addr = addr, .slot = slot, .name = "" };
	return 0;
}

int hodo_elf_slots_exit(struct hodo_elf_slots *s, uint64_t addr)
{
	uint64_t *exit;

	if (s->nexits == FOUND_MAX)
		return 0;
	exit = hodo_vec_add(s->exits, s->nexits);
	if (!exit)
		return -ENOMEM;
	*exit = addr;
	return 0;
}

int hodo_elf_slots_code(struct hodo_elf_slots *s, const struct hodo_elf_slot_code *code)
{
	struct hodo_elf_slot_code *one;

	if (s->ncode == FOUND_MAX)
		return 0;
	one = hodo_vec_add(s->code, s->ncode);
	if (!one)
		return -ENOMEM;
	*one = *code;
	return 0;
}

void hodo_elf_slots_free(struct hodo_elf_slots *s)
{
	free(s->list);
	free(s->exits);
	free(s->code);
	hodo_elf_symbols_free(&s->symbols);
	*s = (struct hodo_elf_slots){ 0 };
}

const struct hodo_elf_symbol *hodo_elf_slots_symbol(const struct hodo_elf_slots *s, uint64_t addr)
{
	uint32_t i = hodo_elf_symbols_at(&s->symbols, addr);

	return i == HODO_ELF_NONE ? NULL : &s->symbols.list[i];
}

static int by_addr(const void *a, const void *b)
{
	const struct hodo_elf_function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void sort_functions(struct hodo_elf_slots *s)
{
	uint32_t kept = 0;

	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_addr);
	for (uint32_t i = 0; i < s->n; i++)
		if (kept == 0 || s->list[kept - 1].addr != s->list[i].addr)
			s->list[kept++] = s->list[i];
	s->n = kept;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct hodo_elf_symbol *symbol = hodo_elf_slots_symbol(s, s->list[i].addr);

		if (symbol)
			s->list[i].name = symbol->name;
	}
}

/* The last function from low on that starts at or below the address, or NULL. */
static struct hodo_elf_function *function_between(const struct hodo_elf_slots *s, uint64_t low, uint64_t addr)
{
	uint32_t behind = hodo_search(i, s->n, s->list[i].addr > addr);

	return behind && s->list[behind - 1].addr >= low ? &s->list[behind - 1] : NULL;
}

static void count_exits(struct hodo_elf_slots *s)
{
	for (uint32_t i = 0; i < s->nexits; i++) {
		const struct hodo_elf_symbol *symbol = hodo_elf_slots_symbol(s, s->exits[i]);
		struct hodo_elf_function *f = function_between(s, symbol ? symbol->start : 0, s->exits[i]);

		/* f.cold is elsewhere, and has exits of f. */
		if (!f && symbol && symbol->whole != symbol->first) {
			symbol = &s->symbols.list[symbol->whole];
			f = function_between(s, symbol->start, symbol->end - 1);
		}
		if (f)
			f->exits++;
	}
}

void hodo_elf_slots_settle(struct hodo_elf_slots *s)
{
	sort_functions(s);
	count_exits(s);
}
