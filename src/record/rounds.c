/* SPDX-License-Identifier: MIT */
/*
 * rounds.c - a recording: what to do next, and when to look again.
 */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>

#include "conditions.h"
#include <record/kernel/kernel.h>
#include <proc/process.h>
#include <record/join/images.h>
#include <record/join/joining.h>
#include <record/join/planning.h>
#include "process_impl.h"
#include <record/join/server.h>
#include <record/kernel/switches.h>
#include <record/write/parts.h>
#include <record/write/snapshots.h>

#define MS 1000000ll
#define INTERVAL_MIN_NS 100000
#define INTERVAL_ACTIVE_NS (2 * MS) /* while events come: a burst must not fill a ring unseen */
#define FILL_BYTES 4 /* of a ring, in a nanosecond: more than anybody writes */
#define INTERVAL_IDLE_NS (50 * MS)
#define ACTIVE_NS (1000 * MS)
#define CHORES_NS (1000 * MS)
#define OPEN_NS (1000 * MS) /* how much a killed recorder may lose */
#define REACH_NS (5000 * MS) /* a ring is waited for, until all of it is on disk */
#define ZERO_BYTES (1ull << 20) /* of rings' memory in a round: takes some hundred microseconds */
#define DRAIN_THREADS 8u /* by default; the effect of more is not known */
#define EVENTS_MAX 64 /* of connections and processes, between two rounds of the rings */
#define STRAGGLERS_NS (10 * MS)
#define GRACE_IN_FLIGHT_NS (2 * MS) /* events that were being written when their word went off */
#define PART_AGE_MIN_NS (200ull * MS) /* chores are four times as frequent */

/* ------------------------------------------------------------- begin, end */

/* One more than the highest CPU that the kernel may ever bring up: the limit of CPU ids. */
static uint32_t possible_cpus(void)
{
	char text[4096], *last;
	long n = sysconf(_SC_NPROCESSORS_CONF);
	unsigned long max;

	hodo_file_line(AT_FDCWD, "/sys/devices/system/cpu/possible", text, sizeof(text));
	/* Such as 0-3,8: ascending. */
	last = text + strlen(text);
	while (last > text && last[-1] >= '0' && last[-1] <= '9')
		last--;
	max = *last ? strtoul(last, NULL, 10) + 1 : 1;
	if (n > 0 && (unsigned long)n > max)
		max = (unsigned long)n;
	return max > HODO_CPUS_MAX - 1 ? HODO_CPUS_MAX - 1 : (uint32_t)max;
}

/*
 * One for every four CPUs that we may use: programs need the others, and one thread keeps up with several of
 * those.
 */
static uint32_t right_threads(void)
{
	cpu_set_t allowed;
	uint32_t threads;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return 1;
	threads = (uint32_t)CPU_COUNT(&allowed) / 4;
	return threads < 1 ? 1 : threads > DRAIN_THREADS ? DRAIN_THREADS : threads;
}

static int begin_threads(struct hodo_recorder *s)
{
	s->threads = s->config.ops.packet ? 1 : s->config.drain_threads ? s->config.drain_threads : right_threads();
	if (s->threads > 1)
		s->drain = hodo_drain_new(s->threads);
	if (s->threads > 1 && !s->drain)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->threads; i++) {
		s->thread[i].copy = malloc(s->config.packet_size);
		if (s->config.compress && !s->config.ops.packet)
			s->thread[i].compressor = hodo_compressor_new(s->config.compress);
		if (!s->thread[i].copy || (s->config.compress && !s->config.ops.packet && !s->thread[i].compressor))
			return -ENOMEM;
	}
	return 0;
}

static void end_threads(struct hodo_recorder *s)
{
	hodo_drain_free(s->drain);
	for (uint32_t i = 0; i < s->threads; i++) {
		hodo_compressor_free(s->thread[i].compressor);
		free(s->thread[i].copy);
	}
}

