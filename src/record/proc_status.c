/* SPDX-License-Identifier: MIT */
/*
 * proc_status.c - what /proc says of a process.
 */
#define _GNU_SOURCE
#include "proc_status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <base/file.h>
#include <base/scope.h>

#define KTHREADD 2 /* the parent of all threads of the kernel */

#define ENVIRON_MAX (4u << 20)
/* Of /proc/PID/stat. */
#define STATE_FIELD 3
#define START_FIELD 22
#define EXIT_CODE_FIELD 52

/* From <linux/pidfd.h>, which older systems lack; its first version. */
struct pidfd_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT 8u

static unsigned long last_number(const char *line)
{
	return strtoul(strrchr(line, '\t') ? strrchr(line, '\t') : "", NULL, 10);
}

int hodo_proc_status(pid_t pid, struct hodo_proc_status *status)
{
	char line[1024], path[32];
	bool memory = false;
	pid_t parent = 0;
	HODO_AUTO_FCLOSE FILE *f = NULL;

	memset(status, 0, sizeof(*status));
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	status->vpid = (uint32_t)pid;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Tgid:", 5) == 0)
			status->tgid = (pid_t)last_number(line);
		else if (strncmp(line, "PPid:", 5) == 0)
			parent = (pid_t)last_number(line);
		else if (strncmp(line, "NSpid:", 6) == 0) {
			status->vpid = (uint32_t)last_number(line);
			status->nested = strchr(line, '\t') != strrchr(line, '\t');
		}
		else if (strncmp(line, "Uid:", 4) == 0)
			sscanf(line + 4, "%u %u %u", &status->uid, &status->euid, &status->suid);
		else if (strncmp(line, "Gid:", 4) == 0)
			sscanf(line + 4, "%*u %u", &status->egid);
		else if (strncmp(line, "VmSize:", 7) == 0)
			memory = true;
	}
	/* A process about to end has no memory, either. */
	status->kernel = !memory && (pid == KTHREADD || parent == KTHREADD);
	/* If the process ends just then, reading stops early. */
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

static bool read_stat(pid_t pid, char *text, size_t size)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return hodo_file_line(AT_FDCWD, path, text, size) > 0;
}

/* A field from the third on; the second may contain anything. NULL: missing. */
static const char *stat_field(const char *text, int field)
{
	const char *at = strrchr(text, ')');

	for (int i = 2; i < field && at; i++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

bool hodo_proc_older(pid_t pid)
{
	char text[2][2048];
	const char *its = read_stat(pid, text[0], sizeof(text[0])) ? stat_field(text[0], START_FIELD) : NULL;
	const char *ours = read_stat(getpid(), text[1], sizeof(text[1])) ? stat_field(text[1], START_FIELD) : NULL;

	return its && ours && strtoull(its, NULL, 10) < strtoull(ours, NULL, 10);
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
	char text[2048];
	const char *at;

	if (!read_stat(pid, text, sizeof(text)))
		return false;
	/* Another process may have the number, if ours has exited by now. */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		return false;
	at = stat_field(text, STATE_FIELD);
	if (!at || (*at != 'Z' && *at != 'X'))
		return false;
	at = stat_field(text, EXIT_CODE_FIELD);
	if (!at)
		return false;
	*status = atoi(at);
	return true;
}

enum hodo_ending hodo_ending_of(pid_t pid, int pidfd)
{
	int status;

	if (kernel_tells(pidfd, &status) || proc_tells(pid, pidfd, &status) || kernel_tells(pidfd, &status))
		return hodo_ending_of_status(status);
	return HODO_ENDING_UNKNOWN;
}
