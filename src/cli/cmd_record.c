/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c - hodo record: runs a command and records it and all that comes of it.
 */
#define _GNU_SOURCE
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <record/filter_parse.h>
#include <record/launch.h>
#include <record/out_dir.h>
#include <record/record.h>

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126
#define PROGRESS_NS 500000000ll
#define PACKETS_A_RING 16

struct options {
	const char *out;
	uint64_t ring_size;
	uint32_t packet_size; /* 0: by the ring's size */
	bool overwrite, quiet;
	int64_t duration_ns; /* 0: no end */
	uint64_t packet_age_ns;
	enum hodo_clock clock;
	struct hodo_pattern_list patterns;
	uint8_t filter[HODO_FILTER_MAX];
	size_t filter_len;
	char **command;
};

struct recording {
	struct options options;
	struct hodo_launch launch;
	struct hodo_session *session; /* NULL: nothing is recorded (any more) */
	struct hodo_session_stats stats;
	int out_fd;
	int signal_fd;
	pid_t pid;
	bool ended; /* the command */
	int status; /* of it, as wait() tells */
	bool stopped;     /* before its time */
	int stop_signal;  /* that stopped the recording, 0 if none did */
	unsigned int interrupts;
	bool progress;    /* there is a line on the terminal */
	int64_t progress_ns, start_ns;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void clear_progress(struct recording *r)
{
	if (r->progress)
		fputs("\r\033[K", stderr);
	r->progress = false;
}

static void report(void *arg, const char *line)
{
	clear_progress(arg);
	fprintf(stderr, "hodo: %s\n", line);
}

/* --------------------------------------------------------------- options */

static const char usage_text[] =
	"usage: hodo record [options] [--] CMD [ARGUMENT...]\n"
	"Runs CMD and records its events, and those of all processes that come of it.\n"
	"\n"
	"  -e, --event EVENT[,EVENT...]  record these only: PROVIDER:NAME, with * ? [...];\n"
	"                                ! in front leaves out; may be given several times\n"
	"  -o, --output DIR     write to DIR (hodo.data); an earlier recording moves to DIR.old\n"
	"  -m, --buffer SIZE    buffer of each CPU in each process (4M); with K, M or G\n"
	"      --overwrite      flight recorder: keep the newest events, write them at the end\n"
	"      --filter EXPR    record events for which EXPR on their fields holds\n"
	"      --duration TIME  stop recording after TIME seconds (or with s, m or h), and wait for CMD\n"
	"  -q, --quiet          no progress and no summary; lost events are told all the same\n"
	"  -h, --help           this\n"
	"\n"
	"For tests of the recorder itself:\n"
	"      --clock tsc|monotonic   the clock (the TSC where it can be relied on)\n"
	"      --packet-size SIZE      packet (a 16th of the buffer, 1K to 1M)\n"
	"      --packet-age SECONDS    age at which an open packet is closed (3600)\n";

static int wrong_usage(const char *what)
{
	fprintf(stderr, "hodo: record: %s: see hodo record --help\n", what);
	return 2;
}

/* "4M" to bytes, 0 if it is no size. */
static uint64_t parse_size(const char *s)
{
	char *end;
	uint64_t v;
	int shift = 0;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (end == s || s[0] < '0' || s[0] > '9' || errno)
		return 0;
	switch (*end) {
	case 'G': case 'g': shift += 10; /* fallthrough */
	case 'M': case 'm': shift += 10; /* fallthrough */
	case 'K': case 'k': shift += 10; end++; break;
	}
	if (*end || v > UINT64_MAX >> shift)
		return 0;
	return v << shift;
}

/* "1.5", "90s", "2m" to ns, 0 if it is no time. */
static int64_t parse_time(const char *s)
{
	char *end;
	double v;

	v = strtod(s, &end);
	if (end == s || !((s[0] >= '0' && s[0] <= '9') || s[0] == '.'))
		return 0;
	if (*end == 'm')
		v *= 60;
	else if (*end == 'h')
		v *= 3600;
	if (*end && strchr("smh", *end))
		end++;
	if (*end || !(v * 1e9 >= 1) || v > 1e9)
		return 0;
	return (int64_t)(v * 1e9);
}

static uint64_t power_of_two(uint64_t v)
{
	uint64_t p = 1;

	while (p < v && p < 1ull << 63)
		p <<= 1;
	return p;
}

enum { OPT_OVERWRITE = 256, OPT_FILTER, OPT_DURATION, OPT_CLOCK, OPT_PACKET_AGE, OPT_PACKET_SIZE };

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "output", required_argument, NULL, 'o' },
	{ "buffer", required_argument, NULL, 'm' },
	{ "overwrite", no_argument, NULL, OPT_OVERWRITE },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "packet-age", required_argument, NULL, OPT_PACKET_AGE },
	{ "packet-size", required_argument, NULL, OPT_PACKET_SIZE },
	{ NULL, 0, NULL, 0 },
};

