/* SPDX-License-Identifier: MIT */
/* top_target.c - hodo top: runs the command, and switches events in watched processes. */
#define _GNU_SOURCE
#include "top.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cli/say.h>
#include <base/file.h>
#include <proc/process.h>

#define OUTPUT_KEPT (64u << 10)
#define OUTPUT_SLACK (1u << 20)
#define PATTERN_MAX HODO_CONTROL_TEXT_MAX

/* ------------------------------------------------------------------------ the command */

/*
 * Descriptors 0, 1 and 2 while the command is started. With a screen, its terminal output goes to a file in
 * memory, whose end is kept and shown when the screen is closed: a pipe would stop the command, or end it,
 * when we stop or end.
 */
static void redirect(struct hodo_top_target *t, bool screen)
{
	int null;

	if (!screen) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		return;
	}
	t->output = memfd_create("hodo-top-output", MFD_CLOEXEC);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (t->output >= 0)
		fcntl(t->output, F_SETFL, O_APPEND);
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd))
			dup2(fd == STDIN_FILENO || t->output < 0 ? null : t->output, fd);
	close(null);
}

int hodo_top_start(struct hodo_top_target *t, bool screen)
{
	int saved[3], err;

	/* So that its events can be switched, unless the user chose otherwise. */
	setenv(HODO_LISTEN_ENV, "1", 0);
	for (int fd = 0; fd < 3; fd++)
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	fflush(stdout);
	redirect(t, screen);
	err = hodo_run_command(&t->run, NULL);
	for (int fd = 0; fd < 3; fd++) {
		if (saved[fd] < 0)
			continue;
		dup2(saved[fd], fd);
		close(saved[fd]);
	}
	return err ? hodo_cannot_run(t->run.command[0], err) : 0;
}

static uint64_t output_size(const struct hodo_top_target *t)
{
	struct stat st;

	return t->output >= 0 && fstat(t->output, &st) == 0 ? (uint64_t)st.st_size : 0;
}

void hodo_top_trim_output(struct hodo_top_target *t)
{
	uint64_t size = output_size(t), end;

	if (size < t->output_dropped + OUTPUT_KEPT + OUTPUT_SLACK)
		return;
	end = (size - OUTPUT_KEPT) & ~(uint64_t)4095;
	if (fallocate(t->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)t->output_dropped,
		      (off_t)(end - t->output_dropped)) == 0)
		t->output_dropped = end;
}

void hodo_top_put_output(struct hodo_top_target *t)
{
	uint64_t size = output_size(t), from = size > OUTPUT_KEPT ? size - OUTPUT_KEPT : 0;
	static char text[OUTPUT_KEPT];
	ssize_t n = size ? hodo_file_read_at(t->output, text, sizeof(text), from) : 0;
	const char *line = from > 0 && n > 0 ? memchr(text, '\n', (size_t)n) : NULL, *start = line ? line + 1 : text;
	char name[32];

	if (from > 0)
		hodo_error("the last of the %s that %s wrote:", hodo_human_bytes(size, name), t->run.command[0]);
	if (n > 0)
		hodo_file_write(STDOUT_FILENO, start, (size_t)(text + n - start));
}

void hodo_top_plan(struct hodo_top_target *t, struct hodo_top_options *o, struct hodo_recorder_config *config)
{
	t->run.planner = (struct hodo_planner){
		.quiet = true,
		.fixed = true,
		.functions = &o->functions.patterns, .traces = o->functions.tracers,
		.sdt = &t->sdt, .probes = &t->probes, .replacements = &t->replacements,
		.arguments = &o->functions.arguments, .reporter = hodo_error_reporter,
	};
	t->probes.patterns = &o->patterns;
	config->functions = &o->functions;
	config->planner = &t->run.planner;
	config->plans = true;
}

