/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor.c - hodo doctor: tries out what recording needs on this machine,
 * and says how to repair what does not work.
 */
#define _GNU_SOURCE
#include <cli/cli.h>
#include "doctor.h"
#include <cli/output/table.h>
#include <cli/record/run.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HODO_HAVE_ATTACH
#include <attach/attach.h>
#endif
#include <base/vec.h>
#include <record/record.h>

#define JOIN_TIMEOUT_NS 5000000000ll

/* ---------------------------------------------------------------- hodo */

static void check_runtime_dir(struct doctor_finding *f)
{
	struct hodo_why why;
	char path[128];
	int err = hodo_runtime_dir(path, sizeof(path), 32);

	if (err == 0)
		doctor_found(f, DOCTOR_OK, NULL, "%s", path);
	else if (err == -EPERM && hodo_runtime_dir_taken(path, &why) == 0)
		doctor_found(f, DOCTOR_WARN, "remove it, or set XDG_RUNTIME_DIR to a directory of your own",
			     "%s: each recorder and each process that listens makes its own", why.text);
	else
		doctor_found(f, DOCTOR_BAD, "set XDG_RUNTIME_DIR to a directory of your own, or make /tmp writable", "%s: %s", path,
			     strerror(-err));
}

/* Loads nothing just to check. */
static void check_module(struct doctor_finding *f)
{
	struct hodo_why why;
	int err = hodo_kernel_check(&why);

	if (!err)
		doctor_found(f, DOCTOR_OK, NULL, "hodo.ko is loaded: 'hodo record -k' records the kernel");
	else if (geteuid() != 0)
		doctor_found(f, DOCTOR_OK, NULL, "recording the kernel takes root, or CAP_PERFMON");
	else
		doctor_found(f, DOCTOR_WARN, "only 'hodo record -k' needs it", "%s", why.text);
}

static void check_library(struct doctor_finding *f)
{
	struct hodo_why why;
	char path[2 * PATH_MAX];
	size_t len;

	if (hodo_launch_library(path, sizeof(path), &why) < 0) {
		doctor_found(f, DOCTOR_BAD, "install it (libhodo0), or set HODO_LIBRARY", "%s", why.text);
		return;
	}
	len = strlen(path);
	if (hodo_launch_add_functions(path, sizeof(path), &why) < 0)
		doctor_found(f, DOCTOR_WARN, "install it next to libhodo.so: libhodo0 has both", "%s", why.text);
	else
		doctor_found(f, DOCTOR_OK, NULL, "%.*s", (int)len, path);
}

static void ignore_report(void *arg, const char *line)
{
	snprintf(arg, 256, "%s", line);
}

/* Runs the command under the recorder until it has joined and ended. NULL, or what went wrong. */
static const char *record_true(struct hodo_run *r)
{
	int64_t left = JOIN_TIMEOUT_NS;
	sigset_t none;

	sigemptyset(&none);
	hodo_launch_prepare(&r->launch, &none);
	if (hodo_run_command(r, NULL) < 0)
		return "cannot run the command true";
	for (; left > 0 && (!r->ended || hodo_recorder_busy(r->recorder)); left -= 1000000) {
		hodo_recorder_step(r->recorder);
		usleep(1000);
		hodo_run_reap(r);
	}
	hodo_run_end(r);
	if (left <= 0)
		return "it took too long";
	return r->stats.processes ? NULL : "the library did not connect: can it be preloaded?";
}

/* Tries everything once: preload, socket, shared memory, folder. */
static void check_join(struct doctor_finding *f)
{
	char *command[] = { "true", NULL }, dir[64], said[256] = "";
	struct hodo_why why = { "" };
	struct hodo_pattern_list patterns = { 0 }, fields = { 0 };
	struct hodo_recorder_config config = {
		.out_path = dir, .ring_size = 65536, .packet_size = 4096, .patterns = &patterns,
		.fields = &fields, .packet_age_ns = 3600000000000ull,
	};
	HODO_AUTO(hodo_run_free) struct hodo_run run = {
		.command = command, .reporter = { ignore_report, said }, .signal_fd = -1, .kernel_fd = -1,
	};
	const char *flaw = why.text, *tmp = getenv("TMPDIR");
	HODO_AUTO_CLOSE int fd = -1;

	if (hodo_launch_library(run.library, sizeof(run.library), &why) < 0) {
		doctor_found(f, DOCTOR_BAD, "see libhodo", "not tried: there is no library");
		return;
	}
	if (!tmp || !*tmp || strlen(tmp) > 30)
		tmp = "/tmp";
	/* The line libhodo says it if that one is not there. */
	hodo_launch_add_functions(run.library, sizeof(run.library), &why);
	snprintf(dir, sizeof(dir), "%s/hodo-doctor-%d", tmp, (int)getpid());
	fd = config.out_fd = hodo_out_dir_open(dir, &why);
	if (fd >= 0 && hodo_run_open(&run, &config, &why) == 0)
		flaw = record_true(&run);
	hodo_run_end(&run);
	if (fd >= 0)
		hodo_out_dir_remove(fd, dir);
	if (flaw)
		doctor_found(f, DOCTOR_BAD, said[0] ? "see libhodo and runtime-dir" : "see the other lines",
			     "%s%s%s", flaw,
			     said[0] ? ": " : "", said);
	else
		doctor_found(f, DOCTOR_OK, NULL, "a process loaded libhodo and was recorded");
}

