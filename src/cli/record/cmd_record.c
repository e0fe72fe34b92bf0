/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c - hodo record: runs a command and records it and all its children, or records running
 * processes.
 */
#define _GNU_SOURCE
#include <cli/cli.h>
#include "record_guard.h"
#include "record_options.h"
#include "record_otlp.h"
#include "record_send.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <base/clock.h>

#define PROGRESS_NS 500000000ll
#define LINGER_NS 100000000ll /* for children, forked just before an attached process ended, to join */

struct recording {
	struct hodo_record_options options;
	struct hodo_run run;
	int out_fd;
	struct hodo_out_aside aside;
	bool stopped; /* before its time */
	unsigned int interrupts;
	bool progress;    /* there is a line on the terminal */
	int64_t progress_ns;
	bool counting; /* the recording has begun at start_ns */
	bool overview; /* shown at the end: hodo PROGRAM */
	int64_t idle_ns; /* since when nobody is recorded */
	struct hodo_record_guard guard;
	char listed[PATH_MAX];
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

	if (r->options.args.quiet || !r->run.recorder || now - r->progress_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
		return;
	/* Do not mix our lines with the command's. */
	if (r->options.command[0] && isatty(STDOUT_FILENO))
		return;
	r->progress_ns = now;
	hodo_recorder_stats(r->run.recorder, &s);
	fprintf(stderr, "\r\033[Khodo: recording %s: %" PRIu64 " events, %" PRIu64 " lost, %s written",
		hodo_whom(hodo_recorder_has_kernel(r->run.recorder), s.live, who), s.events, lost_total(&s.lost),
		hodo_human_bytes(s.bytes, bytes));
	fflush(stderr);
	r->progress = true;
}

/* ------------------------------------------------------------------ scheduling */

#define NICER 10 /* less nice than who is recorded: beside busy programs it runs before the buffers are full */

static int set(uint32_t priority)
{
	return sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = (int)priority });
}

/* Before the command is started, whose scheduling must not change: tried, then undone. */
static int check_realtime(uint32_t priority)
{
	int policy = sched_getscheduler(0);
	struct sched_param own;

	if (!priority)
		return 0;
	if (policy < 0 || sched_getparam(0, &own) < 0 || set(priority) < 0)
		return hodo_error("--realtime: %s: it takes root, CAP_SYS_NICE, or at least 'ulimit -r %u'",
				  strerror(errno),
				  priority);
	sched_setscheduler(0, policy, &own);
	return 0;
}

/* Does not affect the command, which has been started. If it is not allowed, the recorder keeps its nice
 * value. */
static void begin_realtime(uint32_t priority)
{
	int nice;

	if (priority && set(priority) == 0)
		return;
	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0);
	if (errno == 0)
		setpriority(PRIO_PROCESS, 0, nice - NICER);
}

/* --------------------------------------------------------------- off-CPU times */

#define VERB    "record"

/* The best possible: the kernel's switches, which cost the program nothing; else CPU times. */
static void choose(struct hodo_record_options *o)
{
	struct hodo_why why;

	if (o->kernel) {
		o->off_cpu = HODO_OFF_CPU_SWITCHES;
	} else if (o->overwrite) {
		/* A flight recorder's snapshot has a single process: its events must contain it. */
		o->off_cpu = HODO_OFF_CPU_TIME;
	} else if (hodo_switches_check(&why) == 0) {
		o->off_cpu = HODO_OFF_CPU_SWITCHES;
	} else {
		o->off_cpu = HODO_OFF_CPU_TIME;
		if (!o->args.quiet)
			hodo_warning("--off-cpu: %s; until then, events have their thread's CPU time, which "
				     "takes a system call for each, and calls of functions have none", why.text);
	}
}

static int check_switches(const struct hodo_record_options *o)
{
	struct hodo_why why;

	if (o->kernel)
		return 0;
	if (o->overwrite)
		return hodo_usage(VERB, "--off-cpu=switches needs a recording that is written all the time: "
				  "with --overwrite use cpu_time");
	if (hodo_switches_check(&why) < 0)
		return hodo_error("--off-cpu=switches: %s; or --off-cpu=cpu_time", why.text);
	return 0;
}