void hodo_top_listed(const struct hodo_top_target *t, char listed[PATH_MAX])
{
	char path[PATH_MAX];

	if (t->run.command)
		snprintf(listed, PATH_MAX, "%s", hodo_find_program(t->run.command[0], path));
	else if (t->attach.n)
		snprintf(listed, PATH_MAX, "%d", (int)t->attach.target[0].pid);
	else
		snprintf(listed, PATH_MAX, "-k");
}

/* Suggests another way to see a program without events. looked: else it ended before its events were read. */
void hodo_top_tell_nothing(const struct hodo_top_target *t, bool looked)
{
	pid_t pid = t->attach.n ? t->attach.target[0].pid : hodo_top_watch_pid(t->watches, 0);
	const char *command = t->run.command ? t->run.command[0] : NULL;
	char option[32], name[32];

	snprintf(option, sizeof(option), "%d", (int)pid);
	snprintf(name, sizeof(name), "process %d", (int)pid);
	hodo_error("%s %s: 'hodo top --functions %s%s' shows how long its functions take, 'hodo record -e probe:FUNCTION"
		   " %s%s' records the calls of one", command ? command : name,
		   looked ? "has no events" : "ended without an event", command ? "-- " : "",
		   command ? command : option, command ? "" : "-p ", command ? command : option);
}

void hodo_top_tell_no_function(const struct hodo_top_target *t)
{
	const char *file = t->run.command ? t->run.command[0] : "FILE";

	hodo_error("no traced function matches --functions: 'hodo list --functions %s' lists the functions",
		   file);
}

/* --------------------------------------------------------------------------- switching */

/* A pattern that matches only this name. */
static bool exact_pattern(const char *name, char *to, size_t size)
{
	size_t n = 0;

	for (; *name; name++) {
		if (n + 3 > size)
			return false;
		if (strchr("*?[\\", *name))
			to[n++] = '\\';
		to[n++] = *name;
	}
	to[n] = 0;
	return n > 0;
}

/* In one process. How many events match, or a negative errno and why. */
static int switch_in(pid_t pid, enum hodo_control_op op, const char *pattern, struct hodo_why *why)
{
	struct hodo_msg_answer answer;
	struct hodo_target target;
	int err = hodo_target_open(&target, pid);

	if (err == -ECONNREFUSED)
		hodo_why(why, 0, "process %d does not listen: start it with HODO_LISTEN=1 to switch its events",
			 (int)pid);
	else if (!err)
		err = hodo_target_ask(&target, op, pattern, &answer, NULL);
	if (err && err != -ECONNREFUSED)
		hodo_why(why, 0, "%s", target.why.text);
	hodo_target_close(&target);
	return err < 0 ? err : answer.result;
}

static int switch_all(const struct hodo_top_model *m, enum hodo_control_op op, const char *pattern,
		      struct hodo_why *why)
{
	int result = 0;

	for (const struct hodo_top_image *im = m->image; im; im = im->next) {
		int n = im->process && !im->process->kernel ? switch_in((pid_t)im->pid, op, pattern, why) : 0;

		result = n < 0 || result < 0 ? (n < 0 ? n : result) : result + n;
	}
	return result;
}

void hodo_top_switch(struct hodo_top_target *t, const struct hodo_top_model *m, const struct hodo_top_row *row,
		     char *said, size_t size)
{
	struct hodo_bytes *known = hodo_map_find_bytes(&t->off, row->name, strlen(row->name));
	bool off = row->state == HODO_TOP_ON || row->state == HODO_TOP_MIXED;
	struct hodo_why why = { "" };
	char pattern[PATTERN_MAX];
	int n;

	if (row->state == HODO_TOP_UNLOADED) {
		snprintf(said, size, "no running process has this event");
		return;
	}
	if (!exact_pattern(row->name, pattern, sizeof(pattern))) {
		snprintf(said, size, "the event's name is too long");
		return;
	}
	n = switch_all(m, off ? HODO_CONTROL_DISABLE : HODO_CONTROL_ENABLE, pattern, &why);
	if (n < 0)
		snprintf(said, size, "%s", why.text);
	else if (n == 0)
		snprintf(said, size, t->kernel ? "the kernel's events cannot be switched here: choose them with -e" :
						 "the process does not know this event");
	else
		snprintf(said, size, "%s is %s", row->name, off ? "off" : "on");
	if (off && n != 0)
		hodo_map_add_bytes(&t->off, row->name, strlen(row->name), NULL);
	else if (!off && known)
		hodo_map_remove(&t->off, known);
}

