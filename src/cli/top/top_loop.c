/* SPDX-License-Identifier: MIT */
/* top_loop.c - hodo top: records, counts and shows, until it is over. */
#define _GNU_SOURCE
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <base/clock.h>

#define PACKET_AGE_NS 3600000000000ull
#define MESSAGES_MAX 8192 /* bytes */

enum ending {
	GOES_ON,
	ALL_ENDED,   /* what is watched */
	ENOUGH,      /* -n, --duration, or nobody reads our output */
	LEFT,        /* by q */
	INTERRUPTED, /* by a signal */
	CANNOT       /* the terminal failed */
};

struct run {
	struct hodo_top_options *o;
	struct hodo_top_target *target;
	struct hodo_run *run; /* the target's */
	struct hodo_top_model model;
	struct hodo_top_view view;
	struct hodo_out out;
	enum ending ending;
	bool on_screen;
	int64_t next_ns;
	uint64_t iterations;
	char title[HODO_TOP_TITLE_MAX], listed[PATH_MAX];
	struct hodo_text messages; /* of the recording, while the screen is open: a line each */
};

static void report(void *arg, const char *line)
{
	struct run *r = arg;

	if (!r->on_screen) {
		hodo_error("%s", line);
		return;
	}
	snprintf(r->view.message, sizeof(r->view.message), "%s", line);
	if (r->messages.len < MESSAGES_MAX)
		hodo_text_printf(&r->messages, "%s\n", line);
}

/* --------------------------------------------------------------------------- output */

static void draw(struct run *r)
{
	if (r->on_screen)
		hodo_top_screen_draw(&r->view, &r->model);
}

static void show(struct run *r)
{
	hodo_top_view_update(&r->view, &r->model);
	if (r->o->output == HODO_TOP_JSON) {
		hodo_top_put_json(&r->out, &r->model);
	} else if (r->o->output == HODO_TOP_BATCH) {
		if (r->iterations > 0)
			hodo_out_write(&r->out, "\n", 1);
		hodo_top_put_lines(&r->out, &r->model, &r->view, UINT32_MAX);
	}
	draw(r);
	r->iterations++;
	if (r->out.err && r->ending == GOES_ON)
		r->ending = ENOUGH;
}

static void tick(struct run *r, int64_t now)
{
	hodo_top_refresh(&r->model, r->run->recorder);
	hodo_top_see_cpus(&r->model);
	hodo_top_tick(&r->model, hodo_now_ns());
	hodo_top_trim_output(r->target);
	show(r);
	if (r->o->iterations && r->iterations >= r->o->iterations && r->ending == GOES_ON)
		r->ending = ENOUGH;
	r->next_ns += r->view.interval_ns;
	if (r->next_ns <= now)
		r->next_ns = now + r->view.interval_ns;
}

/* --------------------------------------------------------------------- keys, signals */

static void switch_selected(struct run *r)
{
	struct hodo_top_view *v = &r->view;
	char said[sizeof(v->message)];

	if (v->selected == HODO_TOP_NONE) { /* before the first interval is over */
		hodo_top_refresh(&r->model, r->run->recorder);
		hodo_top_view_update(v, &r->model);
	}
	if (v->kind != HODO_TOP_EVENTS || v->selected == HODO_TOP_NONE) {
		snprintf(v->message, sizeof(v->message), "no event is selected: e shows the events");
		return;
	}
	hodo_top_switch(r->target, &r->model, &r->model.table[HODO_TOP_EVENTS].row[v->selected], said, sizeof(said));
	snprintf(v->message, sizeof(v->message), "%s", said);
	hodo_top_refresh(&r->model, r->run->recorder);
}

static void take_key(struct run *r, int key)
{
	bool paused = r->view.paused;
	int64_t interval = r->view.interval_ns, now = hodo_now_ns();

	switch (hodo_top_view_key(&r->view, &r->model, key)) {
	case HODO_TOP_QUIT:
		r->ending = LEFT;
		break;
	case HODO_TOP_SWITCH:
		switch_selected(r);
		break;
	case HODO_TOP_RESET:
		hodo_top_refresh(&r->model, r->run->recorder);
		hodo_top_reset(&r->model, now);
		hodo_top_view_update(&r->view, &r->model);
		break;
	case HODO_TOP_REDRAW:
		hodo_top_screen_resize();
		break;
	case HODO_TOP_DRAW:
		break;
	}
	if (r->view.interval_ns != interval || (paused && !r->view.paused))
		r->next_ns = r->view.interval_ns < r->next_ns - now || r->next_ns < now ? now : r->next_ns;
}

static void take_keys(struct run *r)
{
	int key;

	while (r->ending == GOES_ON && (key = hodo_top_screen_key()) != 0)
		if (key > 0) /* else one that has no meaning here */
			take_key(r, key);
	draw(r);
}