#ifdef HODO_HAVE_ATTACH
/* Attaches once to an unprepared program: stops it, makes it load the library and listen, and releases it. */
static void check_attach(struct doctor_finding *f)
{
	char *command[] = { "sleep", "30", NULL };
	struct hodo_why why;
	char library[PATH_MAX];
	struct hodo_attach_done done;
	HODO_AUTO_CLOSE int pidfd = -1;
	pid_t pid;
	int err;

	if (hodo_launch_library(library, sizeof(library), &why) < 0) {
		doctor_found(f, DOCTOR_BAD, "see libhodo", "not tried: there is no library");
		return;
	}
	if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) != 0) {
		doctor_found(f, DOCTOR_WARN, "install sleep(1)", "not tried: cannot run the command sleep");
		return;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	err = pidfd < 0 ? -errno : hodo_attach_process(pid, pidfd, library, NULL, &done, &why);
	if (err == 0)
		doctor_found(f, DOCTOR_OK, NULL, "a running process was made to listen; it was stopped for "
			     "%.1f ms",
			     (double)done.longest_ns / 1e6);
	else
		doctor_found(f, DOCTOR_WARN, "programs that you start with HODO_LISTEN=1 can still be "
			     "recorded", "%s",
			     pidfd < 0 ? strerror(-err) : why.text);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
#endif

/* ------------------------------------------------------------------ output */

static const struct doctor_check own_checks[] = {
	{ "runtime-dir", check_runtime_dir }, { "libhodo", check_library }, { "flight", doctor_check_flight },
	{ "module", check_module },
#ifdef HODO_HAVE_ATTACH
	{ "attach", check_attach },
#endif
	{ "recording", check_join },
	{ 0 },
};

static const char *const state_name[] = { [DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_BAD] = "bad" };

static struct hodo_cell state(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(state_name[((const struct doctor_finding *)row)->state]);
}

static void put_finding(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct doctor_finding *f = row;

	hodo_add_plain(to, f->text);
	hodo_text_add(to, f->hint ? ": " : "");
	hodo_text_add(to, f->hint ? f->hint : "");
}

#define ROW(name) HODO_MEMBER(struct doctor_finding, name)
static const struct hodo_column columns[] = {
	{ "name", .width = 13, ROW(name) },
	{ "state", .width = 4, .get = state },
	{ "text", ROW(text), .put = put_finding },
	{ "hint", ROW(hint) },
};
static const struct hodo_columns checks = { "checks", HODO_COLUMNS(columns), .headless = true,
					    .text = "state,name,text" };

/* Runs the checks of these lists, which end with NULL. Returns the worst state. */
static enum doctor_state check(struct hodo_table *t, struct doctor_finding **found,
			       const struct doctor_check *const *lists, pid_t pid)
{
	enum doctor_state worst = DOCTOR_OK;

	for (; *lists; lists++) {
		for (const struct doctor_check *c = *lists; c->name; c++) {
			struct doctor_finding *f = hodo_must(hodo_vec_add(*found, t->n));

			f->name = c->name;
			f->pid = pid;
			c->run(f);
			worst = f->state > worst ? f->state : worst;
		}
	}
	t->first = *found;
	return worst;
}

static int run(void *args)
{
	const struct hodo_args *a = args;
	const struct doctor_check *const machine[] = { doctor_machine_checks, own_checks, NULL };
	const struct doctor_check *const process[] = { doctor_process_checks, NULL };
	HODO_AUTO(doctor_probes_free) struct doctor_probes probes = { 0 };
	HODO_AUTO_FREE struct doctor_finding *found = NULL;
	struct hodo_table t = { .columns = &checks, .stride = sizeof(*found) };
	const char *word = a->n ? a->words[0] : NULL;
	bool is_pid = word && *word && !word[strspn(word, "0123456789")];
	enum doctor_state worst = DOCTOR_OK;
	struct hodo_page page;
	char path[PATH_MAX];
	uint64_t pid = 0;
	int status = HODO_GO_ON;

	if (a->n > 1 || (word && !*word) || (is_pid && (hodo_parse_number(word, INT32_MAX, &pid) < 0 || !pid)))
		return hodo_usage("doctor", "takes a process ID, a program or library, or nothing");
	if (word && !is_pid)
		status = doctor_probes_file(&probes, hodo_find_program(word, path));
	else
		worst = check(&t, &found, is_pid ? process : machine, (pid_t)pid);
	if (status != HODO_GO_ON)
		return status;
	if (is_pid)
		doctor_probes_process(&probes, (pid_t)pid);
	hodo_page_begin(&page, a);
	if (a->look.json) {
		hodo_table_put_json(&page.json, "checks", &t);
		if (word)
			doctor_probes_put(&probes, &page, true);
		hodo_json_string(&page.json, "state", state_name[worst]);
	} else {
		hodo_table_put(&page.text, &t, false);
		if (t.n && probes.n)
			hodo_text_char(&page.text, '\n');
		doctor_probes_put(&probes, &page, false);
	}
	status = hodo_page_end(&page);
	return status ? status : worst == DOCTOR_BAD;
}

static const struct hodo_option options[] = {
	HODO_OPTION_JSON("one JSON object"),
	{ 0 },
};

static const struct hodo_args defaults = { .no_pager = true };

const struct hodo_verb hodo_verb_doctor = {
	.name = "doctor", .does = "check what works on this machine, and how to fix the rest",
	.usage = "[--json] [PID | FILE]",
	.about = "Tries everything that recording needs on this machine, and says how to fix what\n"
		 "does not work. Exits with 1 if something is bad: recording cannot work then.\n"
		 "For a process: what it has of Hodoscope, and why it has no flight recorder.\n"
		 "For a process, or a program or library FILE: which functions can have probes.\n",
	.options = options, .column = 16, .aligned = true, .word = HODO_WORD_FILE | HODO_WORD_PID,
	.args_bytes = sizeof(struct hodo_args), .defaults = &defaults, .run = run,
};
