/* SPDX-License-Identifier: MIT */
/*
 * store.c - keeps files by build-id, and finds them.
 *
 * A file is written as .KIND.UID.part in its folder, under a lock, and then renamed. What a killed process left is
 * emptied and used by the next one of that user, so that no more than one such file can ever be there for each.
 *
 *	who                     beside whom                 why that is good
 *	writer (begin … end)    writer of the same user     the lock is on the file, not on its name: who gets it looks
 *	                                                    whether the name is still this file's, else begins anew
 *	                        writer of another user      has a file of its own; the later rename() takes the place of
 *	                                                    the same build
 *	writer that drops       writer that begins          rmdir() fails once the other has a file there; before, the
 *	                                                    other finds no folder, and begins anew
 *	writer                  reader                      the name comes with rename(): it is there whole, or not
 *	                        process that is killed      the kernel drops the lock, and the file's name is known
 */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/escape.h>
#include <base/file.h>
#include <base/scope.h>

enum { BY_SERVER, BY_CLIENT, BY_DISTRIBUTION, LAYOUTS };

#define TRIES_MAX 1000u /* of others to give up at the wrong moment; a path that cannot be is as good as that */
#define HEX_MAX (2 * HODO_ELF_BUILD_ID_MAX + 1)

static const char *const kinds[] = { "debuginfo", "executable" };

static void format_id(char hex[HEX_MAX], const uint8_t *build_id, size_t len)
{
	*hodo_format_bytes(hex, build_id, len < HODO_ELF_BUILD_ID_MAX ? len : HODO_ELF_BUILD_ID_MAX) = 0;
}

