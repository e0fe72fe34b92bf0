/* SPDX-License-Identifier: MIT */
/* spool.c - packs parts into the spool. A file has another name, NAME.new, until it is complete and on the disk. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <pack/pack.h>
#include <record/record.h>

#define NEW      ".new"
#define LOCK_NS  1000000000ll
#define WORD_MAX 64u

/* ------------------------------------------------------------------------------- names */

static bool is_word_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       (!first && (c == '.' || c == '-' || c == '+'));
}

bool hodo_send_is_word(const char *text)
{
	size_t n = 0;

	while (text[n] && n <= WORD_MAX && is_word_char(text[n], n == 0))
		n++;
	return n > 0 && n <= WORD_MAX && !text[n];
}

void hodo_send_word(char to[65], const char *text)
{
	size_t n = 0;

	for (; text[n] && n < WORD_MAX; n++)
		to[n] = is_word_char(text[n], n == 0) ? text[n] : '_';
	if (n == 0)
		to[n++] = '_';
	to[n] = 0;
}

static bool is_part(const char *name)
{
	size_t len = strlen(name), suffix = sizeof(HODO_PACKED_SUFFIX) - 1;

	return hodo_send_is_word(name) && len > suffix && strcmp(name + len - suffix, HODO_PACKED_SUFFIX) == 0;
}

/* ----------------------------------------------------------------------------- opening */

bool hodo_spool_is(const char *path)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(AT_FDCWD, path);
	struct stat st;

	return fd >= 0 && fstatat(fd, HODO_SPOOL_MARK, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static int make(const char *path)
{
	int err = hodo_dir_make(AT_FDCWD, path);
	HODO_AUTO_CLOSE int fd = err ? -1 : hodo_dir_open(AT_FDCWD, path);
	HODO_AUTO_CLOSE int mark = fd < 0 ? -1 : hodo_file_make(fd, HODO_SPOOL_MARK);

	return err ? err : fd < 0 ? fd : mark < 0 ? mark : 0;
}

static int list_recording(struct hodo_spool *s, const char *host, const char *recording)
{
	char dir[2 * NAME_MAX + 2], path[3 * NAME_MAX + 3];
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	struct stat st;
	int err = 0;

	snprintf(dir, sizeof(dir), "%s/%s", host, recording);
	d = hodo_dir_list(s->fd, dir);
	for (const char *name; !err && (name = hodo_dir_next(d));) {
		struct hodo_spooled f = { 0 };

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (strlen(name) > sizeof(NEW) && strcmp(name + strlen(name) - (sizeof(NEW) - 1), NEW) == 0)
			unlinkat(s->fd, path, 0); /* its recorder was killed, and the part is still there */
		if (!is_part(name) || fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		f.path = strdup(path);
		f.bytes = (uint64_t)st.st_size;
		err = f.path ? hodo_vec_push(s->files, s->n, f) : -ENOMEM;
		s->bytes += f.bytes;
	}
	return err;
}

static int list_host(struct hodo_spool *s, const char *host)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(s->fd, host);
	int err = 0;

	for (const char *name; !err && (name = hodo_dir_next(d));)
		if (hodo_send_is_word(name))
			err = list_recording(s, host, name);
	return err;
}

static int by_age(const void *a, const void *b)
{
	return strverscmp(((const struct hodo_spooled *)a)->path, ((const struct hodo_spooled *)b)->path);
}

static int list(struct hodo_spool *s)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(s->fd, ".");
	int err = 0;

	for (const char *name; !err && (name = hodo_dir_next(d));)
		if (hodo_send_is_word(name))
			err = list_host(s, name);
	hodo_order_sort(s->files, s->n, by_age);
	return err;
}

/* The sender of a recorder that was killed has it for a moment longer. */
static int lock(int fd)
{
	int64_t until = hodo_now_ns() + LOCK_NS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || hodo_now_ns() > until)
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		hodo_sleep_ns(10000000);
	}
	return 0;
}

int hodo_spool_open(struct hodo_spool *s, const char *path, bool may_make, struct hodo_why *why)
{
	int err = 0;

	*s = (struct hodo_spool){ .fd = -1 };
	if (snprintf(s->path, sizeof(s->path), "%s", path) >= (int)sizeof(s->path))
		return hodo_why_errno(why, -ENAMETOOLONG, "%s", path);
	if (may_make)
		err = make(path);
	if (err && err != -EEXIST)
		return hodo_why_errno(why, err, "%s, for what is not sent yet, cannot be made", path);
	if (!hodo_spool_is(path))
		return hodo_why(why, -EEXIST, "%s exists and has no unsent parts: choose another directory with -o",
				path);
	s->fd = hodo_dir_open(AT_FDCWD, path);
	if (s->fd < 0)
		return hodo_why_errno(why, s->fd, "%s cannot be opened", path);
	err = lock(s->fd);
	if (!err)
		err = list(s);
	if (!err)
		return 0;
	hodo_spool_let_go(s);
	return err == -EBUSY ? hodo_why(why, err, "%s is being sent by another hodo: wait for its end", path) :
			       hodo_why_errno(why, err, "%s", path);
}

