/* SPDX-License-Identifier: MIT */
/*
 * peer.c - talks to a process that listens. The process chooses the place of its socket, and a file there
 * proves nothing: the process that answers must be the one behind the caller's pidfd.
 */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <base/clock.h>
#include <base/scope.h>

#include <record/write/names.h>
#include <proc/process.h>
#include "runtime_dir.h"
#include "socket.h"

#define ANSWER_NS 2000000000ll
#define PLAN_NS 120000000000ll /* its recorder may have to decode large programs first */
#define CONNECT_TRIES 100 /* of 5 ms: its queue is full */
#define CONNECT_PAUSE_NS 5000000

/* ---------------------------------------------------------------- the process */

static int refuse_kind(pid_t pid, const struct hodo_proc_status *st, struct hodo_why *why)
{
	char user[64];

	if (st->tgid != pid)
		return hodo_why(why, -EINVAL, "%d is a thread of process %d: give that one", (int)pid, (int)st->tgid);
	if (st->kernel)
		return hodo_why(why, -EINVAL, "process %d is a kernel thread, which has no events: give a program's "
				"process ID", (int)pid);
	if (geteuid() != 0 && st->euid != geteuid())
		return hodo_why(why, -EPERM, "process %d belongs to user %s: run hodo as that user, or as root",
				(int)pid, hodo_user_name(st->euid, user, sizeof(user)));
	return 0;
}

static int refuse_dead(pid_t pid, struct hodo_why *why)
{
	return hodo_why(why, -ESRCH, "process %d has ended: give one that runs", (int)pid);
}

int hodo_peer_open(pid_t pid, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct hodo_proc_status st;
	int err = fd < 0 ? -errno : 0;

	/* For a thread that is not its process's first: EINVAL, later kernels ENOENT. */
	if (err == -ENOSYS || err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		return hodo_why_errno(why, err, "process %d cannot be opened", (int)pid);
	err = hodo_proc_status(pid, &st);
	if (err)
		return hodo_why(why, err, "there is no process %d: 'ps' lists those that you can see", (int)pid);
	err = refuse_kind(pid, &st, why);
	if (err)
		return err;
	return fd < 0 || !hodo_proc_lives(fd) ? refuse_dead(pid, why) : hodo_take_fd(&fd);
}

/* Whether the listener at the other end is the process behind pidfd. */
static bool is_peer(int fd, pid_t pid, int pidfd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	HODO_AUTO_CLOSE int theirs = -1;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.pid != pid)
		return false;
	/* Fails with another error if the listener has exited and its pid may have been reused. */
	theirs = socket_peer(fd);
	if (theirs < 0)
		return theirs == -ENOPROTOOPT && hodo_proc_lives(pidfd);
	/*
	 * Live processes have distinct pids: if these were two, one would have ended before the other could
	 * get the pid.
	 */
	return hodo_proc_lives(theirs) && hodo_proc_lives(pidfd);
}

/* ---------------------------------------------------------------- its socket */

/* What a search for the socket has found. */
struct search {
	pid_t pid;
	int pidfd;
	int root; /* its root directory, if that is not ours; else -1 */
	struct hodo_proc_status status;
	bool other_users; /* it is in another user namespace */
	bool stranger; /* somebody else answered */
	int error;     /* the most specific one so far: not "there is nothing" */
};

static int connect_at(const char *path)
{
	int fd = socket_connect(path);

	for (int i = 0; fd == -EAGAIN && i < CONNECT_TRIES; i++) {
		hodo_sleep_ns(CONNECT_PAUSE_NS);
		fd = socket_connect(path);
	}
	return fd;
}

/*
 * A process in another user namespace does not know our root: it sees an unmapped user, and rightly refuses that one.
 * But it knows its own user. While it connects, this thread has that user's rights, and nobody gains any.
 */