/* Decides what off_cpu means here, and its consequences. 0, or the exit status after a message. */
static int settle_off_cpu(struct hodo_record_options *o)
{
	struct hodo_why why;
	int status = 0;

	if (o->off_cpu == HODO_OFF_CPU_BEST)
		choose(o);
	else if (o->off_cpu == HODO_OFF_CPU_SWITCHES)
		status = check_switches(o);
	if (status)
		return status;
	if (o->off_cpu == HODO_OFF_CPU_TIME) {
		o->context.size = sizeof(o->context);
		o->context.flags |= HODO_CONTEXT_CPU_TIME;
	} else if (o->off_cpu && o->kernel &&
		   hodo_pattern_add(&o->kernel_patterns, "sched:sched_switch", &why) < 0) {
		return hodo_no_memory();
	}
	return 0;
}

/* If the recorder records them; reports failures. */
static void begin_off_cpu(const struct hodo_record_options *o, struct hodo_recorder *s)
{
	struct hodo_why why;

	if (!s || o->off_cpu != HODO_OFF_CPU_SWITCHES || o->kernel)
		return;
	if (hodo_recorder_add_switches(s, &why) < 0)
		hodo_error("--off-cpu: %s", why.text);
}

static void watch(void *recorder, pid_t pid)
{
	hodo_switches_watch(recorder, pid);
}

/* ------------------------------------------------------------ recording */

/* Whether unprepared code may have to be patched: libhodo-func does that. */
static bool patches(const struct recording *r)
{
	const struct hodo_record_options *o = &r->options;

	return (o->functions.tracers || o->sdt.n || o->probes.n || o->replacements.n) && !o->kernel;
}

static bool take_late_signal(void *arg, const struct signalfd_siginfo *info);

static void end_recording(struct recording *r)
{
	if (!r->run.recorder)
		return;
	clear_progress(r);
	hodo_planner_probes_report_unfound(&r->options.probes, &r->run.planner.reporter);
	hodo_planner_replacements_report_unfound(&r->options.replacements, &r->run.planner.reporter);
	hodo_run_end(&r->run);
	if (!r->send.sender)
		hodo_record_keep_symbols(&r->options, &r->run.stats, &r->roots);
	hodo_roots_close(&r->roots);
	r->options.unprepared = r->run.planner.seen;
	hodo_record_summary(&r->options, &r->run.stats, r->stopped, r->overview);
	if (r->overview)
		hodo_overview(stderr, r->options.out, r->options.command);
	hodo_record_send_end(&r->send, &r->options, r->run.stats.parts, r->run.signal_fd);
	hodo_record_otlp_end(&r->otlp, r->run.signal_fd, take_late_signal, r);
	hodo_run_reap(&r->run); /* the signal of its end may have been read by then */
}

static void stop_recording(struct recording *r, int signal)
{
	r->stopped = true;
	r->run.signal = signal;
	end_recording(r);
}

/*
 * The command also got a signal from the terminal: it decides. A signal sent only to us is meant for it. The
 * second time, or when the command has ended, the signal ends the recording.
 */
static void take_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct recording *r = arg;
	int signal = (int)info->ssi_signo;

	if (r->run.ended || (r->run.recorder && ++r->interrupts > 1)) {
		stop_recording(r, signal);
		return;
	}
	if (info->ssi_code <= 0) /* kill(), sigqueue(), tgkill() */
		kill(r->run.pid, signal);
}

/* While the rest is sent: any signal that is not about the command ends that. */
static bool take_late_signal(void *arg, const struct signalfd_siginfo *info)
{
	info->ssi_signo == SIGCHLD ? hodo_run_reap(&((struct recording *)arg)->run) : take_signal(arg, info);
	return info->ssi_signo != SIGCHLD;
}

/* Whether something is recorded, or may yet be. */
static bool is_busy(struct recording *r)
{
	int64_t now = hodo_now_ns();

	/* The kernel alone is recorded until the user ends it. */
	if (r->options.kernel && !r->options.attach.n && !r->options.command[0])
		return hodo_recorder_has_kernel(r->run.recorder);
	if (hodo_recorder_busy(r->run.recorder)) {
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
		hodo_recorder_stats(r->run.recorder, &stats);
		if (stats.processes == 0)
			return INT64_MAX;
		r->run.start_ns = hodo_now_ns();
	}
	r->counting = true;
	return r->run.start_ns + r->options.duration_ns - hodo_now_ns();
}