int hodo_spool_note(struct hodo_spool *s, const char *where)
{
	HODO_AUTO_CLOSE int fd = openat(s->fd, HODO_SPOOL_MARK, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : hodo_file_write(fd, where, strlen(where));
}

/* It may have been written by anybody who can write there. */
bool hodo_spool_noted(const struct hodo_spool *s, char *where, size_t size)
{
	char host[65], *slash;

	if (hodo_file_line(s->fd, HODO_SPOOL_MARK, where, size) <= 0 || !(slash = strchr(where, '/')) ||
	    slash - where >= (ptrdiff_t)sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(slash - where), where);
	return hodo_send_is_word(host) && hodo_send_is_word(slash + 1);
}

/* The directories of a path, if they are empty. */
static void remove_dirs(int fd, const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	while ((slash = strrchr(dir, '/')) != NULL) {
		*slash = 0;
		if (unlinkat(fd, dir, AT_REMOVEDIR) < 0)
			return;
	}
}

void hodo_spool_let_go(struct hodo_spool *s)
{
	for (uint32_t i = s->first; i < s->n; i++)
		free(s->files[i].path);
	free(s->files);
	hodo_close(s->fd);
	*s = (struct hodo_spool){ .fd = -1 };
}

void hodo_spool_close(struct hodo_spool *s)
{
	char mark[PATH_MAX + sizeof(HODO_SPOOL_MARK) + 1];

	/* While something is in it, it needs its mark: so that goes first, and comes back. */
	if (s->fd >= 0 && s->first == s->n && unlinkat(s->fd, HODO_SPOOL_MARK, 0) == 0 && rmdir(s->path) < 0) {
		snprintf(mark, sizeof(mark), "%s/%s", s->path, HODO_SPOOL_MARK);
		close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
	}
	hodo_spool_let_go(s);
}

/* ------------------------------------------------------------------------------- files */

/* Writes the file under its first name. */
static int pack(const struct hodo_spool *s, const struct hodo_tree *tree, const char *name, int level,
		struct hodo_pack_totals *totals)
{
	HODO_AUTO_CLOSE int fd = -1;
	char file[512];
	int err;

	unlinkat(s->fd, name, 0);
	fd = hodo_file_make(s->fd, name);
	if (fd < 0)
		return fd;
	err = hodo_pack(tree, fd, level, totals, file, sizeof(file));
	/* What is removed next is the only other copy. */
	return err ? err : fdatasync(fd) < 0 ? -errno : 0;
}

int hodo_spool_add(struct hodo_spool *s, const struct hodo_tree *tree, const char *path, int level)
{
	struct hodo_spooled f = { .path = strdup(path) };
	struct hodo_pack_totals totals;
	char name[PATH_MAX + sizeof(NEW)];
	int err = f.path ? hodo_dirs_make(s->fd, path) : -ENOMEM;

	snprintf(name, sizeof(name), "%s" NEW, path);
	if (!err)
		err = pack(s, tree, name, level, &totals);
	if (!err && renameat(s->fd, name, s->fd, path) < 0)
		err = -errno;
	if (!err) {
		f.bytes = totals.packed_bytes;
		err = hodo_vec_push(s->files, s->n, f);
	}
	if (!err) {
		s->bytes += f.bytes;
		return 0;
	}
	unlinkat(s->fd, name, 0);
	remove_dirs(s->fd, path);
	free(f.path);
	return err;
}

int hodo_spool_add_part(struct hodo_spool *s, const char *dir, const char *where, uint32_t number, int level)
{
	struct hodo_tree *tree;
	char path[256];
	int err = hodo_tree_open(&tree, dir);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/" HODO_OUT_PART "%08" PRIu32 HODO_PACKED_SUFFIX, where, number);
	err = hodo_spool_add(s, tree, path, level);
	hodo_tree_close(tree);
	return err;
}

const struct hodo_spooled *hodo_spool_at(const struct hodo_spool *s, uint32_t i)
{
	return i < s->n - s->first ? &s->files[s->first + i] : NULL;
}

int hodo_spool_file(const struct hodo_spool *s, const struct hodo_spooled *file)
{
	return hodo_file_open(s->fd, file->path);
}

void hodo_spool_remove(struct hodo_spool *s, uint32_t i)
{
	struct hodo_spooled *f = &s->files[s->first + i];

	unlinkat(s->fd, f->path, 0);
	remove_dirs(s->fd, f->path);
	s->bytes -= f->bytes;
	free(f->path);
	memmove(&s->files[s->first + 1], &s->files[s->first], i * sizeof(*f));
	s->first++;
}
