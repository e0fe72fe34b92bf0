/* SPDX-License-Identifier: MIT */
/* archive.c - a packed recording's format: POSIX ustar, with GNU's binary numbers for sizes above 8 GiB. */
#include "archive.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/order.h>
#include <base/vec.h>
#include <core/search.h>

#define BLOCK      512u
#define FIRST_NAME ".hodo"
#define FIRST_TEXT "hodo-pack 1\n"
#define PATH_ROOM  100u /* in a header: longer paths are not written, and ours are shorter */

struct header {
	char name[PATH_ROOM];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char linkname[100];
	char magic[6], version[2];
	char user[32], group[32];
	char device[2][8];
	char prefix[155];
	char unused[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* ---------------------------------------------------------------------------- a header */

/* The sum of all bytes, with the checksum field counted as blanks. */
static unsigned int checksum(const struct header *h)
{
	const uint8_t *p = (const uint8_t *)h;
	unsigned int sum = 8 * ' ';

	for (size_t i = 0; i < BLOCK; i++)
		sum += p[i];
	for (size_t i = 0; i < sizeof(h->checksum); i++)
		sum -= (uint8_t)h->checksum[i];
	return sum;
}

/* A number in octal digits, or binary if its first bit is set. UINT64_MAX: not valid. */
static uint64_t number_of(const char *text, size_t len)
{
	uint64_t n = 0;

	if (*text & 0x80) {
		for (size_t i = 1; i < len; i++) {
			if (n >> 55)
				return UINT64_MAX;
			n = n << 8 | (uint8_t)text[i];
		}
		return n;
	}
	for (size_t i = 0; i < len && text[i] && text[i] != ' '; i++) {
		if (text[i] < '0' || text[i] > '7')
			return UINT64_MAX;
		n = n << 3 | (uint64_t)(text[i] - '0');
	}
	return n;
}

static void put_size(char text[12], uint64_t n)
{
	if (n >> 33 == 0) {
		snprintf(text, 12, "%011llo", (unsigned long long)n);
		return;
	}
	text[0] = (char)0x80;
	for (unsigned int i = 11; i > 0; i--, n >>= 8)
		text[i] = (char)n;
}

static bool is_header(const struct header *h)
{
	return memcmp(h->magic, "ustar", 6) == 0 && h->type == '0' &&
	       number_of(h->checksum, sizeof(h->checksum)) == checksum(h);
}

static void fill_header(struct header *h, const char *name, uint64_t size)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->name, sizeof(h->name), "%s", name);
	memcpy(h->mode, "0000644", 8);
	memcpy(h->uid, "0000000", 8);
	memcpy(h->gid, "0000000", 8);
	memcpy(h->mtime, "00000000000", 12);
	put_size(h->size, size);
	h->type = '0';
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	snprintf(h->checksum, sizeof(h->checksum), "%06o", checksum(h));
	h->checksum[7] = ' ';
}

bool hodo_archive_path_ok(const char *path)
{
	unsigned int depth = 0;
	size_t len;

	for (;; path += len + 1) {
		len = strcspn(path, "/");
		if (len == 0 || len > NAME_MAX - (sizeof(HODO_FRAMES_SUFFIX) - 1) || ++depth > HODO_ARCHIVE_DEPTH ||
		    (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
			return false;
		if (!path[len])
			return true;
	}
}

/* ---------------------------------------------------------------------------- finding */

static void blame(struct hodo_archive *a, uint64_t at, uint64_t bytes, const char *why)
{
	if (!a->fault.why) {
		a->fault.at = at;
		a->fault.why = why;
	}
	a->fault.bytes += bytes;
}

/* Checks the first member, which identifies the format. 0 or a negative errno. */
static int check_first(int fd, uint64_t *at)
{
	struct {
		struct header header;
		char text[BLOCK];
	} first;
	ssize_t n = hodo_file_read_at(fd, &first, sizeof(first), 0);

	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(first) || !is_header(&first.header) || strcmp(first.header.name, FIRST_NAME) != 0 ||
	    memcmp(first.text, "hodo-pack ", 10) != 0)
		return -ENOTDIR;
	*at = sizeof(first);
	return memcmp(first.text, FIRST_TEXT, sizeof(FIRST_TEXT)) == 0 ? 0 : -EPROTONOSUPPORT;
}

bool hodo_archive_is(int fd)
{
	uint64_t at;
	int err = check_first(fd, &at);

	return err == 0 || err == -EPROTONOSUPPORT;
}

/* Whether a folder of the path already exists as a file. */
static bool is_in_file(const struct hodo_archive *a, const char *path)
{
	char folder[PATH_ROOM + 1];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		uint32_t i;

		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		i = hodo_archive_search(a, folder);
		if (i < a->n && strcmp(a->members[i].path, folder) == 0)
			return true;
	}
	return false;
}

