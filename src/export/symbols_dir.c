/* SPDX-License-Identifier: MIT */
/* symbols_dir.c - keeps the symbols of traced objects in the recording. */
#define _GNU_SOURCE
#include "symbols_dir.h"
#include "symbols.h"

#include <base/escape.h>
#include <base/file.h>
#include <base/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Written under this name, then renamed. */
#define NEW_NAME ".new"

void hodo_symbols_name(char name[HODO_SYMBOLS_NAME_MAX], const char *path, const uint8_t *build_id, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	if (len) {
		len = len < (HODO_SYMBOLS_NAME_MAX - 2) / 2 ? len : (HODO_SYMBOLS_NAME_MAX - 2) / 2;
		*hodo_format_bytes(name, build_id, len) = 0;
		return;
	}
	for (const char *p = path; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
	sprintf(name, "p%016llx", (unsigned long long)h);
}

static int write_symbols(int dirfd, const char *name, struct hodo_sym *sym)
{
	int fd, err;

	unlinkat(dirfd, NEW_NAME, 0); /* of one that was killed */
	fd = hodo_file_make(dirfd, NEW_NAME);
	if (fd < 0)
		return fd;
	err = hodo_sym_save(sym, fd);
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err && renameat(dirfd, NEW_NAME, dirfd, name) < 0)
		err = -errno;
	if (err)
		unlinkat(dirfd, NEW_NAME, 0);
	return err;
}

static int keep_object(int dirfd, const struct hodo_read_object *o, uid_t owner)
{
	struct hodo_sym_source source = { .path = o->path,
					  .owner = owner,
					  .build_id = o->build_id_len ? o->build_id : NULL,
					  .build_id_len = o->build_id_len };
	char name[HODO_SYMBOLS_NAME_MAX];
	struct hodo_sym *sym;
	int err;

	hodo_symbols_name(name, o->path, o->build_id, o->build_id_len);
	if (faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (strcmp(o->path, HODO_KERNEL_OBJECT) == 0)
		err = hodo_sym_open_kernel(&sym, o->path, o->build_id, o->build_id_len);
	else
		err = hodo_sym_open(&sym, &source);
	if (err)
		return err;
	err = write_symbols(dirfd, name, sym);
	hodo_sym_close(sym);
	return err;
}

static int open_folder(const char *recording)
{
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/" HODO_SYMBOLS_DIR, recording) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = hodo_dir_make(AT_FDCWD, path);
	return err && err != -EEXIST ? err : hodo_dir_open(AT_FDCWD, path);
}

static bool has_context(const struct hodo_read_process *p)
{
	for (uint32_t i = 0; i < p->nclasses; i++)
		if (p->classes[i]->ncontext)
			return true;
	return false;
}

static int keep_process(const char *recording, const struct hodo_read_process *p, int *dirfd)
{
	bool all = has_context(p);
	int first = 0;

	for (uint32_t i = 0; i < p->nobjects; i++) {
		int err;

		if (!p->objects[i].functions && !all)
			continue;
		if (*dirfd < 0)
			*dirfd = open_folder(recording);
		if (*dirfd < 0)
			return *dirfd;
		err = keep_object(*dirfd, &p->objects[i], p->owner);
		if (!p->objects[i].functions)
			err = 0; /* the vdso has no file, and a library that was stripped no symbols */
		first = first ? first : err;
	}
	return first;
}

/* Keeps the symbols of what is in the recording that was opened, or in a part of it. */
static int keep_from(const char *recording, const char *read)
{
	struct hodo_read *r;
	int first = 0, dirfd = -1, err = hodo_read_open(&r, read, NULL);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		err = keep_process(recording, hodo_read_process(r, i), &dirfd);
		first = first ? first : err;
	}
	if (dirfd >= 0)
		close(dirfd);
	hodo_read_close(r);
	return first;
}

/* The same files under a part's own name, so that it can be taken elsewhere alone; no room is needed for that. */
static void link_symbols(const char *recording, const char *piece)
{
	char path[PATH_MAX];
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	HODO_AUTO_CLOSE int to = -1;
	const char *name;

	if (snprintf(path, sizeof(path), "%s/" HODO_SYMBOLS_DIR, recording) < (int)sizeof(path))
		d = hodo_dir_list(AT_FDCWD, path);
	to = d ? open_folder(piece) : -1;
	while (to >= 0 && (name = hodo_dir_next(d)) != NULL)
		if (name[0] != '.')
			linkat(dirfd(d), name, to, name, 0);
}

static bool is_piece_name(const char *name)
{
	size_t len = strncmp(name, "part-", 5) == 0 ? 5 : strncmp(name, "snapshot-", 9) == 0 ? 9 : 0;

	return len > 0 && name[len] && strspn(name + len, "0123456789") == strlen(name + len);
}

/* For each part and snapshot. */
static int for_pieces(const char *recording, bool keep)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(recording);
	char path[PATH_MAX];
	const char *name;
	int first = 0;

	while ((name = hodo_dir_next(d)) != NULL) {
		int err = 0;

		/* What has metadata is the folder of a program that is called so. */
		if (!is_piece_name(name) ||
		    snprintf(path, sizeof(path), "%s/%s/metadata", recording, name) >= (int)sizeof(path) ||
		    access(path, F_OK) == 0)
			continue;
		*strrchr(path, '/') = 0;
		if (keep)
			err = keep_from(recording, path);
		else
			link_symbols(recording, path);
		first = first ? first : err;
	}
	return first;
}

int hodo_symbols_keep(const char *recording)
{
	int err = keep_from(recording, recording);

	if (err == -ENOTUNIQ) /* snapshots, each a recording of its own */
		err = for_pieces(recording, true);
	for_pieces(recording, false);
	return err;
}
