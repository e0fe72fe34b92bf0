/* SPDX-License-Identifier: MIT */
/*
 * peer.c - talking to a process that listens.
 *
 * Its socket lies where that process thinks right, by its own user, environment, root
 * directory and number. A file there proves nothing: it may be left over
 * from an earlier process of that number, or another one's. What answers must be the very
 * process that the caller's pidfd stands for.
 */
#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "proc_status.h"
#include "message.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define PIDFS_MAGIC 0x50494446 /* where a pidfd's inode is the process's alone */
#define ANSWER_MS 2000
#define CONNECT_TRIES 100 /* of 5 ms: its queue is full */
#define CONNECT_PAUSE_NS 5000000
#define FDS_TAKEN 16 /* descriptors of one message that we look at, to close them */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const char *user_name(uid_t uid, char *buffer, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(buffer, size, "%s", user->pw_name);
	else
		snprintf(buffer, size, "%u", (unsigned int)uid);
	return buffer;
}

/* ---------------------------------------------------------------- the process */

static bool is_alive(int pidfd)
{
	struct pollfd dead = { .fd = pidfd, .events = POLLIN };

	return poll(&dead, 1, 0) == 0;
}

static int refuse_kind(pid_t pid, const struct hodo_proc_status *st, char *why, size_t why_size)
{
	char user[64];

	if (st->tgid != pid) {
		snprintf(why, why_size, "%d is a thread of process %d: give that number", (int)pid, (int)st->tgid);
		return -EINVAL;
	}
	if (st->kernel) {
		snprintf(why, why_size, "process %d is a thread of the kernel, which has no events of ours: give a"
			 " program's", (int)pid);
		return -EINVAL;
	}
	if (geteuid() != 0 && st->euid != geteuid()) {
		snprintf(why, why_size, "process %d belongs to user %s: run hodo as that user, or as root", (int)pid,
			 user_name(st->euid, user, sizeof(user)));
		return -EPERM;
	}
	return 0;
}

int hodo_peer_open(pid_t pid, char *why, size_t why_size)
{
	struct hodo_proc_status st;
	int fd, err;

	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	err = fd < 0 ? -errno : 0;
	/* Of a thread that is not its process's first: EINVAL, later kernels ENOENT. */
	if (err == -ENOSYS || err == -EMFILE || err == -ENFILE || err == -ENOMEM) {
		snprintf(why, why_size, "process %d cannot be opened: %s: %s", (int)pid, strerror(-err),
			 hodo_remedy(err));
		return err;
	}
	err = hodo_proc_status(pid, &st);
	if (!err)
		err = refuse_kind(pid, &st, why, why_size);
	else
		snprintf(why, why_size, "there is no process %d that we can see: look the number up with ps", (int)pid);
	if (!err && (fd < 0 || !is_alive(fd))) {
		snprintf(why, why_size, "process %d has ended: give one that runs", (int)pid);
		err = -ESRCH;
	}
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

/* The number behind a pidfd, as /proc has it: -1 if that process has exited. */
static long pidfd_number(int pidfd)
{
	char line[128], path[64];
	long number = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Pid:", 4) == 0)
			number = strtol(line + 4, NULL, 10);
	}
	if (f)
		fclose(f);
	return number;
}

static bool same_process(int a, int b)
{
	struct statfs fs;
	struct stat x, y;

	if (fstatfs(a, &fs) == 0 && fs.f_type == PIDFS_MAGIC)
		return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino;
	/* Older kernels: of the living, each has a number of its own. */
	return pidfd_number(a) > 0 && pidfd_number(a) == pidfd_number(b);
}

/* Whether the one who listens at the other end is the process behind pidfd. */
static bool is_peer(int fd, pid_t pid, int pidfd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	int theirs = -1;
	bool same;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.pid != pid)
		return false;
	len = sizeof(theirs);
	/* Fails in another way than this if the one who listened has exited, and its number perhaps another's. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &theirs, &len) < 0)
		return errno == ENOPROTOOPT && is_alive(pidfd);
	same = same_process(pidfd, theirs) && is_alive(pidfd);
	close(theirs);
	return same;
}

/* ---------------------------------------------------------------- its socket */

/* What a search for the socket has met. */
struct search {
	pid_t pid;
	int pidfd;
	int root; /* its root directory, where that is not ours; else -1 */
	struct hodo_proc_status status;
	bool stranger; /* somebody else answered */
	int error;     /* the most specific one so far: not "there is nothing" */
};

