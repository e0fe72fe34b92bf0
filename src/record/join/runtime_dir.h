/* SPDX-License-Identifier: MIT */
/*
 * runtime_dir.h - where sockets are: ours in $XDG_RUNTIME_DIR/hodo, else /tmp/hodo-UID; and those of others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <base/why.h>

/*
 * Makes the directory if necessary, checks that it is ours alone (a directory, not a link, our user's, mode
 * 0700) and writes its path to path. room: bytes of a socket's address that names below it need, including
 * slash and NUL. 0 or negative errno: -EPERM if it belongs to another user or is open to others.
 */
int hodo_runtime_dir(char *path, size_t size, size_t room);

/*
 * If that gives -EPERM: makes a new one that is ours alone and has an unpredictable name, in path; remove it
 * afterwards. why says what is in the way, and whose it is. 0 or negative errno.
 */
int hodo_runtime_dir_instead(char *path, size_t size, struct hodo_why *why);
/* Only says in why what is in the way at path. 0 or negative errno. */
int hodo_runtime_dir_taken(const char *path, struct hodo_why *why);

/*
 * Removes the sockets there of killed recorders, and of killed processes that listened; and all of our user's
 * directories that hodo_runtime_dir_instead() and libhodo made for them, if nothing else is in them.
 */
void hodo_runtime_sweep(const char *dir);

#define HODO_RUNTIME_DIRS_MAX 64

/* Where a process, or a recorder of it, may have its socket. */
struct hodo_runtime_dirs {
	uint32_t n;
	char dir[HODO_RUNTIME_DIRS_MAX][512]; /* all different */
};

/*
 * Those of the process pid's users and ours, and those in both environments. inner: the process's own ids of
 * users.
 */
void hodo_runtime_dirs(pid_t pid, bool inner, struct hodo_runtime_dirs *dirs);

struct hodo_found_recorder {
	uint32_t pid; /* from its socket's name */
	char path[108];
};

#define HODO_RECORDERS_MAX 256

/*
 * Sockets of recorders that may record the process pid, or be that process: the one in its environment, which
 * comes first, and those in hodo_runtime_dirs(). Returns their number; some may be stale.
 */
int hodo_recorders_find(pid_t pid, struct hodo_found_recorder *recorders);
