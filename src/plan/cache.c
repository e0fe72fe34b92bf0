/* SPDX-License-Identifier: MIT */
/* cache.c - files, each of a head and a content, with a checksum of both. */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>

#define MAGIC    0x65646f636f646f68ull /* "hodocode" */
#define VERSION  1u /* of the content, too */
#define NAME_MAX_BYTES 40u

struct head {
	uint64_t magic;
	uint32_t version, checksum; /* of everything else */
	uint64_t bytes;             /* of the content */
	uint64_t program[3];        /* ours: another one may decode differently */
	struct hodo_plan_identity id;
};

/* ------------------------------------------------------------------------ identities */

void hodo_plan_identify(struct hodo_plan_identity *id, const struct hodo_elf *e, const struct stat *st)
{
	memset(id, 0, sizeof(*id));
	id->dev = st->st_dev;
	id->inode = st->st_ino;
	id->bytes = (uint64_t)st->st_size;
	id->changed_s = (uint64_t)st->st_mtim.tv_sec;
	id->changed_ns = (uint64_t)st->st_mtim.tv_nsec;
	/* A writer can set that time, but not this one. */
	id->written_s = (uint64_t)st->st_ctim.tv_sec;
	id->written_ns = (uint64_t)st->st_ctim.tv_nsec;
	id->build_id_len = (uint32_t)hodo_elf_build_id(e, id->build_id);
}

static void make_head(struct head *h, const struct hodo_plan_identity *id, uint64_t bytes)
{
	struct stat st;

	memset(h, 0, sizeof(*h));
	h->magic = MAGIC;
	h->version = VERSION;
	h->bytes = bytes;
	if (stat("/proc/self/exe", &st) == 0) {
		h->program[0] = (uint64_t)st.st_size;
		h->program[1] = (uint64_t)st.st_mtim.tv_sec;
		h->program[2] = (uint64_t)st.st_mtim.tv_nsec;
	}
	h->id = *id;
}

/* h->checksum must be 0. */
static uint32_t sum(const struct head *h, const void *content)
{
	uLong crc = crc32_z(0, (const Bytef *)h, sizeof(*h));

	return (uint32_t)crc32_z(crc, content, h->bytes);
}

static void name_of(const struct hodo_plan_identity *id, char name[NAME_MAX_BYTES])
{
	snprintf(name, NAME_MAX_BYTES, "%" PRIx64 "-%" PRIx64, id->dev, id->inode);
}

/* ------------------------------------------------------------------------- the folder */

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Of a descriptor that is closed if not. */
static int check(int fd, mode_t type)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && is_ours(&st))
		return fd;
	close(fd);
	return -EPERM;
}

/* flags: O_NOFOLLOW, or 0. */
static int open_folder(int at, const char *path, int flags)
{
	mkdirat(at, path, S_IRWXU);
	return check(openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags), S_IFDIR);
}

int hodo_plan_cache_open(void)
{
	const char *own = getenv("HODO_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	HODO_AUTO_FREE char *path = NULL;
	HODO_AUTO_CLOSE int base = -1, hodo = -1;

	if (own)
		return *own ? open_folder(AT_FDCWD, own, O_NOFOLLOW) : -ENOENT;
	if (xdg && *xdg == '/')
		path = strdup(xdg);
	else if (!home || *home != '/' || asprintf(&path, "%s/.cache", home) < 0)
		return -ENOENT;
	/* As root in the home of another user there is none. */
	base = path ? open_folder(AT_FDCWD, path, 0) : -ENOMEM;
	hodo = base < 0 ? base : open_folder(base, "hodo", O_NOFOLLOW);
	return hodo < 0 ? hodo : open_folder(hodo, "code", O_NOFOLLOW);
}

/* --------------------------------------------------------------------------- an entry */

bool hodo_plan_cache_load(int dir, const struct hodo_plan_identity *id, struct hodo_text *content)
{
	char name[NAME_MAX_BYTES];
	HODO_AUTO_CLOSE int fd = -1;
	struct head h, wanted;
	struct stat st;
	uint32_t checksum;

	name_of(id, name);
	fd = check(openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), S_IFREG);
	if (fd < 0 || fstat(fd, &st) < 0 || (size_t)st.st_size < sizeof(h) || st.st_size > HODO_PLAN_CACHE_ENTRY ||
	    hodo_file_read_at(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return false;
	make_head(&wanted, id, (uint64_t)st.st_size - sizeof(h));
	checksum = h.checksum;
	h.checksum = 0;
	if (memcmp(&h, &wanted, sizeof(h)) != 0 || lseek(fd, sizeof(h), SEEK_SET) < 0 ||
	    hodo_file_read(fd, h.bytes, content) < 0 || content->len != h.bytes)
		return false;
	futimens(fd, NULL); /* the oldest is the one that was not used for the longest time */
	return sum(&h, content->data) == checksum;
}

struct entry {
	char name[NAME_MAX_BYTES + 16];
	uint64_t bytes;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;

	return hodo_order(x->tv_sec, y->tv_sec) ?: hodo_order(x->tv_nsec, y->tv_nsec);
}

/* Removes the oldest entries, and what writers that were killed have left, so that there is room for n bytes. */
static void make_room(int dir, uint64_t n)
{
	HODO_AUTO_CLOSEDIR DIR *list = hodo_dir_list(dir, ".");
	HODO_AUTO_FREE struct entry *entries = NULL;
	const char *name;
	uint32_t count = 0;
	struct stat st;

	while ((name = hodo_dir_next(list)) != NULL) {
		struct entry e = { .used = { 0, 0 } };

		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
		    strlen(name) >= sizeof(e.name))
			continue;
		strcpy(e.name, name);
		e.bytes = (uint64_t)st.st_size;
		e.used = st.st_mtim;
		n += e.bytes;
		if (hodo_vec_push(entries, count, e) < 0)
			break;
	}
	hodo_order_sort(entries, count, by_use);
	for (uint32_t i = 0; i < count && (n > HODO_PLAN_CACHE_BYTES || count - i >= HODO_PLAN_CACHE_FILES); i++) {
		unlinkat(dir, entries[i].name, 0);
		n -= entries[i].bytes;
	}
}

int hodo_plan_cache_store(int dir, const struct hodo_plan_identity *id, const void *content, size_t n)
{
	char name[NAME_MAX_BYTES], part[NAME_MAX_BYTES + 16];
	HODO_AUTO_CLOSE int fd = -1;
	struct head h;
	int err;

	if (n > HODO_PLAN_CACHE_ENTRY - sizeof(h))
		return -EFBIG;
	make_head(&h, id, n);
	h.checksum = sum(&h, content);
	make_room(dir, sizeof(h) + n);
	name_of(id, name);
	snprintf(part, sizeof(part), "%s.%d", name, (int)getpid());
	unlinkat(dir, part, 0); /* of another one with our number, long ago */
	fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return -errno;
	err = hodo_file_write(fd, &h, sizeof(h));
	if (!err)
		err = hodo_file_write(fd, content, n);
	if (!err && renameat(dir, part, dir, name) < 0)
		err = -errno;
	if (err)
		unlinkat(dir, part, 0);
	return err;
}
