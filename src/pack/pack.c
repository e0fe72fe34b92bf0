/* SPDX-License-Identifier: MIT */
/* pack.c - a recording as one file, and back: no path leads out of the directory, and no link is followed. */
#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hodo/abi.h>

#include <base/file.h>
#include <base/scope.h>

#include "archive.h"
#include "compress.h"
#include "files.h"

#define PIECE_BYTES (256u << 10)
#define COPY_BYTES  (1u << 20)
#define HEADER      sizeof(struct hodo_packet)
_Static_assert(PIECE_BYTES + HODO_PACKET_MAX <= HODO_FRAME_MAX, "a frame holds a packet, whatever it begins with");

struct packing {
	size_t skip; /* bytes of each path that are left out */
	struct hodo_archive_out out;
	struct hodo_compressor *compressor;
	uint8_t *buffer; /* HODO_PACKET_MAX bytes: the most in a frame */
};

/* Size of the packet that begins there; 0: none. */
static uint64_t packet_at(struct hodo_file_reader *r, uint64_t at)
{
	struct hodo_packet h;
	uint64_t size;

	if (r->size - at < HEADER || hodo_file_reader_read(r, &h, HEADER, at) != 0 || h.magic != HODO_CTF_MAGIC)
		return 0;
	size = h.packet_size / 8;
	return h.packet_size % 8 == 0 && size >= HEADER && size <= HODO_PACKET_MAX && size <= r->size - at ? size : 0;
}

/* How much goes into the next frame: PIECE_BYTES of packets, or a larger one; or a piece of other data. head:
 * of a packet. */
static size_t next_piece(struct hodo_file_reader *r, uint64_t at, size_t *head)
{
	uint64_t len = 0, packet;

	while (at + len < r->size && (packet = packet_at(r, at + len)) > 0 &&
	       (len == 0 || len + packet <= PIECE_BYTES))
		len += packet;
	*head = len ? HEADER : 0;
	if (len == 0)
		len = r->size - at < PIECE_BYTES ? r->size - at : PIECE_BYTES;
	return (size_t)len;
}

static int pack_table(struct packing *p, const struct hodo_seek_table *t)
{
	HODO_AUTO_FREE uint8_t *table = NULL;
	ssize_t n = hodo_seek_table_make(t, &table);

	return n < 0 ? (int)n : hodo_archive_add(&p->out, table, (size_t)n);
}

static int pack_bytes(struct packing *p, struct hodo_file_reader *r)
{
	HODO_AUTO(hodo_seek_table_free) struct hodo_seek_table table = { 0 };
	int err = 0;

	for (uint64_t at = 0; !err && at < r->size;) {
		const uint8_t *frame;
		size_t head, len = next_piece(r, at, &head);
		ssize_t n;

		err = hodo_file_reader_read(r, p->buffer, len, at);
		n = err ? err : hodo_compress(p->compressor, p->buffer, head, p->buffer + head, len - head, &frame);
		err = n < 0 ? (int)n : hodo_archive_add(&p->out, frame, (size_t)n);
		if (!err)
			err = hodo_seek_table_add(&table, (size_t)n, len);
		at += len;
	}
	return err ? err : pack_table(p, &table);
}

static int pack_file(struct packing *p, const struct hodo_tree *tree, const struct hodo_file_name *name,
		     struct hodo_pack_totals *totals)
{
	struct hodo_file_reader r;
	int err = hodo_file_reader_open(&r, tree, name);

	if (err)
		return err;
	hodo_archive_member(&p->out);
	err = pack_bytes(p, &r);
	if (!err)
		err = hodo_archive_member_end(&p->out, name->path + p->skip);
	totals->files++;
	totals->plain_bytes += r.size;
	totals->damaged += r.frames && hodo_frames_fault(r.frames)->why;
	hodo_file_reader_close(&r);
	return err;
}

static bool is_metadata(const char *path)
{
	const char *base = strrchr(path, '/');

	return strcmp(base ? base + 1 : path, "metadata") == 0;
}

/* Metadata comes first: where the rest of the file is missing, what is there can be read. */
static int pack_files(struct packing *p, const struct hodo_tree *tree, const struct hodo_files *files, bool metadata,
		      struct hodo_pack_totals *totals, char *error, size_t size)
{
	int err = 0;

	for (uint32_t i = 0; i < files->n && !err; i++) {
		const struct hodo_file_name *file = &files->files[i];

		if (is_metadata(file->path) != metadata)
			continue;
		snprintf(error, size, "%s", file->path);
		err = pack_file(p, tree, file, totals);
	}
	return err;
}

