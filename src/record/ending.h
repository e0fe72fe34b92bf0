/* SPDX-License-Identifier: MIT */
/*
 * ending.h - how a process ended, as far as somebody who is not its parent can know.
 */
#ifndef HODO_RECORD_ENDING_H
#define HODO_RECORD_ENDING_H

#include <sys/types.h>

enum hodo_ending {
	HODO_ENDING_UNKNOWN,
	HODO_ENDING_EXIT,
	HODO_ENDING_SIGNAL
};

/* status as wait() has it. */
enum hodo_ending hodo_ending_of_status(int status);

/*
 * Of the process behind pidfd, which is readable. While its parent has not asked, /proc has it; then
 * the kernel itself (Linux 6.15 and later), which before that says it to nobody else.
 */
enum hodo_ending hodo_ending_of(pid_t pid, int pidfd);

#endif
