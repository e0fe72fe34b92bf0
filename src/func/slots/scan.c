/* SPDX-License-Identifier: MIT */
/* scan.c - the slots of an object, as the readers of each kind find them. Under the control lock. */
#include <sys/mman.h>
#include <func/names/names.h>
#include "slots.h"
#include <user/event/event.h>
#include <user/libc/sys.h>
#include <func/func.h>

struct hodo_names *hodo_scan_names(struct hodo_scan *scan)
{
	if (!scan->names_tried)
		scan->names = hodo_names_open(scan->info, scan->object->path);
	scan->names_tried = true;
	return scan->names;
}

/* Exceeding a limit is reported once for each process. */
void hodo_scan_report_limit(const char *text)
{
	static bool reported;

	if (reported || !hodo_func_wanted)
		return;
	hodo_catalog_warning(&text, 1);
	reported = true;
}

/* -------------------------------------------------------------------- arrays */

static bool array_grow(void **array, uint32_t *capacity, size_t size)
{
	uint32_t more = *capacity ? 2 * *capacity : 256;
	void *p;

	if (*capacity)
		p = (void *)hodo_sys4(SYS_mremap, *array, *capacity * size, more * size, MREMAP_MAYMOVE);
	else
		p = hodo_mmap(more * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (hodo_is_error(p))
		return false;
	*array = p;
	*capacity = more;
	return true;
}

/* Room for one more of size bytes each. */
static inline bool array_room(void **array, uint32_t n, uint32_t *capacity, size_t size)
{
	return n < *capacity || array_grow(array, capacity, size);
}

bool hodo_scan_add(struct hodo_scan *scan, uintptr_t slot, uintptr_t function, enum hodo_slot_kind kind,
		   enum hodo_slot_at at, uint8_t on, uint8_t off)
{
	struct hodo_func_object *o = scan->object;

	if (o->nslots == HODO_SLOTS_MAX)
		hodo_scan_report_limit("too many functions in one program or library: the rest of them are not traced");
	if (slot < o->text || slot >= o->text_end || o->nslots == HODO_SLOTS_MAX ||
	    !array_room((void **)&o->slots, o->nslots, &o->slots_room, sizeof(*o->slots)))
		return false;
	if (function < o->text || function >= o->text_end)
		function = slot;
	if (on == off && kind != HODO_SLOT_UNUSED)
		hodo_func_unfiltered = true;
	/* The function's address replaces its index until all are known. */
	o->slots[o->nslots++] = (struct hodo_slot){ (uint32_t)(slot - o->text), (uint32_t)(function - o->text),
						    (uint8_t)kind, (uint8_t)at, on, off };
	return true;
}

/* Mostly sorted already: readers go through the text in order. */
static void sort_slots(struct hodo_func_object *o)
{
	bool sorted = true;

	for (uint32_t i = 1; i < o->nslots && sorted; i++)
		sorted = o->slots[i].addr >= o->slots[i - 1].addr;
	if (!sorted && !hodo_sort(o->slots, o->nslots, sizeof(*o->slots) / sizeof(uint32_t)))
		o->nslots = 0;
}

/* hodo_function_before(), which is mostly the previous slot's function, or the next. */
static uint32_t function_near(const struct hodo_func_object *o, uint32_t addr, uint32_t last)
{
	if (last + 1 < o->nfunctions && o->functions[last + 1].addr <= addr)
		last++;
	if (o->functions[last].addr <= addr && (last + 1 == o->nfunctions || o->functions[last + 1].addr > addr))
		return last;
	return hodo_function_before(o->functions, o->nfunctions, addr);
}

/* A plan's slot may coincide with another one. */
static bool is_double(const struct hodo_slot *a, const struct hodo_slot *b)
{
	return a->addr == b->addr && (a->kind < HODO_SLOT_PLANNED) == (b->kind < HODO_SLOT_PLANNED);
}

void hodo_scan_index(struct hodo_func_object *o)
{
	uint32_t kept = 0;

	sort_slots(o);
	for (uint32_t i = 0; i < o->nslots; i++) {
		if (kept == 0 || !is_double(&o->slots[kept - 1], &o->slots[i]))
			o->slots[kept++] = o->slots[i];
	}
	o->nslots = kept;
	for (uint32_t i = 0; i < o->nslots; i++) {
		const struct hodo_slot *s = &o->slots[i];

		if (s->at != HODO_AT_ENTRY)
			continue;
		if (o->nfunctions && o->functions[o->nfunctions - 1].addr == s->function) {
			o->functions[o->nfunctions - 1].planned |= s->kind == HODO_SLOT_PLANNED;
			continue;
		}
		if (!array_room((void **)&o->functions, o->nfunctions, &o->functions_room, sizeof(*o->functions)))
			break;
		o->functions[o->nfunctions++] = (struct hodo_function){ s->function, s->kind == HODO_SLOT_PLANNED, 0 };
	}
	for (uint32_t i = 0, last = 0; i < o->nslots && o->nfunctions; i++) {
		last = function_near(o, o->slots[i].function, last);
		o->slots[i].function = last;
	}
}