static int pack(const struct hodo_tree *tree, const char *below, bool part, int fd, int level,
		struct hodo_pack_totals *totals, char *error, size_t size)
{
	HODO_AUTO(hodo_files_free) struct hodo_files files;
	struct packing p = { .skip = part ? strlen(below) + 1 : 0, .compressor = hodo_compressor_new(level),
			     .buffer = malloc(HODO_PACKET_MAX) };
	int err = hodo_files_find(&files, tree, below);

	*totals = (struct hodo_pack_totals){ .skipped = files.skipped };
	snprintf(error, size, "%s", "the list of files");
	if (!err)
		err = p.compressor && p.buffer ? hodo_archive_begin(&p.out, fd) : -ENOMEM;
	if (!err)
		err = pack_files(&p, tree, &files, true, totals, error, size);
	if (!err)
		err = pack_files(&p, tree, &files, false, totals, error, size);
	if (!err)
		err = hodo_archive_end(&p.out);
	totals->packed_bytes = p.out.at;
	totals->unwritten = p.out.failed;
	hodo_compressor_free(p.compressor);
	free(p.buffer);
	return err;
}

int hodo_pack_below(const struct hodo_tree *tree, const char *below, int fd, int level, struct hodo_pack_totals *totals,
		    char *error, size_t size)
{
	return pack(tree, below, false, fd, level, totals, error, size);
}

int hodo_pack_part(const struct hodo_tree *tree, const char *part, int fd, int level, struct hodo_pack_totals *totals,
		   char *error, size_t size)
{
	return pack(tree, part, true, fd, level, totals, error, size);
}

int hodo_pack(const struct hodo_tree *tree, int fd, int level, struct hodo_pack_totals *totals, char *error,
	      size_t size)
{
	return pack(tree, "", false, fd, level, totals, error, size);
}

/* -------------------------------------------------------------------------- and back */

/* Makes the directories of a path, and the file. Its descriptor or a negative errno. */
static int make_file(int dirfd, const char *path)
{
	HODO_AUTO_CLOSE int at = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	char name[NAME_MAX + 1];

	for (; at >= 0; path += strlen(name) + 1) {
		size_t len = strcspn(path, "/");
		int err, below;

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		if (!path[len])
			return hodo_file_make(at, name);
		err = hodo_dir_make(at, name);
		below = err && err != -EEXIST ? err : hodo_dir_open(at, name);
		if (below < 0)
			return below;
		close(at);
		at = below;
	}
	return -errno;
}

static int copy_bytes(struct hodo_file_reader *r, int to, uint8_t *buffer)
{
	int err = 0;

	for (uint64_t at = 0; !err && at < r->size; at += COPY_BYTES) {
		size_t n = r->size - at < COPY_BYTES ? (size_t)(r->size - at) : COPY_BYTES;

		err = hodo_file_reader_read(r, buffer, n, at);
		if (!err)
			err = hodo_file_write(to, buffer, n);
	}
	return err;
}

static int unpack_file(const struct hodo_tree *tree, int dirfd, const struct hodo_file_name *name, uint8_t *buffer,
		       struct hodo_pack_totals *totals)
{
	struct hodo_file_reader r;
	int err, to;

	if (!hodo_archive_path_ok(name->path))
		return -EINVAL;
	err = hodo_file_reader_open(&r, tree, name);
	if (err)
		return err;
	to = make_file(dirfd, name->path);
	err = to < 0 ? to : copy_bytes(&r, to, buffer);
	if (to >= 0 && close(to) < 0 && !err)
		err = -errno;
	totals->files++;
	totals->plain_bytes += r.size;
	totals->damaged += r.frames && hodo_frames_fault(r.frames)->why;
	hodo_file_reader_close(&r);
	return err;
}

int hodo_unpack(const struct hodo_tree *tree, int dirfd, struct hodo_pack_totals *totals, char *error, size_t size)
{
	HODO_AUTO(hodo_files_free) struct hodo_files files;
	HODO_AUTO_FREE uint8_t *buffer = malloc(COPY_BYTES);
	int err = hodo_files_find(&files, tree, "");

	*totals = (struct hodo_pack_totals){ .skipped = files.skipped };
	snprintf(error, size, "%s", "the list of files");
	if (!err && !buffer)
		err = -ENOMEM;
	for (uint32_t i = 0; i < files.n && !err; i++) {
		snprintf(error, size, "%s", files.files[i].path);
		err = unpack_file(tree, dirfd, &files.files[i], buffer, totals);
	}
	return err;
}
