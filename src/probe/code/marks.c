/* SPDX-License-Identifier: MIT */
/* marks.c - bytes of an object that no probe may replace: our sites and slots, and restartable sequences. */
#include "code_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/scope.h>
#include <core/search.h>
#include <hodo/abi.h>

#define SITE_BYTES  5u
#define STUB_BYTES  17u /* src/func/stubs */
#define ENDBR_BYTES 4u

struct rseq_section {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

static void mark_sites(struct hodo_probe_object *o, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = hodo_elf_section(elf, scn, "hodo_sites", &sh)) != NULL) {
		Elf_Data *data = elf_rawdata(scn, NULL);

		for (size_t at = 0; data && data->d_buf && at + sizeof(struct hodo_site) <= data->d_size;
		     at += sizeof(struct hodo_site)) {
			struct hodo_site site;
			uint64_t addr;

			memcpy(&site, (const char *)data->d_buf + at, sizeof(site));
			addr = sh.sh_addr + at + offsetof(struct hodo_site, addr) + (uint64_t)(int64_t)site.addr;
			hodo_probe_mark(o, addr, addr + SITE_BYTES, HODO_PROBE_MARK_SITE);
		}
	}
}

/* ------------------------------------------------------------------------- slots */

static int mark_slots(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	HODO_AUTO(hodo_elf_slots_free) struct hodo_elf_slots s = { 0 };
	int err = hodo_elf_slots_find(&s, e);

	if (err)
		return err;
	for (uint32_t i = 0; i < s.ncode; i++) {
		const struct hodo_elf_slot_code *slot = &s.code[i];
		const struct hodo_probe_segment *segment = hodo_probe_segment_at(o, slot->addr);

		if (segment && slot->switched)
			segment->bytes[slot->addr - segment->start] = slot->idle;
		hodo_probe_mark(o, slot->addr, slot->addr + slot->bytes, HODO_PROBE_MARK_SITE);
	}
	/* The targets of slots have no slot, and are not functions of the program. */
	for (uint32_t i = 0; i < s.ntargets; i++)
		if (s.target[i].role == HODO_ELF_STUB_ENTRY || s.target[i].role == HODO_ELF_STUB_EXIT)
			hodo_probe_mark(o, s.target[i].addr, s.target[i].addr + STUB_BYTES, HODO_PROBE_MARK_SITE);
	hodo_order_sort(s.code, s.ncode, hodo_order_u64);
	o->slots = s.code;
	o->nslots = s.ncode;
	s.code = NULL;
	return 0;
}

static uint32_t first_slot(const struct hodo_probe_object *o, uint64_t start)
{
	return hodo_search(k, o->nslots, o->slots[k].addr >= start);
}

uint64_t hodo_probe_entry_slot_end(const struct hodo_probe_object *o, uint64_t start)
{
	uint32_t i = first_slot(o, start);

	return i < o->nslots && o->slots[i].addr - start <= ENDBR_BYTES ? o->slots[i].addr + o->slots[i].bytes : 0;
}

bool hodo_probe_is_slot(const struct hodo_probe_object *o, uint64_t addr)
{
	uint32_t i = hodo_search(k, o->nslots, o->slots[k].addr > addr);

	return i && addr < o->slots[i - 1].addr + o->slots[i - 1].bytes;
}

enum hodo_probe_slots hodo_probe_function_slots(const struct hodo_probe_object *o,
						const struct hodo_probe_function *f)
{
	enum hodo_probe_slots slots = HODO_PROBE_SLOTS_NONE;

	for (uint32_t i = first_slot(o, f->start); i < o->nslots && o->slots[i].addr < f->end; i++) {
		if (!o->slots[i].switched)
			return HODO_PROBE_SLOTS_FIXED;
		slots = HODO_PROBE_SLOTS_SWITCHED;
	}
	return slots;
}

void hodo_probe_function_take_slots(const struct hodo_probe_object *o, const struct hodo_probe_function *f)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);

	for (uint32_t i = first_slot(o, f->start); s && i < o->nslots && o->slots[i].addr < f->end; i++)
		for (uint64_t at = o->slots[i].addr; at < o->slots[i].addr + o->slots[i].bytes && at < s->end; at++)
			s->marks[at - s->start] &= (uint8_t)~HODO_PROBE_MARK_SITE;
}

/* ----------------------------------------------------------- restartable sequences */

struct rseq_relocations {
	struct rseq_section *list;
	uint64_t addr;
	size_t n;
};

/* In position-independent code, the addresses are relocations. */
static int take_relocation(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol,
			   uint64_t value)
{
	const struct rseq_relocations *r = arg;
	uint64_t at = offset - r->addr;

	(void)symbol;
	if (offset >= r->addr && at / sizeof(*r->list) < r->n &&
	    at % sizeof(*r->list) == offsetof(struct rseq_section, start) &&
	    (type == R_X86_64_RELATIVE || type == R_X86_64_64))
		r->list[at / sizeof(*r->list)].start = value + (uint64_t)addend;
	return 0;
}

static int mark_rseq(struct hodo_probe_object *o, Elf *elf)
{
	struct rseq_relocations r = { 0 };
	HODO_AUTO_FREE struct rseq_section *list = NULL;
	size_t size = 0;
	const uint8_t *bytes = hodo_elf_section_bytes(elf, "__rseq_cs", &r.addr, &size);

	r.n = bytes ? size / sizeof(*list) : 0;
	if (!r.n)
		return 0;
	r.list = list = malloc(r.n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, bytes, r.n * sizeof(*list));
	hodo_elf_relocations(elf, take_relocation, &r);
	for (size_t i = 0; i < r.n; i++)
		if (list[i].bytes < HODO_PROBE_CODE_MAX && list[i].start + list[i].bytes > list[i].start)
			hodo_probe_mark(o, list[i].start, list[i].start + list[i].bytes, HODO_PROBE_MARK_RSEQ);
	return 0;
}

int hodo_probe_mark_own(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	int err = mark_slots(o, e);

	mark_sites(o, e->elf);
	return err ? err : mark_rseq(o, e->elf);
}
