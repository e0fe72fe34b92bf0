/* SPDX-License-Identifier: MIT */
/*
 * roots.c - keeps descriptors of root directories. A descriptor keeps what is mounted there, also where its mount
 * namespace has ended: a container is gone when the names of its functions are looked for.
 */
#include <proc/process.h>
#include "roots.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/scope.h>

static bool has(const struct hodo_roots *roots, const struct stat *st)
{
	struct stat other;

	for (uint32_t i = 0; i < roots->n; i++)
		if (fstat(roots->fd[i], &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino)
			return true;
	return false;
}

void hodo_roots_add(struct hodo_roots *roots, pid_t pid)
{
	HODO_AUTO_CLOSE int fd = -1;
	struct stat st;

	if (roots->n < HODO_ROOTS_MAX && hodo_proc_other_root(pid))
		fd = hodo_proc_root(pid);
	if (fd >= 0 && fstat(fd, &st) == 0 && !has(roots, &st))
		roots->fd[roots->n++] = hodo_take_fd(&fd);
}

void hodo_roots_close(struct hodo_roots *roots)
{
	while (roots->n > 0)
		close(roots->fd[--roots->n]);
}
