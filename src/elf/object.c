/* SPDX-License-Identifier: MIT */
/*
 * object.c - finds the symbols of a loaded object, and compares build-ids. What needs libdw is here: libhodo-read
 * does without.
 */
#include "object.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* -------------------------------------------------------------------- build-id */

size_t hodo_elf_build_id(const struct hodo_elf *e, uint8_t id[HODO_ELF_BUILD_ID_MAX])
{
	const void *own;
	ssize_t n = dwelf_elf_gnu_build_id(e->elf, &own);

	if (n <= 0 || n > HODO_ELF_BUILD_ID_MAX)
		return 0;
	memcpy(id, own, (size_t)n);
	return (size_t)n;
}

bool hodo_elf_is(const struct hodo_elf *e, const uint8_t *build_id, size_t len)
{
	uint8_t own[HODO_ELF_BUILD_ID_MAX];

	return len && hodo_elf_build_id(e, own) == len && memcmp(own, build_id, len) == 0;
}

/* ------------------------------------------------------------------ debug file */

/* Whether the file has the CRC in .gnu_debuglink. */
static bool has_crc(int fd, uint32_t wanted)
{
	uLong crc = crc32(0, NULL, 0);
	uint8_t buf[32768];
	off_t off = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), off)) > 0) {
		off += n;
		crc = crc32(crc, buf, (uInt)n);
	}
	return n == 0 && (uint32_t)crc == wanted;
}

static bool is_meant(const char *path, const uint8_t *build_id, size_t len, uint32_t crc)
{
	struct hodo_elf e;
	bool good;

	if (hodo_elf_open(&e, path) < 0)
		return false;
	good = len ? hodo_elf_is(&e, build_id, len) : has_crc(e.fd, crc);
	hodo_elf_close(&e);
	return good;
}

static char *by_build_id(const uint8_t *build_id, size_t len, const char *root)
{
	char hex[2 * HODO_ELF_BUILD_ID_MAX + 1], *path;

	if (len < 2 || len > HODO_ELF_BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", build_id[i]);
	if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2) < 0)
		return NULL;
	if (is_meant(path, build_id, len, 0))
		return path;
	free(path);
	return NULL;
}

static char *by_link(const struct hodo_elf *object, const char *object_path, const uint8_t *build_id, size_t len,
		     const char *root)
{
	static const struct {
		bool rooted;
		const char *folder;
	} places[] = { { false, "" }, { false, "/.debug" }, { true, "" } };
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(object->elf, &crc);
	char *dir, *slash, *path;

	/* It must be a plain name, not a path elsewhere. */
	if (!name || !*name || strchr(name, '/') || strlen(name) > 255)
		return NULL;
	dir = realpath(object_path, NULL);
	slash = dir ? strrchr(dir, '/') : NULL;
	if (!slash) {
		free(dir);
		return NULL;
	}
	*slash = 0;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(&path, "%s%s%s/%s", places[i].rooted ? root : "", dir, places[i].folder, name) < 0)
			break;
		if (is_meant(path, build_id, len, crc)) {
			free(dir);
			return path;
		}
		free(path);
	}
	free(dir);
	return NULL;
}

/*
 * The path of the separate debug file, to be freed; NULL: none. By build-id below root, or by .gnu_debuglink:
 * beside the object, in .debug there, or below root; without a build-id, the CRC must match. e->elf NULL: the
 * object is not available. Nothing is fetched from a network.
 */
static char *debug_file(const struct hodo_elf_object *o, const struct hodo_elf *e, const char *path, const char *root)
{
	char *found = by_build_id(o->build_id, o->build_id_len, root);

	return found || !e->elf ? found : by_link(e, path, o->build_id, o->build_id_len, root);
}

/* --------------------------------------------------------------------- symbols */

/* Opens the object's file, if it is the right one. */
static int open_file(struct hodo_elf_object *o, struct hodo_elf *e, const char *path)
{
	int err = *path ? hodo_elf_open(e, path) : -ENOENT;

	if (err)
		return err == -ENOEXEC ? -EBADMSG : err;
	if (!o->build_id_len)
		o->build_id_len = hodo_elf_build_id(e, o->build_id);
	else if (!hodo_elf_is(e, o->build_id, o->build_id_len))
		err = -ESTALE;
	if (err)
		hodo_elf_close(e);
	return err;
}

static int add_symbols(struct hodo_elf_object *o, const struct hodo_elf *file, const char *debug)
{
	struct hodo_elf d;
	int err = file->elf ? hodo_elf_symbols_add(&o->symbols, file->elf) : 0;

	if (!err && !o->symbols.full && debug && hodo_elf_open(&d, debug) == 0) {
		err = hodo_elf_symbols_add(&o->symbols, d.elf);
		hodo_elf_close(&d);
	}
	hodo_elf_symbols_sort(&o->symbols);
	if (!err)
		err = hodo_elf_symbols_join(&o->symbols);
	return err ? err : o->symbols.n ? 0 : -ENODATA;
}

int hodo_elf_object_open(struct hodo_elf_object *o, const char *path, const uint8_t *build_id, size_t len,
			 const char *root)
{
	struct hodo_elf e = HODO_ELF_CLOSED;
	int err;

	*o = (struct hodo_elf_object){ .build_id_len = len };
	if (len > sizeof(o->build_id))
		return -EINVAL;
	if (len)
		memcpy(o->build_id, build_id, len);
	err = open_file(o, &e, path);
	if (e.elf && hodo_elf_has_lines(e.elf))
		o->lines = strdup(path);
	else
		o->lines = debug_file(o, &e, path, root ? root : HODO_ELF_DEBUG_ROOT);
	if (e.elf || o->lines)
		err = add_symbols(o, &e, o->lines);
	hodo_elf_close(&e);
	if (err)
		hodo_elf_object_close(o);
	return err;
}

void hodo_elf_object_close(struct hodo_elf_object *o)
{
	hodo_elf_symbols_free(&o->symbols);
	free(o->lines);
	o->lines = NULL;
}
