/* SPDX-License-Identifier: MIT */
/* output_aside.c - see output_aside.h. One thing is written at a time. */
#define _GNU_SOURCE
#include "output_aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *volatile to_remove;

#define DEPTH 3 /* of the directories in it: a recording in parts */

/* A file, or a directory with all in it, by calls that a signal handler may make. */
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

/* By its path: what has got its name already is not found there. */
static void on_signal(int signal_number)
{
	if (to_remove)
		remove_all(AT_FDCWD, to_remove, DEPTH);
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
	if (!directory)
		return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return mkdir(path, mode) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* No signal comes in between. */
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

void hodo_aside_over(void)
{
	to_remove = NULL;
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
