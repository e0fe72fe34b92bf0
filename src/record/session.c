/* SPDX-License-Identifier: MIT */
/*
 * session.c - what the parts of a recording share: its clock, its output, and its messages to the user.
 */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>

#include "conditions.h"
#include <record/write/ctf_metadata.h>
#include "process.h"

#define RESERVE_BYTES (1u << 20)
#define RESERVE_MIN_BYTES (16u << 10)
#define RESERVE_STEPS 16

int hodo_recorder_watch(struct hodo_recorder *s, int fd, struct hodo_watch *w)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* ------------------------------------------------------------------ clock */

int hodo_recorder_choose_clock(struct hodo_recorder *s, bool tsc)
{
	if (s->clock_chosen)
		return s->clock == HODO_CLOCK_TSC && !tsc ? -EOPNOTSUPP : 0;
	if (s->clock == HODO_CLOCK_TSC && !tsc) {
		s->clock = HODO_CLOCK_MONOTONIC;
		hodo_clock_sample(s->clock, &s->clock_first);
		hodo_wall_sample(&s->clock_first, &s->wall_first);
	}
	s->clock_chosen = true;
	return 0;
}

void hodo_recorder_fit_clock(struct hodo_recorder *s)
{
	struct hodo_clock_sample last;

	hodo_clock_sample(s->clock, &last);
	if (s->clock == HODO_CLOCK_TSC && last.mono_ns - s->clock_first.mono_ns < HODO_CLOCK_FIT_NS) {
		hodo_sleep_ns(HODO_CLOCK_FIT_NS - (last.mono_ns - s->clock_first.mono_ns));
		hodo_clock_sample(s->clock, &last);
	}
	hodo_clock_fit(s->clock, &s->clock_first, &last, &s->clock_map);
	hodo_wall_sample(&last, &s->wall_last);
	s->clock_fitted = true;
}

const struct hodo_clock_map *hodo_recorder_clock_map(struct hodo_recorder *s)
{
	if (!s->clock_fitted)
		hodo_recorder_fit_clock(s);
	return &s->clock_map;
}

uint64_t hodo_recorder_ticks_in(const struct hodo_recorder *s, uint64_t ns)
{
	struct hodo_clock_map rough = s->clock_map;
	struct hodo_clock_sample now;

	if (!s->clock_fitted) {
		hodo_clock_sample(s->clock, &now);
		hodo_clock_fit(s->clock, &s->clock_first, &now, &rough);
	}
	return (uint64_t)((unsigned __int128)ns * rough.freq_hz / 1000000000);
}

uint64_t hodo_recorder_limited_most(const struct hodo_recorder *s)
{
	if (!s->config.conditions || !hodo_conditions_have(s->config.conditions, HODO_CONDITION_RATE))
		return 0;
	return (uint64_t)(hodo_clock_ns(CLOCK_MONOTONIC) - s->clock_first.mono_ns) * s->cpus;
}

/* ----------------------------------------------------------------- output */

void hodo_recorder_write_failed(struct hodo_recorder *s, const char *dir, const char *file, int err)
{
	if (s->write_failed)
		return;
	s->write_failed = true;
	hodo_report(&s->config.reporter, "cannot write %s/%s/%s: %s: the program continues, and events that "
		    "cannot be written are counted", s->config.out_path, dir[0] ? dir : ".",
											file, strerror(-err));
}

bool hodo_recorder_free_files(struct hodo_recorder *s, int err)
{
	bool any = false;

	if (err != -EMFILE && err != -ENFILE)
		return false;
	for (struct hodo_process *p = s->processes; p; p = p->next) {
		for (uint32_t i = 0; i < p->actives; i++) {
			struct hodo_stream_file *stream = &p->ring[p->active[i]]->stream;

			if (stream->apart)
				continue;
			any |= stream->fd >= 0;
			hodo_stream_file_close(stream);
		}
	}
	return any;
}

bool hodo_recorder_make_room(struct hodo_recorder *s, int err)
{
	if ((err != -ENOSPC && err != -EDQUOT) || s->reserve_size == 0)
		return hodo_recorder_free_files(s, err);
	s->reserve_size = 0;
	return ftruncate(s->reserve_fd, 0) == 0;
}

/* As much as is available: on a full disk, most of what was just given back. */
void hodo_recorder_take_reserve(struct hodo_recorder *s, uint64_t size)
{
	if (size < RESERVE_BYTES)
		size = RESERVE_BYTES;
	for (uint64_t n = size; s->reserve_fd >= 0 && n > s->reserve_size; n -= n / RESERVE_STEPS + 1) {
		if (posix_fallocate(s->reserve_fd, 0, (off_t)n) == 0)
			s->reserve_size = n;
		else if (n <= RESERVE_MIN_BYTES || ftruncate(s->reserve_fd, (off_t)s->reserve_size) < 0)
			break;
	}
}

/* The first completed folder says which images are missing besides it. */
static int try_metadata(struct hodo_recorder *s, int dirfd, const struct hodo_text *text)
{
	HODO_AUTO(hodo_text_free) struct hodo_text more = { 0 };
	int err;

	if (text)
		return hodo_ctf_metadata_write(dirfd, text, geteuid());
	hodo_wall_text(&s->wall_first, "begin", &more);
	hodo_wall_text(&s->wall_last, "end", &more);
	if (!s->unrecorded_noted)
		hodo_unrecorded_text(s, &more);
	err = hodo_ctf_metadata_complete(dirfd, &s->clock_map, &more);
	if (!err)
		s->unrecorded_noted = true;
	return err;
}

int hodo_recorder_write_metadata(struct hodo_recorder *s, int dirfd, const struct hodo_text *text)
{
	int err = try_metadata(s, dirfd, text);

	while (hodo_recorder_make_room(s, err))
		err = try_metadata(s, dirfd, text);
	if (!err)
		hodo_recorder_take_reserve(s, text ? 2 * text->len : 0);
	return err;
}

int hodo_recorder_open_dir(struct hodo_recorder *s, const char *name)
{
	int fd = hodo_dir_open(s->config.out_fd, name);

	return hodo_recorder_free_files(s, fd) ? hodo_dir_open(s->config.out_fd, name) : fd;
}

void hodo_recorder_complete(struct hodo_recorder *s, struct hodo_text *folders)
{
	const char *end = folders->data + folders->len;

	for (const char *dir = folders->data; dir < end; dir += strlen(dir) + 1) {
		HODO_AUTO_CLOSE int fd = hodo_recorder_open_dir(s, dir);
		int err = fd < 0 ? fd : hodo_recorder_write_metadata(s, fd, NULL);

		if (err)
			hodo_recorder_write_failed(s, dir, "metadata", err);
	}
	hodo_text_free(folders);
}
