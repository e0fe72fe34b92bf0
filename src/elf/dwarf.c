/* SPDX-License-Identifier: MIT */
/* dwarf.c - checks debug information, and opens it for libdw. */
#include "dwarf.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/vec.h>
#include <core/search.h>

#define RANGES_MAX (1u << 22)
/* Decompressed debug information is three to five times as large; a larger claim is an attempt to fill the
 * memory. */
#define RATIO_MAX   64u
#define RATIO_FREE  (1u << 20)

/* ---------------------------------------------------------------- compressed sections */

/* The size that a section claims to have when it is decompressed; 0: it is not compressed. */
static uint64_t claimed_size(Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	GElf_Chdr ch;
	Elf_Data *data;
	uint64_t size;

	if (sh->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
	if (strncmp(name, ".zdebug", 7) != 0)
		return 0;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return be64toh(size);
}

static bool sizes_are_sound(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL)
		if (claimed_size(scn, &sh, hodo_elf_section_name(elf, &sh)) / RATIO_MAX > sh.sh_size + RATIO_FREE)
			return false;
	return true;
}

static bool text_ends(const Elf_Data *data)
{
	return !data || !data->d_size || (data->d_buf && !((const char *)data->d_buf)[data->d_size - 1]);
}

/* libdw does not check whether texts end. Call it after decompression. */
static bool texts_end(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL) {
		const char *debug = strstr(hodo_elf_section_name(elf, &sh), "debug_");

		if (debug && (strcmp(debug, "debug_str") == 0 || strcmp(debug, "debug_line_str") == 0) &&
		    !(text_ends(elf_getdata(scn, NULL)) && text_ends(elf_rawdata(scn, NULL))))
			return false;
	}
	return true;
}

/* Appends a NUL to the section, whose last text may not end. False: no memory, or no room. */
static bool end_section(struct hodo_elf_dwarf *d, Elf_Data *data)
{
	unsigned n = 0;
	char *copy;

	if (text_ends(data))
		return true;
	while (n < HODO_ELF_ENDED_MAX && d->ended[n])
		n++;
	copy = n < HODO_ELF_ENDED_MAX && data->d_buf ? malloc(data->d_size + 1) : NULL;
	if (!copy)
		return false;
	memcpy(copy, data->d_buf, data->d_size);
	copy[data->d_size] = 0;
	data->d_buf = d->ended[n] = copy;
	return true;
}

/* .debug_info contains texts, too, and need not end with a NUL. Call it before libdw reads it. */
static bool end_texts(struct hodo_elf_dwarf *d)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = hodo_elf_section(d->file.elf, scn, NULL, &sh)) != NULL) {
		const char *debug = strstr(hodo_elf_section_name(d->file.elf, &sh), "debug_");

		if (debug && (strcmp(debug, "debug_info") == 0 || strcmp(debug, "debug_types") == 0) &&
		    !(end_section(d, elf_getdata(scn, NULL)) && end_section(d, elf_rawdata(scn, NULL))))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------- units */

static int add_unit(struct hodo_elf_dwarf *d, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	struct hodo_elf_unit_range *range;
	ptrdiff_t at = 0;

	while (d->n < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		range = hodo_vec_add(d->ranges, d->n);
		if (!range)
			return -ENOMEM;
		*range = (struct hodo_elf_unit_range){ start, end, dwarf_dieoffset(die) };
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct hodo_elf_unit_range *x = a, *y = b;

	return hodo_order(x->start, y->start) ?: hodo_order(x->unit, y->unit);
}

static int list_units(struct hodo_elf_dwarf *d)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	int err = 0;

	while (!err && dwarf_get_units(d->dwarf, unit, &unit, &version, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = add_unit(d, &die);
	hodo_order_sort(d->ranges, d->n, by_start);
	return err;
}

/* ----------------------------------------------------------------------------- all */

int hodo_elf_dwarf_open(struct hodo_elf_dwarf *d, const char *path, const uint8_t *build_id, size_t len)
{
	int err;

	*d = (struct hodo_elf_dwarf){ .file = HODO_ELF_CLOSED };
	err = hodo_elf_open(&d->file, path);
	if (!err && len && !hodo_elf_is(&d->file, build_id, len))
		err = -ESTALE;
	if (!err && !sizes_are_sound(d->file.elf))
		err = -EBADMSG;
	if (!err) {
		d->dwarf = dwarf_begin_elf(d->file.elf, DWARF_C_READ, NULL);
		err = d->dwarf && texts_end(d->file.elf) && end_texts(d) ? list_units(d) : -EBADMSG;
	}
	if (err)
		hodo_elf_dwarf_close(d);
	return err;
}

void hodo_elf_dwarf_close(struct hodo_elf_dwarf *d)
{
	if (d->dwarf)
		dwarf_end(d->dwarf);
	if (d->file.elf)
		hodo_elf_close(&d->file);
	for (unsigned i = 0; i < HODO_ELF_ENDED_MAX; i++)
		free(d->ended[i]);
	free(d->ranges);
	*d = (struct hodo_elf_dwarf){ .file = HODO_ELF_CLOSED };
}

bool hodo_elf_dwarf_unit(const struct hodo_elf_dwarf *d, uint64_t address, unsigned i, Dwarf_Die *unit)
{
	uint32_t behind = hodo_search(k, d->n, d->ranges[k].start > address);

	for (uint32_t k = behind; k-- > 0 && behind - k <= HODO_ELF_OVERLAP_MAX;)
		if (address < d->ranges[k].end && i-- == 0)
			return dwarf_offdie(d->dwarf, d->ranges[k].unit, unit) != NULL;
	return false;
}

bool hodo_elf_child_next(struct hodo_elf_child *c, Dwarf_Die *parent)
{
	int more = c->at ? dwarf_siblingof(&c->die, &c->die) : dwarf_child(parent, &c->die);
	Dwarf_Off at = more == 0 ? dwarf_dieoffset(&c->die) : 0;

	/* A DW_AT_sibling that leads back would loop forever. */
	if (more != 0 || at <= c->at)
		return false;
	c->at = at;
	return true;
}
