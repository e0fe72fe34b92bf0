/* SPDX-License-Identifier: MIT */
/*
 * out_dir.c - the directory of a recording.
 *
 * A recording is recognised by its contents: folders that have only stream files and metadata that says it is
 * ours; one with the symbols of traced programs; and parts and snapshots, which are recordings but have no
 * parts themselves. With a single unknown name anywhere, the directory is somebody else's.
 */
#include "out_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <base/file.h>
#include <base/scope.h>
#include <pack/frames.h>

#include "names.h"

#define FOLDER_NUMBER_MAX 1000000u

bool hodo_out_dir_is_stream(const char *name)
{
	static const char *const others[] = { "fallback", "profile", "open" };
	size_t len = hodo_frames_name(name);

	len = len ? len : strlen(name);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strlen(others[i]) == len && memcmp(name, others[i], len) == 0)
			return true;
	return strncmp(name, "cpu", 3) == 0 && len > 3 && len <= 9 && strspn(name + 3, "0123456789") == len - 3;
}

/* A build-id, "p" and a hash, or a file being written. */
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
	char start[sizeof(HODO_OUT_METADATA_HEAD)] = "";
	HODO_AUTO_CLOSE int fd = openat(dirfd, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd >= 0 && read(fd, start, sizeof(start) - 1) == (ssize_t)sizeof(start) - 1 &&
	       strcmp(start, HODO_OUT_METADATA_HEAD) == 0;
}

static bool is_trace_file(const char *name)
{
	return hodo_out_dir_is_stream(name) || strcmp(name, "metadata") == 0 || strcmp(name, ".metadata.new") == 0;
}

static bool is_new_metadata(const char *name)
{
	return strcmp(name, ".metadata.new") == 0;
}

static bool is_nothing(const char *name)
{
	return false;
}

static int remove_dir(int topfd, const char *name)
{
	return unlinkat(topfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/*
 * Whether a folder has only our files: 0 or -EEXIST. remove: removes those, and it; others make rmdir fail.
 */
static int files(int topfd, const char *name, bool (*is_ours)(const char *name), bool remove)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(topfd, name);

	if (!d) /* a file just created there is not ours, as in any folder that is not empty */
		return errno == ENOTDIR ? -ENOTEMPTY : -errno;
	for (const char *file; (file = hodo_dir_next(d));) {
		if (!is_ours(file) && !remove)
			return -EEXIST;
		if (is_ours(file) && remove && strcmp(file, "metadata") != 0)
			unlinkat(dirfd(d), file, 0);
	}
	if (!remove)
		return 0;
	/* Last: while it exists, the folder is recognised as ours. */
	unlinkat(dirfd(d), "metadata", 0);
	return remove_dir(topfd, name);
}

/* As hodo_out_dir_folder() and hodo_out_dir_add() make them. */
static bool is_folder_name(const char *name)
{
	const char *dash = strrchr(name, '-');

	if (strcmp(name, "kernel") == 0)
		return true;
	return dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1);
}

/* A process's folder. A killed recorder leaves an empty one, which only its name tells from others. */
static int trace(int topfd, const char *name, bool remove)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(topfd, name);
	int err = files(topfd, name, is_trace_file, remove);
	bool ours;

	if (err || remove)
		return err;
	if (files(topfd, name, is_new_metadata, false) == 0)
		ours = is_folder_name(name);
	else
		ours = fd >= 0 && is_our_metadata(fd);
	return ours ? 0 : -EEXIST;
}

bool hodo_out_dir_is_piece(const char *name)
{
	static const char *const starts[] = { HODO_OUT_PART, HODO_OUT_SNAPSHOT };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		size_t len = strlen(starts[i]), digits = strspn(name + strnlen(name, len), "0123456789");

		if (strncmp(name, starts[i], len) == 0 && digits >= 4 && digits <= 10 && !name[len + digits])
			return true;
	}
	return false;
}

static int contents(int fd, bool pieces, bool remove);

