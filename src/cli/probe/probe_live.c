/* SPDX-License-Identifier: MIT */
/*
 * probe_live.c - changes the probes of a running recording. The recorder keeps them: it gets the change first,
 * and then each process that it records requests another plan (hodo/abi_live.h, plan/live.c).
 */
#define _GNU_SOURCE
#include "probe_live.h"

#include <base/clock.h>
#include <base/file.h>
#include <base/scope.h>
#include <base/vec.h>
#include <cli/options.h>
#include <cli/output/out.h>
#include <cli/output/table.h>
#include <cli/say.h>
#include <cli/target.h>
#include <plan/planner.h>
#include <record/record.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------- recorders */

struct hodo_recorders {
	struct hodo_found_recorder *list;
	uint32_t n;
	pid_t *pids; /* the selected processes; for a recorder, all of its */
	uint32_t npids;
};

static void hodo_recorders_free(struct hodo_recorders *r)
{
	free(r->list);
	free(r->pids);
	*r = (struct hodo_recorders){ 0 };
}

static void add_pid(struct hodo_recorders *r, pid_t pid)
{
	for (uint32_t i = 0; i < r->npids; i++)
		if (r->pids[i] == pid)
			return;
	*hodo_must(hodo_vec_add(r->pids, r->npids)) = pid;
}

static void add(struct hodo_recorders *r, const struct hodo_found_recorder *one)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (strcmp(r->list[i].path, one->path) == 0)
			return;
	*hodo_must(hodo_vec_add(r->list, r->n)) = *one;
}

/* The target is the recorder itself. */
static void add_all(struct hodo_recorders *r, const struct hodo_found_recorder *one)
{
	struct hodo_msg_answer answer;

	for (uint32_t i = 0; hodo_recorder_ask(one->path, HODO_CONTROL_PROCESS, 0, i, NULL, &answer, NULL) == 0; i++) {
		add(r, one);
		add_pid(r, (pid_t)answer.pid);
	}
}

static void find(struct hodo_recorders *r, pid_t pid)
{
	HODO_AUTO_FREE struct hodo_found_recorder *all = hodo_must(calloc(HODO_RECORDERS_MAX, sizeof(*all)));
	struct hodo_msg_answer answer;
	int n = hodo_recorders_find(pid, all);

	for (int i = 0; i < n; i++) {
		if (hodo_recorder_ask(all[i].path, HODO_CONTROL_PROCESS, pid, 0, NULL, &answer, NULL) == 0) {
			add(r, &all[i]);
			add_pid(r, pid);
		} else if (all[i].pid == (uint32_t)pid) {
			add_all(r, &all[i]);
		}
	}
}

/* Whether a process runs the program: that very file, or one with that name. */
static bool runs(pid_t pid, const char *program, const struct stat *file)
{
	char path[32], exe[PATH_MAX];
	const char *name;
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (file)
		return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return false;
	exe[n] = 0;
	name = strrchr(exe, '/');
	return strcmp(name ? name + 1 : exe, program) == 0;
}

static int find_program(struct hodo_recorders *r, const char *program)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(AT_FDCWD, "/proc");
	bool is_path = strchr(program, '/');
	const char *name;
	struct stat file;

	if (is_path && stat(program, &file) < 0)
		return hodo_cannot_read(program, -errno);
	while ((name = hodo_dir_next(d))) {
		uint64_t pid;

		if (hodo_parse_number(name, INT32_MAX, &pid) == 0 && pid > 0 &&
		    runs((pid_t)pid, program, is_path ? &file : NULL))
			find(r, (pid_t)pid);
	}
	return r->n ? 0 : hodo_error("no process of %s is being recorded: 'hodo record -e probe:PROBE PROGRAM' "
				     "starts one, 'hodo record -e probe:PROBE -p PID' attaches to one",
				     program);
}

/*
 * target: the pid of a process or of a recorder, or the path or name of a program, for all its recorded
 * processes. *r must be all zero. 0, or the exit status after a message, also if there is none.
 */
static int hodo_recorders_of(struct hodo_recorders *r, const char *target)
{
	struct hodo_why why;
	pid_t pid;
	int status, pidfd;

	if (!isdigit((unsigned char)*target))
		return find_program(r, target);
	status = hodo_target_parse("probe", target, &pid);
	if (status)
		return status;
	pidfd = hodo_peer_open(pid, &why);
	if (pidfd < 0)
		return hodo_error("%s", why.text);
	close(pidfd);
	find(r, pid);
	return r->n ? 0 : hodo_error("process %d is not being recorded: 'hodo record -e probe:PROBE -p %d' "
				     "records it",
				     (int)pid, (int)pid);
}

/* ------------------------------------------------------ questions to a recorder */

#define TRIES 2000 /* of 10 ms: while a recorder makes a plan */

