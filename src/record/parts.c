/* SPDX-License-Identifier: MIT */
/*
 * parts.c - the parts of a recording that rotates, and its size.
 */
#define _GNU_SOURCE
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out_dir.h"
#include "process.h"

#define RETRY_NS 100000000
#define NAME_SIZE 24

static void part_name(char name[NAME_SIZE], uint32_t number)
{
	snprintf(name, NAME_SIZE, HODO_OUT_PART "%04u", number);
}

/* ------------------------------------------------------------------- removal */

static void free_done(struct hodo_part *part)
{
	while (part->done) {
		struct hodo_done *done = part->done;

		part->done = done->next;
		free(done);
	}
}

/* The oldest part goes, unless it holds what is not ours; then it stays, and counts. */
static void remove_oldest(struct hodo_session *s)
{
	struct hodo_parts *parts = &s->parts;
	struct hodo_part *part = parts->oldest;
	char name[NAME_SIZE];
	int err;

	part_name(name, part->number);
	err = hodo_out_dir_remove_at(s->config.out_fd, name);
	if (err == -EMFILE || err == -ENFILE) {
		hodo_session_close_files(s);
		err = hodo_out_dir_remove_at(s->config.out_fd, name);
	}
	/* What came to stand there just now stays alone. */
	if (!err || err == -ENOENT || err == -ENOTEMPTY) {
		parts->bytes -= part->bytes;
		parts->events -= part->events;
		parts->removed_events += part->events;
	}
	if (err && err != -ENOENT && !parts->reported) {
		parts->reported = true;
		hodo_session_report(s, "%s/%s stays: %s", s->config.out_path, name,
				    err == -EEXIST || err == -ENOTEMPTY ? "it holds what is not of the recording" :
									  strerror(-err));
	}
	parts->oldest = part->newer;
	parts->kept--;
	free_done(part);
	free(part);
}

/* ------------------------------------------------------------------ beginning */

static int make_new(struct hodo_session *s)
{
	int err = mkdirat(s->config.out_fd, HODO_OUT_PART_NEW, 0777) < 0 && errno != EEXIST ? -errno : 0;

	if (hodo_session_release_reserve(s, err))
		err = mkdirat(s->config.out_fd, HODO_OUT_PART_NEW, 0777) < 0 && errno != EEXIST ? -errno : 0;
	return err;
}

