/* SPDX-License-Identifier: MIT */
/*
 * record_otlp.c - see record_otlp.h. One thread reads what the recorder has written, and sends it.
 *
 *   who                       writes                                        beside
 *   the recorder's threads    the recording; ticks, clock, phase            the sending thread
 *   the sending thread        pending, failed; all of what is not shared    the recorder's threads
 *
 * What they share is under `lock`, which nobody holds while waiting, reading or sending; only `stop` is a flag of
 * its own, which the HTTP client looks at while it waits. The queue between them is the recording itself
 * (read/file/follow.h): when the receiver is slow or away, more of it is unread, and neither memory nor the recorder
 * has to wait for it.
 */
#define _GNU_SOURCE
#include "record_otlp.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
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
#define SAID_AGAIN_NS  (60000 * MS)
#define REFUSALS_MAX   8u /* of requests one after the other: the next one will be refused, too */
#define NICE           5 /* the recorder, and what is traced, come first */

enum phase {
	RECORDING,
	LAST,     /* the rest is sent */
	COUNTING, /* and what is left after that is counted */
	ENDS
};

struct hodo_record_otlp {
	struct hodo_otlp_args *args;
	const char *dir;
	bool quiet, runs;
	uint64_t rest_ms;
	char *plain; /* the URL, without a password */
	char *state; /* where it is noted what was taken: hodo export reads it */
	struct hodo_arena memory; /* of headers */
	pthread_t thread;
	int done_fd; /* readable: the thread has ended */
	volatile sig_atomic_t stop;

	pthread_mutex_t lock;
	pthread_cond_t news;
	uint64_t ticks;
	struct hodo_read_clock clock;
	bool fresh; /* the thread has not seen these two */
	enum phase phase;
	bool failed; /* nothing is sent any more */
	bool waits;  /* a request has failed, and is to be tried again */
	char pending[1024]; /* to be said; "": nothing */

	/* The thread's, until it has ended. */
	struct hodo_otlp_sender sender;
	struct hodo_otlp_follow *follow;
	struct hodo_otlp_counts unsent;
	unsigned refusals;
	int64_t said_ns;
	bool uncounted; /* unsent is not all */
	int error;      /* the recording could not be read */
	struct hodo_why why; /* what is unsent was not sent; "": it could be, later */
};

/* ---------------------------------------------------------------------------- shared */

static enum phase phase_of(struct hodo_record_otlp *o)
{
	enum phase phase;

	pthread_mutex_lock(&o->lock);
	phase = o->phase;
	pthread_mutex_unlock(&o->lock);
	return phase;
}

/*
 * Ends waits of the HTTP client; a request that is on its way only if there is no more time for it: the receiver may
 * have it, and would get it twice.
 */
static void set_phase(struct hodo_record_otlp *o, enum phase phase)
{
	pthread_mutex_lock(&o->lock);
	o->phase = phase;
	o->stop = phase != LAST || o->waits;
	pthread_mutex_unlock(&o->lock);
}

static bool has_failed(struct hodo_record_otlp *o)
{
	bool failed;

	pthread_mutex_lock(&o->lock);
	failed = o->failed;
	pthread_mutex_unlock(&o->lock);
	return failed;
}

/* Of the sending thread: the recorder says it. failed: nothing will be sent from here on. */
static void tell(struct hodo_record_otlp *o, bool failed, const char *what, const char *then)
{
	pthread_mutex_lock(&o->lock);
	o->failed |= failed;
	if (!o->quiet && o->phase == RECORDING)
		snprintf(o->pending, sizeof(o->pending), "%s: %.512s: %s", o->plain, what, then);
	pthread_mutex_unlock(&o->lock);
}

void hodo_record_otlp_reached(struct hodo_record_otlp *o, uint64_t ticks, const struct hodo_clock_map *clock)
{
	pthread_mutex_lock(&o->lock);
	o->ticks = ticks;
	o->clock = (struct hodo_read_clock){ clock->kind, clock->freq_hz, clock->offset_s, (int64_t)clock->offset };
	o->fresh = true;
	pthread_cond_signal(&o->news);
	pthread_mutex_unlock(&o->lock);
}

void hodo_record_otlp_say(struct hodo_record_otlp *o, const struct hodo_reporter *reporter)
{
	char line[sizeof(o->pending)] = "";

	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	memcpy(line, o->pending, sizeof(line));
	o->pending[0] = 0;
	pthread_mutex_unlock(&o->lock);
	if (line[0])
		hodo_report(reporter, "%s", line);
}

/* ------------------------------------------------------------------------ the thread */

static void waits(void *otlp, const char *why, int64_t ns)
{
	struct hodo_record_otlp *o = otlp;
	int64_t now = hodo_now_ns();

	(void)ns;
	pthread_mutex_lock(&o->lock);
	o->waits = true;
	pthread_mutex_unlock(&o->lock);
	hodo_why(&o->why, 0, "%s", why);
	if (o->said_ns && now - o->said_ns < SAID_AGAIN_NS)
		return;
	o->said_ns = now;
	tell(o, false, why, "trying again; meanwhile the recording keeps the spans");
}