static int set_clock(struct options *o, const char *name)
{
	if (strcmp(name, "tsc") == 0)
		o->clock = HODO_CLOCK_TSC;
	else if (strcmp(name, "monotonic") == 0)
		o->clock = HODO_CLOCK_MONOTONIC;
	else
		return wrong_usage("--clock is tsc or monotonic");
	return 0;
}

static int set_filter(struct options *o, const char *text)
{
	char why[200], what[256];

	if (o->filter_len)
		return wrong_usage("only one --filter can be given: join them with &&");
	if (hodo_filter_compile(text, o->filter, sizeof(o->filter), &o->filter_len, why, sizeof(why)) == 0)
		return 0;
	snprintf(what, sizeof(what), "--filter: %s", why);
	return wrong_usage(what);
}

/* The option's value, checked. 0 or the exit status. */
static int set_option(struct options *o, int option, const char *value)
{
	char why[200];
	uint64_t size;

	switch (option) {
	case 'e':
		return hodo_pattern_add(&o->patterns, value, why, sizeof(why)) == 0 ? 0 : wrong_usage(why);
	case 'o':
		o->out = value;
		return *value ? 0 : wrong_usage("-o needs a directory");
	case 'm':
		o->ring_size = parse_size(value);
		if (o->ring_size < HODO_PAGE || o->ring_size > HODO_RING_MAX)
			return wrong_usage("-m is a size from 4K to 1024G, such as 16M");
		o->ring_size = power_of_two(o->ring_size);
		return 0;
	case OPT_OVERWRITE:
		o->overwrite = true;
		return 0;
	case OPT_FILTER:
		return set_filter(o, value);
	case OPT_DURATION:
		o->duration_ns = parse_time(value);
		return o->duration_ns ? 0 : wrong_usage("--duration is a time such as 10, 0.5 or 2m");
	case 'q':
		o->quiet = true;
		return 0;
	case OPT_CLOCK:
		return set_clock(o, value);
	case OPT_PACKET_AGE:
		o->packet_age_ns = (uint64_t)parse_time(value);
		return o->packet_age_ns ? 0 : wrong_usage("--packet-age is a time in seconds");
	case OPT_PACKET_SIZE:
		size = parse_size(value);
		if (size < HODO_PACKET_MIN || size > HODO_PACKET_MAX)
			return wrong_usage("--packet-size is a size from 1K to 8M");
		o->packet_size = (uint32_t)power_of_two(size);
		return 0;
	}
	return 2; /* getopt has said why */
}

/* 0, or the exit status; -1: help was asked for. */
static int parse_options(struct options *o, int argc, char **argv)
{
	int option, err;

	o->out = "hodo.data";
	o->ring_size = 4u << 20;
	o->packet_age_ns = 3600ull * 1000000000;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:e:o:m:qh", long_options, NULL)) != -1) {
		char what[128];

		if (option == 'h')
			return -1;
		if (option == '?' || option == ':') {
			snprintf(what, sizeof(what), "%s '%.64s'",
				 option == ':' ? "a value is missing behind" : "there is no option", argv[optind - 1]);
			return wrong_usage(what);
		}
		err = set_option(o, option, optarg);
		if (err)
			return err;
	}
	o->command = argv + optind;
	if (!o->command[0])
		return wrong_usage("what is to be run?");
	if (o->packet_size == 0) {
		uint64_t size = o->ring_size / PACKETS_A_RING;

		o->packet_size = (uint32_t)(size < HODO_PACKET_MIN ? HODO_PACKET_MIN : size > 1u << 20 ? 1u << 20 : size);
	}
	if (o->ring_size / 4 < o->packet_size)
		return wrong_usage("the buffer must hold four packets at least");
	return 0;
}

/* --------------------------------------------------------------- display */