/* Runs until the command has ended and nothing is recorded any more, or we must stop. */
static void run_loop(struct recording *r)
{
	const struct hodo_record_options *o = &r->options;

	while (!(r->run.ended && !r->run.recorder) && !(r->run.signal && !r->run.recorder)) {
		int64_t ns = -1;

		if (r->run.recorder) {
			ns = hodo_recorder_step(r->run.recorder);
			show_progress(r);
			hodo_record_otlp_say(r->otlp, &(struct hodo_reporter){ report, r });
			if (hodo_recorder_ended(r->run.recorder)) {
				stop_recording(r, 0);
				continue;
			}
			if (r->run.ended && !is_busy(r)) {
				end_recording(r);
				continue;
			}
			/* Check for processes that may yet come. */
			if (r->run.ended && ns > 10000000 && (o->command[0] || r->idle_ns))
				ns = 10000000;
		}
		if (r->run.recorder && o->duration_ns) {
			int64_t left = time_left(r);

			if (left <= 0) {
				stop_recording(r, 0);
				continue;
			}
			ns = left < ns ? left : ns;
		}
		hodo_run_wait(&r->run, ns, -1);
	}
}

static struct recording *recording_of(void *run)
{
	return ((struct hodo_run *)run)->reporter.arg;
}

static void guard(void *run, pid_t pid)
{
	hodo_record_guard_add(&recording_of(run)->guard, pid);
}

static void reached(void *run, uint64_t ticks, const struct hodo_read_clock *clock)
{
	hodo_record_otlp_reached(recording_of(run)->otlp, ticks, clock);
}

static void part_done(void *run, uint32_t number)
{
	hodo_sender_part(recording_of(run)->send.sender, number);
}

/* 0, or -EEXIST if the output is not a recording. Without a recorder, a command still runs. */
static int open_recorder(struct recording *r)
{
	const struct hodo_record_options *o = &r->options;
	struct hodo_why why;
	struct hodo_recorder_config config = {
		.out_path = o->out, .listed = hodo_record_listed(o, r->listed),
		.ring_size = o->ring_size, .packet_size = o->packet_size,
		.mode = o->overwrite ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD, .wait_ns = o->wait_ns,
		.clock = o->clock,
		.patterns = &r->options.patterns, .filter = o->filter, .filter_len = o->filter_len,
		.fields = &r->options.fields,
		.functions = o->functions.tracers ? &o->functions : NULL,
		.functions_of_kernel = o->kernel,
		.context = o->context.flags ? &o->context : NULL,
		.packet_age_ns = o->packet_age_ns, .limits = o->limits, .snapshots = o->snapshots,
		.drain_threads = o->drain_threads, .compress = o->compress,
		.conditions = o->conditions.n ? &r->options.conditions : NULL,
		.awaits_start = hodo_conditions_have(&o->conditions, HODO_CONDITION_START),
		.planner = o->kernel ? NULL : &r->run.planner, .plans = patches(r),
		.ops = { .guard = guard, .reached = r->otlp ? reached : NULL,
			 .part_done = r->send.sender ? part_done : NULL },
		.roots = &r->roots,
	};

	r->run.planner.quiet = o->args.quiet;
	r->run.planner.reporter = hodo_error_reporter;
	r->run.planner.functions = &o->functions.patterns;
	r->run.planner.traces = o->functions.tracers;
	r->run.planner.min_bytes = o->functions.min_bytes;
	r->run.planner.sdt = &r->options.sdt;
	r->run.planner.probes = &r->options.probes;
	r->run.planner.replacements = &r->options.replacements;
	r->run.planner.arguments = &r->options.functions.arguments;
	r->options.probes.patterns = &r->options.patterns;
	r->out_fd = hodo_out_dir_open_aside(o->out, &r->aside, &why);
	if (r->out_fd == -EEXIST) {
		hodo_error("%s", why.text);
		return -EEXIST;
	}
	config.out_fd = r->out_fd;
	if (r->send.sender) /* which removes parts itself */
		config.limits.keep = 0;
	if (r->out_fd < 0 || hodo_run_open(&r->run, &config, &why) < 0) {
		if (o->command[0])
			hodo_error("%s: %s runs without being recorded", why.text, o->command[0]);
		else
			hodo_error("%s", why.text);
		r->run.recorder = NULL;
		hodo_out_dir_restore(&r->aside, r->out_fd);
	}
	return 0;
}

