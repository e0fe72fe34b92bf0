/* SPDX-License-Identifier: MIT */
/*
 * rights.h - root opens files named by other users with those users' rights.
 *
 * Otherwise a user who puts a path into a recording, or into a process's memory, could make root read files
 * that the user may not read, or open devices. The rights are per thread; open files stay open.
 *
 *	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
 *
 *	err = hodo_rights_of(&rights, uid);
 *	if (!err)
 *		fd = open(…);
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define HODO_RIGHTS_GROUPS 256

struct hodo_rights {
	bool lowered;
	uid_t uid; /* then: the user */
	int ngroups; /* of ours */
	gid_t groups[HODO_RIGHTS_GROUPS];
};

/*
 * Until hodo_rights_end(), the calling thread accesses files as that user, with the user's groups in the
 * system. Nothing changes unless we are root and the user is not. 0; -EACCES: not possible, and nothing has
 * changed.
 */
int hodo_rights_of(struct hodo_rights *rights, uid_t uid);
/* hodo_rights_of() with the rights of a process; -ESRCH: it has ended. */
int hodo_rights_of_process(struct hodo_rights *rights, pid_t pid);
void hodo_rights_end(struct hodo_rights *rights); /* may be called twice */
/* After hodo_rights_end(): goes on as that user. As hodo_rights_of(). */
int hodo_rights_again(struct hodo_rights *rights);
