/* SPDX-License-Identifier: MIT */
#include "perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <base/file.h>
#include <base/vec.h>

#define PARANOID   "/proc/sys/kernel/perf_event_paranoid"
#define PAGES      256u /* of a buffer: 40,000 records; perf_event_mlock_kb allows everybody half of that */
#define PAGES_MIN  4u
#define RECORD_MAX 512u /* larger ones are not of the requested kinds */

struct buffer {
	int fd; /* of its first event; -1: the CPU does not exist */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;
	uint64_t head; /* as last read */
	uint32_t last_tid; /* of the last switch */
	uint16_t last_misc;
};

struct hodo_perf {
	uint32_t cpus;
	struct buffer *buffer;
	int *fds; /* of all events except the buffers' first */
	uint32_t nfds;
	size_t page;
};

/* Follows each record except samples. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

struct fork_record {
	uint32_t pid, ppid, tid, ptid;
};

struct comm_record {
	uint32_t pid, tid;
	char comm[];
};

/* ---------------------------------------------------------------------- opening */

static int open_event(pid_t tid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1,
		.context_switch = 1, .task = 1, .comm = 1, .inherit = 1,
		.exclude_kernel = 1, .exclude_hv = 1, /* else it takes more rights, and counts nothing anyway */
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int hodo_perf_check(struct hodo_why *why)
{
	int fd = open_event(0, -1);
	char level[16] = "";

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	hodo_file_line(AT_FDCWD, PARANOID, level, sizeof(level));
	if ((fd == -EACCES || fd == -EPERM) && atoi(level) > 2)
		return hodo_why(why, fd, "kernel.perf_event_paranoid is %s: 'sysctl kernel.perf_event_paranoid=2', "
				"as root, lets everybody see when their threads run", level);
	if (fd == -EACCES || fd == -EPERM)
		return hodo_why(why, fd, "perf_event_open is refused, by a sandbox or security module");
	return hodo_why(why, fd, "this kernel does not say when threads run: %s", strerror(-fd));
}

/* As large as can be locked. 0 or a negative errno. */
static int map(struct hodo_perf *perf, struct buffer *b)
{
	void *at = MAP_FAILED;

	for (uint32_t pages = PAGES; pages >= PAGES_MIN && at == MAP_FAILED; pages /= 2) {
		b->size = pages * perf->page;
		at = mmap(NULL, perf->page + b->size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	}
	if (at == MAP_FAILED)
		return -errno;
	b->page = at;
	b->data = (const uint8_t *)at + perf->page;
	return 0;
}

int hodo_perf_open(struct hodo_perf **out, uint32_t cpus)
{
	struct hodo_perf *perf = calloc(1, sizeof(*perf));

	*out = perf;
	if (!perf)
		return -ENOMEM;
	perf->page = (size_t)sysconf(_SC_PAGESIZE);
	perf->buffer = calloc(cpus, sizeof(*perf->buffer));
	if (!perf->buffer) {
		free(perf);
		*out = NULL;
		return -ENOMEM;
	}
	perf->cpus = cpus;
	for (uint32_t i = 0; i < cpus; i++)
		perf->buffer[i].fd = -1;
	return 0;
}

void hodo_perf_close(struct hodo_perf *perf)
{
	if (!perf)
		return;
	for (uint32_t i = 0; i < perf->nfds; i++)
		close(perf->fds[i]);
	for (uint32_t i = 0; i < perf->cpus; i++) {
		struct buffer *b = &perf->buffer[i];

		if (b->page)
			munmap(b->page, perf->page + b->size);
		if (b->fd >= 0)
			close(b->fd);
	}
	free(perf->fds);
	free(perf->buffer);
	free(perf);
}

/*
 * Opens the thread's event on a CPU. 0, or a negative errno; -ENODEV: the CPU is offline, and nothing runs
 * there.
 */
static int watch_on(struct hodo_perf *perf, pid_t tid, uint32_t cpu)
{
	struct buffer *b = &perf->buffer[cpu];
	int fd = open_event(tid, (int)cpu), err = 0, *kept;

	if (fd < 0)
		return fd;
	if (b->fd < 0) {
		b->fd = fd;
		err = map(perf, b);
		if (err)
			b->fd = -1;
	} else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, b->fd) < 0) {
		err = -errno;
	} else {
		kept = hodo_vec_add(perf->fds, perf->nfds);
		if (kept)
			*kept = fd;
		else
			err = -ENOMEM;
	}
	if (err)
		close(fd);
	return err;
}

