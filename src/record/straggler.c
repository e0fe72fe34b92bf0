/* SPDX-License-Identifier: MIT */
/*
 * straggler.c - finds processes that were started under the recording and may
 * yet join it.
 *
 * A child that was forked just before its parent ended says hello only when
 * it is first scheduled. It has the parent's environment, by which it is known.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

#define ENVIRON_MAX (4u << 20)

/* Whether the text NUL text NUL ... holds the entry. */
static bool has_entry(const char *env, size_t len, const char *entry, size_t entry_len)
{
	const char *at = env, *end = env + len;

	while (at < end) {
		size_t n = strnlen(at, (size_t)(end - at));

		if (n == entry_len && memcmp(at, entry, n) == 0)
			return true;
		at += n + 1;
	}
	return false;
}

static bool is_straggler(int procfd, const char *pid, const char *entry, char *buffer)
{
	char path[64];
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.20s/environ", pid);
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC); /* allowed for our own user's only */
	if (fd < 0)
		return false;
	while (len < ENVIRON_MAX && (n = read(fd, buffer + len, ENVIRON_MAX - len)) > 0)
		len += (size_t)n;
	close(fd);
	return has_entry(buffer, len, entry, strlen(entry));
}

bool hodo_straggler_exists(const char *socket)
{
	char entry[256], self[16];
	char *buffer = malloc(ENVIRON_MAX);
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool found = false;

	snprintf(entry, sizeof(entry), HODO_RECORDER_ENV "=%s", socket);
	snprintf(self, sizeof(self), "%d", (int)getpid());
	while (buffer && d && !found && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) && strcmp(e->d_name, self) != 0)
			found = is_straggler(dirfd(d), e->d_name, entry, buffer);
	if (d)
		closedir(d);
	free(buffer);
	return found;
}
