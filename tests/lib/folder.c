/* SPDX-License-Identifier: MIT */
/* folder.c - see folder.h. */
#define _GNU_SOURCE
#include "folder.h"

#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (64u << 20)

static char made[256];
static pid_t made_by; /* children have this handler too, and must not remove the folder */

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void end(void)
{
	if (getpid() == made_by && nftw(made, drop, 16, FTW_DEPTH | FTW_PHYS) != 0)
		warn("%s", made);
}

const char *folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (made[0])
		return made;
	if (!tmp || !*tmp) /* in memory where possible: tests write many small files */
		tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(made, sizeof(made), "%s/hodo-test.XXXXXX", tmp);
	if (!mkdtemp(made))
		err(1, "%s", made);
	made_by = getpid();
	atexit(end);
	return made;
}

const char *folder_path(const char *name)
{
	static char paths[8][512];
	static unsigned turn;
	char *path = paths[turn++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder(), name);
	return path;
}

void folder_write(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd) != 0)
		err(1, "%s", path);
}

uint8_t *folder_read(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *data = malloc(FILE_MAX_BYTES);

	if (!f || !data)
		err(1, "%s", path);
	*len = fread(data, 1, FILE_MAX_BYTES, f);
	fclose(f);
	return data;
}

int folder_memory(char path[32], const void *data, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		err(1, "a file in memory");
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}