/* A part or a snapshot; a folder with metadata is a process's. */
static bool is_piece(int topfd, const char *name)
{
	HODO_AUTO_CLOSE int fd = hodo_out_dir_is_piece(name) ? hodo_dir_open(topfd, name) : -1;
	struct stat st;

	return fd >= 0 && fstatat(fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) < 0 && contents(fd, false, false) == 0;
}

static int remove_piece(int topfd, const char *name)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(topfd, name);
	int err = fd < 0 ? fd : contents(fd, false, true);

	return err ? err : remove_dir(topfd, name);
}

/*
 * Whether everything there belongs to a recording: 0 or a negative errno. remove: removes what was checked.
 */
static int contents(int fd, bool pieces, bool remove)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	int err = d ? 0 : -errno;

	for (const char *name; !err && (name = hodo_dir_next(d));) {
		if (strcmp(name, HODO_OUT_SYMBOLS) == 0)
			err = files(fd, name, is_symbols_name, remove);
		else if (pieces && strcmp(name, HODO_OUT_PART_NEW) == 0)
			err = files(fd, name, is_nothing, remove);
		else if (pieces && is_piece(fd, name))
			err = remove ? remove_piece(fd, name) : 0;
		else
			err = trace(fd, name, remove);
	}
	return err;
}

int hodo_out_dir_drop(int dirfd, const char *name)
{
	return trace(dirfd, name, true);
}

int hodo_out_dir_add(int dirfd, const char *name, char *made, size_t size)
{
	int len = snprintf(made, size, "%s", name), fd, err;

	for (unsigned int n = 2; (err = hodo_dir_make(dirfd, made)) < 0; n++) {
		if (err != -EEXIST || n == FOLDER_NUMBER_MAX)
			return err;
		/* Cuts the name, not the number. */
		snprintf(made + ((size_t)len + 8 > size ? size - 8 : (size_t)len), 8, "-%u", n);
	}
	fd = hodo_dir_open(dirfd, made);
	if (fd < 0)
		remove_dir(dirfd, made);
	return fd;
}

void hodo_out_dir_folder(char *name, size_t size, const char *comm, uint32_t pid, bool kernel)
{
	char file[32];

	hodo_name_file(file, sizeof(file), comm);
	if (kernel)
		snprintf(name, size, "kernel");
	else
		snprintf(name, size, "%s-%u", file, pid);
}

void hodo_out_dir_part(char name[32], uint32_t number)
{
	snprintf(name, 32, HODO_OUT_PART "%04u", number);
}

int hodo_out_dir_remove_at(int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return is_piece(dirfd, name) ? remove_piece(dirfd, name) : -EEXIST;
}

bool hodo_out_dir_has_metadata(int fd, bool pieces)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");

	for (const char *name; (name = hodo_dir_next(d));) {
		HODO_AUTO_CLOSE int entry = hodo_dir_open(fd, name);

		if (entry >= 0 && (is_our_metadata(entry) || (pieces && hodo_out_dir_is_piece(name) &&
							      hodo_out_dir_has_metadata(entry, false))))
			return true;
	}
	return false;
}

bool hodo_out_dir_is_recording(int fd)
{
	return contents(fd, true, false) == 0 && hodo_out_dir_has_metadata(fd, true);
}

int hodo_out_dir_remove_in(int parent, int fd, const char *name)
{
	int err = contents(fd, true, false) ? -EEXIST : contents(fd, true, true);

	return err ? err : remove_dir(parent, name);
}

int hodo_out_dir_remove(int fd, const char *path)
{
	return hodo_out_dir_remove_in(AT_FDCWD, fd, path);
}

/*
 * Opens path: a descriptor, -ENOENT if there is nothing, -EEXIST if it is not a recording, or is being
 * written.
 */
