/* SPDX-License-Identifier: MIT */
/*
 * dynamic.c - what an object's tables in memory say: its symbols, relocations,
 * and where functions begin. The object may not be relocated yet. Its tables are
 * believed as far as they lie in its own segments.
 */
#include <elf.h>
#include "near.h"

/* The loader relocates the addresses in the dynamic section in place; not in every object, and not every loader. */
static uintptr_t place(uintptr_t base, uintptr_t value)
{
	return value < base ? base + value : value;
}

/* Symbols that are not defined come before all that are in the hash table. */
static uint32_t count_gnu(uintptr_t hash)
{
	return hodo_objects_room(hash, PF_R) >= 16 ? ((const uint32_t *)hash)[1] : 0;
}
static uint32_t count_sysv(uintptr_t hash)
{
	return hodo_objects_room(hash, PF_R) >= 8 ? ((const uint32_t *)hash)[1] : 0;
}

static void take_relocations(struct hodo_dynamic *d, unsigned i, uintptr_t table, size_t bytes)
{
	size_t room = hodo_objects_room(table, PF_R);

	if (!table || !room)
		return;
	d->relocations[i].entry = (const ElfW(Rela) *)table;
	d->relocations[i].n = (bytes < room ? bytes : room) / sizeof(ElfW(Rela));
}

bool hodo_dynamic_read(const struct dl_phdr_info *info, struct hodo_dynamic *d)
{
	uintptr_t base = info->dlpi_addr, gnu = 0, sysv = 0, symbols = 0, strings = 0, rela = 0, jmprel = 0;
	const ElfW(Dyn) *dyn = 0;
	size_t n = 0, rela_bytes = 0, jmprel_bytes = 0;

	*d = (struct hodo_dynamic){ .base = base };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			dyn = (const ElfW(Dyn) *)(base + info->dlpi_phdr[i].p_vaddr);
			n = hodo_objects_room((uintptr_t)dyn, PF_R) / sizeof(*dyn);
		}
	}
	for (; dyn && n && dyn->d_tag != DT_NULL; dyn++, n--) {
		switch (dyn->d_tag) {
		case DT_SYMTAB: symbols = place(base, dyn->d_un.d_ptr); break;
		case DT_STRTAB: strings = place(base, dyn->d_un.d_ptr); break;
		case DT_STRSZ: d->strings_bytes = dyn->d_un.d_val; break;
		case DT_GNU_HASH: gnu = place(base, dyn->d_un.d_ptr); break;
		case DT_HASH: sysv = place(base, dyn->d_un.d_ptr); break;
		case DT_RELA: rela = place(base, dyn->d_un.d_ptr); break;
		case DT_RELASZ: rela_bytes = dyn->d_un.d_val; break;
		case DT_JMPREL: jmprel = place(base, dyn->d_un.d_ptr); break;
		case DT_PLTRELSZ: jmprel_bytes = dyn->d_un.d_val; break;
		}
	}
	take_relocations(d, 0, rela, rela_bytes);
	take_relocations(d, 1, jmprel, jmprel_bytes);
	d->nsymbols = gnu ? count_gnu(gnu) : sysv ? count_sysv(sysv) : 0;
	if (!symbols || !strings || hodo_objects_room(strings, PF_R) < d->strings_bytes ||
	    hodo_objects_room(symbols, PF_R) / sizeof(*d->symbols) < d->nsymbols)
		d->nsymbols = 0;
	d->symbols = (const ElfW(Sym) *)symbols;
	d->strings = (const char *)strings;
	return true;
}

uint32_t hodo_dynamic_import(const struct hodo_dynamic *d, const char *name)
{
	size_t bytes = __builtin_strlen(name) + 1;

	for (uint32_t i = 1; i < d->nsymbols; i++) {
		const ElfW(Sym) *s = &d->symbols[i];
		const char *p = d->strings + s->st_name;

		if (s->st_shndx != SHN_UNDEF || s->st_name >= d->strings_bytes ||
		    bytes > d->strings_bytes - s->st_name || p[2] != name[2] || p[3] != name[3])
			continue;
		if (__builtin_memcmp(p, name, bytes) == 0)
			return i;
	}
	return 0;
}

struct hodo_names *hodo_scan_names(struct hodo_scan *scan)
{
	if (!scan->names_tried)
		scan->names = hodo_names_open(scan->info, scan->object->path);
	scan->names_tried = true;
	return scan->names;
}

/* ------------------------------------------------------------ functions' starts */

/* Encodings of .eh_frame_hdr, as all linkers write it. */
#define PCREL_SDATA4 0x1b
#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b

void hodo_starts_read(const struct dl_phdr_info *info, struct hodo_starts *starts)
{
	starts->n = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t p = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const uint8_t *head = (const uint8_t *)p;
		size_t room;

		if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME)
			continue;
		room = hodo_objects_room(p, PF_R);
		if (room < 12 || head[0] != 1 || head[1] != PCREL_SDATA4 || head[2] != UDATA4 ||
		    head[3] != DATAREL_SDATA4)
			return;
		starts->origin = p;
		starts->entry = (const int32_t(*)[2])(p + 12);
		__builtin_memcpy(&starts->n, head + 8, 4);
		if (starts->n > (room - 12) / sizeof(starts->entry[0]))
			starts->n = 0;
		return;
	}
}

uintptr_t hodo_starts_find(const struct hodo_starts *starts, uintptr_t addr, uintptr_t *next)
{
	uint32_t low = 0, high = starts->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (starts->origin + (uintptr_t)(intptr_t)starts->entry[middle][0] <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	*next = low < starts->n ? starts->origin + (uintptr_t)(intptr_t)starts->entry[low][0] : ~(uintptr_t)0;
	return low ? starts->origin + (uintptr_t)(intptr_t)starts->entry[low - 1][0] : 0;
}
