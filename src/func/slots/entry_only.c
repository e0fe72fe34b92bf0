/* SPDX-License-Identifier: MIT */
/*
 * entry_only.c - functions with a slot at their entry only.
 *
 * -fpatchable-function-entry=5 (or more): GCC puts 1-byte no-ops there, clang one of 5 bytes.
 * A thread may be interrupted between any two of the 1-byte ones, and continue there much later: no sequence
 * of stores, barriers and waits makes it safe to write an operand over them. So only the first byte is
 * written. With that changed to E8, the others, as they are, form the operand of a call:
 *
 *	90 90 90 90 90      E8 90 90 90 90      calls from here - 0x6f6f6f70
 *	0F 1F 44 00 08      E8 1F 44 00 08      calls from here + 0x0800441f
 *
 * and a thread among them continues through no-ops as before. The call leads to a jump to the hook's stub, 5
 * bytes for each function, in memory mapped at that distance: the object's mirror. Functions are longer than
 * that, so the jumps do not overlap. A mirror spans as much as the text from its first function to its last,
 * and uses memory only where there are functions.
 *
 * Programs that are not position-independent lie too low for the first. There the last no-op is first changed
 * to 2E (or 36, 26) for good: a segment prefix, which 64-bit mode ignores, of the instruction after the slot.
 * That is one byte, too, and a thread before it executes a no-op or a prefix.
 *
 * -pg: calls of mcount and of __fentry__ (-mfentry), see imports.c. If gprof profiles the program, they stay
 * calls, and libc's function runs after the hook, so that gmon.out is not affected.
 */
#include <elf.h>
#include "near.h"
#include <user/objects/objects.h>
#include <func/dispatch.h>
#include <func/names/names.h>
#include "slots.h"
#include <user/libc/sys.h>

struct shape {
	uint8_t before[5];
	uint8_t last; /* what the last byte becomes */
};
static const struct shape shapes[] = {
	{ { 0x90, 0x90, 0x90, 0x90, 0x90 }, 0x90 }, { { 0x90, 0x90, 0x90, 0x90, 0x90 }, 0x2e },
	{ { 0x90, 0x90, 0x90, 0x90, 0x90 }, 0x36 }, { { 0x90, 0x90, 0x90, 0x90, 0x90 }, 0x26 },
	{ { 0x0f, 0x1f, 0x44, 0x00, 0x08 }, 0x08 },
};
#define FIRST_LONG 4 /* of the shapes: clang's */

/* ------------------------------------------------------------------- mirrors */

#define NOOPS_MAX 64 /* before a function */

static intptr_t distance(const struct shape *shape)
{
	uint8_t bytes[4] = { shape->before[1], shape->before[2], shape->before[3], shape->last };
	int32_t d;

	__builtin_memcpy(&d, bytes, sizeof(d));
	return 5 + (intptr_t)d;
}

/* For slots from first to last; false: no room there. */
static bool map_mirror(struct hodo_mirror *m, const struct shape *shape, uintptr_t first, uintptr_t last)
{
	uintptr_t from = first + (uintptr_t)distance(shape), to = last + (uintptr_t)distance(shape) + 5;

	if (to < from || to > 1ul << 47)
		return false;
	m->at = from & ~(uintptr_t)(HODO_PAGE - 1);
	m->bytes = ((to + HODO_PAGE - 1) & ~(uintptr_t)(HODO_PAGE - 1)) - m->at;
	if (!hodo_near_map(m->at, m->bytes))
		m->bytes = 0;
	return m->bytes > 0;
}

/* ------------------------------------------------------------ the list of slots */

struct list {
	uintptr_t *slot;
	size_t n;
};

/* Where a function begins, at or soon after addr: by the unwinders' table, which static programs may lack, or
 * by symbols. Gives addr if it is inside a function, or not known. */
static uintptr_t next_start(const struct hodo_starts *starts, const struct hodo_names *names, uintptr_t addr)
{
	uintptr_t next, start;

	if (starts->n) {
		start = hodo_starts_find(starts, addr, &next);
		return start == addr || start + 4 == addr || next - addr > NOOPS_MAX ? addr : next;
	}
	for (uintptr_t k = 0; k < NOOPS_MAX && hodo_objects_room(addr + k, PF_X); k++) {
		if (*hodo_names_find(names, addr + k, &start))
			return start > addr ? start : addr;
	}
	return addr;
}

