/* SPDX-License-Identifier: MIT */
/*
 * ending.c - how a process ended.
 */
#define _GNU_SOURCE
#include "ending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_CODE_FIELD 52 /* of /proc/PID/stat, the last one */

/* Of <linux/pidfd.h>, which older systems have not; its first version. */
struct pidfd_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT 8u

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
	char path[32], text[2048], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	/* Another process may have the number, if ours has exited by now. */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		return false;
	at = strrchr(text, ')'); /* the end of field 2, which may hold anything */
	if (!at || (at[1] != ' ') || (at[2] != 'Z' && at[2] != 'X'))
		return false;
	at++;
	for (int field = 3; field < EXIT_CODE_FIELD && at; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*status = atoi(at + 1);
	return true;
}

enum hodo_ending hodo_ending_of(pid_t pid, int pidfd)
{
	int status;

	if (kernel_tells(pidfd, &status) || proc_tells(pid, pidfd, &status) || kernel_tells(pidfd, &status))
		return hodo_ending_of_status(status);
	return HODO_ENDING_UNKNOWN;
}
