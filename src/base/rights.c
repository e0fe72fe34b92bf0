/* SPDX-License-Identifier: MIT */
#include "rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"

#define NOBODY ((gid_t)65534)

struct user {
	uid_t uid; /* 0: none */
	gid_t gid;
	int ngroups;
	gid_t groups[HODO_RIGHTS_GROUPS];
};

/* Cached, since a recording names many files of one user. A user without an entry has no groups. */
static const struct user *find_user(uid_t uid)
{
	static _Thread_local struct user known;
	char text[4096];
	struct passwd entry, *found = NULL;
	int n = HODO_RIGHTS_GROUPS;

	if (known.uid == uid)
		return &known;
	known = (struct user){ .uid = uid, .gid = NOBODY };
	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found) {
		known.gid = entry.pw_gid;
		getgrouplist(entry.pw_name, entry.pw_gid, known.groups, &n);
		known.ngroups = n < HODO_RIGHTS_GROUPS ? n : HODO_RIGHTS_GROUPS;
	}
	return &known;
}

/* Only the thread's: libc's function sets those of all threads. */
static int set_groups(int n, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, n, groups);
}

int hodo_rights_of(struct hodo_rights *rights, uid_t uid)
{
	const struct user *user;

	rights->lowered = false;
	rights->uid = uid;
	if (geteuid() != 0 || uid == 0)
		return 0;
	user = find_user(uid);
	rights->ngroups = getgroups(HODO_RIGHTS_GROUPS, rights->groups);
	if (rights->ngroups < 0 || set_groups(user->ngroups, user->groups) < 0)
		return -EACCES;
	rights->lowered = true;
	setfsgid(user->gid);
	setfsuid(uid); /* this also drops the capabilities that bypass permissions */
	if ((uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == user->gid)
		return 0;
	hodo_rights_end(rights);
	return -EACCES;
}

int hodo_rights_of_process(struct hodo_rights *rights, pid_t pid)
{
	char path[32], text[4096];
	const char *ids;
	unsigned uid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	/* Not the owner of /proc/PID: a process can make that root. */
	ids = hodo_file_line(AT_FDCWD, path, text, sizeof(text)) > 0 ? strstr(text, "\nUid:") : NULL;
	if (!ids || sscanf(ids, " Uid: %*u %*u %*u %u", &uid) != 1)
		return -ESRCH;
	return hodo_rights_of(rights, uid);
}

int hodo_rights_again(struct hodo_rights *rights)
{
	return hodo_rights_of(rights, rights->uid);
}

void hodo_rights_end(struct hodo_rights *rights)
{
	if (!rights->lowered)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	set_groups(rights->ngroups, rights->groups);
	rights->lowered = false;
}
