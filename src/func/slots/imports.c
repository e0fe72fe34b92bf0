/* SPDX-License-Identifier: MIT */
/* imports.c - finds which function each slot of user/objects/imports.c belongs to. */
#include <core/symbol_name.h>
#include "near.h"
#include <user/objects/objects.h>
#include <func/names/names.h>
#include "slots.h"

struct search {
	struct hodo_scan *scan;
	struct hodo_starts starts;
	enum hodo_slot_kind kind;
	bool always; /* they stay calls */
};

/*
 * GCC moves rarely reached code out of its function, to a place with its own unwind entry and symbol,
 * "f.cold". The slot there belongs to f.
 */
static uintptr_t function_of_cold(struct hodo_scan *scan, uintptr_t start)
{
	const struct hodo_names *names = hodo_scan_names(scan);
	char name[512];
	uintptr_t at, whole;
	const char *cold;
	size_t n;

	if (!names)
		return start;
	cold = hodo_names_find(names, start, &at);
	n = hodo_symbol_without_suffix(cold, __builtin_strlen(cold));
	if (!cold[n] || n >= sizeof(name))
		return start;
	__builtin_memcpy(name, cold, n);
	name[n] = 0;
	whole = hodo_names_symbol(names, name);
	return whole ? whole : start;
}

/* Whether the first slot, from index i on, at or after a function's start is its entry. */
static bool has_entry(const struct hodo_func_object *o, uint32_t first, uint32_t addr)
{
	uint32_t at = first + hodo_search(k, o->nslots - first, o->slots[first + k].addr >= addr);

	return at < o->nslots && o->slots[at].at == HODO_AT_ENTRY && o->slots[at].function == addr;
}

/* The function that contains a slot: not the one that the slot's call names, which may be inlined into it.
 * All slots of one body of code are on or off together. */
static uintptr_t function_of(struct search *s, uintptr_t slot, bool entry)
{
	uintptr_t next, start = hodo_starts_find(&s->starts, slot, &next);
	const struct hodo_names *names = start ? 0 : hodo_scan_names(s->scan);

	if (start || (names && *hodo_names_find(names, slot, &start)))
		return start;
	return entry ? hodo_slot_function(slot) : slot;
}

static bool add(void *data, const struct hodo_import_slot *slot)
{
	struct search *s = data;
	bool entry = !slot->import->exit;

	return hodo_scan_add(s->scan, slot->addr, function_of(s, slot->addr, entry), s->kind,
			     entry ? HODO_AT_ENTRY : HODO_AT_EXIT, slot->on, s->always ? slot->on : slot->off);
}

void hodo_scan_imports(struct hodo_scan *scan, const struct hodo_dynamic *d, const struct hodo_import *imports,
		       unsigned n, enum hodo_slot_kind kind, bool always)
{
	struct search s = { .scan = scan, .kind = kind, .always = always };
	const struct hodo_import_user user = { add, &s, true };
	struct hodo_func_object *o = scan->object;
	uint32_t first = o->nslots;

	hodo_starts_read(scan->info, &s.starts);
	hodo_imports_scan(scan->info, d, imports, n, kind == HODO_SLOT_CALL && hodo_objects_idle(), &user);
	if (!hodo_sort(&o->slots[first], o->nslots - first, sizeof(*o->slots) / sizeof(uint32_t)))
		return;
	for (uint32_t i = first; i < o->nslots; i++) {
		struct hodo_slot *slot = &o->slots[i];

		if (slot->at == HODO_AT_EXIT && !has_entry(o, first, slot->function))
			slot->function = (uint32_t)(function_of_cold(scan, o->text + slot->function) - o->text);
	}
}
