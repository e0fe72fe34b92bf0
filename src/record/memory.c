/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of a recording is handed to somebody who makes a snapshot of it.
 *
 * It is passed open for reading only: whoever makes a snapshot need not be trusted with more.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <base/scope.h>

#include "peer.h"
#include "process.h"
#include "shm.h"
#include "snapshot.h"
#include "socket.h"

/* --------------------------------------------------------------------- giving */

/* The process that is asked for: the next-th of all, or of those with that number (it has one at a time). The
 * kernel's memory is had from the kernel. */
static const struct hodo_process *find(const struct hodo_session *s, uint32_t pid, uint32_t next)
{
	for (const struct hodo_process *p = s->processes; p; p = p->next)
		if (!p->kernel && (pid == 0 || p->id.pid == (pid_t)pid) && next-- == 0)
			return p;
	return NULL;
}

static void answer(struct hodo_session *s, int fd, const struct hodo_msg_control *m,
		   bool (*is_joining)(const struct hodo_session *s, pid_t pid))
{
	struct hodo_msg_answer a = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_ANSWER }, .by = HODO_BY_RECORDER,
		.recorder = (uint32_t)getpid(),
	};
	const struct hodo_process *p = m->op == HODO_CONTROL_MEMORY ? find(s, m->pid, m->next) : NULL;
	HODO_AUTO_CLOSE int passed = -1;
	char path[32];

	if (m->op != HODO_CONTROL_MEMORY)
		a.result = -EINVAL;
	else if (!p)
		a.result = m->pid && is_joining(s, (pid_t)m->pid) ? -EAGAIN : -ENOENT;
	else if (s->config.mode != HODO_MODE_OVERWRITE)
		a.result = -EOPNOTSUPP;
	if (p)
		a.pid = p->id.vpid;
	if (!a.result) {
		a.flight = p->id.flight;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", p->memfd);
		passed = open(path, O_RDONLY | O_CLOEXEC);
		if (passed < 0)
			a.result = errno == ENOENT ? -EIO : -errno; /* -ENOENT would say that there is no process */
	}
	hodo_socket_send(fd, &a, sizeof(a), passed); /* whoever does not take it has exited */
}

int hodo_memory_serve(struct hodo_session *s, int fd, bool (*is_joining)(const struct hodo_session *s, pid_t pid))
{
	struct hodo_msg_control m;
	ssize_t n = recv(fd, &m, sizeof(m.head), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n != (ssize_t)sizeof(m.head) || m.head.magic != HODO_MSG_MAGIC || m.head.type != HODO_MSG_CONTROL)
		return 0;
	n = recv(fd, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);
	if (n == (ssize_t)sizeof(m) && m.head.version == HODO_ABI_VERSION)
		answer(s, fd, &m, is_joining);
	return 1;
}

/* --------------------------------------------------------------------- asking */

int hodo_memory_ask(const char *path, pid_t pid, uint32_t next, const char *why, struct hodo_msg_answer *a)
{
	HODO_AUTO_CLOSE int fd = hodo_socket_connect(path);
	HODO_AUTO_CLOSE int passed = -1;
	int err = fd < 0 ? fd : hodo_peer_ask(fd, HODO_CONTROL_MEMORY, (uint32_t)pid, next, why, a, &passed);

	if (err)
		return err;
	if (a->result)
		return a->result < 0 && a->result > -4096 ? a->result : -EPROTO;
	return passed < 0 ? -EPROTO : hodo_take_fd(&passed);
}

int hodo_memory_map(struct hodo_memory *m, const struct hodo_msg_answer *a, int fd)
{
	struct hodo_shm head;
	struct stat st;
	void *map = MAP_FAILED;
	int err = -EPROTO;

	*m = (struct hodo_memory){ .fd = fd, .flight = a->flight, .pid = a->pid };
	if (!hodo_shm_flaw(fd) && fstat(fd, &st) == 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    memcmp(head.magic, HODO_SHM_MAGIC, sizeof(head.magic)) == 0 && head.version == HODO_ABI_VERSION &&
	    hodo_snapshot_layout(&m->flight, head.rings, (uint64_t)st.st_size, &m->layout) == 0) {
		map = mmap(NULL, m->layout.total, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
		err = -errno;
	}
	if (map == MAP_FAILED) {
		hodo_memory_unmap(m);
		return err;
	}
	m->shm = map;
	return 0;
}

void hodo_memory_unmap(struct hodo_memory *m)
{
	if (m->shm)
		munmap((void *)m->shm, m->layout.total);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct hodo_memory){ .fd = -1 };
}
