/* SPDX-License-Identifier: MIT */
/*
 * adopt.h - processes that were running when their recording began: the connection on
 * which that was agreed stands as long as they are recorded.
 */
#ifndef HODO_RECORD_ADOPT_H
#define HODO_RECORD_ADOPT_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

struct hodo_lifeline {
	struct hodo_watch watch; /* first */
	struct hodo_process *process;
	int fd;            /* -1: it has ended */
	int64_t ended_ns;  /* since when, if the process ended it; 0: it did not */
};

/*
 * The connection fd, which is watched by epoll already, becomes the lifeline of a process that has just been
 * started, and the process's threads get their names. 0, or -ENOMEM and fd closed: its recording ends.
 */
int hodo_lifeline_start(struct hodo_process *p, int fd);
/* The process's recording ends with it. */
void hodo_lifeline_end(struct hodo_process *p);
void hodo_lifeline_free(struct hodo_process *p);

/* Whether the process has said that it writes no more. */
bool hodo_process_has_ended(const struct hodo_process *p);

/* Reports to the user, if it has: of a process that was asked to, and ended before anybody looked, too. */
void hodo_adopt_tell(struct hodo_process *p);

/* Finishes processes whose recording has ended from their side. */
void hodo_adopt_check(struct hodo_session *s, int64_t now_ns);

/* Ends the recording of adopted processes and waits, a second at most, until none of them writes any more. */
void hodo_adopt_end(struct hodo_session *s);

#endif
