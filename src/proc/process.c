/* SPDX-License-Identifier: MIT */
/* process.c - what /proc and the kernel say of a process. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>

#define KTHREADD 2 /* the parent of all threads of the kernel */

#define ENVIRON_MAX (4u << 20)
#define STATUS_MAX (4u << 20)

/* From <linux/pidfd.h>, which older systems lack; its first version. */
struct pidfd_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT 8u

ssize_t hodo_proc_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return hodo_file_line(AT_FDCWD, path, text, size);
}

const char *hodo_proc_field(const char *status, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = status; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	return NULL;
}

static const char *value(const char *status, const char *name)
{
	const char *found = hodo_proc_field(status, name);

	return found ? found : "";
}

int hodo_proc_status(pid_t pid, struct hodo_proc_status *status)
{
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	HODO_AUTO_CLOSE int fd = -1;
	const char *all, *pids;
	char path[32], *end;
	pid_t parent;

	memset(status, 0, sizeof(*status));
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	/* If the process ends just then, reading stops early. */
	hodo_file_read(fd, STATUS_MAX, &text);
	all = hodo_text_string(&text);
	status->tgid = (pid_t)strtol(value(all, "Tgid"), NULL, 10);
	status->vpid = (uint32_t)pid;
	/* The last one is its own pid namespace's. */
	for (pids = value(all, "NSpid"); strtoul(pids, &end, 10), end != pids; pids = end) {
		status->nested = pids != value(all, "NSpid");
		status->vpid = (uint32_t)strtoul(pids, NULL, 10);
	}
	sscanf(value(all, "Uid"), "%u %u %u", &status->uid, &status->euid, &status->suid);
	sscanf(value(all, "Gid"), "%*u %u", &status->egid);
	parent = (pid_t)strtol(value(all, "PPid"), NULL, 10);
	/* A process about to end has no memory, either. */
	status->kernel = !hodo_proc_field(all, "VmSize") && (pid == KTHREADD || parent == KTHREADD);
	return status->tgid ? 0 : -ESRCH;
}

bool hodo_proc_environment(pid_t pid, const char *name, char *value, size_t size)
{
	HODO_AUTO_FREE char *entry = NULL;
	HODO_AUTO_FCLOSE FILE *f = NULL;
	size_t len = strlen(name), room = 0;
	uint64_t seen = 0;
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re"); /* only allowed for our own user's */
	while (f && seen < ENVIRON_MAX && (n = getdelim(&entry, &room, 0, f)) > 0) {
		seen += (uint64_t)n;
		if (strncmp(entry, name, len) == 0 && entry[len] == '=' &&
		    snprintf(value, size, "%s", entry + len + 1) < (int)size)
			return true;
	}
	return false;
}

bool hodo_proc_any_has(const char *name, const char *value)
{
	HODO_AUTO_CLOSEDIR DIR *d = opendir("/proc");
	char has[256];

	for (const char *entry; (entry = hodo_dir_next(d));) {
		pid_t pid = (pid_t)strtol(entry, NULL, 10);

		if (pid > 0 && pid != getpid() && hodo_proc_environment(pid, name, has, sizeof(has)) &&
		    strcmp(has, value) == 0)
			return true;
	}
	return false;
}

uid_t hodo_proc_inner_uid(pid_t pid, uid_t uid)
{
	unsigned long inner, outer, count;
	HODO_AUTO_FCLOSE FILE *f = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%lu %lu %lu", &inner, &outer, &count) == 3)
		if (uid >= outer && uid - outer < count)
			return (uid_t)(uid - outer + inner);
	return uid;
}

bool hodo_proc_stat(pid_t pid, const char *name, struct hodo_proc_stat *s)
{
	char text[2048], *after;

	*s = (struct hodo_proc_stat){ 0 };
	/* The second field, a name, may contain anything. */
	after = hodo_proc_file(pid, name, text, sizeof(text)) < 0 ? NULL : strrchr(text, ')');
	return after &&
	       sscanf(after + 1, " %c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64
		      " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		      " %*s %*s %*s %*s %*s %d", &s->state, &s->flags, &s->start_time, &s->exit_code) >= 3;
}

bool hodo_proc_older(pid_t pid)
{
	struct hodo_proc_stat its, ours;

	return hodo_proc_stat(pid, "stat", &its) && hodo_proc_stat(getpid(), "stat", &ours) &&
	       its.start_time < ours.start_time;
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
	return !(same_file(root, "/") && same_file(mounts, "/proc/self/ns/mnt"));
}

int hodo_proc_root(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool hodo_proc_other_users(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return !same_file(path, "/proc/self/ns/user");
}

bool hodo_proc_other_network(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return !same_file(path, "/proc/self/ns/net");
}

/* ----------------------------------------------------------------------- its end */

bool hodo_proc_lives(int pidfd)
{
	struct pollfd dead = { .fd = pidfd, .events = POLLIN };

	return poll(&dead, 1, 0) == 0;
}

enum hodo_ending hodo_ending_of_status(int status)
{
	return WIFSIGNALED(status) ? HODO_ENDING_SIGNAL : HODO_ENDING_EXIT;
}

/* Known once its parent has asked. */
static bool kernel_tells(int pidfd, int *status)
{
	struct pidfd_info info = { .mask = PIDFD_INFO_EXIT };

	if (ioctl(pidfd, PIDFD_GET_INFO, &info) < 0 || !(info.mask & PIDFD_INFO_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}

/* Known until then. */
static bool proc_tells(pid_t pid, int pidfd, int *status)
{
	struct hodo_proc_stat stat;

	if (!hodo_proc_stat(pid, "stat", &stat))
		return false;
	/* Another process may have the number, if ours has exited by now. */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		return false;
	*status = stat.exit_code;
	return stat.state == 'Z' || stat.state == 'X';
}

enum hodo_ending hodo_ending_of(pid_t pid, int pidfd)
{
	int status;

	if (kernel_tells(pidfd, &status) || proc_tells(pid, pidfd, &status) || kernel_tells(pidfd, &status))
		return hodo_ending_of_status(status);
	return HODO_ENDING_UNKNOWN;
}
