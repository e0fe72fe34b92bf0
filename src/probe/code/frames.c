/* SPDX-License-Identifier: MIT */
/*
 * frames.c - functions from .eh_frame, which stripped objects also have. elfutils parses the descriptions;
 * here we read their pointers, and recognise those that are not functions.
 */
#include "code_impl.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

/* Reads bytes up to their end; past it everything is 0, and `ended` is set. */
struct reader {
	const uint8_t *at, *end;
	bool ended;
};

static uint64_t take(struct reader *r, unsigned bytes)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->ended = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&v, r->at, bytes);
	r->at += bytes;
	return v;
}

static uint64_t take_uleb(struct reader *r)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = take(r, 1);
		v |= shift < 64 ? (byte & 127) << shift : 0;
		shift += 7;
	} while (byte & 128);
	return v;
}

/* A pointer's bits without its base; false: of a form that compilers do not use here. */
static bool take_pointer(struct reader *r, uint8_t encoding, uint64_t *v)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: *v = take(r, 8); break;
	case DW_EH_PE_udata4: *v = take(r, 4); break;
	case DW_EH_PE_sdata4: *v = (uint64_t)(int64_t)(int32_t)take(r, 4); break;
	case DW_EH_PE_udata2: *v = take(r, 2); break;
	case DW_EH_PE_sdata2: *v = (uint64_t)(int64_t)(int16_t)take(r, 2); break;
	case DW_EH_PE_uleb128: *v = take_uleb(r); break;
	default: return false;
	}
	return !r->ended;
}

/* The encoding of the description's pointers, and whether it describes a signal frame. */
static bool read_augmentation(const Dwarf_CIE *cie, uint8_t *encoding, bool *signal)
{
	struct reader r = { cie->augmentation_data, cie->augmentation_data + cie->augmentation_data_size, false };
	uint64_t ignored;

	*encoding = DW_EH_PE_absptr;
	*signal = false;
	if (!cie->augmentation_data)
		r.at = r.end = (const uint8_t *)"";
	for (const char *a = cie->augmentation; *a; a++) {
		switch (*a) {
		case 'R': *encoding = (uint8_t)take(&r, 1); break;
		case 'P': /* skip the pointer to the personality */
			if (!take_pointer(&r, (uint8_t)take(&r, 1), &ignored))
				return false;
			break;
		case 'L': take(&r, 1); break;
		case 'S': *signal = true; break;
		default: break;
		}
	}
	return !r.ended && (*encoding & 0x70) <= DW_EH_PE_pcrel && !(*encoding & DW_EH_PE_indirect);
}

/*
 * At a function's entry, the frame is only the return address: CFA = rsp + 8. A moved part, and the linkage
 * table, begin with another rule; its instructions come before the first one that advances.
 */
static bool begins_inside(struct reader r)
{
	while (r.at < r.end) {
		uint8_t op = (uint8_t)take(&r, 1);

		switch (op) {
		case DW_CFA_nop: break;
		case DW_CFA_def_cfa_offset:
			if (take_uleb(&r) != 8)
				return true;
			break;
		case DW_CFA_def_cfa: {
			uint64_t reg = take_uleb(&r);

			if (take_uleb(&r) != 8 || reg != 7)
				return true;
			break;
		}
		case DW_CFA_def_cfa_register:
		case DW_CFA_def_cfa_expression: return true;
		default:
			/*
			 * DW_CFA_offset: a register has been saved, which never holds at an entry. Others
			 * advance, or are rare.
			 */
			return (op & 0xc0) == DW_CFA_offset;
		}
	}
	return false;
}

static int take_frame(const Dwarf_CIE *cie, const Dwarf_FDE *fde, const uint8_t *bytes, uint64_t address,
		      hodo_probe_frame_fn each, void *arg)
{
	struct reader r = { fde->start, fde->end, false };
	struct hodo_probe_frame f = { 0 };
	uint64_t base = address + (uint64_t)(fde->start - bytes), len, skip;
	uint8_t encoding;

	if (!read_augmentation(cie, &encoding, &f.signal) || !take_pointer(&r, encoding, &f.start))
		return 0;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		f.start += base;
	if (!take_pointer(&r, encoding & 0x0f, &len) || !len || __builtin_add_overflow(f.start, len, &f.end))
		return 0;
	if (cie->augmentation[0] == 'z') {
		skip = take_uleb(&r);
		if (skip > (size_t)(r.end - r.at))
			return 0;
		r.at += skip;
	}
	f.part = !f.signal && begins_inside(r);
	return each(arg, &f);
}

int hodo_probe_frames(const uint8_t *bytes, size_t len, uint64_t address, hodo_probe_frame_fn each, void *arg)
{
	static const unsigned char ident[EI_NIDENT] = { [EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB,
							[EI_VERSION] = EV_CURRENT };
	Elf_Data data = { .d_buf = (void *)(uintptr_t)bytes, .d_type = ELF_T_BYTE, .d_version = EV_CURRENT,
			  .d_size = len };
	Dwarf_CFI_Entry entry, cie;
	Dwarf_Off at = 0, next = 0, cie_at = (Dwarf_Off)-1, ignored;
	int err = 0;

	for (; !err && dwarf_next_cfi(ident, &data, true, at, &next, &entry) == 0; at = next) {
		if (next <= at)
			break;
		if (entry.CIE_id == DW_CIE_ID_64)
			continue;
		if (entry.fde.CIE_pointer != cie_at &&
		    (dwarf_next_cfi(ident, &data, true, entry.fde.CIE_pointer, &ignored, &cie) != 0 ||
		     cie.CIE_id != DW_CIE_ID_64))
			continue;
		cie_at = entry.fde.CIE_pointer;
		err = take_frame(&cie.cie, &entry.fde, bytes, address, each, arg);
	}
	return err;
}
