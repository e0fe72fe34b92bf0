/* SPDX-License-Identifier: MIT */
#include "record_send.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/scope.h>
#include <sym/recording_symbols.h>
#include <send/ready.h>

#include <cli/say.h>

#define VERB         "record"
#define ROTATE_BYTES (64ull << 20)
#define ROTATE_NS    60000000000ull
#define BACKLOG      (1ull << 30)
#define LEVEL        3
#define END_NS       30000000000ll /* for the rest, at the end */
#define QUIET_NS     1000000000ll  /* of that, before it is said that there is a wait */
#define MINUTE_NS    60000000000ull

#define NAMED (HODO_CONTEXT_IP | HODO_CONTEXT_CALLSTACK | HODO_CONTEXT_STACK)

int hodo_send_to(const char *verb, const char *text, struct hodo_send_target *target)
{
	struct hodo_why why;

	return hodo_send_target_parse(text, target, &why) ? hodo_usage(verb, "--to %s: %s", text, why.text) : 0;
}

int hodo_record_send_check(struct hodo_record_options *o)
{
	struct hodo_record_to *to = &o->to;
	struct hodo_send_target target;

	if (!to->target)
		return to->backlog || to->keep_bytes || to->keep_ns ?
			       hodo_usage(VERB, "%s is for parts that are sent: add --to", to->backlog ? "--backlog" :
					  to->keep_bytes ? "--keep-size" : "--keep-age") : 0;
	if (!o->limits.rotate_bytes && !o->limits.rotate_ns && !o->overwrite) {
		o->limits.rotate_bytes = ROTATE_BYTES > o->packet_size ? ROTATE_BYTES : o->packet_size;
		o->limits.rotate_ns = ROTATE_NS;
	}
	if (o->overwrite)
		return hodo_usage(VERB, "--to sends a recording that is written all the time, and --overwrite keeps "
				  "the newest events in memory: 'hodo send' sends snapshots");
	to->backlog = to->backlog ? to->backlog : BACKLOG;
	return hodo_send_to(VERB, to->target, &target);
}

/* A script has no events. */
static bool is_elf(const char *path)
{
	HODO_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[4] = "";

	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) && memcmp(head, "\177ELF", 4) == 0;
}

const char *hodo_record_listed(const struct hodo_record_options *o, char path[PATH_MAX])
{
	const char *program = o->command[0] ? hodo_find_program(o->command[0], path) : "";

	if (!o->to.target)
		return o->out;
	if (is_elf(program))
		return program;
	if (o->attach.n)
		snprintf(path, PATH_MAX, "%d", (int)o->attach.target[0].pid);
	return o->attach.n ? path : "RECORDING";
}

static void report(void *arg, const char *line)
{
	/* A line of progress may be there. */
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	hodo_error("%s", line);
}

/* Objects in other root directories are not looked for: the list of these is the recorder's. */
static void add_symbols(void *arg, const char *part)
{
	const struct hodo_record_send *send = arg;

	if (send->symbols)
		hodo_symbols_keep(part, NULL, 0, NULL);
}

int hodo_record_send_begin(struct hodo_record_send *send, const struct hodo_record_options *o)
{
	struct hodo_sender_config config = {
		.recording = o->out, .backlog = o->to.backlog, .keep_bytes = o->to.keep_bytes,
		.keep_minutes = (o->to.keep_ns + MINUTE_NS - 1) / MINUTE_NS, .keep = o->limits.keep,
		.level = o->compress ? o->compress : LEVEL,
		.prepare = add_symbols, .prepare_arg = send, .reporter = { report, NULL },
	};
	struct hodo_why why;
	int status, err;

	if (!o->to.target)
		return 0;
	status = hodo_send_to(VERB, o->to.target, &config.target);
	if (status)
		return status;
	err = hodo_send_ready(&config.target, &why);
	if (err)
		return hodo_error("%s: %s%s", o->to.target, why.text,
				  err == -ECHILD ? "" : ": name another directory with --to");
	send->symbols = o->functions.tracers || (o->context.flags & NAMED);
	return hodo_sender_begin(&send->sender, &config, &why) ? hodo_error("%s", why.text) : 0;
}

