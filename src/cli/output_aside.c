/* SPDX-License-Identifier: MIT */
/* output_aside.c - see output_aside.h. One thing is written at a time. */
#define _GNU_SOURCE
#include "output_aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *volatile to_remove;

/* A file, or a directory of files. By its path: what has got its name already is not found there. */
static void on_signal(int signal_number)
{
	_Alignas(struct dirent64) char entries[4096];
	int fd = to_remove ? open(to_remove, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	ssize_t n;

	while (fd >= 0 && (n = getdents64(fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)&entries[at];

			unlinkat(fd, e->d_name, 0);
			at += e->d_reclen;
		}
	}
	if (fd >= 0)
		rmdir(to_remove);
	else if (to_remove)
		unlink(to_remove);
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
