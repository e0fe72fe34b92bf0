/* SPDX-License-Identifier: MIT */
/* images.h - images that this process is about to become, or has spawned; the exec functions announce them. */
#ifndef HODO_USER_IMAGES_H
#define HODO_USER_IMAGES_H

#include "user.h"

struct hodo_announced {
	uint32_t place;
	uint64_t who; /* 0: nothing was announced */
};
/*
 * An image about to be, of process pid (0: of the caller); withdrawn where exec has failed. Signal safe. dir: where a
 * relative path begins, as execveat() has it, "" being the descriptor's own file; SEARCHED: AT_FDCWD, and a name
 * without a slash is looked for in PATH; ELSEWHERE: nobody knows.
 */
enum { HODO_IMAGE_SEARCHED = -1, HODO_IMAGE_ELSEWHERE = -2 };
HODO_HIDDEN struct hodo_announced hodo_image_announce(uint32_t pid, int dir, const char *path);
HODO_HIDDEN void hodo_image_withdraw(struct hodo_announced a);

/* exec.c: finds libc's functions. */
HODO_HIDDEN void hodo_exec_prepare(void);

#endif
