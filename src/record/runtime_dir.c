/* SPDX-License-Identifier: MIT */
/*
 * runtime_dir.c - where our sockets are.
 */
#include "runtime_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Another user could have made the directory in /tmp before us, or a link: neither is ever used. */
static int make_private(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if ((st.st_mode & 077) != 0 && chmod(path, 0700) < 0)
		return -errno;
	return 0;
}

static int xdg_dir(char *path, size_t size)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!xdg || xdg[0] != '/')
		return -ENOENT;
	if (snprintf(path, size, "%s/hodo", xdg) >= (int)size)
		return -ENAMETOOLONG;
	/* After su or sudo it is often another user's. */
	if (stat(xdg, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		return -EPERM;
	return make_private(path);
}

int hodo_runtime_dir(char *path, size_t size, size_t room)
{
	struct sockaddr_un address;

	if (xdg_dir(path, size) == 0 && strlen(path) + room <= sizeof(address.sun_path))
		return 0;
	if (snprintf(path, size, "/tmp/hodo-%u", (unsigned int)geteuid()) >= (int)size)
		return -ENAMETOOLONG;
	return make_private(path);
}
