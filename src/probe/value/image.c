/* SPDX-License-Identifier: MIT */
/* image.c - opens what probes need of a file, and finds its segments. */
#include "image.h"

#include <errno.h>

int hodo_probe_image_open(struct hodo_probe_image *i, const char *path, const char *debug_root)
{
	GElf_Shdr sh;
	int err;

	*i = (struct hodo_probe_image){ .path = path, .elf = HODO_ELF_CLOSED };
	err = hodo_elf_open(&i->elf, path);
	if (err)
		return err;
	err = hodo_elf_object_open(&i->object, path, NULL, 0, debug_root);
	if (!err && i->object.lines)
		err = hodo_elf_dwarf_open(&i->debug, i->object.lines, i->object.build_id, i->object.build_id_len);
	/* Without symbols, addresses remain; without sound debug information, symbols. */
	if (err == -ENOMEM) {
		hodo_probe_image_close(i);
		return err;
	}
	/* Without one, libdw searches further, and leaks memory on damaged files. */
	if (hodo_elf_section(i->elf.elf, NULL, ".eh_frame", &sh))
		i->frames = dwarf_getcfi_elf(i->elf.elf);
	return 0;
}

void hodo_probe_image_close(struct hodo_probe_image *i)
{
	if (i->frames)
		dwarf_cfi_end(i->frames);
	hodo_elf_dwarf_close(&i->debug);
	hodo_elf_object_close(&i->object);
	if (i->elf.elf)
		hodo_elf_close(&i->elf);
	*i = (struct hodo_probe_image){ .elf = HODO_ELF_CLOSED };
}

bool hodo_probe_image_segment(const struct hodo_probe_image *i, uint64_t address, uint32_t rights, uint64_t *before,
			      uint64_t *behind)
{
	GElf_Phdr p;

	for (size_t k = 0; hodo_elf_segment(i->elf.elf, &k, PT_LOAD, rights, &p);) {
		if (address < p.p_vaddr || address - p.p_vaddr >= p.p_memsz)
			continue;
		*before = address - p.p_vaddr;
		*behind = p.p_memsz - *before;
		return true;
	}
	return false;
}

bool hodo_probe_image_is_code(const struct hodo_probe_image *i, uint64_t address)
{
	uint64_t before, behind;

	return hodo_probe_image_segment(i, address, PF_X, &before, &behind);
}
