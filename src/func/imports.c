/* SPDX-License-Identifier: MIT */
/* imports.c - the slots that user/imports.c finds, and which function each belongs to. */
#include "near.h"

#define RUNS_MAX 32

struct search {
	struct hodo_scan *scan;
	struct hodo_starts starts;
	enum hodo_slot_kind kind;
	bool always; /* they stay calls */
	struct {
		uint32_t first, end; /* of the object's slots: in order of addresses */
	} runs[RUNS_MAX];
	unsigned nruns, run;
};

/*
 * GCC moves code that is seldom reached out of its function, to a place with an unwind entry and
 * a symbol of its own, "f.cold". The slot there belongs to f.
 */
static uintptr_t function_of_cold(struct search *s, uintptr_t start)
{
	const struct hodo_names *names = hodo_scan_names(s->scan);
	char name[512];
	uintptr_t at, whole;
	const char *cold;

	if (!names)
		return start;
	cold = hodo_names_find(names, start, &at);
	for (size_t n = 0; n < sizeof(name) - 1 && cold[n]; n++) {
		name[n] = cold[n];
		if (__builtin_memcmp(cold + n, ".cold", 5) == 0) {
			name[n] = 0;
			whole = hodo_names_symbol(names, name);
			return whole ? whole : start;
		}
	}
	return start;
}

/* Whether the first slot at or behind a function's start is its entry. */
static bool has_entry(const struct search *s, uintptr_t start)
{
	const struct hodo_func_object *o = s->scan->object;
	uint32_t addr = (uint32_t)(start - o->text);

	for (unsigned i = 0; i < s->nruns; i++) {
		uint32_t low = s->runs[i].first, high = s->runs[i].end;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (o->slots[middle].addr < addr)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < s->runs[i].end && o->slots[low].at == HODO_AT_ENTRY && o->slots[low].function == addr)
			return true;
	}
	return false;
}

/* The function that holds a slot: not the one that the slot's call names, which may be inlined into it. The slots of
 * one body of code are on or off together. */
static uintptr_t function_of(struct search *s, uintptr_t slot, bool entry)
{
	uintptr_t next, start = hodo_starts_find(&s->starts, slot, &next);

	if (!start) {
		const struct hodo_names *names = hodo_scan_names(s->scan);

		if (names && *hodo_names_find(names, slot, &start))
			return start;
		return entry ? hodo_slot_function(slot) : slot;
	}
	return entry || has_entry(s, start) ? start : function_of_cold(s, start);
}

static bool add(void *data, const struct hodo_import_slot *slot)
{
	struct search *s = data;
	const struct hodo_func_object *o = s->scan->object;
	bool entry = !slot->import->exit;

	if (s->nruns == 0 || slot->run != s->run) {
		if (s->nruns == RUNS_MAX)
			return false;
		s->runs[s->nruns].first = s->runs[s->nruns].end = o->nslots;
		s->nruns++;
		s->run = slot->run;
	}
	if (!hodo_scan_add(s->scan, slot->addr, function_of(s, slot->addr, entry), s->kind,
			   entry ? HODO_AT_ENTRY : HODO_AT_EXIT, slot->on, s->always ? slot->on : slot->off))
		return false;
	s->runs[s->nruns - 1].end = o->nslots;
	return true;
}

void hodo_scan_imports(struct hodo_scan *scan, const struct hodo_dynamic *d, const struct hodo_import *imports,
		       unsigned n, enum hodo_slot_kind kind, bool always)
{
	struct search s = { .scan = scan, .kind = kind, .always = always };
	const struct hodo_import_user user = { add, &s };

	hodo_starts_read(scan->info, &s.starts);
	hodo_imports_scan(scan->info, d, imports, n, kind == HODO_SLOT_CALL && hodo_loaded_idle(scan->info), &user);
}