static int connect_as(const struct search *s, const char *path)
{
	const uid_t as = s->status.euid;
	int fd;

	if (!s->other_users || geteuid() != 0 || as == 0)
		return connect_at(path);
	if (syscall(SYS_setresuid, -1, as, -1) < 0)
		return -errno;
	fd = connect_at(path);
	/* Of the thread alone; the real user is still root, so this cannot fail. */
	if (syscall(SYS_setresuid, -1, 0, -1) < 0)
		abort();
	return fd;
}

/* In the process's root directory, links cannot lead out of it. */
static int open_dir(int root, const char *dir)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	if (root < 0)
		return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return (int)syscall(SYS_openat2, root, dir, &how, sizeof(how));
}

/*
 * Whether the process may have made it. By a number that is the process's in its own user namespace, it may be root's
 * here, who lets nobody in.
 */
static bool may_be_its(const struct search *s, int dir)
{
	struct stat st;

	if (geteuid() == 0 && (!s->other_users || s->status.euid == 0))
		return true;
	return fstat(dir, &st) == 0 && st.st_uid == s->status.euid;
}

/* The connection, or -1. */
static int try_dir(struct search *s, int root, const char *dir)
{
	char path[64];
	HODO_AUTO_CLOSE int at = open_dir(root, dir);
	HODO_AUTO_CLOSE int fd = -1;

	if (at < 0) {
		if (errno != ENOENT && errno != ENOTDIR && !s->error)
			s->error = -errno;
		return -1;
	}
	if (!may_be_its(s, at))
		return -1;
	/* Keeps the address short, however long the directory's path. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%u", at, s->status.vpid);
	fd = connect_as(s, path);
	if (fd >= 0 && is_peer(fd, s->pid, s->pidfd))
		return hodo_take_fd(&fd);
	if (fd >= 0)
		s->stranger = true;
	else if (fd != -ENOENT && fd != -ECONNREFUSED)
		s->error = fd;
	return -1;
}

/* In its own root directory first, then in ours: it may have called chroot(2) since. */
static int try_roots(struct search *s, const char *dir)
{
	int fd = s->root >= 0 ? try_dir(s, s->root, dir) : -1;

	return fd >= 0 ? fd : try_dir(s, -1, dir);
}

static int find(struct search *s)
{
	struct hodo_runtime_dirs dirs;
	int fd = -1;

	hodo_runtime_dirs(s->pid, true, &dirs);
	for (uint32_t i = 0; fd < 0 && i < dirs.n; i++)
		fd = try_roots(s, dirs.dir[i]);
	return fd;
}

int hodo_peer_connect(pid_t pid, int pidfd, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int root = -1;
	HODO_AUTO_CLOSE int fd = -1;
	struct search s = { .pid = pid, .pidfd = pidfd };
	int err = hodo_proc_status(pid, &s.status);

	if (err) {
		refuse_dead(pid, why);
		return err;
	}
	err = refuse_kind(pid, &s.status, why);
	if (err)
		return err;
	if (hodo_proc_other_root(pid))
		root = hodo_proc_root(pid);
	s.root = root;
	s.other_users = hodo_proc_other_users(pid);
	fd = find(&s);
	/* If it has ended, what was read may be another process's. */
	if (!hodo_proc_lives(pidfd))
		return refuse_dead(pid, why);
	if (fd >= 0)
		return hodo_take_fd(&fd);
	if (s.error)
		return hodo_why_errno(why, s.error, "process %d cannot be reached", (int)pid);
	return hodo_why(why, -ECONNREFUSED, "process %d does not listen%s", (int)pid,
			s.stranger ? ": another process has the socket of that number" : "");
}

/* -------------------------------------------------------------------- asking */

static int wait_for_answer(int fd, int64_t until_ns)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left_ms = (until_ns - hodo_now_ns()) / 1000000;
		int n = left_ms > 0 ? poll(&p, 1, (int)left_ms) : 0;

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static bool is_answer(const struct hodo_msg_answer *a, ssize_t len)
{
	return len == (ssize_t)sizeof(*a) && a->head.magic == HODO_MSG_MAGIC &&
	       a->head.version == HODO_ABI_VERSION && a->head.type == HODO_MSG_ANSWER;
}

int hodo_peer_ask(int fd, enum hodo_control_op op, uint32_t pid, uint32_t next, const char *text,
		  struct hodo_msg_answer *answer, int *passed)
{
	struct hodo_msg_control m = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONTROL }, .op = op, .pid = pid, .next = next,
	};
	int64_t until_ns = hodo_now_ns() + (op == HODO_CONTROL_REPLAN ? PLAN_NS : ANSWER_NS);
	HODO_AUTO_CLOSE int came = -1;
	ssize_t len;

	if (passed)
		*passed = -1;
	if (text && snprintf(m.text, sizeof(m.text), "%s", text) >= (int)sizeof(m.text))
		return -ENAMETOOLONG;
	len = socket_send(fd, &m, sizeof(m), -1);
	if (len < 0)
		return len == -EPIPE ? -ECONNRESET : (int)len;
	do {
		len = wait_for_answer(fd, until_ns);
		if (!len)
			len = socket_receive(fd, answer, sizeof(*answer), &came);
	} while (len == -EAGAIN || len == -EINTR);
	if (len <= 0)
		return len == 0 ? -ECONNRESET : len == -EMSGSIZE || len == -EMFILE ? -EPROTO : (int)len;
	if (!is_answer(answer, len) || (came >= 0 && !passed))
		return -EPROTO;
	if (passed)
		*passed = hodo_take_fd(&came);
	answer->path[sizeof(answer->path) - 1] = 0;
	return 0;
}

