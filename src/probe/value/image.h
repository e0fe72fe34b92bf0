/* SPDX-License-Identifier: MIT */
/* image.h - a file for probes' values: its segments, its functions' names, its debug information. Hostile;
 * one thread at a time. */
#pragma once

#include <elf/dwarf.h>
#include <elf/object.h>

struct hodo_probe_object;

struct hodo_probe_image {
	const char *path;
	struct hodo_elf elf;
	struct hodo_elf_object object; /* may have no symbols */
	struct hodo_elf_dwarf debug;   /* dwarf NULL: none */
	Dwarf_CFI *frames;             /* from .eh_frame, NULL: none */
	/* Set it if available: then entries of functions without a symbol are also known. Else NULL. */
	const struct hodo_probe_object *code;
};

/* 0; -ENOEXEC: not ELF; -EBADMSG; -ENOMEM; errors of open(2). After an error it is closed. The caller keeps
 * the path; debug_root: where separate debug files are, NULL: the usual place. */
int hodo_probe_image_open(struct hodo_probe_image *i, const char *path, const char *debug_root);
void hodo_probe_image_close(struct hodo_probe_image *i);

/* How many bytes of the segment with these rights (PF_R, PF_X) that contains the address are before it, and
 * from it on; false: none. */
bool hodo_probe_image_segment(const struct hodo_probe_image *i, uint64_t address, uint32_t rights, uint64_t *before,
			      uint64_t *behind);
bool hodo_probe_image_is_code(const struct hodo_probe_image *i, uint64_t address);
