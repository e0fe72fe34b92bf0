/* SPDX-License-Identifier: MIT */
/* otlp_follow.c - the spans of a recording that is being written: the format's own functions, run in steps. */
#define _GNU_SOURCE
#include "otlp_follow.h"

#include "otlp_impl.h"

#include <base/clock.h>
#include <errno.h>
#include <read/file/follow.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define EVENTS_UNASKED 256u /* between two questions whether to stop */
#define SAID_AGAIN_NS  60000000000ll
#define REFUSALS_MAX   8u /* of requests one after the other: the next one will be refused, too */
#define NICE           5 /* the recorder, and what is traced, come first */

/* ---------------------------------------------------------------------------- shared */

static enum hodo_otlp_phase phase_of(struct hodo_otlp_follow *f)
{
	enum hodo_otlp_phase phase;

	pthread_mutex_lock(&f->lock);
	phase = f->phase;
	pthread_mutex_unlock(&f->lock);
	return phase;
}

void hodo_otlp_follow_set(struct hodo_otlp_follow *f, enum hodo_otlp_phase phase)
{
	pthread_mutex_lock(&f->lock);
	f->phase = phase;
	f->stop = phase != HODO_OTLP_LAST || f->waits;
	pthread_mutex_unlock(&f->lock);
}

bool hodo_otlp_follow_failed(struct hodo_otlp_follow *f)
{
	bool failed;

	pthread_mutex_lock(&f->lock);
	failed = f->failed;
	pthread_mutex_unlock(&f->lock);
	return failed;
}

/* Of the sending thread: the recorder says it. failed: nothing will be sent from here on. */
static void tell(struct hodo_otlp_follow *f, bool failed, const char *what, const char *then)
{
	pthread_mutex_lock(&f->lock);
	f->failed |= failed;
	if (!f->quiet && f->phase == HODO_OTLP_RECORDING)
		snprintf(f->pending, sizeof(f->pending), "%.512s: %s", what, then);
	pthread_mutex_unlock(&f->lock);
}

void hodo_otlp_follow_reached(struct hodo_otlp_follow *f, uint64_t ticks, const struct hodo_read_clock *clock)
{
	pthread_mutex_lock(&f->lock);
	f->ticks = ticks;
	f->clock = *clock;
	f->fresh = true;
	pthread_cond_signal(&f->news);
	pthread_mutex_unlock(&f->lock);
}

bool hodo_otlp_follow_says(struct hodo_otlp_follow *f, char line[sizeof(f->pending)])
{
	pthread_mutex_lock(&f->lock);
	memcpy(line, f->pending, sizeof(f->pending));
	f->pending[0] = 0;
	pthread_mutex_unlock(&f->lock);
	return line[0];
}

/* --------------------------------------------------------------------------- sending */

static void waits(void *follow, const char *why, int64_t ns)
{
	struct hodo_otlp_follow *f = follow;
	int64_t now = hodo_now_ns();

	pthread_mutex_lock(&f->lock);
	f->waits = true;
	pthread_mutex_unlock(&f->lock);
	hodo_why(&f->why, 0, "%s", why);
	if (f->said_ns && now - f->said_ns < SAID_AGAIN_NS)
		return;
	f->said_ns = now;
	tell(f, false, why, "trying again; meanwhile the recording keeps the spans");
}

/* Whether a wait was ended so that the rest is tried at once. */
static bool tries_again(struct hodo_otlp_follow *f)
{
	bool again;

	pthread_mutex_lock(&f->lock);
	again = f->phase == HODO_OTLP_LAST;
	if (again)
		f->stop = 0;
	f->waits = false;
	pthread_mutex_unlock(&f->lock);
	return again;
}

static void refused(struct hodo_otlp_follow *f, int err)
{
	const char *why = f->sender.why.text;

	if (err == -EINTR)
		return;
	hodo_why(&f->why, 0, "%s", why);
	if (err == -EACCES)
		tell(f, true, why, "no spans are sent: give other credentials with --otlp-header or "
		     HODO_OTLP_HEADERS_VARIABLE);
	else if (++f->refusals == REFUSALS_MAX)
		tell(f, true, why, "no more spans are sent");
	else if (f->refusals == 1)
		tell(f, false, why, "some spans are refused");
}

/* Never ends the reading: what is not sent is counted. */
static int send_message(void *follow, const struct hodo_otlp_message *message)
{
	struct hodo_otlp_follow *f = follow;
	int err = -ECANCELED;

	if (!hodo_otlp_follow_failed(f) && phase_of(f) <= HODO_OTLP_LAST) {
		do
			err = hodo_otlp_send(&f->sender, message);
		while (tries_again(f) && err == -EINTR);
		if (err)
			refused(f, err);
		else
			f->refusals = 0;
	}
	if (err)
		*(message->metrics ? &f->unsent.values : &f->unsent.spans) += message->items;
	return 0;
}

/* ------------------------------------------------------------------------ the thread */

/*
 * Sends the spans that ended before that time, and values of counters, as hodo_read_follow_on() finds them;
 * UINT64_MAX: all that is left, including spans that have not ended. 0, -EINTR if there was no time for that, or
 * another negative errno: from then on it only fails.
 */