int hodo_recorder_ask(const char *path, enum hodo_control_op op, pid_t pid, uint32_t next, const char *text,
		      struct hodo_msg_answer *a, int *passed)
{
	HODO_AUTO_CLOSE int fd = socket_connect(path);
	int err = fd < 0 ? fd : hodo_peer_ask(fd, op, (uint32_t)pid, next, text, a, passed);

	if (err || !a->result)
		return err;
	return a->result < 0 && a->result > -4096 ? a->result : -EPROTO;
}

/* ---------------------------------------------------------------- refusals */

static void tell_busy(pid_t pid, const struct hodo_msg_answer *a, struct hodo_why *why)
{
	char who[64] = "hodo";

	if (a->by == HODO_BY_FLIGHT) {
		hodo_why(why, 0, "process %d keeps a flight recorder in %s: 'hodo snapshot %d' writes it, and 'hodo "
			 "detach %d' ends it", (int)pid, a->path, (int)pid, (int)pid);
		return;
	}
	if (a->recorder)
		snprintf(who, sizeof(who), "hodo (process %u)", a->recorder);
	hodo_why(why, 0, "process %d is already being recorded by %s: end that, or use 'hodo detach %d'", (int)pid,
		 who, (int)pid);
}

void hodo_peer_refusal(pid_t pid, enum hodo_control_op op, const struct hodo_msg_answer *a, struct hodo_why *why)
{
	int err = a->result < 0 && a->result > -4096 ? a->result : -EPROTO;

	if (err == -EBUSY && op == HODO_CONTROL_RECORD)
		tell_busy(pid, a, why);
	else if (err == -EAGAIN)
		hodo_why(why, 0, "process %d has not ended its last recording: one of its threads is still inside an "
			 "event: let it continue, and try again", (int)pid);
	else if (err == -ENOTCONN && op == HODO_CONTROL_ENABLE)
		hodo_why(why, 0, "process %d is not being recorded, so no event can be on: start with 'hodo record "
			 "-p %d'", (int)pid, (int)pid);
	else if (err == -ENOTCONN)
		hodo_why(why, 0, "process %d is not being recorded: 'hodo record -p %d' records it", (int)pid,
			 (int)pid);
	else if (err == -EOPNOTSUPP)
		hodo_why(why, 0, "process %d has another version of libhodo, which cannot do that: restart it with "
			 "this one", (int)pid);
	else
		hodo_why(why, 0, "process %d refuses: %s: %s", (int)pid, strerror(-err), hodo_remedy(err));
}
