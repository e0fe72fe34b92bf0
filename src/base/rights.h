/* SPDX-License-Identifier: MIT */
/*
 * rights.h - root opens files that others name with the rights of those others.
 *
 * Otherwise a user who puts a path into a recording, or into a process's memory, could have root read what that user
 * may not read, or open devices. The rights are the thread's own; files that are open stay open.
 *
 *	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
 *
 *	err = hodo_rights_of(&rights, uid);
 *	if (!err)
 *		fd = open(…);
 */
#ifndef HODO_BASE_RIGHTS_H
#define HODO_BASE_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#define HODO_RIGHTS_GROUPS 256

struct hodo_rights {
	bool lowered;
	int ngroups; /* of ours */
	gid_t groups[HODO_RIGHTS_GROUPS];
};

/*
 * From here to hodo_rights_end() the calling thread reaches files as that user does, who has the groups that the system
 * knows of. Nothing changes unless we are root and the user is not. 0; -EACCES: it cannot be, and nothing has changed.
 */
int hodo_rights_of(struct hodo_rights *rights, uid_t uid);
/* The same as the process does; -ESRCH: it has ended. */
int hodo_rights_of_process(struct hodo_rights *rights, pid_t pid);
void hodo_rights_end(struct hodo_rights *rights); /* once more does nothing */

#endif
