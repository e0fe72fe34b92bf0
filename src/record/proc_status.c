/* SPDX-License-Identifier: MIT */
/*
 * proc_status.c - what /proc says of a process.
 */
#define _GNU_SOURCE
#include "proc_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENVIRON_MAX (4u << 20)

static unsigned long last_number(char *at)
{
	unsigned long last = 0;

	for (char *end; (end = at, strtoul(at, &end, 10), end != at); at = end)
		last = strtoul(at, NULL, 10);
	return last;
}

int hodo_proc_status(pid_t pid, struct hodo_proc_status *status)
{
	char line[1024], path[32];
	bool memory = false;
	FILE *f;

	memset(status, 0, sizeof(*status));
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	status->vpid = (uint32_t)pid;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Tgid:", 5) == 0)
			status->tgid = (pid_t)last_number(line + 5);
		else if (strncmp(line, "NSpid:", 6) == 0)
			status->vpid = (uint32_t)last_number(line + 6);
		else if (strncmp(line, "Uid:", 4) == 0)
			sscanf(line + 4, "%u %u %u", &status->uid, &status->euid, &status->suid);
		else if (strncmp(line, "Gid:", 4) == 0)
			sscanf(line + 4, "%*u %u", &status->egid);
		else if (strncmp(line, "VmSize:", 7) == 0)
			memory = true;
		else if (strncmp(line, "State:\tZ", 8) == 0) /* has no memory either, and is no kernel thread */
			memory = true;
	}
	/* Reading of a process that ends just then stops early. */
	if (status->tgid == 0) {
		fclose(f);
		return -ESRCH;
	}
	status->kernel = !memory;
	fclose(f);
	return 0;
}

bool hodo_proc_environment(pid_t pid, const char *name, char *value, size_t size)
{
	size_t len = strlen(name), room = 0;
	char path[32], *entry = NULL;
	bool found = false;
	uint64_t seen = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	while (f && !found && seen < ENVIRON_MAX && (n = getdelim(&entry, &room, 0, f)) > 0) {
		seen += (uint64_t)n;
		if (strncmp(entry, name, len) == 0 && entry[len] == '=')
			found = snprintf(value, size, "%s", entry + len + 1) < (int)size;
	}
	free(entry);
	if (f)
		fclose(f);
	return found;
}

uid_t hodo_proc_inner_uid(pid_t pid, uid_t uid)
{
	unsigned long inner, outer, count;
	uid_t found = uid;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%lu %lu %lu", &inner, &outer, &count) == 3) {
		if (uid >= outer && uid - outer < count) {
			found = (uid_t)(uid - outer + inner);
			break;
		}
	}
	if (f)
		fclose(f);
	return found;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool hodo_proc_other_root(pid_t pid)
{
	char root[32], mounts[32];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)pid);
	return !(same_file(root, "/proc/self/root") && same_file(mounts, "/proc/self/ns/mnt"));
}
