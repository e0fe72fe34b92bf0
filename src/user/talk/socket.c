/* SPDX-License-Identifier: MIT */
/* socket.c - the sockets between a process and its recorder, or hodo. */
#include <sys/socket.h>
#include <user/libc/sys.h>
#include "talk.h"

long hodo_sys_socket_new(void)
{
	return hodo_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

long hodo_sys_socket_send(int fd, const void *data, size_t len, int passed)
{
	struct iovec io = { (void *)data, len };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };

	if (passed >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		__builtin_memcpy(CMSG_DATA(&control.head), &passed, sizeof(int));
	}
	return hodo_sys3(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL);
}

bool hodo_sys_socket_peer(int fd, uint32_t *pid, uint32_t *uid)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	bool known = hodo_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&len, 0) == 0;

	*pid = (uint32_t)peer.pid;
	*uid = peer.uid;
	return known;
}
