/* SPDX-License-Identifier: MIT */
/*
 * slot_tables.c - slots that tables in the file list: clang's XRay sleds, and -fpatchable-function-entry; and all
 * kinds together.
 *
 * If such a table holds addresses, those of a position-independent file are in its relocations.
 */
#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One entry of xray_instr_map; in version 2, both addresses are relative to their own fields. */
struct xray_entry {
	uint64_t addr;
	uint64_t function;
	uint8_t kind;
	uint8_t always;
	uint8_t version;
	uint8_t padding[13];
};
_Static_assert(sizeof(struct xray_entry) == 32, "as clang writes it");

enum { XRAY_ENTRY = 0, XRAY_EXIT = 1, XRAY_TAIL = 2, XRAY_ENTRY_ARGS = 3 };

/* A table of addresses as the loader would make it. */
struct table {
	uint8_t *bytes;
	uint64_t addr;
	size_t size;
};

/* R_X86_64_RELATIVE, R_X86_64_64 and their equivalents on other machines. */
static int relocate(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol, uint64_t value)
{
	struct table *t = arg;
	uint64_t target = (uint64_t)addend + value;

	if (offset >= t->addr && offset - t->addr < t->size && t->size - (offset - t->addr) >= sizeof(target))
		memcpy(t->bytes + (offset - t->addr), &target, sizeof(target));
	return 0;
}

/* 1, 0 if there is no such section, -ENOMEM. */
static int load_table(const struct hodo_elf *e, const char *name, struct table *t)
{
	const uint8_t *bytes = hodo_elf_section_bytes(e->elf, name, &t->addr, &t->size);
	int err;

	if (!bytes || !t->size)
		return 0;
	t->bytes = malloc(t->size);
	if (!t->bytes)
		return -ENOMEM;
	memcpy(t->bytes, bytes, t->size);
	err = hodo_elf_relocations(e->elf, relocate, t);
	if (err == -ENOMEM)
		free(t->bytes);
	return err == -ENOMEM ? err : 1;
}

#define SLED_BYTES 11u

static int add_sled(struct hodo_elf_slots *f, const struct xray_entry *x)
{
	const struct hodo_elf_slot_code code = { .addr = x->addr, .bytes = SLED_BYTES,
						 .idle = x->kind == XRAY_EXIT ? 0xc3 : 0xeb, .switched = true };
	int err = x->kind <= XRAY_ENTRY_ARGS ? hodo_elf_slots_code(f, &code) : 0;

	if (err)
		return err;
	if (x->kind == XRAY_ENTRY || x->kind == XRAY_ENTRY_ARGS)
		return hodo_elf_slots_add(f, x->function, HODO_ELF_SLOT_XRAY);
	return x->kind == XRAY_EXIT || x->kind == XRAY_TAIL ? hodo_elf_slots_exit(f, x->addr) : 0;
}

static int find_xray(struct hodo_elf_slots *f, const struct hodo_elf *e)
{
	struct table t;
	int err = load_table(e, "xray_instr_map", &t);

	if (err <= 0)
		return err;
	err = 0;
	for (size_t i = 0; i < t.size / sizeof(struct xray_entry) && !err; i++) {
		uint64_t at = t.addr + i * sizeof(struct xray_entry);
		struct xray_entry x;

		memcpy(&x, t.bytes + i * sizeof(x), sizeof(x));
		if (x.version > 2)
			continue;
		if (x.version == 2) {
			x.addr += at;
			x.function += at + offsetof(struct xray_entry, function);
		}
		err = add_sled(f, &x);
	}
	free(t.bytes);
	return err;
}

#define NOOPS_MAX 64u /* in front of a function */
static const uint8_t endbr[4] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* If no-ops also precede the function, the table has the first of those. */
static uint64_t slot_of(const struct hodo_elf_slots *f, const struct hodo_elf *e, uint64_t addr)
{
	uint8_t code[4];

	for (unsigned k = 0; k < NOOPS_MAX; k++) {
		const struct hodo_elf_symbol *s = hodo_elf_slots_symbol(f, addr + k);

		/*
		 * A symbol without a size (frame_dummy) seems to reach to the next function, over that one's
		 * no-ops.
		 */
		if (!s || (s->start < addr && s->size == 0))
			continue;
		if (s->start <= addr)
			return addr;
		if (hodo_elf_read_at(e, s->start, code, sizeof(code)) == 0 && memcmp(code, endbr, sizeof(endbr)) == 0)
			return s->start + sizeof(endbr);
		return s->start;
	}
	return addr;
}

/* The first instruction of the function with these no-ops: endbr64 may precede them. */
static uint64_t function_of(const struct hodo_elf_slots *f, const struct hodo_elf *e, uint64_t addr)
{
	const struct hodo_elf_symbol *s = hodo_elf_slots_symbol(f, addr);
	uint8_t code[4];

	if (s && addr - s->start <= sizeof(endbr))
		return s->start;
	if (addr >= sizeof(code) && hodo_elf_read_at(e, addr - sizeof(code), code, sizeof(code)) == 0 &&
	    memcmp(code, endbr, sizeof(endbr)) == 0)
		return addr - sizeof(endbr);
	return addr;
}

static const uint8_t single[5] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
static const uint8_t whole[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x08 };

/* Adds the slot and its function, if the five bytes there are no-ops with room for a call. */
static int add_noops(struct hodo_elf_slots *f, const struct hodo_elf *e, uint64_t addr)
{
	struct hodo_elf_slot_code slot = { .addr = addr, .bytes = sizeof(single) };
	uint8_t code[5];
	GElf_Ehdr eh;
	int err;

	if (hodo_elf_read_at(e, addr, code, sizeof(code)) != 0 ||
	    (memcmp(code, single, sizeof(single)) != 0 && memcmp(code, whole, sizeof(whole)) != 0))
		return 0;
	slot.idle = code[0];
	/* In a program at low addresses, another byte is changed first (src/func/slots/entry_only.c). */
	slot.switched = code[0] != single[0] || !gelf_getehdr(e->elf, &eh) || eh.e_type != ET_EXEC;
	err = hodo_elf_slots_code(f, &slot);
	return err ? err : hodo_elf_slots_add(f, function_of(f, e, addr), HODO_ELF_SLOT_PATCHABLE);
}

static int find_patchable(struct hodo_elf_slots *f, const struct hodo_elf *e)
{
	struct table t;
	int err = load_table(e, "__patchable_function_entries", &t);

	if (err <= 0)
		return err;
	err = 0;
	for (size_t i = 0; i < t.size / 8 && !err; i++) {
		uint64_t addr;

		memcpy(&addr, t.bytes + 8 * i, sizeof(addr));
		err = add_noops(f, e, slot_of(f, e, addr));
	}
	free(t.bytes);
	return err;
}

int hodo_elf_slots_find(struct hodo_elf_slots *s, const struct hodo_elf *e)
{
	static int (*const finders[])(struct hodo_elf_slots *, const struct hodo_elf *) = {
		hodo_elf_slots_calls, find_xray, find_patchable
	};
	int err;

	*s = (struct hodo_elf_slots){ 0 };
	err = hodo_elf_symbols_add(&s->symbols, e->elf);
	hodo_elf_symbols_sort(&s->symbols);
	if (err != -ENOMEM)
		err = hodo_elf_symbols_join(&s->symbols);
	for (unsigned i = 0; i < sizeof(finders) / sizeof(finders[0]) && err != -ENOMEM; i++)
		err = finders[i](s, e);
	if (err == -ENOMEM)
		return err;
	hodo_elf_slots_settle(s);
	return 0;
}
