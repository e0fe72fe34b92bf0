/* SPDX-License-Identifier: MIT */
/*
 * session.c - a recording: what to do next, and when to look again.
 */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "adopt.h"
#include "conditions.h"
#include "kernel.h"
#include "process.h"
#include "message.h"
#include "server.h"

#define MS 1000000ll
#define INTERVAL_MIN_NS 100000
#define INTERVAL_ACTIVE_NS (2 * MS) /* while events come: a burst must not fill a ring unseen */
#define INTERVAL_IDLE_NS (50 * MS)
#define ACTIVE_NS (1000 * MS)
#define CHORES_NS (1000 * MS)
#define STRAGGLERS_NS (10 * MS)
#define GRACE_IN_FLIGHT_NS (2 * MS)
#define RESERVE_BYTES (1u << 20)
#define RESERVE_MIN_BYTES (16u << 10)
#define RESERVE_STEPS 16
#define PART_AGE_MIN_NS (200ull * MS) /* chores are done four times as often */

static void sleep_ns(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	if (ns > 0)
		nanosleep(&t, NULL);
}

void hodo_session_report(struct hodo_session *s, const char *format, ...)
{
	char raw[1024], line[sizeof(raw) * 2];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	hodo_name_printable(line, sizeof(line), raw);
	s->config.report(s->config.arg, line);
}

int hodo_session_watch(struct hodo_session *s, int fd, struct hodo_watch *w)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* ------------------------------------------------------------------ clock */

int hodo_session_choose_clock(struct hodo_session *s, bool tsc)
{
	if (s->clock_chosen)
		return s->clock == HODO_CLOCK_TSC && !tsc ? -EOPNOTSUPP : 0;
	if (s->clock == HODO_CLOCK_TSC && !tsc) {
		s->clock = HODO_CLOCK_MONOTONIC;
		hodo_clock_sample(s->clock, &s->clock_first);
	}
	s->clock_chosen = true;
	return 0;
}

static void fit_clock(struct hodo_session *s)
{
	struct hodo_clock_sample last;

	hodo_clock_sample(s->clock, &last);
	if (s->clock == HODO_CLOCK_TSC && last.mono_ns - s->clock_first.mono_ns < HODO_CLOCK_FIT_NS) {
		sleep_ns(HODO_CLOCK_FIT_NS - (last.mono_ns - s->clock_first.mono_ns));
		hodo_clock_sample(s->clock, &last);
	}
	hodo_clock_fit(s->clock, &s->clock_first, &last, &s->clock_map);
	s->clock_fitted = true;
}

const struct hodo_clock_map *hodo_session_clock_map(struct hodo_session *s)
{
	if (!s->clock_fitted)
		fit_clock(s);
	return &s->clock_map;
}

uint64_t hodo_session_ticks(const struct hodo_session *s)
{
	return hodo_clock_now(s->clock);
}

uint64_t hodo_session_ticks_in(const struct hodo_session *s, uint64_t ns)
{
	struct hodo_clock_map rough = s->clock_map;
	struct hodo_clock_sample now;

	if (!s->clock_fitted) {
		hodo_clock_sample(s->clock, &now);
		hodo_clock_fit(s->clock, &s->clock_first, &now, &rough);
	}
	return (uint64_t)((unsigned __int128)ns * rough.freq_hz / 1000000000);
}

/* ----------------------------------------------------------------- output */

void hodo_session_write_failed(struct hodo_session *s, const char *dir, const char *file, int err)
{
	if (s->write_failed)
		return;
	s->write_failed = true;
	hodo_session_report(s, "cannot write %s/%s/%s: %s: the program runs on, events that cannot be written are"
			    " counted", s->config.out_path, dir[0] ? dir : ".", file, strerror(-err));
}

/* As much as is to be had: on a full disk most of what was just given back. */
static void take_reserve(struct hodo_session *s, uint64_t size)
{
	for (uint64_t n = size; s->reserve_fd >= 0 && n > s->reserve_size; n -= n / RESERVE_STEPS + 1) {
		if (posix_fallocate(s->reserve_fd, 0, (off_t)n) == 0)
			s->reserve_size = n;
		else if (n <= RESERVE_MIN_BYTES || ftruncate(s->reserve_fd, (off_t)s->reserve_size) < 0)
			break;
	}
}

