/* SPDX-License-Identifier: MIT */
/* recorders.h - finds the recorders of a process, or of a program's processes. */
#pragma once

#include <record/record.h>

struct hodo_recorders {
	struct hodo_found_recorder *list;
	uint32_t n;
	pid_t *pids; /* the selected processes; for a recorder, all of its */
	uint32_t npids;
};

/*
 * target: the pid of a process or of a recorder, or the path or name of a program, for all its recorded
 * processes. *r must be all zero. 0, or the exit status after a message, also if there is none.
 */
int hodo_recorders_of(struct hodo_recorders *r, const char *target);
void hodo_recorders_free(struct hodo_recorders *r);