static int begin(struct hodo_recorder *s, struct hodo_why *why)
{
	struct hodo_layout layout;
	int err;

	if (hodo_layout_init(&layout, s->cpus + 1, s->config.packet_size, s->config.ring_size) < 0)
		return hodo_why(why, -EINVAL, "buffers cannot have this size: choose another with -m");
	if (s->config.functions && hodo_functions_check(s->config.functions) < 0)
		return hodo_why(why, -E2BIG, "too many functions are named: use * to name several at once");
	err = hodo_parts_open(s);
	if (err)
		return hodo_why_errno(why, err, "%s cannot be written", s->config.out_path);
	if (begin_threads(s) < 0)
		return hodo_why_memory(why);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return hodo_why_errno(why, -errno, "the recording cannot begin");
	/* Has no name, so that it vanishes with us; if the file system cannot do that, we do without. */
	s->reserve_fd = openat(s->config.out_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	hodo_recorder_take_reserve(s, 0);
	err = hodo_server_open(s);
	return err ? hodo_why_errno(why, err, "no socket can be made for the recording") : 0;
}

int hodo_recorder_open(struct hodo_recorder **out, const struct hodo_recorder_config *config, struct hodo_why *why)
{
	struct hodo_recorder *s = calloc(1, sizeof(*s));
	struct utsname u;
	int err;

	*out = NULL;
	if (!s)
		return hodo_why_memory(why);
	err = hodo_clock_choose(config->clock, &s->clock, why);
	if (err) {
		free(s);
		return err;
	}
	s->config = *config;
	s->withholding = config->mode == HODO_MODE_OVERWRITE && config->snapshots.only && !config->ops.packet;
	s->process_ends = hodo_snapshots_end;
	s->epoll_fd = s->reserve_fd = s->parts.fd = -1;
	/* A packet that stays open would carry events of one part into the next. */
	if (s->config.limits.rotate_ns && s->config.packet_age_ns > s->config.limits.rotate_ns)
		s->config.packet_age_ns = s->config.limits.rotate_ns > PART_AGE_MIN_NS ? s->config.limits.rotate_ns :
											 PART_AGE_MIN_NS;
	hodo_images_begin(s);
	s->cpus = possible_cpus();
	s->interval_ns = INTERVAL_MIN_NS;
	gethostname(s->hostname, sizeof(s->hostname) - 1);
	if (uname(&u) == 0)
		snprintf(s->release, sizeof(s->release), "%s", u.release);
	hodo_clock_sample(s->clock, &s->clock_first);
	hodo_wall_sample(&s->clock_first, &s->wall_first);
	err = begin(s, why);
	if (err)
		hodo_recorder_close(s, NULL);
	else
		*out = s;
	return err;
}

void hodo_recorder_set_command(struct hodo_recorder *s, pid_t pid)
{
	s->command = pid;
}

void hodo_recorder_command_ended(struct hodo_recorder *s, int status)
{
	s->snapshots.command_ended = true;
	s->snapshots.command_status = status;
}

/* Reports names of a list that match nothing. */
static void report_names(struct hodo_recorder *s, struct hodo_pattern_list *list, const char *what, const char *hint)
{
	struct hodo_text text = { 0 };

	if (hodo_pattern_unknown(list, what, &text) && !text.error)
		hodo_report(&s->config.reporter, "%s%s: 'hodo list %s' lists what there is", hodo_text_string(&text), hint,
				    s->config.listed ? s->config.listed : s->config.out_path);
	hodo_text_free(&text);
}

static void report_unknown(struct hodo_recorder *s, const char *hint)
{
	struct hodo_conditions *conditions = s->config.conditions;

	report_names(s, s->config.patterns, "no event matches ", hint);
	report_names(s, s->config.fields, "--filter: no event has a field or label ", hint);
	if (!conditions)
		return;
	report_names(s, &conditions->patterns, "--trigger, --rate: no event matches ", hint);
	report_names(s, &conditions->fields, "--trigger: no event has a field or label ", hint);
}

/* Ends the recording of all processes, which run on; nobody can join any more. */
static void stop(struct hodo_recorder *s)
{
	hodo_server_drain(s);
	hodo_way_in_close(s);
	hodo_server_close(s);
	hodo_planning_close(s);
	for (struct hodo_process *p = s->processes; p; p = p->next)
		hodo_process_stop(p);
	hodo_adopt_end(s);
	hodo_switches_end(s);
	if (s->processes)
		hodo_sleep_ns(GRACE_IN_FLIGHT_NS);
	while (s->processes)
		hodo_process_finish(s->processes, !hodo_process_has_ended(s->processes));
	hodo_images_end(s);
}

/* The clock is fitted over the whole recording, and all processes get the same. */
static void complete_clocks(struct hodo_recorder *s)
{
	if (s->total.processes > 0)
		hodo_recorder_fit_clock(s);
	hodo_parts_complete(s);
	hodo_recorder_complete(s, &s->snapshots.done);
	if (s->config.ops.reached && s->epoll_fd >= 0)
		s->config.ops.reached(s->config.arg, UINT64_MAX, hodo_recorder_clock_map(s));
}

void hodo_recorder_close(struct hodo_recorder *s, struct hodo_recorder_stats *stats)
{
	stop(s);
	complete_clocks(s);
	/* If nothing was recorded, no name could have matched. */
	if (s->total.processes > 0)
		report_unknown(s, "");
	if (stats)
		hodo_recorder_stats(s, stats);
	hodo_parts_close(s);
	hodo_close(s->epoll_fd);
	hodo_close(s->reserve_fd);
	end_threads(s);
	free(s);
}

/* -------------------------------------------------------------- the round */

/*
 * Aims at rings two 16ths full: when will they be, at the present rate? A full ring shortens the interval at
 * once; quiet lengthens it step by step.
 */
static void adapt(struct hodo_recorder *s, int used, int64_t now)
{
	int64_t t = s->interval_ns, cap, took = hodo_now_ns() - now;

	if (used > 0)
		s->active_ns = now;
	cap = now - s->active_ns < ACTIVE_NS && s->config.mode == HODO_MODE_DISCARD ? INTERVAL_ACTIVE_NS :
										    INTERVAL_IDLE_NS;
	/* A flight recorder's rings are only polled for requests of processes. */
	if (s->config.mode == HODO_MODE_OVERWRITE)
		cap = 10 * took > HODO_SNAPSHOTS_LOOK_NS ? 10 * took : HODO_SNAPSHOTS_LOOK_NS;
	t = used > 0 ? t * 2 / used : t * 2;
	if (used == 0 && t < 10 * took) /* merely polling very many processes must not become a load */
		t = 10 * took;
	s->interval_ns = t < INTERVAL_MIN_NS ? INTERVAL_MIN_NS : t > cap ? cap : t;
}

static void adapt_to_new(struct hodo_recorder *s)
{
	int64_t t = (int64_t)(s->config.ring_size / FILL_BYTES);

	t = t < INTERVAL_MIN_NS ? INTERVAL_MIN_NS : t > INTERVAL_ACTIVE_NS ? INTERVAL_ACTIVE_NS : t;
	if (s->interval_ns > t)
		s->interval_ns = t;
}

static void do_chores(struct hodo_recorder *s)
{
	uint64_t age = hodo_recorder_ticks_in(s, s->config.packet_age_ns);

	for (struct hodo_process *p = s->processes; p; p = p->next) {
		hodo_process_chores(p, hodo_clock_ticks(s->clock), age);
		hodo_images_look(p, true);
		/*
		 * Only for the command itself, since a wrapper script has no events, which says nothing about
		 * what follows; or for the kernel, if it is alone.
		 */
		if (p->ours)
			continue;
		if ((p->kernel ? s->live == 1 && !s->command : p->id.pid == s->command) && p->catalog.events > 0)
			report_unknown(s, " so far");
	}
}

/*
 * Says what is on disk. A ring that is damaged, or so busy that its packets are never all taken, does not hold up the
 * others for ever.
 */
static void tell_reached(struct hodo_recorder *s, uint64_t began, uint64_t until)
{
	uint64_t late = hodo_recorder_ticks_in(s, REACH_NS);
	struct hodo_clock_sample now;
	struct hodo_read_clock clock;

	until = until < began ? until : began;
	if (began > late && until < began - late)
		until = began - late;
	if (until <= s->reached)
		return;
	for (struct hodo_process *p = s->processes; p; p = p->next)
		hodo_process_name_new_threads(p);
	s->reached = until;
	hodo_clock_sample(s->clock, &now);
	hodo_clock_fit(s->clock, &s->clock_first, &now, &clock);
	s->config.ops.reached(s->config.arg, until, &clock);
}

/* So that a killed recorder loses little. began: before the round of the rings. */
static void take_open(struct hodo_recorder *s, uint64_t began)
{
	uint64_t until = UINT64_MAX;

	for (struct hodo_process *p = s->processes; p; p = p->next) {
		uint64_t its = hodo_process_take_open(p);

		until = its < until ? its : until;
	}
	if (s->config.ops.reached)
		tell_reached(s, began, until);
}

/* A round of all rings: any free thread takes the next one. */
struct round {
	struct hodo_process *process;
	uint32_t next; /* of its active rings */
	int used_max;
	uint32_t busy;
};

static void poll_rings(void *arg, uint32_t thread)
{
	struct round *round = arg;

	while (round->process) {
		struct hodo_process *p = round->process;
		int used;

		if (round->next == 0)
			hodo_process_find_rings(p);
		if (round->next >= p->actives) {
			round->process = p->next;
			round->next = 0;
			continue;
		}
		used = hodo_process_poll(p, round->next++, thread);
		round->busy += used > 0;
		if (used > round->used_max)
			round->used_max = used;
	}
}

static void poll_processes(struct hodo_recorder *s, int64_t now)
{
	int64_t chores_ns = (int64_t)s->config.packet_age_ns / 4;
	uint64_t began = s->config.ops.reached ? hodo_clock_ticks(s->clock) : 0;
	struct round round = { .used_max = hodo_switches_take(s), .process = s->processes };

	s->give_back = (struct hodo_give_back_round){ now, ZERO_BYTES };
	hodo_drain_run(s->drain, s->busy > 1 ? s->busy - 1 : 0, poll_rings, &round);
	s->busy = round.busy;
	for (struct hodo_process *p = s->processes; p; p = p->next)
		hodo_images_look(p, false);
	adapt(s, round.used_max, now);
	if (!s->config.ops.packet && now - s->opened_ns >= OPEN_NS) {
		s->opened_ns = now;
		take_open(s, began);
	}
	if (chores_ns > CHORES_NS)
		chores_ns = CHORES_NS;
	if (s->processes && now - s->chores_ns >= chores_ns) {
		s->chores_ns = now;
		do_chores(s);
	}
}

/* Handles requests of processes and their triggers. */
static void look_for_requests(struct hodo_recorder *s)
{
	for (struct hodo_process *p = s->processes, *next; p; p = next) {
		next = p->next;
		hodo_process_guard(p);
		if (hodo_snapshots_look(p) != HODO_WANTS_STOP)
			continue;
		hodo_process_stop(p);
		hodo_sleep_ns(GRACE_IN_FLIGHT_NS);
		hodo_process_finish(p, true);
	}
}

/* One by one: handling one may remove others, and closed ones must not be reported. */
static bool take_event(struct hodo_recorder *s)
{
	struct epoll_event event;
	struct hodo_watch *w;

	if (epoll_wait(s->epoll_fd, &event, 1, 0) != 1)
		return false;
	w = event.data.ptr;
	w->ready(w);
	return true;
}

int64_t hodo_recorder_step(struct hodo_recorder *s)
{
	uint32_t live = s->live;
	bool more = true;
	int64_t now;

	/*
	 * Programs wait only for answers; a process that has joined may be busy, one that has ended is not.
	 */
	for (int i = 0; more && i < EVENTS_MAX; i++) {
		hodo_server_answer(s);
		more = hodo_server_start_next(s);
		more |= take_event(s);
	}
	now = hodo_now_ns();
	hodo_server_expire(s, now);
	hodo_adopt_check(s, now);
	poll_processes(s, now);
	look_for_requests(s);
	hodo_images_check(s, now);
	hodo_folders_step(s, now);
	if (s->live > live) /* a new one: it may begin with a burst */
		adapt_to_new(s);
	return s->live ? s->interval_ns : INTERVAL_IDLE_NS;
}

bool hodo_recorder_joining(const struct hodo_recorder *s)
{
	return s->server && hodo_server_pending(s);
}

bool hodo_recorder_busy(struct hodo_recorder *s)
{
	int64_t now = hodo_now_ns();

	if (!s->server)
		return false;
	if (s->live > hodo_recorder_has_kernel(s) || hodo_server_pending(s)) {
		s->idle_ns = 0;
		return true;
	}
	if (s->idle_ns == 0) {
		s->idle_ns = now;
		s->looked_ns = 0;
	}
	if (now - s->idle_ns > HODO_RECORDER_GRACE_NS)
		return false;
	if (now - s->looked_ns >= STRAGGLERS_NS) {
		s->looked_ns = now;
		s->straggler = hodo_proc_any_has(HODO_RECORDER_ENV, hodo_recorder_socket(s));
	}
	return s->straggler;
}

void hodo_recorder_stats(const struct hodo_recorder *s, struct hodo_recorder_stats *stats)
{
	*stats = s->total;
	stats->live = s->live;
	for (const struct hodo_process *p = s->processes; p; p = p->next)
		hodo_process_count(p, stats);
	if (!s->server) /* all processes have ended */
		stats->events = s->parts.events;
}

bool hodo_recorder_ended(const struct hodo_recorder *s)
{
	return s->total.ended;
}

struct hodo_process *hodo_recorder_processes(const struct hodo_recorder *s)
{
	return s->processes;
}

int hodo_recorder_fd(const struct hodo_recorder *s)
{
	return s->epoll_fd;
}