static int open_new(struct hodo_session *s)
{
	int fd = openat(s->config.out_fd, HODO_OUT_PART_NEW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		hodo_session_close_files(s);
		fd = openat(s->config.out_fd, HODO_OUT_PART_NEW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* Takes the directory fd as the newest part. */
static void append(struct hodo_session *s, struct hodo_part *part, int fd)
{
	struct hodo_parts *parts = &s->parts;

	part->number = parts->newest ? parts->newest->number + 1 : 1;
	if (parts->newest)
		parts->newest->newer = part;
	else
		parts->oldest = part;
	parts->newest = part;
	parts->kept++;
	parts->fd = fd;
	parts->begun_ns = hodo_now_ns();
}

/* A directory under a name that is not a part's yet. Its descriptor, or negative errno. */
static int prepare(struct hodo_session *s)
{
	int err = make_new(s);

	return err ? err : open_new(s);
}

static int give_name(struct hodo_session *s, uint32_t number)
{
	char name[NAME_SIZE];
	int fd = s->config.out_fd;

	part_name(name, number);
	return renameat(fd, HODO_OUT_PART_NEW, fd, name) < 0 ? -errno : 0;
}

/*
 * Ends the newest part and begins another. The room for it is taken first and
 * its name given last; where either cannot be had, the newest part goes on, and is tried to be ended
 * again a little later.
 */
static void rotate(struct hodo_session *s)
{
	struct hodo_parts *parts = &s->parts;
	struct hodo_part *part;
	int fd, err;

	if (parts->retry_ns && hodo_now_ns() < parts->retry_ns)
		return;
	/*
	 * On a full disk the part that is to go next makes room. If none is, a new one could not even say what was
	 * lost: the one there is, which has its metadata, goes on.
	 */
	if (parts->no_room) {
		if (!s->config.limits.keep || parts->kept < s->config.limits.keep || parts->kept < 2) {
			parts->retry_ns = hodo_now_ns() + RETRY_NS;
			return;
		}
		remove_oldest(s);
	}
	part = calloc(1, sizeof(*part));
	fd = part ? prepare(s) : -ENOMEM;
	/* On a full disk the part that is to go next makes room. */
	if (fd == -ENOSPC && s->config.limits.keep && parts->kept >= s->config.limits.keep && parts->kept > 1) {
		remove_oldest(s);
		fd = prepare(s);
	}
	err = fd < 0 ? fd : 0;
	if (!err) {
		for (struct hodo_process *p = s->processes; p; p = p->next)
			hodo_process_end_part(p);
		err = give_name(s, parts->newest->number + 1);
		for (struct hodo_process *p = s->processes; p; p = p->next)
			hodo_process_next_part(p, err == 0);
	}
	if (err) {
		parts->retry_ns = hodo_now_ns() + RETRY_NS;
		hodo_session_write_failed(s, "", "a new part", err);
		if (fd >= 0)
			close(fd);
		free(part);
		return;
	}
	parts->retry_ns = 0;
	close(parts->fd);
	append(s, part, fd);
	while (s->config.limits.keep && parts->kept > s->config.limits.keep)
		remove_oldest(s);
}

int hodo_parts_open(struct hodo_session *s)
{
	const struct hodo_limits *l = &s->config.limits;
	struct hodo_part *part = calloc(1, sizeof(*part));
	int fd, err;

	s->parts.fd = s->config.out_fd;
	if (!part)
		return -ENOMEM;
	if (s->config.packet || (!l->rotate_bytes && !l->rotate_ns)) {
		s->parts.oldest = s->parts.newest = part;
		return 0;
	}
	fd = prepare(s);
	err = fd < 0 ? fd : give_name(s, 1);
	if (err) {
		if (fd >= 0)
			close(fd);
		unlinkat(s->config.out_fd, HODO_OUT_PART_NEW, AT_REMOVEDIR);
		free(part);
		return err;
	}
	append(s, part, fd);
	return 0;
}

/* --------------------------------------------------------------------- packets */

bool hodo_parts_room(struct hodo_session *s, uint64_t bytes)
{
	const struct hodo_limits *l = &s->config.limits;
	struct hodo_parts *parts = &s->parts;

	if (parts->full)
		return false;
	/* A packet may bring an empty one with it, which says what was lost before. */
	if (parts->newest->number && l->rotate_bytes && parts->newest->bytes > 0 &&
	    parts->newest->bytes + bytes + sizeof(struct hodo_packet) > l->rotate_bytes)
		rotate(s);
	if (!l->max_bytes || parts->bytes + bytes <= l->max_bytes)
		return true;
	parts->full = s->total.ended = true;
	hodo_session_report(s, "%s has the size that --max-size allows: the recording ends, the program runs on",
			    s->config.out_path);
	return false;
}

void hodo_parts_wrote(struct hodo_session *s, uint64_t bytes, uint64_t events, int err)
{
	s->parts.no_room = err == -ENOSPC || err == -EDQUOT;
	s->parts.bytes += bytes;
	s->parts.events += events;
	s->parts.newest->bytes += bytes;
	s->parts.newest->events += events;
}

void hodo_parts_step(struct hodo_session *s, int64_t now_ns)
{
	struct hodo_parts *parts = &s->parts;

	if (!parts->newest->number || !s->config.limits.rotate_ns || parts->full ||
	    (uint64_t)(now_ns - parts->begun_ns) < s->config.limits.rotate_ns)
		return;
	if (parts->newest->bytes > 0)
		rotate(s);
	else /* of nothing there need be no part */
		parts->begun_ns = now_ns;
}

/* ------------------------------------------------------------------------- end */

void hodo_parts_folder_done(struct hodo_session *s, const char *dir)
{
	struct hodo_part *part = s->parts.newest;
	struct hodo_done *done = malloc(sizeof(*done) + NAME_SIZE + strlen(dir) + 1);
	char name[NAME_SIZE] = "";

	if (!done)
		return;
	if (part->number)
		part_name(name, part->number);
	sprintf(done->dir, "%s%s%s", name, part->number ? "/" : "", dir);
	done->next = part->done;
	part->done = done;
}

void hodo_parts_complete(struct hodo_session *s)
{
	for (struct hodo_part *part = s->parts.oldest; part; part = part->newer) {
		for (const struct hodo_done *done = part->done; done; done = done->next) {
			int fd = openat(s->config.out_fd, done->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			int err = fd < 0 ? -errno : hodo_session_write_metadata(s, fd, NULL);

			if (err)
				hodo_session_write_failed(s, done->dir, "metadata", err);
			if (fd >= 0)
				close(fd);
		}
		free_done(part);
	}
}

void hodo_parts_stats(const struct hodo_session *s, struct hodo_session_stats *stats)
{
	stats->bytes = s->parts.bytes;
	stats->parts = s->parts.newest ? s->parts.newest->number : 0;
	stats->parts_kept = s->parts.kept;
	stats->removed_events = s->parts.removed_events;
	stats->full = s->parts.full;
}

void hodo_parts_close(struct hodo_session *s)
{
	struct hodo_parts *parts = &s->parts;

	if (parts->newest && parts->newest->number) {
		char name[NAME_SIZE];

		close(parts->fd);
		/* Those that hold nothing; of others the system refuses it. */
		unlinkat(s->config.out_fd, HODO_OUT_PART_NEW, AT_REMOVEDIR);
		part_name(name, parts->newest->number);
		unlinkat(s->config.out_fd, name, AT_REMOVEDIR);
	}
	parts->fd = -1;
	parts->newest = NULL;
	while (parts->oldest) {
		struct hodo_part *part = parts->oldest;

		parts->oldest = part->newer;
		free_done(part);
		free(part);
	}
}
