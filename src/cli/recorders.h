/* SPDX-License-Identifier: MIT */
/* recorders.h - who records a process, or a program's processes. */
#ifndef HODO_CLI_RECORDERS_H
#define HODO_CLI_RECORDERS_H

#include <record/record.h>

struct hodo_recorders {
	struct hodo_recorder *list;
	uint32_t n;
	pid_t *pids; /* the processes that were meant; of a recorder, all of its */
	uint32_t npids;
};

/*
 * target: the number of a process or of a recorder, or a program: its path, or its name, of all of its processes that
 * are recorded. All zero before. 0 or the exit status, having said why: nobody is a reason, too.
 */
int hodo_recorders_of(struct hodo_recorders *r, const char *target);
void hodo_recorders_free(struct hodo_recorders *r);

#endif
