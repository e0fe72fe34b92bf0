/* SPDX-License-Identifier: MIT */
/* image.h - a file as values of probes need it: its segments, its functions' names, its debug information. Hostile; one
 * thread at a time. */
#ifndef HODO_PROBE_IMAGE_H
#define HODO_PROBE_IMAGE_H

#include <elf/dwarf.h>
#include <elf/object.h>

struct hodo_probe_object;

struct hodo_probe_image {
	const char *path;
	struct hodo_elf elf;
	struct hodo_elf_object object; /* no symbols: it has none */
	struct hodo_elf_dwarf debug;   /* dwarf NULL: it has none */
	Dwarf_CFI *frames;             /* of .eh_frame, NULL: it has none */
	/* Set by who has it: then entries of functions without a symbol are known, too. NULL: not known. */
	const struct hodo_probe_object *code;
};

/* 0; -ENOEXEC: no ELF file; -EBADMSG; -ENOMEM; what open(2) gives. After an error it is closed. The path is the
 * caller's; debug_root: where separate debug files lie, NULL: where systems have them. */
int hodo_probe_image_open(struct hodo_probe_image *i, const char *path, const char *debug_root);
void hodo_probe_image_close(struct hodo_probe_image *i);

/* How many bytes of the segment with these rights (PF_R, PF_X) that holds the address stand before it, and from it on;
 * false: none holds it. */
bool hodo_probe_image_segment(const struct hodo_probe_image *i, uint64_t address, uint32_t rights, uint64_t *before,
			      uint64_t *behind);
bool hodo_probe_image_is_code(const struct hodo_probe_image *i, uint64_t address);

#endif