void hodo_session_take_reserve(struct hodo_session *s)
{
	take_reserve(s, RESERVE_BYTES);
}

static int try_metadata(struct hodo_session *s, int dirfd, const struct hodo_text *text)
{
	return text ? hodo_ctf_metadata_write(dirfd, text) : hodo_ctf_metadata_set_clock(dirfd, &s->clock_map);
}

bool hodo_session_release_reserve(struct hodo_session *s, int err)
{
	if ((err != -ENOSPC && err != -EDQUOT) || s->reserve_size == 0)
		return false;
	s->reserve_size = 0;
	return ftruncate(s->reserve_fd, 0) == 0;
}

int hodo_session_write_metadata(struct hodo_session *s, int dirfd, const struct hodo_text *text)
{
	uint64_t wanted = text && 2 * text->len > RESERVE_BYTES ? 2 * text->len : RESERVE_BYTES;
	int err = try_metadata(s, dirfd, text);

	if (err == -EMFILE || err == -ENFILE) {
		hodo_session_close_files(s);
		err = try_metadata(s, dirfd, text);
	}
	if (hodo_session_release_reserve(s, err))
		err = try_metadata(s, dirfd, text);
	if (!err)
		take_reserve(s, wanted);
	return err;
}

void hodo_session_close_files(struct hodo_session *s)
{
	for (struct hodo_process *p = s->processes; p; p = p->next)
		for (uint32_t i = 0; i < p->actives; i++)
			hodo_stream_close(&p->ring[p->active[i]]->stream);
}

/* ------------------------------------------------------------- begin, end */

/* One more than the highest CPU the kernel may ever bring up: what a CPU id is below. */
static uint32_t possible_cpus(void)
{
	char text[4096] = "";
	uint32_t max = 0;
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	long n = sysconf(_SC_NPROCESSORS_CONF);

	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) < 0)
			text[0] = 0;
		close(fd);
	}
	for (char *at = text; *at;) {
		char *end;
		unsigned long v = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (v >= max)
			max = (uint32_t)(v < HODO_CPUS_MAX ? v + 1 : HODO_CPUS_MAX);
		at = end + (*end == '-' || *end == ',');
	}
	if (n > 0 && (uint32_t)n > max)
		max = (uint32_t)n;
	return max == 0 ? 1 : max > HODO_CPUS_MAX - 1 ? HODO_CPUS_MAX - 1 : max;
}

static int open_parts(struct hodo_session *s, char *error, size_t error_size)
{
	struct hodo_layout layout;
	int err;

	if (hodo_layout_init(&layout, s->cpus + 1, s->config.packet_size, s->config.ring_size) < 0) {
		snprintf(error, error_size, "buffers of this size cannot be: choose another with -m");
		return -EINVAL;
	}
	if (s->config.functions && hodo_functions_check(s->config.functions) < 0) {
		snprintf(error, error_size, "too many functions are named: use * to name several at once");
		return -E2BIG;
	}
	err = hodo_parts_open(s);
	if (err) {
		snprintf(error, error_size, "%s cannot be written: %s: %s", s->config.out_path, strerror(-err),
			 hodo_remedy(err));
		return err;
	}
	s->copy = malloc(s->config.packet_size);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->copy || s->epoll_fd < 0) {
		err = s->copy ? -errno : -ENOMEM;
		snprintf(error, error_size, "the recording cannot be begun: %s: %s", strerror(-err),
			 hodo_remedy(err));
		return err;
	}
	/* Has no name, so that it vanishes with us; where the file system cannot do that, we do without. */
	s->reserve_fd = openat(s->config.out_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	take_reserve(s, RESERVE_BYTES);
	err = hodo_server_open(s);
	if (err)
		snprintf(error, error_size, "no socket can be had for the recording: %s: %s", strerror(-err),
			 hodo_remedy(err));
	return err;
}

