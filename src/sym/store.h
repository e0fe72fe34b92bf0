/* SPDX-License-Identifier: MIT */
/*
 * store.h - a folder of programs and debug files by build-id, in debuginfod's layout:
 *
 *	STORE/buildid/4b1c…/debuginfo     symbols, and debug information
 *	STORE/buildid/4b1c…/executable    code, and what unwinding a stack takes
 *
 * What is in it is hostile input: a file is used only if it has the build-id of its name and is whole. Nothing but
 * the digits of a build-id becomes a name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <elf/file.h>

enum hodo_store_kind { HODO_STORE_DEBUGINFO, HODO_STORE_EXECUTABLE };

#define HODO_STORE_NAME_MAX (sizeof("buildid//executable") + 2 * HODO_ELF_BUILD_ID_MAX)

/* Where readers look, and `hodo symbols pull` writes: $HODO_SYMBOLS, else hodo/symbols in the user's cache. To be
 * freed; NULL: there is no such place. */
char *hodo_store_default(void);

/* "buildid/4b1c…/debuginfo". len is HODO_ELF_BUILD_ID_MAX at most. */
void hodo_store_name(char name[HODO_STORE_NAME_MAX], const uint8_t *build_id, size_t len, enum hodo_store_kind kind);

/* The path of that file, if it is there and good, to be freed; NULL: it is not. Also where a client of debuginfod keeps
 * it (FOLDER/4b1c…/debuginfo), and where packages of distributions have it (FOLDER/.build-id/4b/1c….debug). */
char *hodo_store_find(const char *folder, const uint8_t *build_id, size_t len, enum hodo_store_kind kind);
/* hodo_store_find() with the reason. 0, and *path is to be freed; -ENOENT: there is none; or what is wrong with the
 * one that is there: as of hodo_store_end(), or what open(2) gives. */
int hodo_store_look(const char *folder, const uint8_t *build_id, size_t len, enum hodo_store_kind kind, char **path);

/* A file that is being written: it gets its name when it is whole. */
struct hodo_store_file {
	int fd; /* to be written to, from its beginning */
	int folder;
	char part[32];
	uint8_t build_id[HODO_ELF_BUILD_ID_MAX];
	size_t build_id_len;
	enum hodo_store_kind kind;
};

/*
 * Makes the folders, and the file under another name. Of several processes one at a time writes a file: the others
 * wait. 0; 1: it is there already, and nothing is open; or a negative errno: -EINTR: a signal came first.
 */
int hodo_store_begin(struct hodo_store_file *f, const char *folder, const uint8_t *build_id, size_t len,
		     enum hodo_store_kind kind);
/* Gives it its name. 0; -ENOEXEC: it is no ELF file; -ESTALE: it is another build; -EBADMSG: it is not whole; -ENODATA:
 * it has no symbols, and is to have them; or another negative errno. After an error nothing is left of it. */
int hodo_store_end(struct hodo_store_file *f);
void hodo_store_drop(struct hodo_store_file *f); /* leaves nothing of it */
