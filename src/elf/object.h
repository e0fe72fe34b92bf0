/* SPDX-License-Identifier: MIT */
/*
 * object.h - an executable or library as loaded in a process: symbols from its file, or from its debug file.
 */
#pragma once

#include "symbols.h"

#define HODO_ELF_DEBUG_ROOT "/usr/lib/debug" /* where separate debug files lie */

struct hodo_elf_object {
	struct hodo_elf_symbols symbols;
	uint8_t build_id[HODO_ELF_BUILD_ID_MAX]; /* the requested one, else the file's own */
	size_t build_id_len;
	char *lines; /* path of the file that has debug information; NULL: none */
};

/*
 * Reads symbols of the file at path ("": not available), if it has that build-id (len 0: any), and of its
 * debug file if the object is stripped; of the latter alone if the object is not available. root: where debug
 * files are, NULL: HODO_ELF_DEBUG_ROOT. 0; -ENOENT: no file; -ESTALE: the file has another build-id;
 * -ENODATA: no symbols; -EBADMSG: damaged, or no ELF; -EINVAL: the build-id is too long; -ENOMEM; what
 * open(2) gives. After an error it is closed.
 */
int hodo_elf_object_open(struct hodo_elf_object *o, const char *path, const uint8_t *build_id, size_t len,
			 const char *root);
void hodo_elf_object_close(struct hodo_elf_object *o);
