/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c - hodo record: runs a command and records it and all its children, or records running
 * processes.
 */
#define _GNU_SOURCE
#include <cli/cli.h>
#include "library_copies.h"
#include "record_guard.h"
#include "record_options.h"
#include "record_otlp.h"
#include <cli/plan/planner.h>
#include "record_send.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/clock.h>

#define PROGRESS_NS 500000000ll
#define LINGER_NS 100000000ll /* for children, forked just before an attached process ended, to join */

struct recording {
	struct hodo_record_options options;
	struct hodo_launch launch;
	struct hodo_recorder *recorder; /* NULL: nothing is recorded (any more) */
	struct hodo_recorder_stats stats;
	int out_fd, signal_fd;
	struct hodo_out_aside aside;
	int kernel_fd; /* -1: not recorded, or the recorder owns it */
	pid_t pid;
	bool ended; /* the command has ended, or there is none */
	int status; /* its status, from wait() */
	bool stopped;     /* before its time */
	int stop_signal;  /* that stopped the recording, 0 if none did */
	unsigned int interrupts;
	bool progress;    /* there is a line on the terminal */
	int64_t progress_ns, start_ns;
	bool counting; /* the recording has begun at start_ns */
	bool overview; /* shown at the end: hodo PROGRAM */
	int64_t idle_ns; /* since when nobody is recorded */
	struct hodo_planner planner; /* of functions without slots */
	struct hodo_record_guard guard;
	char library[2 * PATH_MAX]; /* for the command's LD_PRELOAD */
	char listed[PATH_MAX];
	struct hodo_copies copies; /* of these */
	struct hodo_record_send send;
	struct hodo_roots roots;   /* of recorded processes */
	struct hodo_record_otlp *otlp; /* NULL: nothing is sent */
};

static void clear_progress(struct recording *r)
{
	if (r->progress)
		fputs("\r\033[K", stderr);
	r->progress = false;
}

static void report(void *arg, const char *line)
{
	clear_progress(arg);
	hodo_error("%s", line);
}

/* --------------------------------------------------------------- display */

