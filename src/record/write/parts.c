/* SPDX-License-Identifier: MIT */
/*
 * parts.c - the parts of a rotating recording, and its size.
 */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/vec.h>

#include "out_dir.h"
#include <record/recorder.h>

#define RETRY_NS 100000000
#define HELD_MAX (4u << 20) /* bytes of metadata that a killed recorder may lose */

static struct hodo_recorded_part *newest_of(const struct hodo_parts *parts)
{
	return &parts->part[parts->n - 1];
}

/* ------------------------------------------------------------------- removal */

/* Removes the oldest part, unless it holds foreign files; then it stays, and counts. */
static void remove_oldest(struct hodo_recorder *s)
{
	struct hodo_parts *parts = &s->parts;
	struct hodo_recorded_part *part = parts->part;
	char name[32];
	int err;

	hodo_out_dir_part(name, part->number);
	err = hodo_out_dir_remove_at(s->config.out_fd, name);
	if (hodo_recorder_free_files(s, err))
		err = hodo_out_dir_remove_at(s->config.out_fd, name);
	/* A file just created there is left alone. */
	if (!err || err == -ENOENT || err == -ENOTEMPTY) {
		s->total.bytes -= part->bytes;
		parts->events -= part->events;
		s->total.removed_events += part->events;
	}
	if (err && err != -ENOENT && !parts->reported) {
		parts->reported = true;
		hodo_report(&s->config.reporter, "%s/%s stays: %s", s->config.out_path, name,
				    err == -EEXIST || err == -ENOTEMPTY ? "it holds files that are not the "
									  "recording's" :
									  strerror(-err));
	}
	s->total.parts_kept--;
	hodo_text_free(&part->done);
	memmove(part, part + 1, --parts->n * sizeof(*part));
}

/* ------------------------------------------------------------------ beginning */

/* Makes a directory that does not have a part's name yet. Its descriptor, or negative errno. */
static int make_new(struct hodo_recorder *s)
{
	int err;

	do
		err = hodo_dir_make(s->config.out_fd, HODO_OUT_PART_NEW);
	while (hodo_recorder_make_room(s, err));
	return err && err != -EEXIST ? err : hodo_recorder_open_dir(s, HODO_OUT_PART_NEW);
}

/* Adds the directory fd as the newest part; there is room for it. */
static void append(struct hodo_recorder *s, int fd)
{
	struct hodo_parts *parts = &s->parts;

	parts->part[parts->n++] = (struct hodo_recorded_part){ .number = ++s->total.parts };
	s->total.parts_kept++;
	parts->fd = fd;
	parts->begun_ns = hodo_now_ns();
}

static int give_name(struct hodo_recorder *s, uint32_t number)
{
	char name[32];
	int fd = s->config.out_fd;

	hodo_out_dir_part(name, number);
	return renameat(fd, HODO_OUT_PART_NEW, fd, name) < 0 ? -errno : 0;
}

/* Whether the oldest part would be one too many if there were another. */
static bool can_make_way(const struct hodo_recorder *s)
{
	return s->config.limits.keep && s->total.parts_kept >= s->config.limits.keep && s->total.parts_kept > 1;
}

int hodo_parts_prepare(struct hodo_recorder *s)
{
	struct hodo_parts *parts = &s->parts;
	int fd;

	if (parts->retry_ns && hodo_now_ns() < parts->retry_ns)
		return -EAGAIN;
	/*
	 * On a full disk, the next part to be removed makes room. If there is none, a new part could not even
	 * record losses: the present one, which has its metadata, continues.
	 */
	if (parts->no_room && !can_make_way(s)) {
		parts->retry_ns = hodo_now_ns() + RETRY_NS;
		return -ENOSPC;
	}
	if (parts->no_room)
		remove_oldest(s);
	fd = hodo_vec_reserve(parts->part, parts->room, parts->n + 1);
	if (!fd)
		fd = make_new(s);
	if (fd == -ENOSPC && can_make_way(s)) {
		remove_oldest(s);
		fd = make_new(s);
	}
	if (fd < 0) {
		parts->retry_ns = hodo_now_ns() + RETRY_NS;
		hodo_recorder_write_failed(s, "", "a new part", fd);
	}
	return fd;
}

bool hodo_parts_name(struct hodo_recorder *s, int fd)
{
	int err = give_name(s, s->total.parts + 1);

	s->parts.retry_ns = err ? hodo_now_ns() + RETRY_NS : 0;
	if (!err)
		return true;
	hodo_recorder_write_failed(s, "", "a new part", err);
	close(fd);
	return false;
}

/* Gives the complete part to ops.part_done(). */
static void give_away(struct hodo_recorder *s)
{
	struct hodo_parts *parts = &s->parts;
	uint32_t number = parts->part->number;

	hodo_recorder_fit_clock(s);
	hodo_recorder_complete(s, &parts->part->done);
	memmove(parts->part, parts->part + 1, --parts->n * sizeof(*parts->part));
	s->config.ops.part_done(s->config.arg, number);
}