/* The kernel may have been recorded briefly. */
static void drop_recording(struct recording *r)
{
	if (!r->run.recorder)
		return;
	hodo_run_end(&r->run);
	hodo_out_dir_restore(&r->aside, r->out_fd);
}

/* Checks before an earlier recording is moved needlessly. 0 or the exit status. */
static int check(struct recording *r)
{
	struct hodo_record_options *o = &r->options;
	struct hodo_why why;
	int err = settle_off_cpu(o);

	if (!err && o->kernel)
		err = hodo_run_open_kernel(&r->run);
	if (err)
		return err;
	if (o->kernel) {
		if (o->functions.tracers &&
		    hodo_kernel_functions_resolve(&o->functions, &why) < 0)
			return hodo_error("%s", why.text);
		if (hodo_kprobe_list_set(&o->kprobes, r->run.kernel_fd, &why) < 0)
			return hodo_error("%s", why.text);
		if (o->context.flags && !o->args.quiet)
			hodo_warning("--context is for events of processes: those of the kernel have none");
	}
	if (!o->command[0])
		return !o->attach.n || hodo_attach_find(&o->attach) ? 0 : HODO_EXIT_FAILURE;
	err = hodo_run_find(&r->run, patches(r));
	if (!err)
		hodo_attach_find(&o->attach);
	return err;
}

/* Starts with the kernel, then running processes, then the command. 0 or the exit status. */
static int start(struct recording *r)
{
	const struct hodo_record_options *o = &r->options;
	struct hodo_launch_before before = { r->run.recorder ? watch : NULL, r->run.recorder };
	int err;

	begin_off_cpu(o, r->run.recorder);
	err = hodo_run_begin(&r->run, o->command[0]);
	if (err) {
		drop_recording(r);
		return err;
	}
	if (!o->command[0])
		return r->run.recorder ? 0 : HODO_EXIT_FAILURE;
	err = hodo_run_command(&r->run, &before);
	if (!err)
		return 0;
	drop_recording(r);
	return hodo_cannot_run(o->command[0], err);
}

static int record(struct recording *r)
{
	int status;

	r->run.command = r->options.command[0] ? r->options.command : NULL;
	r->run.attach = &r->options.attach;
	r->run.kernel_patterns = &r->options.kernel_patterns;
	r->run.reporter = (struct hodo_reporter){ report, r };
	r->run.take = take_signal;
	status = check(r);
	if (!status)
		status = check_realtime(r->options.realtime);
	if (!status)
		status = hodo_record_otlp_new(&r->otlp, &r->options.otlp, r->options.args.quiet);
	if (!status)
		status = hodo_run_catch(&r->run, false);
	if (!status)
		status = hodo_record_send_begin(&r->send, &r->options);
	if (status)
		return status;
	if (open_recorder(r) < 0)
		return HODO_EXIT_FAILURE;
	status = start(r);
	if (status)
		return status;
	hodo_out_dir_settle(&r->aside);
	if (r->run.recorder)
		hodo_record_otlp_begin(r->otlp, r->options.out);
	begin_realtime(r->options.realtime);
	if (r->run.recorder && r->options.waits_unasked && !r->options.args.quiet)
		hodo_error("when its buffer is full, the program waits for the recorder: --drop turns that "
			   "off");
	run_loop(r);
	if (!r->run.command)
		return r->run.stats.processes ? 0 : HODO_EXIT_FAILURE;
	return hodo_run_status(&r->run);
}

static const struct recording defaults = {
	.options = HODO_RECORD_DEFAULTS, .out_fd = -1, .run = { .signal_fd = -1, .kernel_fd = -1 },
};

static int run(void *args)
{
	struct recording *r = args;
	int status = hodo_record_options_check(&r->options);

	return status ? status : record(r);
}

static void drop(void *args)
{
	struct recording *r = args;

	hodo_run_free(&r->run);
	hodo_record_otlp_end(&r->otlp, -1, NULL, NULL);
	hodo_record_send_drop(&r->send);
	hodo_record_guard_end(&r->guard);
	hodo_record_options_free(&r->options);
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