char *hodo_store_default(void)
{
	const char *own = getenv("HODO_SYMBOLS"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n = -1;

	if (own && *own)
		return strdup(own);
	if (cache && *cache == '/')
		n = asprintf(&path, "%s/hodo/symbols", cache);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.cache/hodo/symbols", home);
	return n < 0 ? NULL : path;
}

void hodo_store_name(char name[HODO_STORE_NAME_MAX], const uint8_t *build_id, size_t len, enum hodo_store_kind kind)
{
	char hex[HEX_MAX];

	format_id(hex, build_id, len);
	snprintf(name, HODO_STORE_NAME_MAX, "buildid/%s/%s", hex, kinds[kind]);
}

/* ----------------------------------------------------------------------- finding */

/* What the file is, if it is not what it should be. */
static int check(const struct hodo_elf *e, const uint8_t *build_id, size_t len, enum hodo_store_kind kind)
{
	if (!hodo_elf_is_whole(e))
		return -EBADMSG; /* then its build-id may be what is missing */
	if (!hodo_elf_is(e, build_id, len))
		return -ESTALE;
	return kind == HODO_STORE_DEBUGINFO && !hodo_elf_has_symbols(e->elf) ? -ENODATA : 0;
}

static int check_path(const char *path, const uint8_t *build_id, size_t len, enum hodo_store_kind kind)
{
	struct hodo_elf e;
	int err = hodo_elf_open(&e, path);

	if (err)
		return err == -ENOTDIR ? -ENOENT : err;
	err = check(&e, build_id, len, kind);
	hodo_elf_close(&e);
	return err;
}

/* 0: the path is to be freed; or as hodo_store_look(). */
static int find_as(unsigned layout, const char *folder, const uint8_t *build_id, size_t len, enum hodo_store_kind kind,
		   char **path)
{
	static const char *const suffixes[] = { ".debug", "" };
	char hex[HEX_MAX];
	int n, err;

	format_id(hex, build_id, len);
	if (layout == BY_DISTRIBUTION)
		n = asprintf(path, "%s/.build-id/%.2s/%s%s", folder, hex, hex + 2, suffixes[kind]);
	else
		n = asprintf(path, "%s%s/%s/%s", folder, layout == BY_SERVER ? "/buildid" : "", hex, kinds[kind]);
	if (n < 0) {
		*path = NULL;
		return -ENOMEM;
	}
	err = check_path(*path, build_id, len, kind);
	if (err) {
		free(*path);
		*path = NULL;
	}
	return err;
}

int hodo_store_look(const char *folder, const uint8_t *build_id, size_t len, enum hodo_store_kind kind, char **path)
{
	int err = -ENOENT, one = -ENOENT;

	*path = NULL;
	if (len < 2 || len > HODO_ELF_BUILD_ID_MAX)
		return -ENOENT;
	for (unsigned layout = 0; layout < LAYOUTS && one; layout++) {
		one = find_as(layout, folder, build_id, len, kind, path);
		err = err == -ENOENT ? one : err;
	}
	return one ? err : 0;
}

char *hodo_store_find(const char *folder, const uint8_t *build_id, size_t len, enum hodo_store_kind kind)
{
	char *path;

	hodo_store_look(folder, build_id, len, kind, &path);
	return path;
}

/* ----------------------------------------------------------------------- writing */

/* With the folders on its way. Its descriptor or a negative errno. */
static int make_folder(const char *path)
{
	HODO_AUTO_FREE char *part = strdup(path);
	int fd;

	for (char *c = part; c && *c; c++) {
		if (*c != '/' || c == part)
			continue;
		*c = 0;
		mkdir(part, 0777); /* what is wrong, the last one says */
		*c = '/';
	}
	if (!part)
		return -ENOMEM;
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Takes the place of *fd: the folder of that name in it, which may be new. */
static int enter(int *fd, const char *name)
{
	int in = *fd;

	*fd = mkdirat(in, name, 0777) < 0 && errno != EEXIST ? -errno : hodo_dir_open(in, name);
	close(in);
	return *fd < 0 ? *fd : 0;
}

/* A file that others put there, or one that has another name too, is not written to. */
static int lock_part(struct hodo_store_file *f)
{
	struct stat own, named;

	for (;;) {
		f->fd = openat(f->folder, f->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
		if (f->fd < 0)
			return -errno;
		if (flock(f->fd, LOCK_EX) < 0 || fstat(f->fd, &own) < 0)
			return -errno;
		if (fstatat(f->folder, f->part, &named, AT_SYMLINK_NOFOLLOW) == 0 && own.st_dev == named.st_dev &&
		    own.st_ino == named.st_ino)
			break;
		close(f->fd); /* it had got its name meanwhile */
	}
	if (!S_ISREG(own.st_mode) || own.st_uid != geteuid() || own.st_nlink != 1)
		return -EPERM;
	return ftruncate(f->fd, 0) < 0 ? -errno : 0;
}

static void close_all(struct hodo_store_file *f)
{
	hodo_close(f->fd);
	hodo_close(f->folder);
	f->fd = f->folder = -1;
}

static bool is_there(const char *folder, const struct hodo_store_file *f)
{
	HODO_AUTO_FREE char *path = NULL;

	return find_as(BY_SERVER, folder, f->build_id, f->build_id_len, f->kind, &path) == 0;
}

/* Opens the folder and the file. One that gives up removes the folder, also if we had just made it. */
static int open_part(struct hodo_store_file *f, const char *folder)
{
	char hex[HEX_MAX];
	unsigned tries = 0;
	int err;

	format_id(hex, f->build_id, f->build_id_len);
	do {
		close_all(f);
		f->folder = make_folder(folder);
		err = f->folder < 0 ? f->folder : 0;
		if (!err)
			err = enter(&f->folder, "buildid");
		if (!err)
			err = enter(&f->folder, hex);
		if (!err)
			err = lock_part(f);
	} while (err == -ENOENT && ++tries < TRIES_MAX);
	return err;
}

int hodo_store_begin(struct hodo_store_file *f, const char *folder, const uint8_t *build_id, size_t len,
		     enum hodo_store_kind kind)
{
	int err;

	*f = (struct hodo_store_file){ .fd = -1, .folder = -1, .build_id_len = len, .kind = kind };
	if (len < 2 || len > HODO_ELF_BUILD_ID_MAX)
		return -EINVAL;
	memcpy(f->build_id, build_id, len);
	if (is_there(folder, f))
		return 1;
	snprintf(f->part, sizeof(f->part), ".%s.%u.part", kinds[kind], (unsigned)geteuid());
	err = open_part(f, folder);
	if (err) {
		close_all(f);
		return err;
	}
	/* Somebody else may have had the lock, and written it. */
	if (!is_there(folder, f))
		return 0;
	hodo_store_drop(f);
	return 1;
}

int hodo_store_end(struct hodo_store_file *f)
{
	struct hodo_elf e;
	int fd = dup(f->fd), err = fd < 0 ? -errno : hodo_elf_take(&e, fd);

	if (!err) {
		err = check(&e, f->build_id, f->build_id_len, f->kind);
		hodo_elf_close(&e);
	}
	if (!err && fsync(f->fd) < 0) /* some file systems report a full disk only now */
		err = -errno;
	if (!err && renameat(f->folder, f->part, f->folder, kinds[f->kind]) < 0)
		err = -errno;
	if (err)
		hodo_store_drop(f);
	close_all(f);
	return err;
}

void hodo_store_drop(struct hodo_store_file *f)
{
	char itself[HEX_MAX + 3] = "../";

	format_id(itself + 3, f->build_id, f->build_id_len);
	if (f->folder >= 0) {
		unlinkat(f->folder, f->part, 0);
		unlinkat(f->folder, itself, AT_REMOVEDIR); /* only if nothing else is in it */
	}
	close_all(f);
}