/* If compilers also leave no-ops before a function's first address, the list points to those. */
static uintptr_t entry_slot(const struct hodo_starts *starts, const struct hodo_names *names, uintptr_t addr)
{
	uintptr_t start;

	if (!hodo_objects_room(addr, PF_X))
		return 0;
	start = next_start(starts, names, addr);
	if (hodo_objects_room(start, PF_X) < 10)
		return 0;
	for (const uint8_t *q = (const uint8_t *)addr; q < (const uint8_t *)start; q++) {
		if (*q != 0x90 && *q != 0x66 && *q != 0x0f && *q != 0x1f && *q != 0x44 && *q != 0 && *q != 8)
			return addr;
	}
	if (start != addr && __builtin_memcmp((const void *)start, "\xf3\x0f\x1e\xfa", 4) == 0)
		start += 4;
	return start;
}

/* The section's words, from memory or, if that is not relocated yet, from the relocations. */
static void read_list(const struct hodo_scan *scan, const struct hodo_names *names, uintptr_t section,
		      struct list *list)
{
	const struct hodo_func_object *o = scan->object;
	const struct hodo_dynamic d = hodo_dynamic_read(scan->info);
	struct hodo_starts starts;

	for (size_t i = 0; i < list->n; i++) {
		uintptr_t value = ((const uintptr_t *)section)[i];

		list->slot[i] = value >= o->text && value < o->text_end ? value : o->base + value;
	}
	for (size_t i = 0; i < d.relocations[0].n; i++) {
		const ElfW(Rela) *r = &d.relocations[0].entry[i];
		uintptr_t at = o->base + r->r_offset - section;

		if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE && at / 8 < list->n && at % 8 == 0)
			list->slot[at / 8] = o->base + (uintptr_t)r->r_addend;
	}
	hodo_starts_read(scan->info, &starts);
	for (size_t i = 0; i < list->n; i++)
		list->slot[i] = entry_slot(&starts, names, list->slot[i]);
}

static bool looks(uintptr_t slot, const struct shape *shape)
{
	return slot && __builtin_memcmp((const void *)slot, shape->before, 5) == 0;
}

/* Whether the prefix is ignored. It is, unless the instruction has an effective segment prefix: which of two
 * counts is undefined. */
static bool takes_prefix(uintptr_t slot, const struct shape *shape)
{
	uint8_t next = *(const uint8_t *)(slot + 5);

	return shape->last == shape->before[4] || (next != 0x64 && next != 0x65);
}

static bool add_slots(struct hodo_scan *scan, const struct list *list, const struct shape *shape,
		      struct hodo_mirror *mirror)
{
	static struct hodo_patch patch; /* too large for small stacks */
	uintptr_t stub = 0, first = ~0ul, last = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (!looks(list->slot[i], shape))
			continue;
		first = list->slot[i] < first ? list->slot[i] : first;
		last = list->slot[i] > last ? list->slot[i] : last;
	}
	if (first > last)
		return true;
	if (!map_mirror(mirror, shape, first, last))
		return false;
	stub = hodo_near_stub(mirror->at, mirror->at + mirror->bytes, HODO_HOOK_REACHED);
	for (size_t i = 0; i < list->n && stub; i++) {
		uint8_t *jump = (uint8_t *)(list->slot[i] + (uintptr_t)distance(shape));
		int32_t to = (int32_t)(stub - (uintptr_t)jump - 5);

		if (!looks(list->slot[i], shape))
			continue;
		*jump = 0xe9;
		__builtin_memcpy(jump + 1, &to, 4);
	}
	if (!stub || !hodo_near_seal(mirror->at, mirror->bytes)) {
		if (!stub)
			hodo_sys2(SYS_munmap, mirror->at, mirror->bytes);
		mirror->bytes = 0;
		return false;
	}
	hodo_patch_begin(&patch);
	for (size_t i = 0; i < list->n; i++) {
		uintptr_t slot = list->slot[i];

		if (!looks(slot, shape) || !takes_prefix(slot, shape))
			continue;
		if (shape->last != shape->before[4])
			hodo_patch_byte(&patch, slot + 4, shape->last);
		hodo_scan_add(scan, slot, hodo_slot_function(slot), HODO_SLOT_PATCHABLE,
			      HODO_AT_ENTRY, 0xe8, shape->before[0]);
	}
	hodo_patch_end(&patch);
	return true;
}

