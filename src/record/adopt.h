/* SPDX-License-Identifier: MIT */
/*
 * adopt.h - processes that were running when their recording began: the connection on
 * which that was agreed stands as long as they are recorded.
 */
#ifndef HODO_RECORD_ADOPT_H
#define HODO_RECORD_ADOPT_H

#include "session.h"

/*
 * The connection fd, which is watched by epoll already, becomes the lifeline of a process that has just been
 * started, and the process's threads get their names. 0, or a negative errno and fd closed: its recording ends.
 */
int hodo_adopt(struct hodo_process *p, int fd);

/* Finishes processes whose recording has ended from their side. */
void hodo_adopt_check(struct hodo_session *s, int64_t now_ns);

/* Ends the recording of adopted processes and waits, a second at most, until none of them writes any more. */
void hodo_adopt_end(struct hodo_session *s);

#endif
