/* SPDX-License-Identifier: MIT */
/*
 * way_in.c - sockets for children of adopted processes that cannot reach the recording's own: in /tmp/hodo-UID,
 * as the process sees both. All access there uses only that user's rights. If that is not possible, they join
 * at the abstract address (second_socket.c), if they are in our network namespace.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <base/scope.h>

#include <proc/process.h>
#include "socket.h"

#define JOINS_MAX 64u

struct hodo_way_in {
	struct hodo_watch watch; /* first */
	struct hodo_recorder *recorder;
	struct hodo_way_in *next;
	uid_t uid;
	gid_t gid;
	struct stat root; /* of the processes that it is for */
	int dirfd;
	int fd;
	char name[32]; /* in the directory */
	char path[80 + HODO_RECORDER_SUFFIX]; /* as the processes see it, and the abstract address */
};

/* Has no effect unless we are root. */
static void act_as(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
}

static int open_below(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* The directory in the process's /tmp, which only that user may own. */
static int open_dir(int root, const char *name, uid_t uid)
{
	int tmp = open_below(root, "tmp"), dir;
	struct stat st;

	if (tmp < 0)
		return tmp;
	if (mkdirat(tmp, name, 0700) < 0 && errno != EEXIST)
		dir = -errno;
	else
		dir = open_below(tmp, name);
	close(tmp);
	if (dir >= 0 && (fstat(dir, &st) < 0 || st.st_uid != uid || (st.st_mode & 077) != 0)) {
		close(dir);
		dir = -EPERM;
	}
	return dir;
}

static int listen_at(struct hodo_way_in *j)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", j->dirfd, j->name);
	j->fd = socket_listen(path);
	/* Left by a killed recorder that had our pid, perhaps in another pid namespace. */
	if (j->fd == -EADDRINUSE && socket_is_stale(path)) {
		unlinkat(j->dirfd, j->name, 0);
		j->fd = socket_listen(path);
	}
	return j->fd < 0 ? j->fd : 0;
}

static void join_ready(struct hodo_watch *w)
{
	struct hodo_way_in *j = (struct hodo_way_in *)w;

	hodo_server_accept(j->recorder->server, j->fd, j->uid);
}

static void free_join(struct hodo_way_in *j)
{
	if (j->fd >= 0) {
		act_as(j->uid, j->gid);
		unlinkat(j->dirfd, j->name, 0);
		act_as(geteuid(), getegid());
		close(j->fd);
	}
	hodo_close(j->dirfd);
	free(j);
}

static int open_join(struct hodo_way_in *j, int root, pid_t pid)
{
	char dir[32];
	mode_t mask;
	int err;

	snprintf(dir, sizeof(dir), "hodo-%u", (unsigned int)hodo_proc_inner_uid(pid, j->uid));
	snprintf(j->name, sizeof(j->name), "join-%d.sock", (int)getpid());
	snprintf(j->path, sizeof(j->path), "/tmp/%s/%s%s", dir, j->name, j->recorder->second_socket.suffix);
	mask = umask(077);
	act_as(j->uid, j->gid);
	j->dirfd = open_dir(root, dir, j->uid);
	err = j->dirfd < 0 ? j->dirfd : listen_at(j);
	act_as(geteuid(), getegid());
	umask(mask);
	return err ? err : hodo_joining_watch(j->recorder, j->fd, &j->watch);
}

/* 0, or negative errno. */
static int make_join(struct hodo_recorder *s, pid_t pid, const struct hodo_proc_status *status, int root,
		     const char **path)
{
	struct hodo_way_in *j;
	struct stat st;
	uint32_t n = 0;
	int err;

	if (fstat(root, &st) < 0)
		return -errno;
	for (j = s->joins; j; j = j->next, n++) {
		if (j->uid == status->euid && j->root.st_dev == st.st_dev && j->root.st_ino == st.st_ino) {
			*path = j->path;
			return 0;
		}
	}
	j = n < JOINS_MAX ? calloc(1, sizeof(*j)) : NULL;
	if (!j)
		return -ENOMEM;
	*j = (struct hodo_way_in){ .watch.ready = join_ready, .recorder = s, .uid = status->euid, .gid = status->egid,
				 .root = st, .dirfd = -1, .fd = -1 };
	err = open_join(j, root, pid);
	if (err) {
		free_join(j);
		return err;
	}
	j->next = s->joins;
	s->joins = j;
	*path = j->path;
	return 0;
}

const char *hodo_recorder_socket_for(struct hodo_recorder *s, pid_t pid)
{
	struct hodo_proc_status status;
	const char *path = "";
	HODO_AUTO_CLOSE int fd = -1;
	int err = hodo_proc_status(pid, &status);

	if (!s->server || err)
		return "";
	if (status.euid == geteuid() && !hodo_proc_other_root(pid))
		return hodo_recorder_socket(s);
	fd = hodo_proc_root(pid);
	err = fd < 0 ? fd : make_join(s, pid, &status, fd, &path);
	/* The abstract address follows any path, and is enough. */
	if (err && !hodo_proc_other_network(pid))
		path = hodo_recorder_socket(s);
	else if (err)
		hodo_report(&s->config.reporter, "what process %d forks is not recorded: it is in another "
			    "network namespace, and no socket can be made in its /tmp: %s",
			    (int)pid, strerror(-err));
	return path;
}

void hodo_way_in_close(struct hodo_recorder *s)
{
	while (s->joins) {
		struct hodo_way_in *j = s->joins;

		s->joins = j->next;
		free_join(j);
	}
}
