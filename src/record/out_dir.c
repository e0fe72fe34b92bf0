/* SPDX-License-Identifier: MIT */
/*
 * out_dir.c - the directory of a recording.
 *
 * A recording is known by its contents: folders, each with nothing but
 * metadata that says it is ours, and stream files; one with the symbols of
 * traced programs; and parts and snapshots, which are recordings but have no
 * parts themselves. One unknown name anywhere, and the directory is somebody else's.
 */
#define _GNU_SOURCE
#include "out_dir.h"
#include "remedy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool hodo_out_dir_is_stream(const char *name)
{
	if (strcmp(name, "fallback") == 0 || strcmp(name, "profile") == 0)
		return true;
	return strncmp(name, "cpu", 3) == 0 && name[3] && strlen(name) <= 9 &&
	       strspn(name + 3, "0123456789") == strlen(name + 3);
}

#define SYMBOLS ".symbols"

/* A build-id, "p" and a hash, or what is being written. */
static bool is_symbols_name(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef");

	if (strcmp(name, ".new") == 0)
		return true;
	if (name[0] == 'p')
		return strlen(name) == 17 && strspn(name + 1, "0123456789abcdef") == 16;
	return digits > 0 && digits <= 128 && digits % 2 == 0 && !name[digits];
}

static bool is_our_metadata(int dirfd)
{
	static const char head[] = "/* CTF 1.8 */\n/*@hodo ";
	char start[sizeof(head)] = "";
	int fd = openat(dirfd, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool ours;

	if (fd < 0)
		return false;
	ours = read(fd, start, sizeof(head) - 1) == (ssize_t)sizeof(head) - 1 && strcmp(start, head) == 0;
	close(fd);
	return ours;
}

static DIR *open_dir(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* A process's folder. One that is quite empty was left by a recorder that was killed. */
static bool is_trace(int topfd, const char *name)
{
	DIR *d = open_dir(topfd, name);
	bool good = d != NULL, empty = true;
	struct dirent *e;

	while (good && (e = readdir(d))) {
		if (is_dot(e->d_name))
			continue;
		if (strcmp(e->d_name, ".metadata.new") == 0)
			continue;
		empty = false;
		good = strcmp(e->d_name, "metadata") == 0 || hodo_out_dir_is_stream(e->d_name);
	}
	if (good && !empty)
		good = is_our_metadata(dirfd(d));
	if (d)
		closedir(d);
	return good;
}

static bool is_symbols(int topfd)
{
	DIR *d = open_dir(topfd, SYMBOLS);
	bool good = d != NULL;
	struct dirent *e;

	while (good && (e = readdir(d)))
		good = is_dot(e->d_name) || is_symbols_name(e->d_name);
	if (d)
		closedir(d);
	return good;
}

/* Whether a name is a part's or a snapshot's; a process may have it as well. */
static bool is_piece_name(const char *name)
{
	static const char *const starts[] = { HODO_OUT_PART, HODO_OUT_SNAPSHOT };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		size_t len = strlen(starts[i]), digits = strspn(name + strnlen(name, len), "0123456789");

		if (strncmp(name, starts[i], len) == 0 && digits >= 4 && digits <= 10 && !name[len + digits])
			return true;
	}
	return false;
}

static bool is_recording(int fd, bool pieces);

/* A part or a snapshot; what has metadata is a process's folder. */
static bool is_piece(int topfd, const char *name)
{
	struct stat st;
	int fd;
	bool good;

	if (!is_piece_name(name))
		return false;
	fd = openat(topfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = fstatat(fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) < 0 && is_recording(fd, false);
	close(fd);
	return good;
}

static bool is_empty(int topfd, const char *name)
{
	DIR *d = open_dir(topfd, name);
	bool empty = d != NULL;
	struct dirent *e;

	while (empty && (e = readdir(d)))
		empty = is_dot(e->d_name);
	if (d)
		closedir(d);
	return empty;
}

static bool is_recording(int fd, bool pieces)
{
	DIR *d = open_dir(fd, ".");
	bool good = d != NULL;
	struct dirent *e;

	while (good && (e = readdir(d))) {
		if (is_dot(e->d_name))
			continue;
		if (strcmp(e->d_name, SYMBOLS) == 0)
			good = is_symbols(fd);
		else if (pieces && strcmp(e->d_name, HODO_OUT_PART_NEW) == 0)
			good = is_empty(fd, e->d_name);
		else
			good = (pieces && is_piece(fd, e->d_name)) || is_trace(fd, e->d_name);
	}
	if (d)
		closedir(d);
	return good;
}

int hodo_out_dir_is_recording(int fd)
{
	return is_recording(fd, true);
}

/* Removes a folder with the files that is_trace() has seen in it; other names make rmdir fail. */
static int remove_trace(int topfd, const char *name)
{
	DIR *d = open_dir(topfd, name);
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (hodo_out_dir_is_stream(e->d_name) || strcmp(e->d_name, ".metadata.new") == 0)
			unlinkat(dirfd(d), e->d_name, 0);
	/* Last: while it is there, the folder is known as ours. */
	unlinkat(dirfd(d), "metadata", 0);
	closedir(d);
	return unlinkat(topfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_symbols(int topfd)
{
	DIR *d = open_dir(topfd, SYMBOLS);
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (is_symbols_name(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return unlinkat(topfd, SYMBOLS, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_piece(int topfd, const char *name);

/* Removes what is_recording() has seen. */
static int remove_contents(int fd, bool pieces)
{
	DIR *d = open_dir(fd, ".");
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		if (is_dot(e->d_name))
			continue;
		if (strcmp(e->d_name, SYMBOLS) == 0)
			err = remove_symbols(fd);
		else if (pieces && strcmp(e->d_name, HODO_OUT_PART_NEW) == 0)
			err = unlinkat(fd, e->d_name, AT_REMOVEDIR) < 0 ? -errno : 0;
		else if (pieces && is_piece(fd, e->d_name))
			err = remove_piece(fd, e->d_name);
		else
			err = remove_trace(fd, e->d_name);
	}
	closedir(d);
	return err;
}

static int remove_piece(int topfd, const char *name)
{
	int fd = openat(topfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = remove_contents(fd, false);
	close(fd);
	if (!err && unlinkat(topfd, name, AT_REMOVEDIR) < 0)
		err = -errno;
	return err;
}

int hodo_out_dir_remove_at(int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return is_piece(dirfd, name) ? remove_piece(dirfd, name) : -EEXIST;
}

int hodo_out_dir_remove(int fd, const char *path)
{
	int err = is_recording(fd, true) ? remove_contents(fd, true) : -EEXIST;

	if (!err && rmdir(path) < 0)
		err = -errno;
	return err;
}

/*
 * Opens what stands at path: a descriptor, -ENOENT if there is nothing,
 * -EEXIST if it is not a recording or one being written.
 */
static int open_recording(const char *path, char *error, size_t size)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) < 0) {
		int err = errno;

		snprintf(error, size, "%s cannot be made: %s: choose another directory with -o", path, strerror(err));
		return -err;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && S_ISDIR(st.st_mode)) {
		snprintf(error, size, "%s cannot be opened: %s: %s", path, strerror(errno), hodo_remedy(errno));
		return -EACCES;
	}
	if (fd < 0 || !hodo_out_dir_is_recording(fd)) {
		snprintf(error, size, "%s exists and is not a recording: choose another directory with -o", path);
	} else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		snprintf(error, size, "%s is being written by another recording: choose another directory with -o",
			 path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -EEXIST;
}

/* Moves a recording at path out of the way. 0 or negative errno. */
static int move_aside(const char *path, char *error, size_t size)
{
	char old[PATH_MAX];
	int err = 0, fd = open_recording(path, error, size), old_fd = -1;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old)) {
		snprintf(error, size, "%s.old: %s: %s", path, strerror(ENAMETOOLONG), hodo_remedy(ENAMETOOLONG));
		err = -ENAMETOOLONG;
	} else {
		old_fd = open_recording(old, error, size);
		if (old_fd < 0 && old_fd != -ENOENT)
			err = old_fd;
	}
	if (!err && old_fd >= 0) {
		err = hodo_out_dir_remove(old_fd, old);
		if (err)
			snprintf(error, size, "%s cannot be removed: %s: %s", old, strerror(-err), hodo_remedy(err));
	}
	if (!err && rename(path, old) < 0) {
		err = -errno;
		snprintf(error, size, "%s cannot be moved to %s: %s: %s", path, old, strerror(-err), hodo_remedy(err));
	}
	if (old_fd >= 0)
		close(old_fd);
	close(fd);
	return err;
}

int hodo_out_dir_open(const char *path, char *error, size_t size)
{
	char clean[PATH_MAX];
	size_t len = strlen(path);
	int err, fd;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0 || len >= sizeof(clean)) {
		snprintf(error, size, "'%.32s' is no name of a directory: choose another with -o", path);
		return len ? -ENAMETOOLONG : -ENOENT;
	}
	memcpy(clean, path, len);
	clean[len] = 0;
	err = move_aside(clean, error, size);
	if (err)
		return err;
	if (mkdir(clean, 0777) < 0) {
		err = -errno;
		snprintf(error, size, "%s cannot be made: %s: choose another directory with -o", clean, strerror(-err));
		return err;
	}
	fd = open(clean, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err = -errno;
		snprintf(error, size, "%s cannot be opened: %s: %s", clean, strerror(-err), hodo_remedy(err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	return fd;
}
