/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recorders.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/vec.h>
#include <base/scope.h>
#include <cli/options.h>

#include <cli/say.h>
#include <cli/target.h>

void hodo_recorders_free(struct hodo_recorders *r)
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

int hodo_recorders_of(struct hodo_recorders *r, const char *target)
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