static void take_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct run *r = arg;

	switch (info->ssi_signo) {
	case SIGWINCH:
		if (r->on_screen)
			hodo_top_screen_resize();
		draw(r);
		return;
	case SIGTSTP:
		if (r->on_screen)
			hodo_top_screen_stop();
		draw(r);
		return;
	}
	r->run->signal = (int)info->ssi_signo;
	r->ending = INTERRUPTED;
	/* The command also got signals from the terminal. */
	if (info->ssi_code <= 0 && r->run->pid > 0 && !r->run->ended)
		kill(r->run->pid, r->run->signal);
}

/* --------------------------------------------------------------------------- the loop */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void wait_for_something(struct run *r, int64_t ns)
{
	short keys = hodo_run_wait(r->run, ns < 0 ? 0 : ns, r->on_screen ? hodo_top_screen_fd() : -1);

	if (r->ending != GOES_ON || !keys)
		return;
	take_keys(r);
	if (r->ending == GOES_ON && (keys & (POLLHUP | POLLERR | POLLNVAL)))
		r->ending = CANNOT; /* the terminal has been closed */
}

static bool all_ended(struct run *r, bool watching)
{
	hodo_run_reap(r->run);
	if (r->target->kernel && !r->run->command && !r->target->attach.n)
		return !watching && !hodo_recorder_has_kernel(r->run->recorder);
	return !watching && r->run->ended && !hodo_recorder_busy(r->run->recorder);
}

static void run_loop(struct run *r)
{
	const struct hodo_top_options *o = r->o;

	hodo_top_refresh(&r->model, r->run->recorder);
	hodo_top_view_update(&r->view, &r->model);
	draw(r);
	while (r->ending == GOES_ON) {
		int64_t ns = hodo_recorder_step(r->run->recorder), watch_ns = hodo_top_watch_step(&r->model), now;

		if (watch_ns >= 0)
			ns = least(ns, watch_ns);
		if (all_ended(r, watch_ns >= 0)) {
			r->ending = ALL_ENDED;
			break;
		}
		now = hodo_now_ns();
		if (o->duration_ns && now - r->run->start_ns >= o->duration_ns) {
			r->ending = ENOUGH;
			break;
		}
		if (!r->view.paused) {
			if (now >= r->next_ns)
				tick(r, now);
			ns = least(ns, r->next_ns - now);
		}
		if (o->duration_ns)
			ns = least(ns, r->run->start_ns + o->duration_ns - now);
		if (r->run->command && r->run->ended)
			ns = least(ns, 10000000); /* check for processes that may yet come */
		if (r->ending == GOES_ON)
			wait_for_something(r, ns);
	}
}

/* The rest of the events, and a last interval of any length. */
static void finish(struct run *r)
{
	bool shown = r->ending == ENOUGH && r->o->iterations && r->iterations >= r->o->iterations;

	hodo_top_refresh(&r->model, r->run->recorder);
	hodo_top_switch_back(r->target, &r->model);
	hodo_run_end(r->run);
	hodo_top_detach(r->target);
	hodo_top_settle(&r->model, &r->run->stats);
	if (!shown)
		hodo_top_tick(&r->model, hodo_now_ns());
	hodo_top_view_update(&r->view, &r->model);
	if (!r->on_screen) {
		if (!shown && !r->out.err)
			show(r);
		return;
	}
	hodo_top_screen_close();
	r->on_screen = false;
	r->view.sections = false; /* the last table shown */
}

/* The last table stays on the terminal. */
static void put_last(struct run *r)
{
	struct winsize size;
	uint32_t lines = 20;

	if (r->o->output != HODO_TOP_SCREEN)
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 8)
		lines = size.ws_row - 4u;
	hodo_top_put_lines(&r->out, &r->model, &r->view, lines);
	hodo_top_put_output(r->target);
}

/* ------------------------------------------------------------------------ begin, end */

static void take_packet(void *arg, const struct hodo_process *p, const struct hodo_packet *h, const uint8_t *body)
{
	hodo_top_packet(&((struct run *)((struct hodo_run *)arg)->reporter.arg)->model, p, h, body);
}

static int open_recorder(struct run *r)
{
	struct hodo_top_options *o = r->o;
	struct hodo_why why;
	struct hodo_recorder_config config = {
		.out_fd = -1, .out_path = "", .listed = r->listed, .ring_size = o->ring_size,
		.packet_size = hodo_packet_size(o->ring_size),
		.mode = HODO_MODE_DISCARD, .patterns = &o->patterns,
		.packet_age_ns = PACKET_AGE_NS, .ops.packet = take_packet,
	};
	static struct hodo_pattern_list no_fields;

	config.fields = &no_fields;
	hodo_top_listed(r->target, r->listed);
	if (o->functions.all)
		hodo_top_plan(r->target, o, &config);
	return hodo_run_open(r->run, &config, &why) < 0 ? hodo_error("%s", why.text) : 0;
}