static int go_on(struct hodo_otlp_follow *f, const struct hodo_read_clock *clock, uint64_t ticks)
{
	int n = f->read_failed ? f->read_failed : hodo_read_follow_on(f->e.reader, clock, ticks);
	bool last = ticks == UINT64_MAX;

	if (n == 0)
		n = 1;
	for (uint32_t i = 0; n > 0; i++) {
		n = last ? hodo_timeline_next(f->timeline) : hodo_timeline_more(f->timeline);
		if (n > 0 && i % EVENTS_UNASKED == 0 && phase_of(f) == HODO_OTLP_ENDS)
			n = -EINTR;
	}
	f->read_failed = n ? n : otlp_flush(f->state, &f->e);
	return f->read_failed;
}

static uint64_t wait_for_news(struct hodo_otlp_follow *f, struct hodo_read_clock *clock)
{
	uint64_t ticks;

	pthread_mutex_lock(&f->lock);
	while (!f->fresh)
		pthread_cond_wait(&f->news, &f->lock);
	f->fresh = false;
	ticks = f->ticks;
	*clock = f->clock;
	pthread_mutex_unlock(&f->lock);
	return ticks;
}

static void *run(void *follow)
{
	struct hodo_otlp_follow *f = follow;
	const uint64_t one = 1;
	struct hodo_read_clock clock;
	uint64_t ticks;
	int err;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	do {
		ticks = wait_for_news(f, &clock);
		/* What is not sent is counted at the end, and takes no time before. */
		if (f->error || (hodo_otlp_follow_failed(f) && ticks != UINT64_MAX))
			continue;
		err = go_on(f, &clock, ticks);
		f->uncounted |= err == -EINTR;
		f->error = err == -EINTR ? 0 : err;
		if (f->error)
			tell(f, true, strerror(-f->error), "the recording cannot be read: no more spans are sent");
	} while (ticks != UINT64_MAX);
	while (write(f->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* ------------------------------------------------------------------------- begin, end */

int hodo_otlp_follow_init(struct hodo_otlp_follow *f, const char *const *headers)
{
	const struct hodo_http_options options = { .headers = headers, .retry_ns = INT64_MAX / 2, .stop = &f->stop,
						   .waits = waits, .data = f };

	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->news, NULL);
	f->sender.each = true; /* requests depend on when the spans were read */
	f->otlp.send = send_message;
	f->otlp.to = f;
	f->done_fd = eventfd(0, EFD_CLOEXEC);
	return f->done_fd < 0 ? -errno : hodo_http_new(&f->sender.http, &options);
}

/* What the format leaves out is known from the manual page. */
static void say_nothing(const char *text)
{
	(void)text;
}

static int open_all(struct hodo_otlp_follow *f, const char *dir)
{
	const struct hodo_read_options options = { .size = sizeof(options) };
	int err = hodo_read_follow(&f->e.reader, dir, &options);

	if (err)
		return err;
	f->e.warn = say_nothing;
	f->e.otlp = &f->otlp;
	f->e.out = &f->none;
	f->e.symbols = hodo_symbols_new(dir);
	f->callers = f->e.symbols ? hodo_callers_new(f->e.symbols) : NULL;
	f->e.text = hodo_read_text_new();
	f->state = calloc(1, hodo_export_otlp.state_bytes);
	if (!f->callers || !f->e.text || !f->state)
		return -ENOMEM;
	hodo_symbols_shorten(f->e.symbols);
	hodo_read_symbols(f->e.reader, hodo_function_name_at, f->e.symbols);
	hodo_read_code(f->e.reader, &hodo_callers_ops, f->callers);
	f->timeline = hodo_timeline_new(f->e.reader, hodo_symbols_places(f->e.symbols),
					&hodo_export_otlp.timeline, f->state);
	if (!f->timeline)
		return -ENOMEM;
	err = hodo_export_otlp.open(f->state, &f->e);
	return err ? err : hodo_timeline_start(f->timeline, 0, 0);
}

int hodo_otlp_follow_begin(struct hodo_otlp_follow *f, const char *dir)
{
	int err = open_all(f, dir);
	sigset_t all, before;

	if (err)
		return err;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&f->thread, NULL, run, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	f->runs = !err;
	return err;
}

void hodo_otlp_follow_end(struct hodo_otlp_follow *f)
{
	pthread_join(f->thread, NULL);
}

void hodo_otlp_follow_free(struct hodo_otlp_follow *f)
{
	hodo_timeline_free(f->timeline);
	if (f->state)
		hodo_export_otlp.free(f->state);
	free(f->state);
	hodo_read_text_free(f->e.text);
	hodo_callers_free(f->callers);
	hodo_symbols_free(f->e.symbols);
	hodo_read_close(f->e.reader);
	hodo_text_free(&f->none);
	hodo_http_free(f->sender.http);
	hodo_otlp_sent_close(f->sender.sent);
	pthread_cond_destroy(&f->news);
	pthread_mutex_destroy(&f->lock);
	if (f->done_fd >= 0)
		close(f->done_fd);
}

uint64_t hodo_otlp_follow_missed(const struct hodo_otlp_follow *f, uint32_t *processes)
{
	return hodo_read_follow_missed(f->e.reader, processes);
}