static int connect_at(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timespec pause = { 0, CONNECT_PAUSE_NS };

	if (fd < 0)
		return -errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	for (int i = 0;; i++) {
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
			return fd;
		if (errno != EAGAIN || i == CONNECT_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	err = -errno;
	close(fd);
	return err;
}

/* In the process's root directory no link leads out of it. */
static int open_dir(int root, const char *dir)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	if (root < 0)
		return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return (int)syscall(SYS_openat2, root, dir, &how, sizeof(how));
}

/* The connection, or -1. */
static int try_dir(struct search *s, int root, const char *dir)
{
	char path[64];
	int at = open_dir(root, dir), fd;

	if (at < 0) {
		if (errno != ENOENT && errno != ENOTDIR && !s->error)
			s->error = -errno;
		return -1;
	}
	/* So that the address is short enough, however long the directory's path. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%u", at, s->status.vpid);
	fd = connect_at(path);
	close(at);
	if (fd >= 0 && is_peer(fd, s->pid, s->pidfd))
		return fd;
	if (fd >= 0) {
		close(fd);
		s->stranger = true;
	} else if (fd != -ENOENT && fd != -ECONNREFUSED) {
		s->error = fd;
	}
	return -1;
}

/* In its own root directory first, then in ours: it may have called chroot(2) since. */
static int try_roots(struct search *s, const char *dir)
{
	int fd = s->root >= 0 ? try_dir(s, s->root, dir) : -1;

	return fd >= 0 ? fd : try_dir(s, -1, dir);
}

static int try_user(struct search *s, uid_t uid)
{
	uid_t inner = hodo_proc_inner_uid(s->pid, uid);
	char dir[64];
	int fd;

	snprintf(dir, sizeof(dir), "/run/user/%u/hodo", (unsigned int)inner);
	fd = try_roots(s, dir);
	if (fd >= 0)
		return fd;
	snprintf(dir, sizeof(dir), "/tmp/hodo-%u", (unsigned int)inner);
	return try_roots(s, dir);
}

static int find(struct search *s)
{
	/* A daemon that gave up its privileges listens where it was when it began. */
	uid_t users[] = { s->status.euid, s->status.uid, s->status.suid, geteuid() };
	const char *ours = getenv("XDG_RUNTIME_DIR");
	char xdg[512], dir[sizeof(xdg) + 8];
	int fd = -1;

	if (hodo_proc_environment(s->pid, "XDG_RUNTIME_DIR", xdg, sizeof(xdg)) && xdg[0] == '/') {
		snprintf(dir, sizeof(dir), "%s/hodo", xdg);
		fd = try_roots(s, dir);
	}
	for (size_t i = 0; fd < 0 && i < sizeof(users) / sizeof(*users); i++) {
		bool tried = false;

		for (size_t k = 0; k < i; k++)
			tried |= users[k] == users[i];
		fd = tried ? -1 : try_user(s, users[i]);
	}
	/* Some write over their environment. */
	if (fd < 0 && ours && ours[0] == '/' && snprintf(dir, sizeof(dir), "%s/hodo", ours) < (int)sizeof(dir))
		fd = try_dir(s, -1, dir);
	return fd;
}

int hodo_peer_connect(pid_t pid, int pidfd, char *why, size_t why_size)
{
	struct search s = { .pid = pid, .pidfd = pidfd, .root = -1 };
	int err = hodo_proc_status(pid, &s.status), fd;
	char root[32];

	if (!err)
		err = refuse_kind(pid, &s.status, why, why_size);
	else
		snprintf(why, why_size, "process %d has ended: give one that runs", (int)pid);
	if (err)
		return err;
	if (hodo_proc_other_root(pid)) {
		snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
		s.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	fd = find(&s);
	if (s.root >= 0)
		close(s.root);
	/* What was read of it was of another process by then, if it has ended. */
	if (!is_alive(pidfd)) {
		if (fd >= 0)
			close(fd);
		snprintf(why, why_size, "process %d has ended: give one that runs", (int)pid);
		return -ESRCH;
	}
	if (fd >= 0)
		return fd;
	if (s.error) {
		snprintf(why, why_size, "process %d cannot be reached: %s: %s", (int)pid, strerror(-s.error),
			 hodo_remedy(s.error));
		return s.error;
	}
	snprintf(why, why_size, s.stranger ? "process %d does not listen: another process has the socket of that number" :
					     "process %d does not listen", (int)pid);
	return -ECONNREFUSED;
}

/* -------------------------------------------------------------------- asking */

/* Receives the answer and descriptors; their number in n. The length or a negative errno. */
static ssize_t receive(int fd, struct hodo_msg_answer *answer, int *fds, int *n)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_TAKEN * sizeof(int))];
	} control;
	struct iovec iov = { answer, sizeof(*answer) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*n = 0;
	if (len < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < bytes / sizeof(int) && *n < FDS_TAKEN; i++)
			memcpy(&fds[(*n)++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	return msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -EPROTO : len;
}

static int wait_for_answer(int fd, int64_t until_ms)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = until_ms - now_ms();
		int n = left > 0 ? poll(&p, 1, (int)left) : 0;

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

/* Whatever it says, its texts end. */
static void end_texts(struct hodo_msg_answer *a)
{
	a->path[sizeof(a->path) - 1] = 0;
	a->flight.comm[sizeof(a->flight.comm) - 1] = 0;
	a->flight.exe[sizeof(a->flight.exe) - 1] = 0;
	a->flight.hostname[sizeof(a->flight.hostname) - 1] = 0;
	a->flight.boot_id[sizeof(a->flight.boot_id) - 1] = 0;
}

int hodo_peer_ask(int fd, enum hodo_control_op op, uint32_t pid, uint32_t next, const char *text,
		  struct hodo_msg_answer *answer, int *passed)
{
	struct hodo_msg_control m = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONTROL }, .op = op, .pid = pid, .next = next,
	};
	int64_t until_ms = now_ms() + ANSWER_MS;
	int fds[FDS_TAKEN], n = 0, err;
	ssize_t len;

	if (passed)
		*passed = -1;
	if (text && snprintf(m.text, sizeof(m.text), "%s", text) >= (int)sizeof(m.text))
		return -ENAMETOOLONG;
	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof(m))
		return errno == EPIPE ? -ECONNRESET : -errno;
	do {
		err = wait_for_answer(fd, until_ms);
		len = err ? err : receive(fd, answer, fds, &n);
	} while (len == -EAGAIN || len == -EINTR);
	err = len == 0 ? -ECONNRESET : len < 0 ? (int)len : 0;
	if (!err && (!is_answer(answer, len) || n > (passed ? 1 : 0)))
		err = -EPROTO;
	if (!err && passed && n == 1)
		*passed = fds[--n];
	while (n > 0)
		close(fds[--n]);
	if (!err)
		end_texts(answer);
	return err;
}