/* Until it has ended, or a signal comes: true; or the time is over. */
static bool wait_for(const struct hodo_record_send *send, int signal_fd, int64_t ns)
{
	int64_t until = hodo_now_ns() + ns;

	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = hodo_sender_fd(send->sender), .events = POLLIN },
			{ .fd = signal_fd, .events = POLLIN },
		};
		int64_t left = until - hodo_now_ns();
		struct signalfd_siginfo info;

		if (left <= 0)
			return false;
		if (poll(fds, 2, (int)(left / 1000000) + 1) > 0 && fds[0].revents)
			return true;
		while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if (info.ssi_signo != SIGCHLD)
				return true;
	}
}

/* How to look at what was sent. */
static const char *put_where(const struct hodo_sender_totals *t, const struct hodo_record_options *o, char *to,
			     size_t size)
{
	struct hodo_send_target target;
	struct hodo_why why;

	*to = 0;
	if (!t->sent_own || hodo_send_target_parse(o->to.target, &target, &why) < 0)
		return to;
	if (target.ssh)
		snprintf(to, size, ": there, 'hodo stat %s' shows this recording", t->where);
	else
		snprintf(to, size, ": 'hodo stat %s/%s' shows this recording", target.dir, t->where);
	return to;
}

static void tell(const struct hodo_sender_totals *t, const struct hodo_record_options *o)
{
	char bytes[32], where[PATH_MAX + 256];

	if (t->sent && !o->args.quiet)
		hodo_error("%" PRIu64 " part%s, %s, sent to %s%s", t->sent, t->sent == 1 ? "" : "s",
			   hodo_human_bytes(t->sent_bytes, bytes), o->to.target, put_where(t, o, where, sizeof(where)));
	if (o->limits.keep && access(o->out, F_OK) == 0 && !o->args.quiet)
		hodo_error("the newest %s also in %s, as --keep asks", o->limits.keep == 1 ? "part is" : "parts are", o->out);
	if (t->dropped)
		hodo_error("%" PRIu64 " part%s, %s, dropped unsent: a larger --backlog keeps them", t->dropped,
			   t->dropped == 1 ? "" : "s", hodo_human_bytes(t->dropped_bytes, bytes));
	if (t->unsent)
		hodo_error("%" PRIu64 " part%s, %s, unsent: 'hodo send %s --to %s' sends %s", t->unsent,
			   t->unsent == 1 ? "" : "s", hodo_human_bytes(t->unsent_bytes, bytes), t->spool,
			   o->to.target, t->unsent == 1 ? "it" : "them");
	if (t->unpacked)
		hodo_error("%" PRIu64 " part%s still in %s, unsent: 'hodo send %s --to %s' sends %s", t->unpacked,
			   t->unpacked == 1 ? " is" : "s are", o->out, o->out, o->to.target,
			   t->unpacked == 1 ? "it" : "them");
}

void hodo_record_send_end(struct hodo_record_send *send, const struct hodo_record_options *o, uint32_t parts,
			  int signal_fd)
{
	struct hodo_sender_totals totals;

	if (!send->sender)
		return;
	hodo_sender_finish(send->sender, parts);
	if (!wait_for(send, signal_fd, QUIET_NS)) {
		if (!o->args.quiet)
			hodo_error("sending the rest to %s, for at most %lld s: Ctrl-C ends that, and what is unsent then "
				   "stays in %s%s", o->to.target, END_NS / 1000000000, o->out, HODO_SPOOL_SUFFIX);
		wait_for(send, signal_fd, END_NS - QUIET_NS);
	}
	hodo_sender_stop(send->sender);
	hodo_sender_end(send->sender, &totals);
	send->sender = NULL;
	tell(&totals, o);
	rmdir(o->out); /* if everything was sent */
}

void hodo_record_send_drop(struct hodo_record_send *send)
{
	struct hodo_sender_totals totals;

	if (!send->sender)
		return;
	hodo_sender_stop(send->sender);
	hodo_sender_end(send->sender, &totals);
	send->sender = NULL;
}
