/* SPDX-License-Identifier: MIT */
/* cmd_detach.c - hodo detach: ends the recording of a process, and the thread that listens in it. */
#include "cli.h"
#include "target.h"

#include <errno.h>

#include <base/clock.h>

#define TRIES_NS 120000000000ll /* of --recorder */
#define PAUSE_NS 1000000000

struct detach_args {
	struct hodo_args args;
	uint32_t recorder; /* 0: any */
};

/* 0, -ENOTCONN: another recorder's, or why the process cannot be asked; with t->why. */
static int check_recorder(struct hodo_target *t, uint32_t recorder)
{
	struct hodo_msg_answer answer;
	int err = recorder ? hodo_target_ask(t, HODO_CONTROL_STATUS, NULL, &answer, NULL) : 0;

	if (err || !recorder || answer.recorder == recorder)
		return err;
	return hodo_why(&t->why, -ENOTCONN, "process %d is not recorded by process %u: nothing was changed",
			(int)t->pid, recorder);
}

/* 0 or a negative errno, with the reason in t->why. */
static int detach(struct hodo_target *t, pid_t pid, uint32_t recorder, bool quiet)
{
	struct hodo_msg_answer answer = { 0 };
	int err = hodo_target_control(t, pid);

	if (!err)
		err = check_recorder(t, recorder);
	if (!err)
		err = hodo_target_ask(t, HODO_CONTROL_LEAVE, NULL, &answer, NULL);
	hodo_target_close(t);
	/* It was there for a recording that has ended. */
	if (err == -ENOTCONN && answer.listens == 2) {
		if (!quiet)
			fprintf(stderr, "hodo: process %d was not being recorded, and no longer listens\n",
				(int)pid);
		return 0;
	}
	if (!err && !quiet)
		fprintf(stderr, "hodo: process %d is no longer recorded%s\n", (int)pid,
			answer.listens == 2 ? ", and no longer listens" : "");
	return err;
}

/* Tries those that are not done yet. Returns how many must be tried again. */
static int detach_each(const struct detach_args *d, bool *done, bool last, int *status)
{
	const struct hodo_args *a = &d->args;
	struct hodo_target t;
	int left = 0;
	pid_t pid;

	for (int i = 0; i < a->n; i++) {
		int err = done[i] ? 0 : hodo_target_parse("detach", a->words[i], &pid);

		if (!err && !done[i])
			err = detach(&t, pid, d->recorder, a->quiet);
		done[i] = done[i] || last || err == 0 || err == -ESRCH || err == -ENOTCONN;
		left += !done[i];
		if (err && done[i])
			*status = hodo_error("%s", t.why.text);
	}
	return left;
}

static int run(void *args)
{
	const struct detach_args *d = args;
	const struct hodo_args *a = &d->args;
	int64_t last = d->recorder ? hodo_now_ns() + TRIES_NS : 0;
	HODO_AUTO_FREE bool *done = NULL;
	int status = 0;
	pid_t pid;

	if (a->n == 0)
		return hodo_usage("detach", "give a process ID");
	for (int i = 0; i < a->n && !status; i++)
		status = hodo_target_parse("detach", a->words[i], &pid);
	if (status)
		return status;
	done = hodo_must(calloc((size_t)a->n, sizeof(*done)));
	/* With --recorder, nobody else can try again later, and a process that is stopped or busy now may not
	 * stay so. */
	while (detach_each(d, done, hodo_now_ns() >= last, &status))
		hodo_sleep_ns(PAUSE_NS);
	return status;
}

static const struct hodo_option options[] = {
	{ .name = "recorder", .kind = HODO_OPTION_NUMBER, .arg = "PID", HODO_AT(struct detach_args, recorder), .min = 1,
	  .max = INT32_MAX, .help = "only if the process PID records it; retries\n"
		 "for up to two minutes" },
	HODO_OPTION_QUIET("do not report what was done"),
	{ 0 },
};

const struct hodo_verb hodo_verb_detach = {
	.name = "detach", .does = "end the recording of a process", .undoes = "record", .undoing = "ends it",
	.usage = "[options] PID...",
	.about = "Ends the recording of the process PID, no matter who started it; the recording\n"
		 "is complete. If 'hodo record -p' made the process listen, it no longer does.\n",
	.options = options, .column = 19, .word = HODO_WORD_PID, .words = HODO_WORD_PID,
	.args_bytes = sizeof(struct detach_args), .run = run,
};
