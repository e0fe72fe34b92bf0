/* SPDX-License-Identifier: MIT */
/* symbols_dir.c - keeps the symbols of traced objects in the recording. */
#include "symbols_dir.h"
#include "recording_symbols.h"

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

	unlinkat(dirfd, NEW_NAME, 0); /* left by a killed process */
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

/*
 * A file of another root directory may have the same path as one of ours: by its build-id it is known that it is the
 * right one. One without is taken where there is no other.
 */
int hodo_symbols_open(struct hodo_sym **sym, const struct hodo_sym_source *source, const int *roots, uint32_t n)
{
	struct hodo_sym_source there = *source;
	int err = hodo_sym_open(sym, source);

	for (uint32_t i = 0; err && i < n; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "/proc/self/fd/%d%s", roots[i], source->path) >= (int)sizeof(path))
			continue;
		there.path = path;
		if (hodo_sym_open(sym, &there) == 0)
			err = 0;
	}
	return err;
}

/* The recording; and the root directories of processes that did not have ours. */
struct keeping {
	const char *recording;
	const int *roots;
	uint32_t nroots;
	int dirfd; /* -1: not made */
	char *failed; /* the path of the first object that could not be kept; NULL: not asked */
};

static int keep_object(const struct keeping *k, const struct hodo_read_object *o, uid_t owner)
{
	struct hodo_sym_source source = { .path = o->path,
					  .owner = owner,
					  .build_id = o->build_id_len ? o->build_id : NULL,
					  .build_id_len = o->build_id_len };
	char name[HODO_SYMBOLS_NAME_MAX];
	struct hodo_sym *sym;
	int err;

	hodo_symbols_name(name, o->path, o->build_id, o->build_id_len);
	if (faccessat(k->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (strcmp(o->path, HODO_KERNEL_OBJECT) == 0)
		err = hodo_sym_open_kernel(&sym, o->path, o->build_id, o->build_id_len);
	else
		err = hodo_symbols_open(&sym, &source, k->roots, k->nroots);
	if (err)
		return err;
	err = write_symbols(k->dirfd, name, sym);
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

static int keep_process(struct keeping *k, const struct hodo_read_process *p)
{
	bool all = has_context(p);
	int first = 0;

	for (uint32_t i = 0; i < p->nobjects; i++) {
		int err;

		if (!p->objects[i].functions && !all)
			continue;
		if (k->dirfd < 0)
			k->dirfd = open_folder(k->recording);
		if (k->dirfd < 0)
			return k->dirfd;
		err = keep_object(k, &p->objects[i], p->owner);
		if (!p->objects[i].functions)
			err = 0; /* the vdso has no file, and a stripped library no symbols */
		if (err && k->failed && !*k->failed)
			snprintf(k->failed, PATH_MAX, "%s", p->objects[i].path);
		first = first ? first : err;
	}
	return first;
}

/* Keeps the symbols of the recording that was opened, or of a part of it. */
static int keep_from(struct keeping *k, const char *read)
{
	struct hodo_read *r;
	int first = 0, err = hodo_read_open(&r, read, NULL);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		err = keep_process(k, hodo_read_process(r, i));
		first = first ? first : err;
	}
	hodo_read_close(r);
	return first;
}

/* Links the same files into a part, so that it can be moved elsewhere alone; that takes no room. */
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
static int for_pieces(struct keeping *k, bool keep)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir(k->recording);
	char path[PATH_MAX];
	const char *name;
	int first = 0;

	while ((name = hodo_dir_next(d)) != NULL) {
		int err = 0;

		/* A folder with metadata belongs to a program with such a name. */
		if (!is_piece_name(name) ||
		    snprintf(path, sizeof(path), "%s/%s/metadata", k->recording, name) >= (int)sizeof(path) ||
		    access(path, F_OK) == 0)
			continue;
		*strrchr(path, '/') = 0;
		if (keep)
			err = keep_from(k, path);
		else
			link_symbols(k->recording, path);
		first = first ? first : err;
	}
	return first;
}

int hodo_symbols_keep(const char *recording, const int *roots, uint32_t nroots, char object[PATH_MAX])
{
	struct keeping k = { recording, roots, nroots, -1, object };
	int err;

	if (object)
		*object = 0;
	err = keep_from(&k, recording);
	if (err == -ENOTUNIQ) /* snapshots, each a recording of its own */
		err = for_pieces(&k, true);
	for_pieces(&k, false);
	hodo_close(k.dirfd);
	return err;
}
