/* SPDX-License-Identifier: MIT */
/*
 * lend.c - hands the memory of a recording to a process that makes a snapshot of it.
 *
 * It is passed read-only: that process need not be trusted with more.
 */
#include "lend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <base/scope.h>

#include <record/join/peer.h>
#include <record/process_impl.h>
#include "shm.h"
#include <record/write/snapshot.h>

/* --------------------------------------------------------------------- giving */

int hodo_lend(const struct hodo_recorder *s, const struct hodo_process *p, struct hodo_msg_answer *a)
{
	char path[32];
	int fd;

	a->pid = p->id.vpid;
	if (s->config.mode != HODO_MODE_OVERWRITE)
		return -EOPNOTSUPP;
	a->flight = p->id.flight;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->memfd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EIO : -errno; /* -ENOENT would mean that there is no process */
	return fd;
}

/* --------------------------------------------------------------------- asking */

int hodo_lent_ask(const char *path, pid_t pid, uint32_t next, const char *why, struct hodo_msg_answer *a)
{
	HODO_AUTO_CLOSE int passed = -1;
	int err = hodo_recorder_ask(path, HODO_CONTROL_MEMORY, pid, next, why, a, &passed);

	if (err)
		return err;
	return passed < 0 ? -EPROTO : hodo_take_fd(&passed);
}

int hodo_lent_map(struct hodo_lent *m, const struct hodo_msg_answer *a, int fd)
{
	struct hodo_shm head;
	struct stat st;
	void *map = MAP_FAILED;
	int err = -EPROTO;

	*m = (struct hodo_lent){ .fd = fd, .flight = a->flight, .pid = a->pid };
	if (!hodo_shm_flaw(fd) && fstat(fd, &st) == 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    memcmp(head.magic, HODO_SHM_MAGIC, sizeof(head.magic)) == 0 && head.version == HODO_ABI_VERSION &&
	    hodo_snapshot_layout(&m->flight, head.rings, (uint64_t)st.st_size, &m->layout) == 0) {
		map = mmap(NULL, m->layout.total, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
		err = -errno;
	}
	if (map == MAP_FAILED) {
		hodo_lent_unmap(m);
		return err;
	}
	m->shm = map;
	return 0;
}

void hodo_lent_unmap(struct hodo_lent *m)
{
	if (m->shm)
		munmap((void *)m->shm, m->layout.total);
	hodo_close(m->fd);
	*m = (struct hodo_lent){ .fd = -1 };
}