/* Whether a wait was ended so that the rest is tried at once. */
static bool tries_again(struct hodo_record_otlp *o)
{
	bool again;

	pthread_mutex_lock(&o->lock);
	again = o->phase == LAST;
	if (again)
		o->stop = 0;
	o->waits = false;
	pthread_mutex_unlock(&o->lock);
	return again;
}

static void refused(struct hodo_record_otlp *o, int err)
{
	const char *why = o->sender.why.text;

	if (err == -EINTR)
		return;
	hodo_why(&o->why, 0, "%s", why);
	if (err == -EACCES)
		tell(o, true, why, "no spans are sent: give other credentials with --otlp-header or "
		     HODO_OTLP_HEADERS_VARIABLE);
	else if (++o->refusals == REFUSALS_MAX)
		tell(o, true, why, "no more spans are sent");
	else if (o->refusals == 1)
		tell(o, false, why, "some spans are refused");
}

/* Never ends the reading: what is not sent is counted. */
static int send_message(void *otlp, const struct hodo_otlp_message *message)
{
	struct hodo_record_otlp *o = otlp;
	int err = -ECANCELED;

	if (!has_failed(o) && phase_of(o) <= LAST) {
		do
			err = hodo_otlp_send(&o->sender, message);
		while (tries_again(o) && err == -EINTR);
		if (err)
			refused(o, err);
		else
			o->refusals = 0;
	}
	if (err)
		*(message->metrics ? &o->unsent.values : &o->unsent.spans) += message->items;
	return 0;
}

static bool stops(void *otlp)
{
	return phase_of(otlp) == ENDS;
}

static uint64_t wait_for_news(struct hodo_record_otlp *o, struct hodo_read_clock *clock)
{
	uint64_t ticks;

	pthread_mutex_lock(&o->lock);
	while (!o->fresh)
		pthread_cond_wait(&o->news, &o->lock);
	o->fresh = false;
	ticks = o->ticks;
	*clock = o->clock;
	pthread_mutex_unlock(&o->lock);
	return ticks;
}

