/* SPDX-License-Identifier: MIT */
/* socket.c - the sockets between recorders and processes. */
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <base/scope.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define FDS_TAKEN 16 /* descriptors of one message that we receive, to close them */

/* use: connect() or bind(). */
static int open_at(const struct sockaddr_un *a, socklen_t len,
		   int (*use)(int fd, const struct sockaddr *a, socklen_t len))
{
	HODO_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 || use(fd, (const struct sockaddr *)a, len) < 0 ? -errno : hodo_take_fd(&fd);
}

static int open_path(const char *path, int (*use)(int fd, const struct sockaddr *a, socklen_t len))
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	return open_at(&a, sizeof(a), use);
}

int socket_connect(const char *path)
{
	return open_path(path, connect);
}

static int listen_on(int bound)
{
	HODO_AUTO_CLOSE int fd = bound;

	if (fd < 0)
		return fd;
	return listen(fd, SOMAXCONN) < 0 ? -errno : hodo_take_fd(&fd);
}

int socket_listen(const char *path)
{
	return listen_on(open_path(path, bind));
}

int socket_listen_abstract(const char *prefix, const char *name, size_t len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int bytes = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s%.*s", prefix, (int)len, name);

	return listen_on(open_at(&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes), bind));
}

bool socket_is_stale(const char *path)
{
	HODO_AUTO_CLOSE int fd = socket_connect(path);

	return fd == -ECONNREFUSED;
}

ssize_t socket_receive(int fd, void *message, size_t size, int *passed)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_TAKEN * sizeof(int))];
	} control;
	struct iovec iov = { message, size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fds[FDS_TAKEN];
	size_t n = 0;

	*passed = -1;
	if (len < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < bytes / sizeof(int) && n < FDS_TAKEN; i++)
			memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	if (msg.msg_flags & MSG_TRUNC)
		len = -EMSGSIZE;
	else if (msg.msg_flags & MSG_CTRUNC)
		len = n == 0 ? -EMFILE : -EPROTO;
	else if (n > 1)
		len = -EPROTO;
	else if (n == 1)
		*passed = fds[--n];
	while (n > 0)
		close(fds[--n]);
	return len;
}

int socket_send(int fd, const void *message, size_t size, int passed)
{
	struct iovec iov = { (void *)message, size };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	memset(&control, 0, sizeof(control));
	if (passed >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &passed, sizeof(int));
	}
	n = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : n == (ssize_t)size ? 0 : -EMSGSIZE;
}

int socket_peer(int fd)
{
	socklen_t len = sizeof(int);
	int pidfd = -1;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) < 0)
		return -errno;
	fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	return pidfd;
}