/* A probe in the recorder's form, with probe: or sdt: in front, and the name of its events. */
struct wanted {
	char *text, *event;
};

static void free_wanted(struct wanted *w)
{
	free(w->text);
	free(w->event);
}

static int ask(const struct hodo_found_recorder *r, enum hodo_control_op op, uint32_t next, const char *text,
	       struct hodo_msg_answer *answer)
{
	int err = -EAGAIN;

	for (int i = 0; err == -EAGAIN && i < TRIES; i++) {
		if (i)
			hodo_sleep_ns(10000000);
		err = hodo_recorder_ask(r->path, op, 0, next, text, answer, NULL);
	}
	return err;
}

/* ---------------------------------------------------------------------- a probe's text */

static bool is_static(const char *text)
{
	return strncmp(text, "sdt:", 4) == 0;
}

static int parse(struct wanted *w, const char *text)
{
	HODO_AUTO(hodo_planner_probes_free) struct hodo_planner_probes one = { 0 };
	struct hodo_why why;
	int err;

	if (is_static(text)) {
		w->text = hodo_must(strdup(text));
		w->event = hodo_must(strdup(text + 4));
		return strchr(text + 4, ':') ? 0 : hodo_usage("probe", "'%s': give it as sdt:PROVIDER:NAME", text);
	}
	if (asprintf(&w->text, "%s%s", hodo_planner_probe_is(text) ? "" : "probe:", text) < 0)
		return hodo_no_memory();
	err = hodo_planner_probes_add(&one, w->text, &why);
	if (err)
		return err == -ENOMEM ? hodo_no_memory() : hodo_usage("probe", "%s: %s", text, why.text);
	w->event = hodo_must(strdup(one.list[0].pattern));
	return 0;
}

/*
 * Whether it has a place in a process: makes the plan here as the recorder will, so that problems are
 * reported where the user sees them. why: the reason if known; free it.
 */
static bool is_in(const struct wanted *w, pid_t pid, char **why_not)
{
	static const struct hodo_pattern_list no_patterns;
	struct hodo_pattern_list patterns = { 0 }, sdt = { 0 };
	struct hodo_planner_probes probes = { .patterns = &patterns };
	struct hodo_planner_replacements replacements = { 0 };
	struct hodo_planner planner = { .functions = &no_patterns, .sdt = &sdt, .probes = &probes,
					.arguments = &no_patterns, .replacements = &replacements,
					.reporter = hodo_error_reporter };
	struct hodo_why why;
	int plan, err;

	err = is_static(w->text) ? hodo_pattern_add(&sdt, w->text + 4, &why) :
				   hodo_planner_probes_add(&probes, w->text, &why);
	if (!err && probes.n)
		probes.patterns = &patterns;
	plan = err ? err : hodo_planner_plan(&planner, &(struct hodo_plan_request){ .pid = pid });
	if (plan >= 0)
		close(plan);
	if (plan < 0 && probes.n && probes.list[0].why && !*why_not)
		*why_not = hodo_must(strdup(probes.list[0].why));
	hodo_planner_free(&planner);
	hodo_planner_probes_free(&probes);
	hodo_pattern_free(&sdt);
	return plan >= 0 || planner.sites;
}

/* ------------------------------------------------------------------ a recorder's processes */

