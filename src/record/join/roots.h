/* SPDX-License-Identifier: MIT */
/* roots.h - the root directories of recorded processes that are not ours: their files are found by these later. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define HODO_ROOTS_MAX 64u

/* All zero: none. */
struct hodo_roots {
	uint32_t n;
	int fd[HODO_ROOTS_MAX]; /* opened with O_PATH */
};

void hodo_roots_add(struct hodo_roots *roots, pid_t pid); /* that process's, if it does not have ours */
void hodo_roots_close(struct hodo_roots *roots);          /* once more does nothing */
