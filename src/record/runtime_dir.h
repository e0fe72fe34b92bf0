/* SPDX-License-Identifier: MIT */
/*
 * runtime_dir.h - where sockets are: ours in $XDG_RUNTIME_DIR/hodo, else /tmp/hodo-UID; and those of others.
 */
#ifndef HODO_RECORD_RUNTIME_DIR_H
#define HODO_RECORD_RUNTIME_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Makes the directory if need be, sees to it that it is ours alone (a
 * directory, no link, our user's, mode 0700) and writes its path to path.
 * room: bytes that names below it will need, slash and NUL included, of what
 * a socket's address can hold.
 * 0 or negative errno: -EPERM if what is there belongs to another or is open to others.
 */
int hodo_runtime_dir(char *path, size_t size, size_t room);

/*
 * Where that gives -EPERM: a new one that is ours alone and has a name that nobody could know, in path, which is to be
 * removed. Says in why what stands in the way, and whose it is. 0 or negative errno.
 */
int hodo_runtime_dir_instead(char *path, size_t size, char *why, size_t why_size);
/* The first half of that: what stands in the way at path. 0 or negative errno. */
int hodo_runtime_dir_taken(const char *path, char *why, size_t why_size);

/*
 * Removes the sockets there of recorders, and of processes that listened, which were killed; and all of our user's
 * directories that hodo_runtime_dir_instead() and libhodo made for such, if nothing else is in them.
 */
void hodo_runtime_sweep(const char *dir);

#define HODO_RUNTIME_DIRS_MAX 64

/* Where a process, or a recorder of it, may have its socket. */
struct hodo_runtime_dirs {
	uint32_t n;
	char dir[HODO_RUNTIME_DIRS_MAX][512]; /* all different */
};

/* Those of the process pid's users and of ours, and in both environments. inner: users as the process calls them. */
void hodo_runtime_dirs(pid_t pid, bool inner, struct hodo_runtime_dirs *dirs);

struct hodo_recorder {
	uint32_t pid; /* as its socket's name says */
	char path[108];
};

#define HODO_RECORDERS_MAX 256

/*
 * Sockets of recorders that may record the process pid, or be it: the one in its environment, which comes first, and
 * those in hodo_runtime_dirs(). Their number; nobody need be behind them.
 */
int hodo_recorders_find(pid_t pid, struct hodo_recorder *recorders);

#endif