static void *run(void *otlp)
{
	struct hodo_record_otlp *o = otlp;
	const uint64_t one = 1;
	struct hodo_read_clock clock;
	uint64_t ticks;
	int err;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	do {
		ticks = wait_for_news(o, &clock);
		/* What is not sent is counted at the end, and takes no time before. */
		if (o->error || (has_failed(o) && ticks != UINT64_MAX))
			continue;
		err = hodo_otlp_follow_on(o->follow, &clock, ticks, stops, o);
		o->uncounted |= err == -EINTR;
		o->error = err == -EINTR ? 0 : err;
		if (o->error)
			tell(o, true, strerror(-o->error), "the recording cannot be read: no more spans are sent");
	} while (ticks != UINT64_MAX);
	while (write(o->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* ------------------------------------------------------------------------- begin, end */

static int open_http(struct hodo_record_otlp *o)
{
	const struct hodo_http_options options = { .headers = o->args->headers, .retry_ns = INT64_MAX / 2,
						   .stop = &o->stop, .waits = waits, .data = o };
	int err = hodo_http_new(&o->sender.http, &options);

	return err == -ENOSYS ? hodo_error("--otlp: libcurl.so.4 is missing: install Debian's libcurl4") :
	       err	      ? hodo_no_memory()
			      : 0;
}

static void free_all(struct hodo_record_otlp *o)
{
	hodo_otlp_follow_free(o->follow);
	hodo_http_free(o->sender.http);
	hodo_otlp_sent_close(o->sender.sent);
	hodo_arena_free(&o->memory);
	pthread_cond_destroy(&o->news);
	pthread_mutex_destroy(&o->lock);
	if (o->done_fd >= 0)
		close(o->done_fd);
	free(o->plain);
	free(o->state);
	free(o);
}

int hodo_record_otlp_new(struct hodo_record_otlp **otlp, struct hodo_otlp_args *args, bool quiet)
{
	struct hodo_record_otlp *o;
	int status;

	*otlp = NULL;
	if (!args->endpoint)
		return 0;
	o = hodo_must(calloc(1, sizeof(*o)));
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->news, NULL);
	o->args = args;
	o->quiet = quiet;
	o->plain = hodo_must(malloc(strlen(args->endpoint) + 1));
	hodo_http_url_plain(args->endpoint, o->plain);
	o->done_fd = eventfd(0, EFD_CLOEXEC);
	status = o->done_fd < 0 ? hodo_error("--otlp: %s: %s", strerror(errno), hodo_remedy(errno)) :
				  hodo_otlp_environment(args, &o->memory);
	o->rest_ms = args->timeout_set ? args->timeout_ms : REST_MS;
	if (!status)
		status = open_http(o);
	if (!status && hodo_otlp_send_to(&o->sender, args->endpoint) < 0)
		status = hodo_error("--otlp: the URL is too long");
	if (status) {
		free_all(o);
		return status;
	}
	o->sender.gzip = args->gzip;
	o->sender.each = true; /* requests depend on when the spans were read */
	args->otlp.version = HODO_VERSION;
	args->otlp.send = send_message;
	args->otlp.to = o;
	*otlp = o;
	return 0;
}

void hodo_record_otlp_begin(struct hodo_record_otlp *o, const char *dir)
{
	sigset_t all, before;
	int err;

	if (!o)
		return;
	o->dir = dir;
	o->state = hodo_must(hodo_output_beside(dir, "otlp-sent"));
	/* What an earlier recording of that name left is of no use. */
	o->sender.note_error = hodo_otlp_sent_open(&o->sender.sent, o->state, true);
	err = hodo_otlp_follow_new(&o->follow, dir, &o->args->otlp);
	sigfillset(&all);
	if (!err) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		err = -pthread_create(&o->thread, NULL, run, o);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	o->runs = !err;
	if (err)
		hodo_error("--otlp: %s: no spans are sent: send them later with 'hodo export --to otlp'", strerror(-err));
}

static const char *why_not_noted(const struct hodo_record_otlp *o)
{
	int err = o->sender.note_error;

	return err == -EBADMSG || err == -ESTALE ? "it is another file" :
	       err == -EFBIG			 ? "there is too much"
						 : strerror(-err);
}

/* The end of a line about what was not sent; to be freed. */
static char *how_to_send(const struct hodo_record_otlp *o)
{
	char *text;
	int len = o->sender.note_error ?
		  asprintf(&text, "'hodo export --to otlp --endpoint %s %s' sends the rest, and again what could not be noted "
			   "in %s: %s", o->plain, o->dir, o->state, why_not_noted(o)) :
		  asprintf(&text, "'hodo export --to otlp --endpoint %s %s' sends the rest", o->plain, o->dir);

	return hodo_must(len < 0 ? NULL : text);
}

/* What came of it, in one line. */
static void say_result(const struct hodo_record_otlp *o)
{
	HODO_AUTO_FREE char *rest = how_to_send(o);
	char sent[128], unsent[128];
	uint32_t processes;
	uint64_t missed = hodo_otlp_follow_missed(o->follow, &processes);

	hodo_otlp_counted(&o->sender.taken, sent);
	hodo_otlp_counted(&o->unsent, unsent);
	if (o->error)
		hodo_error("%s sent to %s; the recording could not be read to its end: %s: %s", sent, o->plain,
			   strerror(-o->error), rest);
	else if (o->unsent.spans + o->unsent.values || o->uncounted)
		hodo_error("%s: %s: %s were sent, %s%s were not: %s", o->plain,
			   o->why.text[0] ? o->why.text : "there was no more time", sent,
			   o->uncounted ? "at least " : "", unsent,
			   rest);
	else if (!o->quiet)
		hodo_error("%s sent to %s", sent, o->plain);
	if (o->sender.note_error && !o->quiet && !o->unsent.spans && !o->unsent.values && !o->uncounted && !o->error)
		hodo_warning("%s: what was sent cannot be noted: %s: 'hodo export --to otlp' sends it again, as the same spans",
			     o->state, why_not_noted(o));
	if (missed)
		hodo_warning("--otlp: %llu events were not read: they were damaged, or their part was removed before",
			     (unsigned long long)missed);
	if (processes)
		hodo_warning("--otlp: nothing was sent of %u processes, the last ones of very many: 'hodo export --to otlp "
			     "--endpoint %s %s' sends it", processes, o->plain, o->dir);
	hodo_otlp_warn_refused(&o->sender);
}

/* Whether the thread ends within that time. */
static bool wait_for_end(struct hodo_record_otlp *o, int64_t ns, int signal_fd,
			 bool (*takes)(void *arg, const struct signalfd_siginfo *info), void *arg)
{
	struct pollfd fds[2] = { { .fd = o->done_fd, .events = POLLIN }, { .fd = signal_fd, .events = POLLIN } };
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

	if (!has_failed(o)) {
		set_phase(o, LAST);
		done = wait_for_end(o, soon, signal_fd, takes, arg);
		if (!done && !o->quiet && rest > soon && !has_failed(o))
			hodo_error("sending the rest to %s, for at most %llu s", o->plain,
				   (unsigned long long)o->rest_ms / 1000);
		done = done || wait_for_end(o, rest - soon, signal_fd, takes, arg);
	}
	if (!done) {
		set_phase(o, COUNTING);
		done = wait_for_end(o, COUNT_NS, signal_fd, takes, arg);
	}
	if (!done)
		set_phase(o, ENDS);
	pthread_join(o->thread, NULL);
}

void hodo_record_otlp_end(struct hodo_record_otlp **otlp, int signal_fd,
			  bool (*takes)(void *arg, const struct signalfd_siginfo *info), void *arg)
{
	struct hodo_record_otlp *o = *otlp;

	*otlp = NULL;
	if (!o)
		return;
	if (o->runs) {
		send_rest(o, signal_fd, takes, arg);
		say_result(o);
	}
	free_all(o);
}
