/* SPDX-License-Identifier: MIT */
/*
 * attach.h - brings libhodo into a running process, by ptrace(2).
 *
 * One thread of the process is stopped briefly, at a place where it holds no lock of the loader or of an
 * allocator, and made to load the library and to listen; then it continues as if nothing had happened. All
 * other threads run on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <base/why.h>

struct hodo_attach_done {
	uint64_t stopped_ns; /* how long the thread was stopped, in total */
	uint64_t longest_ns; /* the longest of them */
	unsigned int stops;
	int loaded; /* 1: libhodo was loaded; 0: it was already there */
};

/*
 * Makes the process behind pidfd, whose pid is pid, listen (abi.h, section 4); library: the path of
 * libhodo.so, for a process that does not have it; copy: a copy of it that the process sees, or NULL. On
 * failure, the process is left unchanged. 0, or a negative errno and one line in why that says what to do;
 * -EXDEV: the process does not see that file. done may be NULL.
 */
struct hodo_attach_copy;
int hodo_attach_process(pid_t pid, int pidfd, const char *library, const struct hodo_attach_copy *copy,
			struct hodo_attach_done *done, struct hodo_why *why);

/* -------------------------------------------------------------- another root directory */

#define HODO_ATTACH_COPY_FILES 2
struct hodo_attach_copy {
	char dir[64];    /* as the process sees it; "": there is no copy */
	char name[40];   /* its last part */
	char file[HODO_ATTACH_COPY_FILES][128];
	unsigned n;      /* files */
	int parent, dirfd;
	uid_t uid;       /* who made it, and can write it */
	dev_t root_dev;  /* the root directory that it is in */
	ino_t root_ino;
};
#define HODO_ATTACH_NO_COPY ((struct hodo_attach_copy){ .parent = -1, .dirfd = -1 })

/*
 * Copies libraries (paths with colons between) to where a process with another root directory can load them, with its
 * rights. starts: a program is to be started with them there, which must not fail: they are not copied where the C
 * library is too old for them. 0, or a negative errno and why.
 */
int hodo_attach_copy_make(struct hodo_attach_copy *copy, pid_t pid, const char *libraries, bool starts,
			  struct hodo_why *why);
void hodo_attach_copy_remove(struct hodo_attach_copy *copy); /* once more does nothing */
/* Whether it is in the process's root directory, and nobody else but root can write it. */
bool hodo_attach_copy_serves(const struct hodo_attach_copy *copy, pid_t pid);
/* A process that has that root directory, but this one; 0: there is none. */
pid_t hodo_attach_copy_user(const struct hodo_attach_copy *copy);

/*
 * Code of the process to overwrite while all its threads are stopped, none of them at a place where it
 * matters.
 */
struct hodo_attach_write {
	uint64_t addr;
	uint8_t bytes[8];
	uint8_t len;
};
/* A thread at the first address continues at the second. */
struct hodo_attach_move {
	uint64_t from, to;
};
struct hodo_attach_still {
	const struct hodo_attach_write *writes;
	const struct hodo_attach_move *moves;
	uint32_t nwrites, nmoves;
	uint64_t unblocked; /* signals to unblock in all threads */
};

/*
 * Stops all threads of the process, which has libhodo, writes, moves and unblocks, and resumes them. All or
 * nothing: on an error, writes are undone. 0, or a negative errno and why: -EAGAIN: a thread could not be
 * stopped now.
 */
int hodo_attach_still(pid_t pid, int pidfd, const struct hodo_attach_still *still, struct hodo_attach_done *done,
		      struct hodo_why *why);
