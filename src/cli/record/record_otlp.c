/* SPDX-License-Identifier: MIT */
/*
 * record_otlp.c - hodo record --otlp: what is sent while it is recorded (export/otlp/otlp_follow.h), and what is said
 * of it.
 */
#define _GNU_SOURCE
#include "record_otlp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/scope.h>
#include <export/otlp/otlp_follow.h>
#include <http/url.h>

#include <cli/say.h>

#define MS             1000000ll
#define REST_MS        10000u /* for what is left at the end, as OpenTelemetry's exporters have it */
#define COUNT_NS       (5000 * MS) /* then, to count what is not sent */
#define QUIET_NS       (1000 * MS) /* of that, before it is said that there is a wait */

struct hodo_record_otlp {
	struct hodo_otlp_follow follow;
	const char *dir;
	uint64_t rest_ms;
	char *plain; /* the URL, without a password */
	char *state; /* where it is noted what was taken: hodo export reads it */
	struct hodo_arena memory; /* of headers */
};

void hodo_record_otlp_reached(struct hodo_record_otlp *o, uint64_t ticks, const struct hodo_read_clock *clock)
{
	hodo_otlp_follow_reached(&o->follow, ticks, clock);
}

void hodo_record_otlp_say(struct hodo_record_otlp *o, const struct hodo_reporter *reporter)
{
	char line[sizeof(o->follow.pending)];

	if (o && hodo_otlp_follow_says(&o->follow, line))
		hodo_report(reporter, "%s: %s", o->plain, line);
}

static void free_all(struct hodo_record_otlp *o)
{
	hodo_otlp_follow_free(&o->follow);
	hodo_arena_free(&o->memory);
	free(o->plain);
	free(o->state);
	free(o);
}

static int open_all(struct hodo_record_otlp *o, struct hodo_otlp_args *args)
{
	int status = hodo_otlp_environment(args, &o->memory);
	/* In any case, so that it can be freed. */
	int err = hodo_otlp_follow_init(&o->follow, args->headers);

	if (status)
		return status;
	if (err == -ENOSYS)
		return hodo_error("--otlp: libcurl.so.4 is missing: install Debian's libcurl4");
	if (err)
		return err == -ENOMEM ? hodo_no_memory() :
					hodo_error("--otlp: %s: %s", strerror(-err), hodo_remedy(err));
	return hodo_otlp_send_to(&o->follow.sender, args->endpoint) < 0 ? hodo_error("--otlp: the URL is too long") : 0;
}

int hodo_record_otlp_new(struct hodo_record_otlp **otlp, struct hodo_otlp_args *args, bool quiet)
{
	struct hodo_record_otlp *o;
	int status;

	*otlp = NULL;
	if (!args->endpoint)
		return 0;
	o = hodo_must(calloc(1, sizeof(*o)));
	o->follow.otlp = args->otlp;
	o->follow.otlp.version = HODO_VERSION;
	o->follow.quiet = quiet;
	o->plain = hodo_must(malloc(strlen(args->endpoint) + 1));
	hodo_http_url_plain(args->endpoint, o->plain);
	status = open_all(o, args);
	o->rest_ms = args->timeout_set ? args->timeout_ms : REST_MS;
	o->follow.sender.gzip = args->gzip;
	if (status)
		free_all(o);
	else
		*otlp = o;
	return status;
}

void hodo_record_otlp_begin(struct hodo_record_otlp *o, const char *dir)
{
	int err;

	if (!o)
		return;
	o->dir = dir;
	o->state = hodo_must(hodo_output_beside(dir, "otlp-sent"));
	/* What an earlier recording of that name left is of no use. */
	o->follow.sender.note_error = hodo_otlp_sent_open(&o->follow.sender.sent, o->state, true);
	err = hodo_otlp_follow_begin(&o->follow, dir);
	if (err)
		hodo_error("--otlp: %s: no spans are sent: send them later with 'hodo export --to otlp'", strerror(-err));
}

static const char *why_not_noted(const struct hodo_record_otlp *o)
{
	int err = o->follow.sender.note_error;

	return err == -EBADMSG || err == -ESTALE ? "it is another file" :
	       err == -EFBIG			 ? "there is too much"
						 : strerror(-err);
}

/* The end of a line about what was not sent; to be freed. */
static char *how_to_send(const struct hodo_record_otlp *o)
{
	char *text;
	int len = o->follow.sender.note_error ?
		  asprintf(&text, "'hodo export --to otlp --endpoint %s %s' sends the rest, and again what could not be noted "
			   "in %s: %s", o->plain, o->dir, o->state, why_not_noted(o)) :
		  asprintf(&text, "'hodo export --to otlp --endpoint %s %s' sends the rest", o->plain, o->dir);

	return hodo_must(len < 0 ? NULL : text);
}