/* ---------------------------------------------------------------- refusals */

static void tell_busy(pid_t pid, const struct hodo_msg_answer *a, char *why, size_t why_size)
{
	char who[64] = "hodo";

	if (a->by == HODO_BY_FLIGHT) {
		snprintf(why, why_size, "process %d keeps a flight recorder in %s: 'hodo snapshot %d' writes it, and 'hodo"
			 " detach %d' ends it", (int)pid, a->path, (int)pid, (int)pid);
		return;
	}
	if (a->recorder)
		snprintf(who, sizeof(who), "hodo (process %u)", a->recorder);
	snprintf(why, why_size, "process %d is recorded by %s already: end that, or let 'hodo detach %d' end it", (int)pid,
		 who, (int)pid);
}

void hodo_peer_refusal(pid_t pid, enum hodo_control_op op, const struct hodo_msg_answer *a, char *why,
		       size_t why_size)
{
	int err = a->result < 0 && a->result > -4096 ? a->result : -EPROTO;

	if (err == -EBUSY && op == HODO_CONTROL_RECORD)
		tell_busy(pid, a, why, why_size);
	else if (err == -EAGAIN)
		snprintf(why, why_size, "process %d has not ended its last recording: one of its threads is inside an event"
			 " still: let that go on, and try again", (int)pid);
	else if (err == -ENOTCONN && op == HODO_CONTROL_ENABLE)
		snprintf(why, why_size, "process %d is not being recorded, so that no event can be on: start that with"
			 " 'hodo record -p %d'", (int)pid, (int)pid);
	else if (err == -ENOTCONN)
		snprintf(why, why_size, "process %d is not being recorded: 'hodo record -p %d' does that", (int)pid,
			 (int)pid);
	else if (err == -EOPNOTSUPP)
		snprintf(why, why_size, "process %d has another version of libhodo, which cannot do that: start it anew with this one", (int)pid);
	else
		snprintf(why, why_size, "process %d refuses: %s: %s", (int)pid, strerror(-err), hodo_remedy(err));
}