static int open_recording(const char *path, struct hodo_why *why)
{
	struct stat st;
	HODO_AUTO_CLOSE int fd = -1;

	if (lstat(path, &st) < 0)
		return hodo_why(why, -errno, "%s cannot be made: %s: choose another directory with -o", path,
				strerror(errno));
	fd = hodo_dir_open(AT_FDCWD, path);
	if (fd < 0 && S_ISDIR(st.st_mode)) {
		hodo_why_errno(why, fd, "%s cannot be opened", path);
		return -EACCES;
	}
	if (fd < 0 || contents(fd, true, false))
		return hodo_why(why, -EEXIST, "%s exists and is not a recording: choose another directory with -o",
				path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return hodo_why(why, -EEXIST, "%s is being written by another recording: choose another directory "
				"with -o", path);
	return hodo_take_fd(&fd);
}

/* To a name that is not used. 0 or a negative errno. */
static int set_apart(const char *path, char to[PATH_MAX])
{
	int err = 0;

	if (snprintf(to, PATH_MAX, "%s-XXXXXX", path) >= PATH_MAX)
		err = -ENAMETOOLONG;
	else if (!mkdtemp(to))
		err = -errno;
	else if (rename(path, to) < 0) {
		err = -errno;
		rmdir(to);
	}
	if (err)
		to[0] = 0;
	return err;
}

/* Moves a recording at path out of the way. aside: NULL, or how to undo that. 0 or negative errno. */
static int move_aside(const char *path, struct hodo_out_aside *aside, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = open_recording(path, why);
	HODO_AUTO_CLOSE int old_fd = -1;
	char old[PATH_MAX];
	int err = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return hodo_why_errno(why, -ENAMETOOLONG, "%s.old", path);
	old_fd = open_recording(old, why);
	if (old_fd < 0 && old_fd != -ENOENT)
		return old_fd;
	if (old_fd >= 0)
		err = aside ? set_apart(old, aside->older) : hodo_out_dir_remove(old_fd, old);
	if (err)
		return hodo_why_errno(why, err, "%s cannot be removed", old);
	if (rename(path, old) < 0)
		return hodo_why_errno(why, -errno, "%s cannot be moved to %s", path, old);
	if (aside)
		aside->moved = true;
	return 0;
}

int hodo_out_dir_open(const char *path, struct hodo_why *why)
{
	return hodo_out_dir_open_aside(path, NULL, why);
}

void hodo_out_dir_settle(struct hodo_out_aside *aside)
{
	HODO_AUTO_CLOSE int fd = aside->older[0] ? hodo_dir_open(AT_FDCWD, aside->older) : -1;

	if (fd >= 0)
		hodo_out_dir_remove(fd, aside->older);
	*aside = (struct hodo_out_aside){ 0 };
}

void hodo_out_dir_restore(struct hodo_out_aside *aside, int fd)
{
	char old[PATH_MAX];

	if (fd >= 0)
		hodo_out_dir_remove(fd, aside->path);
	if (aside->path[0] && snprintf(old, sizeof(old), "%s.old", aside->path) < (int)sizeof(old)) {
		/* Only onto what is empty, or not there: rename(2). */
		if (aside->moved)
			rename(old, aside->path);
		if (aside->older[0])
			rename(aside->older, old);
	}
	*aside = (struct hodo_out_aside){ 0 };
}

int hodo_out_dir_open_aside(const char *path, struct hodo_out_aside *aside, struct hodo_why *why)
{
	char clean[PATH_MAX];
	size_t len = strlen(path);
	HODO_AUTO_CLOSE int fd = -1;
	int err;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0 || len >= sizeof(clean))
		return hodo_why(why, len ? -ENAMETOOLONG : -ENOENT, "'%.32s' is not the name of a directory: choose "
				"another with -o", path);
	memcpy(clean, path, len);
	clean[len] = 0;
	if (aside)
		memcpy(aside->path, clean, len + 1);
	err = move_aside(clean, aside, why);
	if (err)
		return err;
	err = hodo_dir_make(AT_FDCWD, clean);
	if (err)
		return hodo_why(why, err, "%s cannot be made: %s: choose another directory with -o", clean,
				strerror(-err));
	fd = hodo_dir_open(AT_FDCWD, clean);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return hodo_why_errno(why, fd < 0 ? fd : -errno, "%s cannot be opened", clean);
	return hodo_take_fd(&fd);
}