void hodo_parts_begin(struct hodo_recorder *s, int fd)
{
	close(s->parts.fd);
	append(s, fd);
	if (s->config.ops.part_done)
		give_away(s);
	while (s->config.limits.keep && s->total.parts_kept > s->config.limits.keep)
		remove_oldest(s);
}

int hodo_parts_open(struct hodo_recorder *s)
{
	const struct hodo_limits *l = &s->config.limits;
	struct hodo_parts *parts = &s->parts;
	int fd, err;

	parts->fd = s->config.out_fd;
	if (hodo_vec_reserve(parts->part, parts->room, 1) < 0)
		return -ENOMEM;
	if (s->config.ops.packet || (!l->rotate_bytes && !l->rotate_ns)) {
		parts->part[parts->n++] = (struct hodo_recorded_part){ .number = 0 };
		return 0;
	}
	fd = make_new(s);
	err = fd < 0 ? fd : give_name(s, 1);
	if (!err) {
		append(s, fd);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	unlinkat(s->config.out_fd, HODO_OUT_PART_NEW, AT_REMOVEDIR);
	return err;
}

/* --------------------------------------------------------------------- packets */

/* A packet may bring an empty one, which records earlier losses. */
static bool is_filled(const struct hodo_recorder *s, uint64_t bytes)
{
	const struct hodo_recorded_part *newest = newest_of(&s->parts);
	uint64_t most = s->config.limits.rotate_bytes, there = newest->bytes + s->parts.promised;

	return newest->number && most && !s->total.full && there > 0 &&
	       there + bytes + sizeof(struct hodo_packet) > most;
}

bool hodo_parts_filled(struct hodo_recorder *s, uint64_t bytes)
{
	if (!is_filled(s, bytes))
		return false;
	hodo_drain_alone(s->drain);
	return is_filled(s, bytes);
}

static bool has_room(const struct hodo_recorder *s, uint64_t bytes)
{
	uint64_t most = s->config.limits.max_bytes;

	return !s->total.full && (!most || s->total.bytes + s->parts.promised + bytes <= most);
}

bool hodo_parts_room(struct hodo_recorder *s, uint64_t bytes)
{
	if (has_room(s, bytes))
		return true;
	hodo_drain_alone(s->drain);
	if (has_room(s, bytes))
		return true;
	if (s->total.full)
		return false;
	s->total.full = s->total.ended = true;
	hodo_report(&s->config.reporter, "%s has reached --max-size: the recording ends, and the program "
		    "continues",
		    s->config.out_path);
	return false;
}

void hodo_parts_wrote(struct hodo_recorder *s, uint64_t bytes, uint64_t events, int err)
{
	s->parts.no_room = err == -ENOSPC || err == -EDQUOT;
	s->total.bytes += bytes;
	s->parts.events += events;
	newest_of(&s->parts)->bytes += bytes;
	newest_of(&s->parts)->events += events;
}

bool hodo_parts_due(struct hodo_recorder *s, int64_t now_ns)
{
	struct hodo_parts *parts = &s->parts;
	const struct hodo_recorded_part *newest = newest_of(parts);

	if (!newest->number || !s->config.limits.rotate_ns || s->total.full ||
	    (uint64_t)(now_ns - parts->begun_ns) < s->config.limits.rotate_ns)
		return false;
	if (newest->bytes == 0) /* an empty part is not needed */
		parts->begun_ns = now_ns;
	return newest->bytes > 0;
}

/* ------------------------------------------------------------------------- end */

bool hodo_parts_folder_done(struct hodo_recorder *s, const char *dir, const struct hodo_text *held)
{
	struct hodo_recorded_part *part = newest_of(&s->parts);
	size_t len = part->done.len;
	char name[32];

	if (held->len && (held->error || part->done.len + held->len > HELD_MAX))
		return false;
	hodo_out_dir_part(name, part->number);
	hodo_text_printf(&part->done, "%s%s%s", part->number ? name : "", part->number ? "/" : "", dir);
	hodo_text_char(&part->done, 0);
	hodo_text_bytes(&part->done, held->data, held->len);
	hodo_text_char(&part->done, 0);
	if (part->done.error)
		part->done.len = len;
	return !part->done.error;
}

void hodo_parts_complete(struct hodo_recorder *s)
{
	for (uint32_t i = 0; i < s->parts.n; i++)
		hodo_recorder_complete(s, &s->parts.part[i].done);
}

void hodo_parts_close(struct hodo_recorder *s)
{
	struct hodo_parts *parts = &s->parts;

	if (parts->n && newest_of(parts)->number) {
		char name[32];

		close(parts->fd);
		/* Removes empty ones; the system refuses others. */
		unlinkat(s->config.out_fd, HODO_OUT_PART_NEW, AT_REMOVEDIR);
		hodo_out_dir_part(name, newest_of(parts)->number);
		unlinkat(s->config.out_fd, name, AT_REMOVEDIR);
	}
	for (uint32_t i = 0; i < parts->n; i++)
		hodo_text_free(&parts->part[i].done);
	free(parts->part);
}
