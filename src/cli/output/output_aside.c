/* SPDX-License-Identifier: MIT */
/* output_aside.c - makes, names and removes temporary output, of which there is one at a time. */
#define _GNU_SOURCE
#include "output_aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <cli/cli.h>

static const char *volatile to_remove;
static const char *volatile to_say;

#define DEPTH 4 /* of the directories in it: tables of hosts and days; a recording in parts has fewer */

/* Removes a file, or a directory with its contents, by calls that a signal handler may make. */
static void remove_all(int dirfd, const char *name, int depth)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = unlinkat(dirfd, name, 0) == 0 ? -1 : openat(dirfd, name, how);
	_Alignas(struct dirent64) char entries[4096];
	ssize_t n;

	while (fd >= 0 && (n = getdents64(fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)&entries[at];

			if (depth && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
				remove_all(fd, e->d_name, depth - 1);
			at += e->d_reclen;
		}
	}
	if (fd >= 0) {
		close(fd);
		unlinkat(dirfd, name, AT_REMOVEDIR);
	}
}

/* By the temporary path, where renamed output is no longer found. */
static void on_signal(int signal_number)
{
	if (to_remove)
		remove_all(AT_FDCWD, to_remove, DEPTH);
	if (to_remove && to_say && write(STDERR_FILENO, to_say, strlen(to_say)) < 0)
		to_say = NULL;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void hodo_aside_prepare(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static int make(const char *path, mode_t mode, bool directory)
{
	int fd;

	if (!directory)
		return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	fd = mkdir(path, mode) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Shows hodo_aside_sweep() that it is in use: also on another machine, where this process is not known. */
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* No signal may come in between. */
int hodo_aside_make(const char *path, mode_t mode, bool directory)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t held, before;
	int fd, error;

	sigemptyset(&held);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	fd = make(path, mode, directory);
	error = errno;
	for (unsigned i = 0; fd >= 0 && i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			signal(signals[i], on_signal);
	}
	to_remove = fd >= 0 ? path : NULL;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

void hodo_aside_say(const char *line)
{
	to_say = line;
}

void hodo_aside_remove(const char *aside)
{
	remove_all(AT_FDCWD, aside, DEPTH);
}

/* "BASE.PID.part" or "BASE.PID-NUMBER.part" of a process that is gone. */
static bool is_left(const char *name, const char *base, size_t len)
{
	unsigned long pid;
	char *end;

	if (strncmp(name, base, len) != 0 || name[len] != '.' || name[len + 1] < '1' || name[len + 1] > '9')
		return false;
	pid = strtoul(name + len + 1, &end, 10);
	if (*end == '-') /* several processes of this number, of different machines */
		end += 1 + strspn(end + 1, "0123456789");
	return strcmp(end, ".part") == 0 && pid <= INT_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void hodo_aside_sweep(const char *path, bool quiet)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *name;
	HODO_AUTO_FREE char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	HODO_AUTO_CLOSEDIR DIR *dir = parent ? opendir(parent) : NULL;

	while ((name = hodo_dir_next(dir))) {
		HODO_AUTO_CLOSE int fd = is_left(name, base, strlen(base)) ? hodo_dir_open(dirfd(dir), name) : -1;

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
			continue;
		remove_all(dirfd(dir), name, DEPTH);
		if (!quiet)
			hodo_warning("removed %s, which an export that was killed had left", name);
	}
}

void hodo_aside_over(void)
{
	to_remove = to_say = NULL;
}

int hodo_aside_place(const char *aside, const char *path, bool replace)
{
	if (replace)
		return rename(aside, path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	/* Not every file system has that. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (access(path, F_OK) == 0)
		return -EEXIST;
	return rename(aside, path) < 0 ? -errno : 0;
}