/* What came of it, in one line. */
static void say_result(const struct hodo_record_otlp *o)
{
	const struct hodo_otlp_follow *f = &o->follow;
	HODO_AUTO_FREE char *rest = how_to_send(o);
	char sent[128], unsent[128];
	uint32_t processes;
	uint64_t missed = hodo_otlp_follow_missed(f, &processes);

	hodo_otlp_counted(&f->sender.taken, sent);
	hodo_otlp_counted(&f->unsent, unsent);
	if (f->error)
		hodo_error("%s sent to %s; the recording could not be read to its end: %s: %s", sent, o->plain,
			   strerror(-f->error), rest);
	else if (f->unsent.spans + f->unsent.values || f->uncounted)
		hodo_error("%s: %s: %s were sent, %s%s were not: %s", o->plain,
			   f->why.text[0] ? f->why.text : "there was no more time", sent,
			   f->uncounted ? "at least " : "", unsent, rest);
	else if (!f->quiet)
		hodo_error("%s sent to %s", sent, o->plain);
	if (f->sender.note_error && !f->quiet && !f->unsent.spans && !f->unsent.values && !f->uncounted && !f->error)
		hodo_warning("%s: what was sent cannot be noted: %s: 'hodo export --to otlp' sends it again, as the same spans",
			     o->state, why_not_noted(o));
	if (missed)
		hodo_warning("--otlp: %llu events were not read: they were damaged, or their part was removed before",
			     (unsigned long long)missed);
	if (processes)
		hodo_warning("--otlp: nothing was sent of %u processes, the last ones of very many: 'hodo export --to otlp "
			     "--endpoint %s %s' sends it", processes, o->plain, o->dir);
	hodo_otlp_warn_refused(&f->sender);
}

/* Whether the thread ends within that time. */
static bool wait_for_end(struct hodo_record_otlp *o, int64_t ns, int signal_fd,
			 bool (*takes)(void *arg, const struct signalfd_siginfo *info), void *arg)
{
	struct pollfd fds[2] = { { .fd = o->follow.done_fd, .events = POLLIN }, { .fd = signal_fd, .events = POLLIN } };
	int64_t until = hodo_now_ns() + ns, left;
	struct signalfd_siginfo info;

	while ((left = until - hodo_now_ns()) > 0) {
		poll(fds, 2, (int)(left / MS) + 1);
		if (fds[0].revents)
			return true;
		/* A signal ends it: there is no time left. */
		while (fds[1].revents && read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if (takes(arg, &info))
				until = 0;
	}
	return false;
}

/* Lets the thread send, then count, for as long as it may. */
static void send_rest(struct hodo_record_otlp *o, int signal_fd,
		      bool (*takes)(void *arg, const struct signalfd_siginfo *info), void *arg)
{
	int64_t rest = (int64_t)o->rest_ms * MS, soon = rest < QUIET_NS ? rest : QUIET_NS;
	bool done = false;

	if (!hodo_otlp_follow_failed(&o->follow)) {
		hodo_otlp_follow_set(&o->follow, HODO_OTLP_LAST);
		done = wait_for_end(o, soon, signal_fd, takes, arg);
		if (!done && !o->follow.quiet && rest > soon && !hodo_otlp_follow_failed(&o->follow))
			hodo_error("sending the rest to %s, for at most %llu s", o->plain,
				   (unsigned long long)o->rest_ms / 1000);
		done = done || wait_for_end(o, rest - soon, signal_fd, takes, arg);
	}
	if (!done) {
		hodo_otlp_follow_set(&o->follow, HODO_OTLP_COUNTING);
		done = wait_for_end(o, COUNT_NS, signal_fd, takes, arg);
	}
	if (!done)
		hodo_otlp_follow_set(&o->follow, HODO_OTLP_ENDS);
	hodo_otlp_follow_end(&o->follow);
}

void hodo_record_otlp_end(struct hodo_record_otlp **otlp, int signal_fd,
			  bool (*takes)(void *arg, const struct signalfd_siginfo *info), void *arg)
{
	struct hodo_record_otlp *o = *otlp;

	*otlp = NULL;
	if (!o)
		return;
	if (o->follow.runs) {
		send_rest(o, signal_fd, takes, arg);
		say_result(o);
	}
	free_all(o);
}
