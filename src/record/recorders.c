/* SPDX-License-Identifier: MIT */
/*
 * recorders.c - the recorders that run.
 */
#define _GNU_SOURCE
#include "recorders.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hodo/abi.h>

#include "proc_status.h"

struct list {
	struct hodo_recorder *recorder;
	int n;
};

/* "record-PID.sock" */
static bool is_socket(const char *path, uint32_t *pid)
{
	const char *name = strrchr(path, '/');
	unsigned int number;
	int end = 0;

	if (sscanf(name ? name + 1 : path, "record-%u.sock%n", &number, &end) != 1 || end == 0 ||
	    (name ? name + 1 : path)[end])
		return false;
	*pid = number;
	return true;
}

static void add(struct list *l, const char *path)
{
	struct hodo_recorder *r = &l->recorder[l->n];

	if (l->n == HODO_RECORDERS_MAX || strlen(path) >= sizeof(r->path) || !is_socket(path, &r->pid))
		return;
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->recorder[i].path, path) == 0)
			return;
	memcpy(r->path, path, strlen(path) + 1);
	l->n++;
}

static void add_dir(struct list *l, const char *dir)
{
	char path[512];
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)))
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			add(l, path);
	if (d)
		closedir(d);
}

static void add_runtime_dir(struct list *l, const char *xdg)
{
	char dir[512];

	if (xdg && xdg[0] == '/' && snprintf(dir, sizeof(dir), "%s/hodo", xdg) < (int)sizeof(dir))
		add_dir(l, dir);
}

static void add_user(struct list *l, uid_t uid)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "/run/user/%u/hodo", (unsigned int)uid);
	add_dir(l, dir);
	snprintf(dir, sizeof(dir), "/tmp/hodo-%u", (unsigned int)uid);
	add_dir(l, dir);
}

int hodo_recorders_find(pid_t pid, struct hodo_recorder *recorders)
{
	struct list l = { recorders, 0 };
	struct hodo_proc_status status;
	char value[512];

	if (hodo_proc_environment(pid, HODO_RECORDER_ENV, value, sizeof(value)) && value[0] == '/')
		add(&l, value);
	if (hodo_proc_environment(pid, "XDG_RUNTIME_DIR", value, sizeof(value)))
		add_runtime_dir(&l, value);
	add_runtime_dir(&l, getenv("XDG_RUNTIME_DIR"));
	if (hodo_proc_status(pid, &status) == 0) {
		add_user(&l, status.euid);
		add_user(&l, status.uid);
	}
	add_user(&l, geteuid());
	return l.n;
}