/* The section's slots; the caller unmaps them. */
static bool find_list(struct hodo_scan *scan, struct list *list)
{
	const struct hodo_names *names = hodo_scan_names(scan);
	uintptr_t section;
	size_t bytes = 0;

	if (!names)
		return false;
	section = hodo_names_section(names, "__patchable_function_entries", &bytes);
	list->n = bytes / 8;
	list->slot = 0;
	if (section && list->n && section % 8 == 0 && hodo_objects_room(section, PF_R) >= bytes)
		list->slot = hodo_map(bytes);
	if (list->slot)
		read_list(scan, names, section, list);
	return list->slot != 0;
}

static void scan_patchable(struct hodo_scan *scan)
{
	struct list list;

	if (!find_list(scan, &list))
		return;
	for (unsigned i = 0; i < FIRST_LONG; i++) {
		if (add_slots(scan, &list, &shapes[i], &scan->object->mirrors[0]))
			break;
	}
	add_slots(scan, &list, &shapes[FIRST_LONG], &scan->object->mirrors[1]);
	hodo_sys2(SYS_munmap, list.slot, list.n * 8);
}

/* ----------------------------------------------------------------------- -pg */

extern HODO_HIDDEN void *hodo_x86_mcount_next, *hodo_x86_fentry_next; /* where the hooks continue */

static bool profiled; /* by gprof, or by another library's mcount, which is still called */
static bool ours;     /* the calls lead to libhodo */

static const char *const mcount_names[2] = { "mcount", "__fentry__" };

/* Whether the object refers to the same symbols as gcrt1.o, which -pg links in and which starts gprof's
 * profiling. */
static bool starts_gprof(const struct hodo_dynamic *d)
{
	return hodo_dynamic_import(d, "__monstartup") || hodo_dynamic_import(d, "monstartup");
}

/*
 * The program is the first object of all, so whether it is profiled is known before any slot. If it is not,
 * libc's functions return at once.
 */
void hodo_mcount_look(const struct hodo_dynamic *d)
{
	static bool settled;
	const struct hodo_interposed *mcount = &hodo_interposed[HODO_MCOUNT], *fentry = &hodo_interposed[HODO_FENTRY];

	profiled = profiled || starts_gprof(d) || mcount->foreign || fentry->foreign;
	if (settled || (!hodo_dynamic_import(d, mcount_names[0]) && !hodo_dynamic_import(d, mcount_names[1])))
		return;
	settled = true;
	ours = mcount->at == (uintptr_t)hodo_x86_mcount && fentry->at == (uintptr_t)hodo_x86_fentry;
	if (mcount->next)
		hodo_store_release(&hodo_x86_mcount_next, (void *)mcount->next);
	if (fentry->next)
		hodo_store_release(&hodo_x86_fentry_next, (void *)fentry->next);
	hodo_store_release(&hodo_x86_mcount_to, (void *)(hodo_x86_near + HODO_HOOK_MCOUNT * HODO_NEAR_STUB_BYTES));
	hodo_store_release(&hodo_x86_fentry_to, (void *)(hodo_x86_near + HODO_HOOK_FENTRY * HODO_NEAR_STUB_BYTES));
}

static void scan_mcount(struct hodo_scan *scan)
{
	const struct hodo_import imports[2] = {
		{ mcount_names[0], (uintptr_t)hodo_x86_mcount, false },
		{ mcount_names[1], (uintptr_t)hodo_x86_fentry, false },
	};
	const struct hodo_dynamic dynamic = hodo_dynamic_read(scan->info);
	uint32_t before = scan->object->nslots;

	if (!ours || !hodo_imports_any(&dynamic, imports, 2))
		return;
	hodo_scan_imports(scan, &dynamic, imports, 2, HODO_SLOT_MCOUNT, profiled);
	if (profiled && scan->object->nslots > before)
		hodo_func_profiled = true;
}

void hodo_scan_entry_only(struct hodo_scan *scan)
{
	if (hodo_patch_possible())
		scan_patchable(scan);
	scan_mcount(scan);
}
