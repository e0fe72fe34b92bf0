/* SPDX-License-Identifier: MIT */
/* images.h - images that this process is about to run, or has spawned; the exec functions announce them. */
#pragma once

#include <user/user.h>

struct hodo_announced {
	uint32_t place;
	uint64_t who; /* 0: nothing was announced */
};
/*
 * Announces an image that process pid (0: the caller) is about to run; withdrawn if exec fails. Signal safe.
 * dir: where a relative path begins, as in execveat(), where "" is the descriptor's own file; SEARCHED:
 * AT_FDCWD, and a name without a slash is searched in PATH; ELSEWHERE: not known.
 */
enum { HODO_IMAGE_SEARCHED = -1, HODO_IMAGE_ELSEWHERE = -2 };
HODO_HIDDEN struct hodo_announced hodo_image_announce(uint32_t pid, int dir, const char *path);
HODO_HIDDEN void hodo_image_withdraw(struct hodo_announced a);

/* Whether the 8 bytes around p can be read, with all signals blocked. */
HODO_HIDDEN bool hodo_image_readable(const char *p);

/* exec.c: finds libc's functions. */
HODO_HIDDEN void hodo_exec_prepare(void);