int hodo_session_open(struct hodo_session **out, const struct hodo_session_config *config, char *error,
		      size_t error_size)
{
	struct hodo_session *s = calloc(1, sizeof(*s));
	struct utsname u;
	int err;

	*out = NULL;
	if (!s) {
		snprintf(error, error_size, "out of memory: %s", hodo_remedy(ENOMEM));
		return -ENOMEM;
	}
	s->config = *config;
	s->epoll_fd = s->reserve_fd = s->parts.fd = -1;
	/* A packet that stays open would take what happened in one part into the next. */
	if (s->config.limits.rotate_ns && s->config.packet_age_ns > s->config.limits.rotate_ns)
		s->config.packet_age_ns = s->config.limits.rotate_ns > PART_AGE_MIN_NS ? s->config.limits.rotate_ns :
											 PART_AGE_MIN_NS;
	s->cpus = possible_cpus();
	s->interval_ns = INTERVAL_MIN_NS;
	s->clock = config->clock ? config->clock : hodo_clock_tsc_usable() ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC;
	gethostname(s->hostname, sizeof(s->hostname) - 1);
	if (uname(&u) == 0)
		snprintf(s->release, sizeof(s->release), "%s", u.release);
	hodo_clock_sample(s->clock, &s->clock_first);
	err = open_parts(s, error, error_size);
	if (err)
		hodo_session_close(s, NULL);
	else
		*out = s;
	return err;
}

void hodo_session_set_command(struct hodo_session *s, pid_t pid)
{
	s->command = pid;
}

void hodo_session_command_ended(struct hodo_session *s, int status)
{
	s->snapshots.command_ended = true;
	s->snapshots.command_status = status;
}

/* Names of a list that match nothing. */
static void report_names(struct hodo_session *s, struct hodo_pattern_list *list, const char *what, const char *hint)
{
	struct hodo_text text = { 0 };

	if (hodo_pattern_unknown(list, what, &text) && !text.error)
		hodo_session_report(s, "%s%s: 'hodo list %s' lists what there is", hodo_text_string(&text), hint,
				    s->config.out_path);
	hodo_text_free(&text);
}

static void report_unknown(struct hodo_session *s, const char *hint)
{
	struct hodo_conditions *conditions = s->config.conditions;

	report_names(s, s->config.patterns, "no event matches ", hint);
	report_names(s, s->config.fields, "--filter: no event has a field ", hint);
	if (!conditions)
		return;
	report_names(s, &conditions->patterns, "--trigger, --rate: no event matches ", hint);
	report_names(s, &conditions->fields, "--trigger: no event has a field ", hint);
}

void hodo_session_stop(struct hodo_session *s)
{
	hodo_server_drain(s);
	hodo_server_close(s);
	for (struct hodo_process *p = s->processes; p; p = p->next)
		hodo_process_stop(p);
	hodo_adopt_end(s);
	if (s->processes) /* events that were being written when their word went off */
		sleep_ns(GRACE_IN_FLIGHT_NS);
	while (s->processes)
		hodo_process_finish(s->processes, !hodo_process_has_ended(s->processes));
}

static void free_gone(struct hodo_session *s)
{
	while (s->finished) {
		struct hodo_process *p = s->finished;

		s->finished = p->next;
		hodo_process_free(p);
	}
}

/* The clock is fitted over the whole recording, and all processes get the same. */
static void complete_clocks(struct hodo_session *s)
{
	if (s->total.processes > 0)
		fit_clock(s);
	hodo_parts_complete(s);
	hodo_snapshots_complete(s);
}

void hodo_session_close(struct hodo_session *s, struct hodo_session_stats *stats)
{
	hodo_session_stop(s);
	free_gone(s);
	complete_clocks(s);
	/* Where nothing was recorded, there is nothing that a name could have matched. */
	if (s->total.processes > 0)
		report_unknown(s, "");
	if (stats)
		hodo_session_stats(s, stats);
	hodo_parts_close(s);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
	free(s->copy);
	free(s);
}

/* -------------------------------------------------------------- the round */

/*
 * Aims at rings two 16ths full: at the rate just seen, when will they be? Fill
 * in one look shortens the time at once; quiet lengthens it step by step.
 */
