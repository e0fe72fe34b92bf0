/* SPDX-License-Identifier: MIT */
/*
 * output_folder.c - a directory that a verb makes from a recording: see output_file.h. It is written aside,
 * and gets its name when it is complete.
 */
#define _GNU_SOURCE
#include <cli/recording.h>
#include <cli/say.h>
#include "output_aside.h"
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>

struct folder {
	int fd;
	uint64_t bytes;
	bool failed; /* a file could not be written */
};

int hodo_output_append(void *folder, const char *name, const void *bytes, size_t len)
{
	struct folder *f = folder;
	int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
	int err = fd < 0 ? -errno : hodo_file_write(fd, bytes, len);

	if (fd >= 0 && close(fd) < 0 && !err)
		err = -errno;
	f->failed |= err < 0;
	f->bytes += len;
	return err;
}

/* Names of files that we make. */
static bool is_ours(const char *name)
{
	return strcmp(name, "metadata") == 0 || strcmp(name, "fallback") == 0 ||
	       (strncmp(name, "cpu", 3) == 0 && name[3] && name[3 + strspn(name + 3, "0123456789")] == 0);
}

/*
 * Removes a directory that contains nothing else. 0 or a negative errno: -ENOTEMPTY: there is something else,
 * and nothing was removed.
 */
static int remove_ours(const char *path)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(AT_FDCWD, path);
	const char *name;

	if (!d)
		return -errno;
	while ((name = hodo_dir_next(d)))
		if (!is_ours(name))
			return -ENOTEMPTY;
	rewinddir(d);
	while ((name = hodo_dir_next(d)))
		if (unlinkat(dirfd(d), name, 0) < 0)
			return -errno;
	return rmdir(path) < 0 ? -errno : 0;
}

/* 0, or the exit status, having said why. */
static int make_room(const char *path, bool force)
{
	struct stat st;
	int err;

	if (lstat(path, &st) < 0)
		return 0;
	if (!force)
		return hodo_error("%s exists: give --force to replace it, or name another directory with -o", path);
	err = S_ISDIR(st.st_mode) ? remove_ours(path) : -ENOTEMPTY;
	if (err == -ENOTEMPTY)
		return hodo_error("%s: hodo export did not make it: name another directory with -o", path);
	return err ? hodo_error("%s: cannot be replaced: %s: name another directory with -o", path, strerror(-err)) : 0;
}

static int make(const struct hodo_output_args *a, const char *path, struct hodo_read *reader,
		int (*write)(void *data, void *folder, struct hodo_symbols *symbols), void *data)
{
	HODO_AUTO_FREE char *aside = NULL;
	struct hodo_symbols *symbols;
	struct folder f = { 0 };
	HODO_AUTO_CLOSE int fd = -1;
	struct stat st;
	char size[32];
	mode_t mode;
	int err;

	if (asprintf(&aside, "%s.%d.part", path, (int)getpid()) < 0)
		exit(hodo_no_memory());
	/* A user who may not read the recording may not read the output. */
	mode = stat(a->args.dir, &st) == 0 ? 0700 | (st.st_mode & 055) : 0700;
	symbols = hodo_must(hodo_symbols_new(a->args.dir));
	hodo_ask_debuginfod(&a->args, symbols);
	hodo_aside_prepare();
	fd = hodo_aside_make(aside, mode, true);
	if (fd < 0) {
		hodo_symbols_free(symbols);
		return hodo_error("%s: cannot be written: %s: name another directory with -o", path, strerror(errno));
	}
	hodo_read_symbols(reader, hodo_function_name_at, symbols);
	f.fd = fd;
	err = write(data, &f, symbols);
	hodo_symbols_free(symbols);
	if (!err) {
		err = hodo_aside_place(aside, path, false);
		f.failed = err < 0;
	}
	if (err)
		remove_ours(aside);
	hodo_aside_over();
	if (err && f.failed)
		return hodo_error("%s: cannot be written: %s: name another directory with -o", path, strerror(-err));
	if (err)
		return hodo_error("%s: cannot be read further: %s", a->args.dir, strerror(-err));
	if (!a->args.quiet)
		hodo_error("%s in %s", hodo_human_bytes(f.bytes, size), path);
	return 0;
}

int hodo_output_folder(const struct hodo_output_args *a, const char *suffix, struct hodo_read *reader,
		       int (*write)(void *data, void *folder, struct hodo_symbols *symbols), void *data)
{
	HODO_AUTO_FREE char *path = NULL;
	int status;

	if (a->path && strcmp(a->path, "-") == 0)
		return hodo_usage(a->args.verb->name, "this format is a directory: name one with -o instead "
				  "of standard output");
	path = hodo_must(a->path ? strdup(a->path) : hodo_output_beside(a->args.dir, suffix));
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	status = make_room(path, hodo_output_replaces(a));
	return status ? status : make(a, path, reader, write, data);
}