/* Without a screen, use plain text. */
static void open_screen(struct run *r)
{
	const char *term = getenv("TERM");
	int err;

	if (r->o->output != HODO_TOP_SCREEN)
		return;
	err = hodo_top_screen_open(hodo_use_color(r->o->args.color, STDOUT_FILENO));
	if (err == 0) {
		r->on_screen = true;
		return;
	}
	if (err == -ENOTSUP)
		hodo_error("TERM=%s: this terminal cannot show a table: plain text follows, as with --batch",
			   term ? term : "");
	else
		hodo_error("this is not a terminal: plain text follows, as with --batch");
	r->o->output = HODO_TOP_BATCH;
}

/* Ends the command after q, else waits for its end; a signal ends the wait. */
static void wait_for_command(struct run *r)
{
	struct hodo_run *run = r->run;

	if (!run->command || run->pid <= 0)
		return;
	hodo_run_reap(run);
	if (!run->ended && r->ending == LEFT)
		kill(run->pid, SIGTERM);
	run->signal = 0;
	while (!run->ended && run->signal == 0)
		hodo_run_wait(run, -1, -1);
}

static void tell_end(struct run *r)
{
	const struct hodo_top_target *t = r->target;
	char events[32], lost[32], *lines = (char *)hodo_text_string(&r->messages), *line;
	uint64_t n = r->model.lost.total;

	while ((line = strsep(&lines, "\n")) && *line)
		hodo_error("%s", line);
	if (t->run.command && !r->run->stats.command && !r->run->stats.command_refused && r->ending == ALL_ENDED)
		hodo_error("%s itself was not seen: it never loaded libhodo: is it static, set-user-id or of another"
			   " architecture?", t->run.command[0]);
	if ((r->model.images > 0 || r->run->stats.processes > 0) && r->model.table[HODO_TOP_EVENTS].n == 0)
		hodo_top_tell_nothing(t, r->model.images > 0);
	if (r->o->functions.all && r->run->stats.processes > 0 && r->run->stats.functions.on == 0)
		hodo_top_tell_no_function(t);
	if (r->o->output == HODO_TOP_JSON || r->ending == CANNOT)
		return;
	hodo_error("%s%s: %s event%s, %s lost", r->title, r->ending == ALL_ENDED ? " has ended" : "",
		   hodo_grouped(r->model.events.total, events), hodo_plural(r->model.events.total),
		   hodo_grouped(n, lost));
}

static int exit_status(struct run *r)
{
	int status = hodo_out_finish(&r->out);

	if (r->run->command ? r->ending == LEFT : r->ending != INTERRUPTED || r->run->signal == SIGINT)
		return status;
	return hodo_run_status(r->run);
}

static int run(struct run *r)
{
	struct hodo_top_target *t = r->target;
	bool screen = r->o->output == HODO_TOP_SCREEN;
	int status;

	r->run->attach = &t->attach;
	r->run->kernel_patterns = &t->kernel_patterns;
	r->run->reporter = (struct hodo_reporter){ report, r };
	r->run->take = take_signal;
	status = hodo_run_catch(r->run, screen);
	if (!status)
		status = open_recorder(r);
	if (!status) {
		hodo_top_watch_begin(&r->model, t->watches);
		status = hodo_run_begin(r->run, t->watches);
	}
	if (!status && r->run->command)
		status = hodo_top_start(t, screen);
	if (status)
		return status;
	hodo_top_title(r->target, r->title, sizeof(r->title));
	r->view.title = r->title;
	hodo_out_start(&r->out, false);
	open_screen(r);
	r->run->start_ns = hodo_now_ns();
	r->next_ns = r->run->start_ns + r->view.interval_ns;
	run_loop(r);
	finish(r);
	wait_for_command(r);
	put_last(r);
	tell_end(r);
	return exit_status(r);
}

int hodo_top_run(struct hodo_top_options *o)
{
	struct run r = { .o = o, .target = &o->target, .run = &o->target.run };
	int status;

	hodo_top_model_init(&r.model, hodo_now_ns());
	hodo_top_view_init(&r.view);
	r.view.interval_ns = o->interval_ns;
	r.view.kind = o->kind == HODO_TOP_KINDS ? HODO_TOP_EVENTS : o->kind;
	r.view.sections = o->kind == HODO_TOP_KINDS;
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++)
		if (hodo_top_sortable((enum hodo_top_kind)kind, o->sort))
			r.view.sort[kind] = o->sort;
	r.view.columns = o->columns;
	status = run(&r);
	hodo_run_end(r.run);
	hodo_text_free(&r.messages);
	hodo_top_images_free(&r.model);
	hodo_top_view_free(&r.view);
	hodo_top_model_free(&r.model);
	return status;
}