static void adapt(struct hodo_session *s, int used, int64_t now)
{
	int64_t t = s->interval_ns, cap, took = hodo_now_ns() - now;

	if (used > 0)
		s->active_ns = now;
	cap = now - s->active_ns < ACTIVE_NS && s->config.mode == HODO_MODE_DISCARD ? INTERVAL_ACTIVE_NS :
										    INTERVAL_IDLE_NS;
	/* A flight recorder's rings are looked at for what processes ask for. */
	if (s->config.mode == HODO_MODE_OVERWRITE)
		cap = 10 * took > HODO_SNAPSHOTS_LOOK_NS ? 10 * took : HODO_SNAPSHOTS_LOOK_NS;
	t = used > 0 ? t * 2 / used : t * 2;
	if (used == 0 && t < 10 * took) /* just looking at very many processes must not become work */
		t = 10 * took;
	s->interval_ns = t < INTERVAL_MIN_NS ? INTERVAL_MIN_NS : t > cap ? cap : t;
}

static void do_chores(struct hodo_session *s)
{
	uint64_t age = hodo_session_ticks_in(s, s->config.packet_age_ns);

	for (struct hodo_process *p = s->processes; p; p = p->next) {
		hodo_process_chores(p, hodo_session_ticks(s), age);
		/*
		 * Only of the command itself: a wrapper script knows no events, and says nothing of what comes; or of
		 * the kernel, if it is alone.
		 */
		if ((p->kernel ? s->live == 1 && !s->command : p->id.pid == s->command) && p->catalog.events > 0)
			report_unknown(s, " so far");
	}
}

static void poll_processes(struct hodo_session *s, int64_t now)
{
	int64_t chores_ns = (int64_t)s->config.packet_age_ns / 4;
	int used_max = 0;

	for (struct hodo_process *p = s->processes; p; p = p->next) {
		int used = hodo_process_poll(p);

		if (used > used_max)
			used_max = used;
	}
	adapt(s, used_max, now);
	if (chores_ns > CHORES_NS)
		chores_ns = CHORES_NS;
	if (s->processes && now - s->chores_ns >= chores_ns) {
		s->chores_ns = now;
		do_chores(s);
	}
}

int64_t hodo_session_step(struct hodo_session *s)
{
	struct epoll_event events[64];
	int n = epoll_wait(s->epoll_fd, events, 64, 0);
	uint32_t live = s->live;
	int64_t now;

	for (int i = 0; i < n; i++) {
		struct hodo_watch *w = events[i].data.ptr;

		w->ready(w, events[i].events);
	}
	now = hodo_now_ns();
	hodo_server_expire(s, now);
	poll_processes(s, now);
	hodo_snapshots_look(s);
	hodo_parts_step(s, now);
	free_gone(s);
	hodo_server_free_gone(s);
	if (s->live > live) /* a new one: it may begin with a burst */
		s->interval_ns = INTERVAL_MIN_NS;
	return s->live ? s->interval_ns : INTERVAL_IDLE_NS;
}

bool hodo_session_busy(struct hodo_session *s)
{
	int64_t now = hodo_now_ns();

	if (!s->server)
		return false;
	if (s->live > hodo_session_has_kernel(s) || hodo_server_pending(s)) {
		s->idle_ns = 0;
		return true;
	}
	if (s->idle_ns == 0) {
		s->idle_ns = now;
		s->looked_ns = 0;
	}
	if (now - s->idle_ns > HODO_SESSION_GRACE_NS)
		return false;
	if (now - s->looked_ns >= STRAGGLERS_NS) {
		s->looked_ns = now;
		s->straggler = hodo_straggler_exists(hodo_session_socket(s));
	}
	return s->straggler;
}

void hodo_session_stats(const struct hodo_session *s, struct hodo_session_stats *stats)
{
	*stats = s->total;
	stats->live = s->live;
	stats->snapshot_events = s->snapshots.events;
	stats->snapshot_bytes = s->snapshots.bytes;
	stats->unwritten = s->snapshots.unwritten;
	for (const struct hodo_process *p = s->processes; p; p = p->next)
		hodo_process_count(p, stats);
	hodo_parts_stats(s, stats);
	if (!s->server) /* all have ended */
		stats->events = s->parts.events;
}

bool hodo_session_ended(const struct hodo_session *s)
{
	return s->total.ended;
}

int hodo_session_fd(const struct hodo_session *s)
{
	return s->epoll_fd;
}