static const char *bytes_text(uint64_t bytes, char *to, size_t size)
{
	static const char *const unit[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	unsigned int i = 0;

	while (v >= 1024 && i < 4) {
		v /= 1024;
		i++;
	}
	snprintf(to, size, i ? "%.1f %s" : "%.0f %s", v, unit[i]);
	return to;
}

static uint64_t lost_total(const struct hodo_session_lost *l)
{
	return l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static void show_progress(struct recording *r)
{
	struct hodo_session_stats s;
	int64_t now = now_ns();
	char bytes[32];

	if (r->options.quiet || !r->session || now - r->progress_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
		return;
	r->progress_ns = now;
	hodo_session_stats(r->session, &s);
	fprintf(stderr, "\r\033[Khodo: recording %u process%s: %" PRIu64 " events, %" PRIu64 " lost, %s written",
		s.live, s.live == 1 ? "" : "es", s.events, lost_total(&s.lost), bytes_text(s.bytes, bytes, sizeof(bytes)));
	fflush(stderr);
	r->progress = true;
}

static void tell_lost(const char *how, uint64_t n, const char *hint)
{
	if (n)
		fprintf(stderr, "hodo: %" PRIu64 " event%s lost: %s: %s\n", n, n == 1 ? "" : "s", how, hint);
}

static void tell_losses(const struct recording *r)
{
	const struct hodo_session_lost *l = &r->stats.lost;
	char hint[128], size[32];

	bytes_text(r->options.ring_size, size, sizeof(size));
	snprintf(hint, sizeof(hint), "a larger -m (it was %s) keeps them", size);
	tell_lost("the buffer was full", l->full, hint);
	tell_lost("larger than a packet", l->too_large, hint);
	tell_lost("threads without restartable sequences were in each other's way", l->busy,
		  "hodo doctor tells how to have them");
	tell_lost("overwritten by newer ones, as --overwrite asks for", l->overwritten, hint);
	tell_lost("the output could not be written", l->unwritten, "make room, or choose another disk with -o");
	tell_lost("the program damaged its buffers", l->damaged, "look for stray writes in it");
}

static void tell_summary(const struct recording *r)
{
	const struct hodo_session_stats *s = &r->stats;
	char bytes[32];

	if (!r->options.quiet)
		fprintf(stderr, "hodo: %" PRIu64 " event%s of %u process%s, %s in %s\n", s->events,
			s->events == 1 ? "" : "s", s->processes, s->processes == 1 ? "" : "es",
			bytes_text(s->bytes, bytes, sizeof(bytes)), r->options.out);
	if (!s->command && !r->options.quiet)
		fprintf(stderr, "hodo: %s itself was not recorded: it never loaded libhodo: is it static, set-user-id or"
			" of another architecture?\n", r->options.command[0]);
	tell_losses(r);
}

/* ------------------------------------------------------------ recording */

static void end_recording(struct recording *r)
{
	if (!r->session)
		return;
	clear_progress(r);
	hodo_session_close(r->session, &r->stats);
	r->session = NULL;
	tell_summary(r);
}

static void stop_recording(struct recording *r, int signal)
{
	r->stopped = true;
	r->stop_signal = signal;
	end_recording(r);
}

/*
 * What came from the terminal the command got as well: it decides. What was
 * sent to us alone is meant for it. The second time, or when there is no
 * command any more, it is the recording that is to end.
 */
static void take_signal(struct recording *r, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (r->ended || (r->session && ++r->interrupts > 1)) {
		stop_recording(r, signal);
		return;
	}
	if (info->ssi_code <= 0) /* kill(), sigqueue(), tgkill() */
		kill(r->pid, signal);
}

static void reap(struct recording *r)
{
	int status;

	if (!r->ended && waitpid(r->pid, &status, WNOHANG) == r->pid) {
		r->ended = true;
		r->status = status;
	}
}

static void wait_for_something(struct recording *r, int64_t ns)
{
	struct pollfd fds[2] = { { .fd = r->signal_fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	struct timespec timeout = { ns / 1000000000, ns % 1000000000 };
	struct signalfd_siginfo info;

	if (r->session)
		fds[1].fd = hodo_session_fd(r->session);
	ppoll(fds, 2, ns < 0 ? NULL : &timeout, NULL);
	while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			take_signal(r, &info);
		reap(r);
	}
}

/* Until the command has ended and nobody is recorded any more, or we are told to stop. */
static void run_loop(struct recording *r)
{
	const struct options *o = &r->options;

	while (!(r->ended && !r->session) && !(r->stop_signal && !r->session)) {
		int64_t ns = -1;

		if (r->session) {
			ns = hodo_session_step(r->session);
			show_progress(r);
			reap(r);
			if (r->ended && !hodo_session_busy(r->session)) {
				end_recording(r);
				continue;
			}
			if (r->ended && ns > 10000000) /* who may yet come is looked for */
				ns = 10000000;
		}
		if (r->session && o->duration_ns) {
			int64_t left = r->start_ns + o->duration_ns - now_ns();

			if (left <= 0) {
				stop_recording(r, 0);
				continue;
			}
			ns = left < ns ? left : ns;
		}
		wait_for_something(r, ns);
	}
}

/* Ours but for those that were ignored when we were started: nohup, or a shell's background job. */
static void signal_set(sigset_t *set)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(set, signals[i]);
	}
}

/* 0, or -EEXIST if the output is somebody else's. Without a session the command runs all the same. */
static int open_session(struct recording *r)
{
	const struct options *o = &r->options;
	char why[PATH_MAX + 256];
	struct hodo_session_config config = {
		.out_path = o->out, .ring_size = o->ring_size, .packet_size = o->packet_size,
		.mode = o->overwrite ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD, .clock = o->clock,
		.patterns = &r->options.patterns, .filter = o->filter, .filter_len = o->filter_len,
		.packet_age_ns = o->packet_age_ns, .report = report, .arg = r,
	};

	r->out_fd = hodo_out_dir_open(o->out, why, sizeof(why));
	if (r->out_fd == -EEXIST) {
		fprintf(stderr, "hodo: %s\n", why);
		return -EEXIST;
	}
	config.out_fd = r->out_fd;
	if (r->out_fd < 0 || hodo_session_open(&r->session, &config, why, sizeof(why)) < 0) {
		fprintf(stderr, "hodo: %s: %s runs without being recorded\n", why, o->command[0]);
		r->session = NULL;
	}
	return 0;
}

static int start_failed(struct recording *r, int err)
{
	if (r->session) {
		hodo_session_close(r->session, NULL);
		r->session = NULL;
		rmdir(r->options.out);
	}
	fprintf(stderr, "hodo: %s: %s\n", r->options.command[0], strerror(-err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int exit_status(const struct recording *r)
{
	if (r->ended && WIFSIGNALED(r->status)) {
		hodo_launch_die(WTERMSIG(r->status));
		return 128 + WTERMSIG(r->status);
	}
	if (r->ended)
		return WEXITSTATUS(r->status);
	/* Stopped by a signal while the command goes on. */
	hodo_launch_die(r->stop_signal);
	return 128 + r->stop_signal;
}

static int record(struct recording *r)
{
	char library[PATH_MAX], why[PATH_MAX + 256];
	sigset_t signals;
	int err;

	/* Before an earlier recording is moved for nothing. */
	err = hodo_launch_check(r->options.command[0]);
	if (err) {
		fprintf(stderr, "hodo: %s: %s\n", r->options.command[0],
			err == -ENOENT ? "command not found" : "cannot be run: permission denied");
		return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	if (hodo_launch_library(library, sizeof(library), why, sizeof(why)) < 0) {
		fprintf(stderr, "hodo: %s\n", why);
		return 1;
	}
	signal_set(&signals);
	hodo_launch_prepare(&r->launch, &signals);
	r->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signal_fd < 0) {
		fprintf(stderr, "hodo: cannot watch for signals: %s\n", strerror(errno));
		return 1;
	}
	if (open_session(r) < 0)
		return 1;
	r->start_ns = now_ns();
	err = hodo_launch_start(&r->launch, r->options.command, r->session ? library : NULL,
				r->session ? hodo_session_socket(r->session) : NULL, &r->pid);
	if (err)
		return start_failed(r, err);
	if (r->session)
		hodo_session_set_command(r->session, r->pid);
	run_loop(r);
	return exit_status(r);
}

int hodo_cmd_record(int argc, char **argv)
{
	struct recording r = { .out_fd = -1, .signal_fd = -1 };
	int status = parse_options(&r.options, argc, argv);

	if (status == -1) {
		fputs(usage_text, stdout);
		status = 0;
	} else if (status == 0) {
		status = record(&r);
	}
	hodo_pattern_free(&r.options.patterns);
	return status;
}
