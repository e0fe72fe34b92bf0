/* SPDX-License-Identifier: MIT */
/* object.h - an executable or library as a process has it loaded: symbols from its file, or from its debug file. */
#ifndef HODO_ELF_OBJECT_H
#define HODO_ELF_OBJECT_H

#include "symbols.h"

#define HODO_ELF_DEBUG_ROOT "/usr/lib/debug" /* where separate debug files lie */

struct hodo_elf_object {
	struct hodo_elf_symbols symbols;
	uint8_t build_id[HODO_ELF_BUILD_ID_MAX]; /* that was asked for, else the file's own */
	size_t build_id_len;
	char *lines; /* path of the file that has debug information; NULL: none */
};

/*
 * Symbols of the file at path ("": not to be had), if it has that build-id (len 0: any), and of its debug file where
 * the object has been stripped; of that alone where the object is not to be had. root: where
 * debug files lie, NULL: HODO_ELF_DEBUG_ROOT.
 * 0; -ENOENT: no file; -ESTALE: the file has another build-id; -ENODATA: no symbols; -EBADMSG: damaged, or no ELF;
 * -EINVAL: the build-id is too long; -ENOMEM; what open(2) gives. After an error it is closed.
 */
int hodo_elf_object_open(struct hodo_elf_object *o, const char *path, const uint8_t *build_id, size_t len,
			 const char *root);
void hodo_elf_object_close(struct hodo_elf_object *o);

#endif
