/* SPDX-License-Identifier: MIT */
/* debug_file.c - files: opening them, and finding the separate debug file of one. */
#include "internal.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int hodo_sym_elf_open(struct hodo_sym_elf *e, const char *path)
{
	struct stat st;
	int err = 0;

	e->elf = NULL;
	e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (e->fd < 0)
		return -errno;
	if (fstat(e->fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		err = -EBADMSG;
	if (!err) {
		/* Read, not mapped: the file may shrink. */
		e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
		err = e->elf && elf_kind(e->elf) == ELF_K_ELF ? 0 : -EBADMSG;
	}
	if (err)
		hodo_sym_elf_close(e);
	return err;
}

void hodo_sym_elf_close(struct hodo_sym_elf *e)
{
	if (e->elf)
		elf_end(e->elf);
	if (e->fd >= 0)
		close(e->fd);
	e->elf = NULL;
	e->fd = -1;
}

int hodo_sym_elf_check(const struct hodo_sym_elf *e, const uint8_t *build_id, size_t len)
{
	const void *own;
	ssize_t n = dwelf_elf_gnu_build_id(e->elf, &own);

	return n > 0 && (size_t)n == len && memcmp(own, build_id, len) == 0 ? 0 : -ESTALE;
}

size_t hodo_sym_elf_build_id(const struct hodo_sym_elf *e, uint8_t id[HODO_SYM_BUILD_ID_MAX])
{
	const void *own;
	ssize_t n = dwelf_elf_gnu_build_id(e->elf, &own);

	if (n <= 0 || n > HODO_SYM_BUILD_ID_MAX)
		return 0;
	memcpy(id, own, (size_t)n);
	return (size_t)n;
}

bool hodo_sym_has_lines(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0))
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------- build-id */

static char *by_build_id(const struct hodo_sym *sym, const char *root)
{
	char hex[2 * HODO_SYM_BUILD_ID_MAX + 1], *path;
	struct hodo_sym_elf e;

	if (sym->build_id_len < 2)
		return NULL;
	for (size_t i = 0; i < sym->build_id_len; i++)
		sprintf(hex + 2 * i, "%02x", sym->build_id[i]);
	if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2) < 0)
		return NULL;
	if (hodo_sym_elf_open(&e, path) == 0) {
		int err = hodo_sym_elf_check(&e, sym->build_id, sym->build_id_len);

		hodo_sym_elf_close(&e);
		if (!err)
			return path;
	}
	free(path);
	return NULL;
}

/* ------------------------------------------------------------------- debug link */

/* The CRC that .gnu_debuglink has: polynomial 0x04c11db7, reflected. */
static bool has_crc(int fd, uint32_t wanted)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = ~0u;
	uint8_t buf[32768];
	off_t off = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), off)) > 0) {
		off += n;
		for (ssize_t i = 0; i < n; i++) {
			crc ^= buf[i];
			crc = nibble[crc & 15] ^ crc >> 4;
			crc = nibble[crc & 15] ^ crc >> 4;
		}
	}
	return n == 0 && ~crc == wanted;
}

/* Whether the file is the one meant: by build-id where there is one, else by its CRC. */
static bool is_debug_file(const struct hodo_sym *sym, const char *path, uint32_t crc)
{
	struct hodo_sym_elf e;
	bool good;

	if (hodo_sym_elf_open(&e, path) < 0)
		return false;
	good = sym->build_id_len ? hodo_sym_elf_check(&e, sym->build_id, sym->build_id_len) == 0
				 : has_crc(e.fd, crc);
	hodo_sym_elf_close(&e);
	return good;
}

static char *by_link(const struct hodo_sym *sym, const struct hodo_sym_elf *e, const char *root)
{
	static const struct {
		bool rooted;
		const char *folder;
	} places[] = { { false, "" }, { false, "/.debug" }, { true, "" } };
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(e->elf, &crc);
	char *dir, *slash, *path;

	/* A name, not a way to elsewhere. */
	if (!name || !*name || strchr(name, '/') || strlen(name) > 255)
		return NULL;
	dir = realpath(sym->path, NULL);
	slash = dir ? strrchr(dir, '/') : NULL;
	if (!slash) {
		free(dir);
		return NULL;
	}
	*slash = 0;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(&path, "%s%s%s/%s", places[i].rooted ? root : "", dir, places[i].folder, name) < 0)
			break;
		if (is_debug_file(sym, path, crc)) {
			free(dir);
			return path;
		}
		free(path);
	}
	free(dir);
	return NULL;
}

char *hodo_sym_debug_file(const struct hodo_sym *sym, const struct hodo_sym_elf *e, const char *root)
{
	char *path = by_build_id(sym, root);

	return path || !e ? path : by_link(sym, e, root);
}