void hodo_top_switch_back(struct hodo_top_target *t, const struct hodo_top_model *m)
{
	char pattern[PATTERN_MAX];

	for (uint32_t i = 0; m && i < t->off.n; i++) {
		const struct hodo_bytes *name = hodo_map_at(&t->off, i);

		if (exact_pattern(name->data, pattern, sizeof(pattern)))
			switch_all(m, HODO_CONTROL_ENABLE, pattern, NULL);
	}
	hodo_map_free(&t->off);
}

/* ---------------------------------------------------------------------------- watching */

void hodo_top_find_watched(struct hodo_top_target *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->attach.n; i++) {
		pid_t pid = t->attach.target[i].pid;
		uint32_t recorder;

		if (hodo_top_watch_open(&t->watches, pid, &recorder) < 0)
			t->attach.target[kept++] = t->attach.target[i];
		else
			hodo_error("process %d is recorded by hodo (process %u): its buffers are watched, "
				   "and not changed", (int)pid, recorder);
	}
	t->attach.n = kept;
}

void hodo_top_detach(struct hodo_top_target *t)
{
	for (uint32_t i = 0; i < t->attach.n; i++) {
		struct hodo_msg_answer answer;
		struct hodo_target target;

		if (!t->attach.target[i].deaf)
			continue;
		/* Another recorder may have begun meanwhile. */
		if (hodo_target_open(&target, t->attach.target[i].pid) == 0 &&
		    hodo_target_ask(&target, HODO_CONTROL_STATUS, NULL, &answer, NULL) == 0 &&
		    answer.by == HODO_BY_NOBODY)
			hodo_target_ask(&target, HODO_CONTROL_LEAVE, NULL, &answer, NULL);
		hodo_target_close(&target);
	}
}

void hodo_top_target_free(struct hodo_top_target *t)
{
	hodo_run_free(&t->run);
	hodo_top_watch_close(t->watches);
	hodo_top_switch_back(t, NULL);
	if (t->output >= 0)
		close(t->output);
	hodo_pattern_free(&t->kernel_patterns);
	hodo_attach_options_free(&t->attach);
}

static void add_to_title(char *title, size_t size, pid_t pid)
{
	size_t n = strlen(title);
	char comm[32];

	hodo_proc_file(pid, "comm", comm, sizeof(comm));
	snprintf(title + n, size - n, "%s%s[%d]", n ? " " : "", comm, (int)pid);
}

void hodo_top_title(const struct hodo_top_target *t, char *title, size_t size)
{
	char plain[HODO_TOP_TITLE_MAX] = "";
	pid_t pid;

	if (t->kernel)
		snprintf(plain, sizeof(plain), "the kernel");
	if (t->run.command) {
		size_t n = strlen(plain);
		const char *name = strrchr(t->run.command[0], '/');

		snprintf(plain + n, sizeof(plain) - n, "%s%s[%d]", n ? " " : "", name ? name + 1 : t->run.command[0],
			 (int)t->run.pid);
	}
	for (uint32_t i = 0; i < t->attach.n; i++)
		add_to_title(plain, sizeof(plain), t->attach.target[i].pid);
	for (uint32_t i = 0; (pid = hodo_top_watch_pid(t->watches, i)) > 0; i++)
		add_to_title(plain, sizeof(plain), pid);
	hodo_top_printable(title, size, plain, (int)HODO_TOP_TITLE_MAX);
}