/* Makes a process take its recorder's plan, and records its events. Returns whether it has such events. */
static bool replan(pid_t pid, const struct wanted *w, uint32_t n)
{
	HODO_AUTO(hodo_target_close) struct hodo_target t = { .fd = -1, .pidfd = -1 };
	struct hodo_msg_answer answer;
	bool found = false;

	if (hodo_target_control(&t, pid) < 0 || hodo_target_ask(&t, HODO_CONTROL_REPLAN, NULL, &answer, NULL) < 0) {
		hodo_warning("%s", t.why.text);
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		found |= hodo_target_ask(&t, HODO_CONTROL_ENABLE, w[i].event, &answer, NULL) == 0 && answer.result > 0;
	return found;
}

/* Does so for all. Returns how many have the events now. */
static uint32_t replan_all(const struct hodo_found_recorder *r, const struct wanted *w, uint32_t n)
{
	struct hodo_msg_answer answer;
	uint32_t found = 0;

	for (uint32_t i = 0; ask(r, HODO_CONTROL_PROCESS, i, NULL, &answer) == 0; i++)
		found += replan((pid_t)answer.pid, w, n);
	return found;
}

/* ------------------------------------------------------------------------------ the verbs */

static int refuse(const char *text, int err)
{
	switch (err) {
	case -EEXIST:
		return hodo_error("%s: the recording already has a probe of that name: remove it first",
				  text);
	case -ENOENT:
		return hodo_error("%s: the recording has no such probe: 'hodo probe list' lists its probes",
				  text);
	case -EOPNOTSUPP:
		return hodo_error("%s: the kernel is recorded too: give the probe to 'hodo record -k -e' at "
				  "the start", text);
	case -EAGAIN:
		return hodo_error("%s: the recorder is busy with another plan: try again", text);
	default:
		return hodo_error("%s: the recorder refuses it: %s", text, strerror(-err));
	}
}

static int add_one(const struct hodo_recorders *r, const struct hodo_args *a, const struct wanted *w)
{
	HODO_AUTO_FREE char *why = NULL;
	struct hodo_msg_answer answer;
	uint32_t in = 0, processes = 0;

	for (uint32_t i = 0; i < r->npids && !in; i++)
		in += is_in(w, r->pids[i], &why);
	if (!in && why)
		return hodo_error("%s: %s: 'hodo probe show' says what a probe means in a file", w->text, why);
	if (!in)
		return hodo_error("%s is in none of the recorded processes: 'hodo probe show' says what a "
				  "probe"
				  " means in a file", w->text);
	for (uint32_t i = 0; i < r->n; i++) {
		int err = ask(&r->list[i], HODO_CONTROL_PROBE_ADD, 0, w->text, &answer);

		if (err)
			return refuse(w->text, err);
		processes += replan_all(&r->list[i], w, 1);
	}
	if (!processes)
		return hodo_error("%s could not be set: the recorder reports why", w->text);
	if (!a->quiet)
		fprintf(stderr, "hodo: %s is recorded as %s, in %" PRIu32 " process%s\n", w->text, w->event, processes,
			processes == 1 ? "" : "es");
	return 0;
}

static int take_one(const struct hodo_recorders *r, const struct hodo_args *a, const char *text)
{
	struct hodo_msg_answer answer;
	int err = -ENOENT;

	for (uint32_t i = 0; i < r->n; i++) {
		int one = ask(&r->list[i], HODO_CONTROL_PROBE_REMOVE, 0, text, &answer);

		if (one && one != -ENOENT)
			return refuse(text, one);
		if (!one)
			replan_all(&r->list[i], NULL, 0);
		err = one ? err : 0;
	}
	if (err)
		return refuse(text, err);
	if (!a->quiet)
		fprintf(stderr, "hodo: %s is removed\n", text);
	return 0;
}

#define ROW(name) HODO_MEMBER(struct wanted, name)
static const struct hodo_column columns[] = {
	{ "event", .style = HODO_NAME, .width = 28, ROW(event) },
	{ "probe", ROW(text) },
};
static const struct hodo_columns table = { "probes", HODO_COLUMNS(columns), .head = HODO_HEADING };

static int list(const struct hodo_recorders *r, const struct hodo_args *a)
{
	struct hodo_table t = { .columns = &table, .stride = sizeof(struct wanted) };
	struct hodo_msg_answer answer;
	struct wanted *all = NULL;
	struct hodo_page page;
	size_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; ask(&r->list[i], HODO_CONTROL_PROBE_LIST, k, NULL, &answer) == 0; k++) {
			struct wanted w = { 0 };

			if (parse(&w, answer.path) == 0)
				*hodo_must(hodo_vec_add(all, n)) = w;
			else
				free_wanted(&w);
		}
	t.first = all;
	t.n = n;
	hodo_page_begin(&page, a);
	if (a->look.json)
		hodo_table_put_json(&page.json, "probes", &t);
	else if (n)
		hodo_table_put(&page.text, &t, a->look.color);
	else if (!a->quiet)
		hodo_warning("the recording has no probes: 'hodo probe add' adds one");
	for (size_t i = 0; i < n; i++)
		free_wanted(&all[i]);
	free(all);
	return hodo_page_end(&page);
}

int hodo_probe_live(const struct hodo_args *a)
{
	HODO_AUTO(hodo_recorders_free) struct hodo_recorders r = { 0 };
	const char *action = a->words[0];
	int status;

	if (a->n < 2)
		return hodo_usage("probe", "'%s' takes a process ID or a program", action);
	if (strcmp(action, "list") == 0 && a->n > 2)
		return hodo_usage("probe", "'list' takes one process or program, and no probes");
	if (strcmp(action, "list") != 0 && a->n < 3)
		return hodo_usage("probe", "'%s' also takes probes, such as 'main(argc)'", action);
	status = hodo_recorders_of(&r, a->words[1]);
	if (status || strcmp(action, "list") == 0)
		return status ? status : list(&r, a);
	for (int i = 2; i < a->n && !status; i++) {
		HODO_AUTO(free_wanted) struct wanted w = { 0 };

		if (strcmp(action, "add") == 0) {
			status = parse(&w, a->words[i]);
			status = status ? status : add_one(&r, a, &w);
		} else {
			status = take_one(&r, a, a->words[i]);
		}
	}
	return status;
}
