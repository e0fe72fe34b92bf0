/* SPDX-License-Identifier: MIT */
/*
 * tables.c - targets of jumps through tables: 4-byte distances from the table, as compilers write them for
 * position-independent code, and 8-byte addresses. A table has no length: it is read as long as its entries
 * lead to instructions of the function. A false entry costs a window, a missed one a trap. In
 * position-independent code, tables of addresses are relocations.
 */
#include "code_impl.h"

#include <string.h>

#define TABLE_BYTES 4096u

static int take_relocation(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol,
			   uint64_t value)
{
	const struct hodo_probe_object *o = arg;
	const struct hodo_probe_function *f = NULL;

	if (type == R_X86_64_RELATIVE)
		f = hodo_probe_function_at(o, (uint64_t)addend);
	(void)offset;
	(void)symbol;
	(void)value;
	if (f && f->start == (uint64_t)addend) {
		o->functions[f - o->functions].entered = true;
	} else if (f) {
		hodo_probe_mark(o, (uint64_t)addend, (uint64_t)addend + 1, HODO_PROBE_MARK_TARGET);
		o->functions[f - o->functions].labels = true;
	}
	return 0;
}

int hodo_probe_mark_labels(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	return hodo_elf_relocations(e->elf, take_relocation, o);
}

void hodo_probe_tables_add(struct hodo_probe_tables *t, uint64_t address)
{
	if (t->n < sizeof(t->list) / sizeof(t->list[0]) && !(address >= t->start && address < t->end))
		t->list[t->n++] = address;
}

/* Bytes at the address, fewer at the segment's end. */
static size_t read_table(const struct hodo_elf *e, uint64_t address, uint8_t to[TABLE_BYTES])
{
	for (size_t len = TABLE_BYTES; len >= 8; len /= 2)
		if (hodo_elf_read_at(e, address, to, len) == 0)
			return len;
	return 0;
}

static uint32_t mark(const struct hodo_probe_tables *t, const uint8_t *bytes, size_t len, uint64_t base, unsigned width)
{
	uint32_t n = 0;

	for (size_t at = 0; at + width <= len; at += width) {
		int32_t distance;
		uint64_t target;

		memcpy(&target, bytes + at, width);
		if (width == 4) {
			memcpy(&distance, bytes + at, sizeof(distance));
			target = base + (uint64_t)(int64_t)distance;
		}
		/* Some entries may lead to a part of the function elsewhere. */
		if ((target < t->start || target >= t->end) && hodo_probe_segment_at(t->o, target))
			continue;
		if (target < t->start || target >= t->end ||
		    !(t->segment->marks[target - t->segment->start] & HODO_PROBE_MARK_LENGTH))
			break;
		t->segment->marks[target - t->segment->start] |= HODO_PROBE_MARK_TARGET;
		n++;
	}
	return n;
}

uint32_t hodo_probe_tables_mark(const struct hodo_probe_tables *t)
{
	uint8_t bytes[TABLE_BYTES];
	uint32_t n = 0;

	for (uint32_t i = 0; t->e && i < t->n; i++) {
		size_t len = read_table(t->e, t->list[i], bytes);
		uint32_t found = mark(t, bytes, len, t->list[i], 4);

		n += found ? found : mark(t, bytes, len, 0, 8);
	}
	return n;
}
