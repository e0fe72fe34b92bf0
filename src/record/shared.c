/* SPDX-License-Identifier: MIT */
/*
 * shared.c - what the parts of a recording share: its clock, its output, and its messages to the user.
 */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>

#include "conditions.h"
#include <record/join/images.h>
#include <record/write/ctf_metadata.h>
#include <record/write/snapshot.h>
#include "process_impl.h"

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

const struct hodo_read_clock *hodo_recorder_clock_map(struct hodo_recorder *s)
{
	if (!s->clock_fitted)
		hodo_recorder_fit_clock(s);
	return &s->clock_map;
}

uint64_t hodo_recorder_ticks_in(const struct hodo_recorder *s, uint64_t ns)
{
	struct hodo_read_clock rough = s->clock_map;
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
static int try_metadata(struct hodo_recorder *s, int dirfd, const struct hodo_text *text, const char *held)
{
	HODO_AUTO(hodo_text_free) struct hodo_text more = { 0 };
	int err;

	if (text)
		return hodo_ctf_metadata_write(dirfd, text, geteuid());
	hodo_wall_text(&s->wall_first, "begin", &more);
	hodo_wall_text(&s->wall_last, "end", &more);
	if (!s->unrecorded_noted)
		hodo_unrecorded_text(s, &more);
	err = hodo_ctf_metadata_complete(dirfd, held, &s->clock_map, &more);
	if (!err)
		s->unrecorded_noted = true;
	return err;
}

int hodo_recorder_write_metadata(struct hodo_recorder *s, int dirfd, const struct hodo_text *text, const char *held)
{
	int err = try_metadata(s, dirfd, text, held);

	while (hodo_recorder_make_room(s, err))
		err = try_metadata(s, dirfd, text, held);
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

	for (const char *dir = folders->data, *held; dir < end; dir = held + strlen(held) + 1) {
		HODO_AUTO_CLOSE int fd = hodo_recorder_open_dir(s, dir);
		int err;

		held = dir + strlen(dir) + 1;
		err = fd < 0 ? fd : hodo_recorder_write_metadata(s, fd, NULL, *held ? held : NULL);
		if (err)
			hodo_recorder_write_failed(s, dir, "metadata", err);
	}
	hodo_text_free(folders);
}

/* --------------------------------------------------------------- configuration */

static void make_uuid(uint64_t salt, uint8_t uuid[16])
{
	/* Random numbers must not block: a recording early at boot makes do with what there is. */
	if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
		uint64_t mix[2] = { (uint64_t)hodo_now_ns(), salt };

		memcpy(uuid, mix, sizeof(mix));
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x40;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void hodo_config_describe(const struct hodo_recorder *s, uint64_t salt, struct hodo_flight *f)
{
	*f = (struct hodo_flight){
		.size = sizeof(*f), .packet_size = s->config.packet_size, .ring_size = s->config.ring_size,
		.mode = s->config.mode, .clock = s->clock, .context = s->config.context ? s->config.context->flags : 0,
		.first = { s->clock_first.ticks, s->clock_first.mono_ns, s->clock_first.real_ns },
	};
	make_uuid(salt, f->uuid);
	memcpy(f->hostname, s->hostname, sizeof(f->hostname) - 1);
	hodo_boot_id(f->boot_id, sizeof(f->boot_id));
}

size_t hodo_config_make(const struct hodo_recorder *s, const struct hodo_pattern_list *patterns, const uint8_t uuid[16],
			const struct hodo_context_config *context, bool kernel, struct hodo_msg_config *m)
{
	const struct hodo_recorder_config *config = &s->config;
	const struct hodo_functions *functions = config->functions_of_kernel == kernel ? config->functions : NULL;
	uint64_t ticks_per_s = hodo_recorder_ticks_in(s, 1000000000);
	uint8_t *at = m->text;

	memset(m, 0, offsetof(struct hodo_msg_config, text));
	m->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG };
	memcpy(m->uuid, uuid, sizeof(m->uuid));
	m->rings = s->cpus + 1;
	m->packet_size = config->packet_size;
	m->ring_size = config->ring_size;
	m->mode = config->mode;
	m->clock = s->clock;
	m->wait_ns = kernel ? 0 : config->wait_ns;
	m->key = s->second_socket.answer_key;
	m->packet_age_ticks = hodo_recorder_ticks_in(s, config->packet_age_ns);
	m->patterns = patterns->n;
	m->patterns_len = (uint32_t)patterns->bytes;
	m->filter_len = (uint32_t)config->filter_len;
	m->functions_len = functions ? (uint32_t)hodo_functions_size(functions) : 0;
	m->conditions = config->conditions ? config->conditions->n : 0;
	m->conditions_len = config->conditions ? (uint32_t)config->conditions->bytes : 0;
	m->context_len = context ? sizeof(*context) : 0;
	m->flags = (config->awaits_start ? HODO_CONFIG_AWAITS_START : 0) |
		   (config->plans && !kernel ? HODO_CONFIG_PLANS : 0);
	hodo_pattern_pack(patterns, at);
	at += m->patterns_len;
	if (m->filter_len)
		memcpy(at, config->filter, m->filter_len);
	at += m->filter_len;
	if (m->functions_len)
		hodo_functions_pack(functions, hodo_recorder_ticks_in(s, functions->limit_ns), ticks_per_s, at);
	at += m->functions_len;
	if (m->conditions)
		hodo_conditions_pack(config->conditions, ticks_per_s, at);
	at += m->conditions_len;
	if (context)
		memcpy(at, context, sizeof(*context));
	return (size_t)(at + m->context_len - (uint8_t *)m);
}
