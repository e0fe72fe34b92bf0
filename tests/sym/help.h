/* SPDX-License-Identifier: MIT */
/* help.h - bytes as a file with a path, for what opens files. */
#ifndef SYM_HELP_H
#define SYM_HELP_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes the bytes to a file of its own in path, a mkstemp() template. */
static inline void help_write(char *path, const void *data, size_t len)
{
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd) < 0)
		abort();
}

#endif