static uint64_t lost_total(const struct hodo_lost *l)
{
	return l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static void show_progress(struct recording *r)
{
	struct hodo_recorder_stats s;
	int64_t now = hodo_now_ns();
	char bytes[32], who[48];

	if (r->options.args.quiet || !r->recorder || now - r->progress_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
		return;
	/* Do not mix our lines with the command's. */
	if (r->options.command[0] && isatty(STDOUT_FILENO))
		return;
	r->progress_ns = now;
	hodo_recorder_stats(r->recorder, &s);
	fprintf(stderr, "\r\033[Khodo: recording %s: %" PRIu64 " events, %" PRIu64 " lost, %s written",
		hodo_whom(hodo_recorder_has_kernel(r->recorder), s.live, who), s.events, lost_total(&s.lost),
		hodo_human_bytes(s.bytes, bytes));
	fflush(stderr);
	r->progress = true;
}

/* ------------------------------------------------------------ recording */

/* Whether unprepared code may have to be patched: libhodo-func does that. */
static bool patches(const struct recording *r)
{
	const struct hodo_record_options *o = &r->options;

	return (o->functions.functions.tracers || o->sdt.n || o->probes.n || o->replacements.n) && !o->kernel;
}

static void reap(struct recording *r)
{
	if (r->ended)
		return;
	r->ended = waitpid(r->pid, &r->status, WNOHANG) == r->pid;
	if (r->ended && r->recorder)
		hodo_recorder_command_ended(r->recorder, r->status);
}

static bool take_late_signal(void *arg, const struct signalfd_siginfo *info);

static void end_recording(struct recording *r)
{
	if (!r->recorder)
		return;
	clear_progress(r);
	hodo_record_probes_end(&r->options.probes);
	hodo_record_replacements_end(&r->options.replacements);
	hodo_recorder_close(r->recorder, &r->stats);
	r->recorder = NULL;
	hodo_copies_end(&r->copies);
	if (!r->send.sender)
		hodo_record_keep_symbols(&r->options, &r->stats, &r->roots);
	hodo_roots_close(&r->roots);
	r->options.functions.unprepared = r->planner.seen;
	hodo_record_summary(&r->options, &r->stats, r->stopped, r->overview);
	if (r->overview)
		hodo_overview(stderr, r->options.out, r->options.command);
	hodo_record_send_end(&r->send, &r->options, r->stats.parts, r->signal_fd);
	hodo_record_otlp_end(&r->otlp, r->signal_fd, take_late_signal, r);
	reap(r); /* the signal of its end may have been read by then */
}

static void stop_recording(struct recording *r, int signal)
{
	r->stopped = true;
	r->stop_signal = signal;
	end_recording(r);
}

/*
 * The command also got a signal from the terminal: it decides. A signal sent only to us is meant for it. The
 * second time, or when the command has ended, the signal ends the recording.
 */
static void take_signal(struct recording *r, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (r->ended || (r->recorder && ++r->interrupts > 1)) {
		stop_recording(r, signal);
		return;
	}
	if (info->ssi_code <= 0) /* kill(), sigqueue(), tgkill() */
		kill(r->pid, signal);
}

/* While the rest is sent: any signal that is not about the command ends that. */
static bool take_late_signal(void *arg, const struct signalfd_siginfo *info)
{
	info->ssi_signo == SIGCHLD ? reap(arg) : take_signal(arg, info);
	return info->ssi_signo != SIGCHLD;
}

static void wait_for_something(struct recording *r, int64_t ns)
{
	struct pollfd fds[2] = { { .fd = r->signal_fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	struct timespec timeout = { ns / 1000000000, ns % 1000000000 };
	struct signalfd_siginfo info;

	if (r->recorder)
		fds[1].fd = hodo_recorder_fd(r->recorder);
	ppoll(fds, 2, ns < 0 ? NULL : &timeout, NULL);
	while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			take_signal(r, &info);
		reap(r);
	}
}

/* Whether something is recorded, or may yet be. */
static bool is_busy(struct recording *r)
{
	int64_t now = hodo_now_ns();

	/* The kernel alone is recorded until the user ends it. */
	if (r->options.kernel && !r->options.attach.n && !r->options.command[0])
		return hodo_recorder_has_kernel(r->recorder);
	if (hodo_recorder_busy(r->recorder)) {
		r->idle_ns = 0;
		return true;
	}
	if (r->idle_ns == 0)
		r->idle_ns = now;
	return r->options.attach.n && now - r->idle_ns < LINGER_NS;
}

/* The rest of --duration, which begins with the recording: an attached process joins a little later. */
static int64_t time_left(struct recording *r)
{
	struct hodo_recorder_stats stats;

	if (!r->counting && r->options.attach.n) {
		hodo_recorder_stats(r->recorder, &stats);
		if (stats.processes == 0)
			return INT64_MAX;
		r->start_ns = hodo_now_ns();
	}
	r->counting = true;
	return r->start_ns + r->options.duration_ns - hodo_now_ns();
}

/* Runs until the command has ended and nothing is recorded any more, or we must stop. */
static void run_loop(struct recording *r)
{
	const struct hodo_record_options *o = &r->options;

	while (!(r->ended && !r->recorder) && !(r->stop_signal && !r->recorder)) {
		int64_t ns = -1;

		if (r->recorder) {
			ns = hodo_recorder_step(r->recorder);
			show_progress(r);
			hodo_record_otlp_say(r->otlp, &(struct hodo_reporter){ report, r });
			reap(r);
			if (hodo_recorder_ended(r->recorder)) {
				stop_recording(r, 0);
				continue;
			}
			if (r->ended && !is_busy(r)) {
				end_recording(r);
				continue;
			}
			/* Check for processes that may yet come. */
			if (r->ended && ns > 10000000 && (o->command[0] || r->idle_ns))
				ns = 10000000;
		}
		if (r->recorder && o->duration_ns) {
			int64_t left = time_left(r);

			if (left <= 0) {
				stop_recording(r, 0);
				continue;
			}
			ns = left < ns ? left : ns;
		}
		wait_for_something(r, ns);
	}
}

/* 0, or -EEXIST if the output is not a recording. Without a recorder, a command still runs. */
static int open_recorder(struct recording *r)
{
	const struct hodo_record_options *o = &r->options;
	char why[PATH_MAX + 256];
	struct hodo_recorder_config config = {
		.out_path = o->out, .listed = hodo_record_listed(o, r->listed),
		.ring_size = o->ring_size, .packet_size = o->packet_size,
		.mode = o->overwrite ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD, .wait_ns = o->wait_ns,
		.clock = o->clock,
		.patterns = &r->options.patterns, .filter = o->filter, .filter_len = o->filter_len,
		.fields = &r->options.fields,
		.functions = o->functions.functions.tracers ? &o->functions.functions : NULL,
		.functions_of_kernel = o->kernel,
		.context = o->context.flags ? &o->context : NULL,
		.packet_age_ns = o->packet_age_ns, .limits = o->limits, .snapshots = o->snapshots,
		.drain_threads = o->drain_threads, .compress = o->compress,
		.conditions = o->conditions.n ? &r->options.conditions : NULL,
		.awaits_start = hodo_conditions_have(&o->conditions, HODO_CONDITION_START),
		.plan = o->kernel ? NULL : hodo_planner_plan,
		.plans = patches(r),
		.probe = o->kernel ? NULL : hodo_planner_probe,
		.plan_still = hodo_planner_still,
		.plan_arg = &r->planner,
		.guard = hodo_record_guard_add,
		.guard_arg = &r->guard,
		.copy = o->command[0] ? hodo_copies_make : NULL,
		.copy_arg = &r->copies,
		.reached = r->otlp ? hodo_record_otlp_reached : NULL, .reached_arg = r->otlp,
		.roots = &r->roots,
		.part_done = r->send.sender ? hodo_sender_part : NULL, .part_arg = r->send.sender,
		.reporter = { report, r },
	};

	r->planner.quiet = o->args.quiet;
	r->planner.functions = &o->functions.functions;
	r->planner.min_bytes = o->functions.min_bytes;
	r->planner.sdt = &r->options.sdt;
	r->planner.probes = &r->options.probes;
	r->planner.replacements = &r->options.replacements;
	r->planner.arguments = &r->options.functions.arguments;
	r->options.probes.patterns = &r->options.patterns;
	r->out_fd = hodo_out_dir_open_aside(o->out, &r->aside, why, sizeof(why));
	if (r->out_fd == -EEXIST) {
		hodo_error("%s", why);
		return -EEXIST;
	}
	config.out_fd = r->out_fd;
	if (r->send.sender) /* which removes parts itself */
		config.limits.keep = 0;
	if (r->out_fd < 0 || hodo_recorder_open(&r->recorder, &config, why, sizeof(why)) < 0) {
		if (o->command[0])
			hodo_error("%s: %s runs without being recorded", why, o->command[0]);
		else
			hodo_error("%s", why);
		r->recorder = NULL;
		hodo_out_dir_restore(&r->aside, r->out_fd);
	}
	return 0;
}

/* The kernel may have been recorded briefly. */
static void drop_recording(struct recording *r)
{
	if (!r->recorder)
		return;
	hodo_recorder_close(r->recorder, NULL);
	r->recorder = NULL;
	hodo_out_dir_restore(&r->aside, r->out_fd);
}

static int exit_status(const struct recording *r)
{
	if (!r->options.command[0])
		return r->stats.processes ? 0 : HODO_EXIT_FAILURE;
	if (r->ended && WIFEXITED(r->status))
		return WEXITSTATUS(r->status);
	/* Else stopped by a signal while the command goes on. */
	return hodo_launch_die(r->ended ? WTERMSIG(r->status) : r->stop_signal);
}

/* Checks before an earlier recording is moved needlessly. 0 or the exit status. */
static int check(struct recording *r, char *library, size_t library_size)
{
	char why[PATH_MAX + 256];
	int err = hodo_off_cpu_settle(&r->options);

	if (err)
		return err;
	if (r->options.kernel) {
		r->kernel_fd = hodo_kernel_open_record(why, sizeof(why));
		if (r->kernel_fd < 0)
			return hodo_error("%s", why);
		if (r->options.functions.functions.tracers &&
		    hodo_kernel_functions_resolve(&r->options.functions.functions, why, sizeof(why)) < 0)
			return hodo_error("%s", why);
		if (hodo_kprobe_list_set(&r->options.kprobes, r->kernel_fd, why, sizeof(why)) < 0)
			return hodo_error("%s", why);
		if (r->options.context.flags && !r->options.args.quiet)
			hodo_warning("--context is for events of processes: those of the kernel have none");
	}
	if (!r->options.command[0])
		return !r->options.attach.n || hodo_attach_find(&r->options.attach) ? 0 : HODO_EXIT_FAILURE;
	err = hodo_launch_find(r->options.command[0], NULL);
	if (err)
		return hodo_cannot_run(r->options.command[0], err);
	if (hodo_launch_library(library, library_size, why, sizeof(why)) < 0 ||
	    (patches(r) && hodo_launch_add_functions(library, library_size, why, sizeof(why)) < 0))
		return hodo_error("%s", why);
	hodo_attach_find(&r->options.attach);
	return 0;
}

/* 0 or a negative errno, having said why. */
static int start_kernel(struct recording *r)
{
	char why[HODO_KERNEL_WHY_MAX];
	int err = hodo_recorder_add_kernel(r->recorder, r->kernel_fd, &r->options.kernel_patterns, why, sizeof(why));

	r->kernel_fd = -1;
	if (err)
		hodo_error("%s", why);
	return err;
}

/* Starts with the kernel, then running processes, then the command. 0 or the exit status. */
static int start(struct recording *r, const char *library)
{
	const struct hodo_record_options *o = &r->options;
	struct hodo_launch_before before = hodo_off_cpu_before(r->recorder);
	int err;

	hodo_off_cpu_begin(o, r->recorder);
	if (r->recorder && o->kernel && start_kernel(r) < 0) {
		drop_recording(r);
		return HODO_EXIT_FAILURE;
	}
	/* It counts the kernel, too. */
	if (r->recorder && o->attach.n && hodo_attach_record(&r->options.attach, r->recorder) <= o->kernel &&
	    !o->command[0]) {
		drop_recording(r);
		return HODO_EXIT_FAILURE;
	}
	r->start_ns = hodo_now_ns(); /* --duration counts from here */
	r->ended = !o->command[0];
	if (r->ended)
		return r->recorder ? 0 : HODO_EXIT_FAILURE;
	err = hodo_launch_start(&r->launch, o->command, r->recorder ? library : NULL,
				r->recorder ? hodo_recorder_socket(r->recorder) : NULL, &before, &r->pid);
	if (err) {
		drop_recording(r);
		return hodo_cannot_run(o->command[0], err);
	}
	r->planner.command = r->pid;
	if (r->recorder)
		hodo_recorder_set_command(r->recorder, r->pid);
	return 0;
}

static int record(struct recording *r)
{
	int status = check(r, r->library, sizeof(r->library));
	sigset_t signals;

	if (!status)
		status = hodo_realtime_check(r->options.realtime);
	if (!status)
		status = hodo_record_otlp_new(&r->otlp, &r->options.otlp, r->options.args.quiet);
	if (status)
		return status;
	hodo_launch_signals(&signals);
	hodo_launch_prepare(&r->launch, &signals);
	r->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signal_fd < 0)
		return hodo_error("cannot wait for signals: %s: %s", strerror(errno), hodo_remedy(errno));
	status = hodo_record_send_begin(&r->send, &r->options);
	if (status)
		return status;
	if (open_recorder(r) < 0)
		return HODO_EXIT_FAILURE;
	r->copies.library = r->library;
	r->copies.reporter = (struct hodo_reporter){ report, r };
	status = start(r, r->library);
	if (status)
		return status;
	hodo_out_dir_settle(&r->aside);
	if (r->recorder)
		hodo_record_otlp_begin(r->otlp, r->options.out);
	hodo_realtime_begin(r->options.realtime);
	if (r->recorder && r->options.waits_unasked && !r->options.args.quiet)
		hodo_error("when its buffer is full, the program waits for the recorder: --drop turns that "
			   "off");
	run_loop(r);
	return exit_status(r);
}

static const struct recording defaults = {
	.options = HODO_RECORD_DEFAULTS, .out_fd = -1, .signal_fd = -1, .kernel_fd = -1,
};

static int run(void *args)
{
	struct recording *r = args;
	int status = hodo_record_options_check(&r->options);

	return status ? status : record(r);
}

static void drop(void *args)
{
	hodo_copies_end(&((struct recording *)args)->copies);
	hodo_record_otlp_end(&((struct recording *)args)->otlp, -1, NULL, NULL);
	hodo_record_send_drop(&((struct recording *)args)->send);
	hodo_record_guard_end(&((struct recording *)args)->guard);
	hodo_planner_free(&((struct recording *)args)->planner);
	hodo_record_options_free(&((struct recording *)args)->options);
}

int hodo_record_program(char **command)
{
	struct recording r = defaults;
	int status;

	r.options.args.words = command;
	r.overview = true;
	status = run(&r);
	drop(&r);
	return status;
}

const struct hodo_verb hodo_verb_record = {
	.name = "record", .does = "record events of a program or of running processes",
	.usage = "[options] [--] CMD [ARGUMENT...]\n"
		 "[options] -p PID[,PID...]\n"
		 "[options] -k [[--] CMD [ARGUMENT...]]",
	.about = "Records CMD and its children, or running processes until Ctrl-C, or the kernel.\n",
	.options = hodo_record_option_table, .column = 23, .aligned = true, .stops = true,
	.word = HODO_WORD_COMMAND, .args_bytes = sizeof(struct recording), .defaults = &defaults, .run = run,
	.drop = drop,
};