int hodo_perf_watch(struct hodo_perf *perf, pid_t tid)
{
	uint32_t had = perf->nfds;
	int err = 0;

	for (uint32_t i = 0; i < perf->cpus && !err; i++) {
		err = watch_on(perf, tid, i);
		if (err == -ENODEV)
			err = 0;
	}
	/* Half of a thread's switches are worse than none. A buffer's first event stays: others use the buffer. */
	while (err && perf->nfds > had)
		close(perf->fds[--perf->nfds]);
	return err;
}

/* ---------------------------------------------------------------------- records */

static void copy(const struct buffer *b, uint64_t from, void *to, size_t bytes)
{
	size_t at = (size_t)(from & (b->size - 1)), first = b->size - at < bytes ? b->size - at : bytes;

	memcpy(to, b->data + at, first);
	memcpy((uint8_t *)to + first, b->data, bytes - first);
}

/*
 * A thread watched twice, since it was created while its process's threads were counted, has two records of
 * each switch, one after the other: on one CPU it cannot come or leave twice without the other in between.
 */
static bool is_second(struct buffer *b, uint32_t tid, uint16_t misc)
{
	bool second = b->last_tid == tid && b->last_misc == misc;

	b->last_tid = tid;
	b->last_misc = misc;
	return second;
}

/* Decodes the record; false: not one of ours. */
static bool decode(struct buffer *b, const struct perf_event_header *h, const uint8_t *body, size_t len,
		   struct hodo_perf_record *r)
{
	const size_t rest = len - sizeof(struct sample_id);
	struct sample_id id;

	memcpy(&id, body + rest, sizeof(id));
	*r = (struct hodo_perf_record){ .pid = id.pid, .tid = id.tid, .mono_ns = (int64_t)id.time };
	if (h->type == PERF_RECORD_SWITCH) {
		const uint16_t misc = h->misc & (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);

		r->kind = misc & PERF_RECORD_MISC_SWITCH_OUT ? HODO_PERF_OUT : HODO_PERF_IN;
		r->preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		return !is_second(b, id.tid, misc);
	}
	if (h->type == PERF_RECORD_LOST && rest >= 16) {
		r->kind = HODO_PERF_LOST;
		memcpy(&r->lost, body + 8, sizeof(r->lost));
		b->last_tid = 0;
		return true;
	}
	if (h->type == PERF_RECORD_COMM && rest > sizeof(struct comm_record)) {
		const struct comm_record *c = (const struct comm_record *)body;

		r->kind = HODO_PERF_NAMED;
		r->pid = c->pid;
		r->tid = c->tid;
		snprintf(r->comm, sizeof(r->comm), "%.*s", (int)(rest - sizeof(*c)), c->comm);
		return true;
	}
	if (h->type == PERF_RECORD_FORK && rest >= sizeof(struct fork_record)) {
		const struct fork_record *f = (const struct fork_record *)body;

		r->kind = HODO_PERF_NAMED;
		r->pid = f->pid;
		r->tid = f->tid;
		r->parent = f->ptid;
		return true;
	}
	return false;
}

void hodo_perf_look(struct hodo_perf *perf)
{
	/* The records were stored before it. Without acquire, we could see the new position and old bytes. */
	for (uint32_t i = 0; i < perf->cpus; i++)
		if (perf->buffer[i].page)
			perf->buffer[i].head = __atomic_load_n(&perf->buffer[i].page->data_head, __ATOMIC_ACQUIRE);
}

int hodo_perf_take(struct hodo_perf *perf, uint32_t cpu,
		   void (*take)(void *arg, uint32_t cpu, const struct hodo_perf_record *record), void *arg)
{
	struct buffer *b = &perf->buffer[cpu];
	uint64_t tail, head, used;

	if (!b->page)
		return 0;
	tail = b->page->data_tail;
	head = b->head;
	used = head - tail;
	while (head - tail >= sizeof(struct perf_event_header)) {
		uint8_t body[RECORD_MAX] __attribute__((aligned(8)));
		struct perf_event_header h;
		struct hodo_perf_record r;
		size_t len;

		copy(b, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		len = h.size - sizeof(h);
		if (len >= sizeof(struct sample_id) && len <= sizeof(body)) {
			copy(b, tail + sizeof(h), body, len);
			if (decode(b, &h, body, len, &r))
				take(arg, cpu, &r);
		}
		tail += h.size;
	}
	/* All records were read before it. Without release, the kernel could overwrite them earlier. */
	__atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
	return (int)((used * 16 + b->size - 1) / b->size);
}
