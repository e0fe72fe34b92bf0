/* SPDX-License-Identifier: MIT */
/* marks.c - bytes of an object that no probe may replace: sites and slots of ours, and restartable sequences. */
#include "parts.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <hodo/abi.h>
#include <elf/slots.h>

#define SITE_BYTES 5u
/* From a function's begin: endbr64, a frame pointer, and the slot of 5 or 11 bytes. */
#define ENTRY_SLOT_BYTES 24u
#define EXIT_SLOT_BYTES  11u /* XRay's */

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

static int mark_slots(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	HODO_AUTO(hodo_elf_slots_free) struct hodo_elf_slots s = { 0 };
	int err = hodo_elf_slots_find(&s, e);

	for (uint32_t i = 0; !err && i < s.n; i++)
		if (s.list[i].slot != HODO_ELF_SLOT_INSTRUMENT) /* calls that nobody patches */
			hodo_probe_mark(o, s.list[i].addr, s.list[i].addr + ENTRY_SLOT_BYTES, HODO_PROBE_MARK_SITE);
	for (uint32_t i = 0; !err && i < s.nexits; i++)
		hodo_probe_mark(o, s.exits[i], s.exits[i] + EXIT_SLOT_BYTES, HODO_PROBE_MARK_SITE);
	return err;
}

struct rseq_relocations {
	struct rseq_section *list;
	uint64_t addr;
	size_t n;
};

/* In code that can be anywhere the addresses are relocations. */
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