/* Takes a member with a valid path, and skips others. 0 or -ENOMEM. */
static int take(struct hodo_archive *a, const struct header *h, uint64_t at, uint64_t size, uint64_t left)
{
	struct hodo_archive_entry m = { .at = at, .bytes = size < left ? size : left };
	char path[PATH_ROOM + 1] = "";
	size_t len;

	memcpy(path, h->name, PATH_ROOM);
	len = hodo_frames_name(path);
	path[len] = 0;
	if (size > left)
		blame(a, at, left, "is cut short");
	if (!len || h->prefix[0] || !hodo_archive_path_ok(path))
		blame(a, at, m.bytes, "has a name that no recording's file has");
	else if (a->n == HODO_ARCHIVE_MEMBERS)
		blame(a, at, m.bytes, "is one file too many");
	else {
		m.path = hodo_arena_copy(&a->memory, path, len);
		return m.path ? hodo_vec_push(a->members, a->n, m) : -ENOMEM;
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct hodo_archive_entry *x = a, *y = b;

	return strcmp(x->path, y->path) ?: hodo_order(x->at, y->at);
}

/* Brings them into the order of their paths. Of two with the same path the first in the file stays. */
static void settle(struct hodo_archive *a)
{
	uint32_t kept = 0;

	hodo_order_sort(a->members, a->n, by_path);
	for (uint32_t i = 0, n = a->n; i < n; i++) {
		const struct hodo_archive_entry m = a->members[i];

		a->n = kept; /* for the search among those */
		if (kept && strcmp(a->members[kept - 1].path, m.path) == 0)
			blame(a, m.at, m.bytes, "occurs twice");
		else if (is_in_file(a, m.path))
			blame(a, m.at, m.bytes, "is in a file");
		else
			a->members[kept++] = m;
	}
	a->n = kept;
}

static bool is_end(const struct header *h)
{
	static const struct header zeros;

	return memcmp(h, &zeros, BLOCK) == 0;
}

int hodo_archive_find(struct hodo_archive *a, int fd)
{
	struct header h = { 0 };
	uint64_t at = 0, size;
	struct stat st;
	int err = check_first(fd, &at);

	*a = (struct hodo_archive){ 0 };
	if (!err && fstat(fd, &st) < 0)
		err = -errno;
	for (uint64_t end = err ? 0 : (uint64_t)st.st_size; !err; at += size) {
		ssize_t n = at < end ? hodo_file_read_at(fd, &h, BLOCK, at) : 0;

		if (n < 0)
			return (int)n;
		if (n < (ssize_t)BLOCK) {
			blame(a, at, (uint64_t)n, "is cut short");
			break;
		}
		if (is_end(&h))
			break;
		size = is_header(&h) ? number_of(h.size, sizeof(h.size)) : UINT64_MAX;
		at += BLOCK;
		if (size > UINT64_MAX / 2) {
			blame(a, at - BLOCK, BLOCK, "is damaged");
			size = 0;
			continue;
		}
		err = take(a, &h, at, size, end - at);
		size = (size + BLOCK - 1) / BLOCK * BLOCK;
	}
	if (!err)
		settle(a);
	return err;
}

void hodo_archive_free(struct hodo_archive *a)
{
	hodo_arena_free(&a->memory);
	free(a->members);
}

uint32_t hodo_archive_search(const struct hodo_archive *a, const char *path)
{
	return hodo_search(i, a->n, strcmp(a->members[i].path, path) >= 0);
}

/* ---------------------------------------------------------------------------- writing */

static int write_at(int fd, const void *bytes, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, (const char *)bytes + done, len - done, (off_t)(at + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return n == 0 ? -EIO : -errno;
	}
	return 0;
}

int hodo_archive_add(struct hodo_archive_out *o, const void *bytes, size_t n)
{
	int err = write_at(o->fd, bytes, n, o->at);

	o->failed |= err < 0;
	o->at += err ? 0 : n;
	return err;
}

/* Leaves room for the header, which needs the length. */
void hodo_archive_member(struct hodo_archive_out *o)
{
	o->member = o->at;
	o->at += BLOCK;
}

static int end_member(struct hodo_archive_out *o, const char *name)
{
	static const char zeros[BLOCK];
	uint64_t size = o->at - o->member - BLOCK;
	struct header h;
	int err;

	fill_header(&h, name, size);
	err = hodo_archive_add(o, zeros, (BLOCK - size % BLOCK) % BLOCK);
	return err ? err : write_at(o->fd, &h, BLOCK, o->member);
}

int hodo_archive_member_end(struct hodo_archive_out *o, const char *path)
{
	char name[PATH_ROOM];

	if ((size_t)snprintf(name, sizeof(name), "%s%s", path, HODO_FRAMES_SUFFIX) >= sizeof(name) ||
	    !hodo_archive_path_ok(path))
		return -ENAMETOOLONG;
	return end_member(o, name);
}

int hodo_archive_begin(struct hodo_archive_out *o, int fd)
{
	int err;

	*o = (struct hodo_archive_out){ .fd = fd };
	hodo_archive_member(o);
	err = hodo_archive_add(o, FIRST_TEXT, sizeof(FIRST_TEXT) - 1);
	return err ? err : end_member(o, FIRST_NAME);
}

int hodo_archive_end(struct hodo_archive_out *o)
{
	static const char zeros[2 * BLOCK];

	return hodo_archive_add(o, zeros, sizeof(zeros));
}
