/* SPDX-License-Identifier: MIT */
/*
 * switches.c - writes the kernel's records of switches as events, into memory with the layout of a process's. The
 * recorder is its writer and, through the code for all processes, its reader: so parts, limits, losses and
 * compression work as everywhere.
 *
 *              | take | hodo_process_poll() and others that read rings
 *   take       | one thread, the recorder's | before them: it writes while none of the recorder's threads drains
 *
 * The records have CLOCK_MONOTONIC's time. Each take samples both clocks, and what came between two samples
 * is interpolated: exact to the error of a sample, some tens of nanoseconds, whatever NTP does.
 */
#include "switches.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <base/file.h>
#include <base/quantity.h>
#include <base/scope.h>
#include <core/ring.h>

#include "perf.h"
#include <record/process_impl.h>

#define PASSES_MAX 8u /* over a process's threads, which may create others meanwhile */

enum { WATCHED = 1, IN, OUT };

struct hodo_switches {
	struct hodo_recorder *recorder;
	struct hodo_process *process;
	struct hodo_perf *perf;
	struct hodo_ring_config config;
	struct hodo_clock_sample before, now; /* at the last take and this one */
	uint64_t lost; /* switches */
};

int hodo_switches_check(struct hodo_why *why)
{
	return hodo_perf_check(why);
}

/* ------------------------------------------------------------------------ clock */

/* Without the two bits that records lack, so that no packet begins after its first event. */
static uint64_t ticks_at(const struct hodo_switches *w, int64_t mono_ns)
{
	const struct hodo_clock_sample *a = &w->before, *b = &w->now;
	__int128 ticks = (__int128)(b->ticks - a->ticks) * (mono_ns - b->mono_ns);

	if (w->recorder->clock == HODO_CLOCK_MONOTONIC)
		return (uint64_t)mono_ns & ~3ull;
	if (b->mono_ns <= a->mono_ns)
		return b->ticks & ~3ull;
	ticks = (__int128)b->ticks + ticks / (b->mono_ns - a->mono_ns);
	/* A sampling error must not put anything into the future. */
	return (uint64_t)(ticks < 0 ? 0 : ticks > (__int128)b->ticks ? (__int128)b->ticks : ticks) & ~3ull;
}

/* ------------------------------------------------------------------------- ring */

static struct hodo_view view_of(const struct hodo_process *p, uint32_t cpu)
{
	return (struct hodo_view){ .ring = (struct hodo_ring *)(p->shm + hodo_layout_ring(cpu)),
				   .data = p->shm + p->layout.data + cpu * p->layout.ring_size,
				   .mask = p->layout.ring_size - 1, .packet_size = p->layout.packet_size };
}

/* Begins another packet; false: the ring is full. */
static bool next_packet(const struct hodo_switches *w, const struct hodo_view *view, uint32_t cpu, uint64_t ticks)
{
	struct hodo_switch plan;

	if (hodo_ring_plan(&w->config, view, cpu, view->ring->word, &plan) != HODO_RING_PLANNED)
		return false;
	plan.now = ticks > view->ring->latest ? ticks : view->ring->latest;
	hodo_ring_switch_locked(&plan);
	return true;
}

static void begin_ring(const struct hodo_switches *w, const struct hodo_view *view, uint32_t cpu, uint64_t ticks)
{
	if (view->ring->word == 0)
		hodo_ring_activate(&w->config, view->ring, view->data, cpu, ticks);
}

static void put(struct hodo_switches *w, uint32_t cpu, uint16_t id, uint32_t tid, uint64_t ticks, bool preempted)
{
	struct hodo_view view = view_of(w->process, cpu);
	uint8_t byte = preempted;
	struct hodo_piece piece = { &byte, id == OUT };

	begin_ring(w, &view, cpu, ticks);
	if (!hodo_ring_has_room(view.ring->word, view.packet_size, piece.len) && !next_packet(w, &view, cpu, ticks)) {
		view.ring->lost_full++;
		w->lost++;
		return;
	}
	hodo_ring_write_locked(&view, id, tid, ticks, &piece, 1, piece.len);
}

/* Another packet begins after a loss, so that the time of the loss is known to the record. */
static void put_loss(struct hodo_switches *w, uint32_t cpu, uint64_t lost, uint64_t ticks)
{
	struct hodo_view view = view_of(w->process, cpu);

	begin_ring(w, &view, cpu, ticks);
	view.ring->lost_full += lost;
	w->lost += lost;
	next_packet(w, &view, cpu, ticks);
}

/* ---------------------------------------------------------------------- records */

/* A new thread has the name of its creator. */
static void name(const struct hodo_switches *w, const struct hodo_perf_record *r)
{
	const struct hodo_ctf_thread *parent = hodo_map_find(&w->process->threads, &r->parent);
	char comm[sizeof(r->comm)];

	/* A copy, since the entry moves when another is added. */
	snprintf(comm, sizeof(comm), "%s", r->comm[0] ? r->comm : parent ? parent->comm : "?");
	hodo_process_name_thread(w->process, r->tid, r->pid, comm);
}

static void take_record(void *arg, uint32_t cpu, const struct hodo_perf_record *r)
{
	struct hodo_switches *w = arg;
	uint64_t ticks = ticks_at(w, r->mono_ns);

	switch (r->kind) {
	case HODO_PERF_IN:
	case HODO_PERF_OUT:
		/* 0: the thread has ended, and its tid is not known any more. */
		if (r->tid && r->tid != UINT32_MAX)
			put(w, cpu, r->kind == HODO_PERF_IN ? IN : OUT, r->tid, ticks, r->preempted);
		return;
	case HODO_PERF_NAMED:
		name(w, r);
		return;
	case HODO_PERF_LOST:
		put_loss(w, cpu, r->lost, ticks);
		return;
	}
}

int hodo_switches_take(struct hodo_recorder *s)
{
	struct hodo_switches *w = s->switches;
	int most = 0;

	if (!w)
		return 0;
	w->before = w->now;
	/* The order matters: we may be preempted between the two, and everything taken must have happened
	 * before the sample, or it could not be interpolated. */
	hodo_perf_look(w->perf);
	hodo_clock_sample(s->clock, &w->now);
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		int used = hodo_perf_take(w->perf, cpu, take_record, w);

		most = used > most ? used : most;
	}
	return most;
}

/* ---------------------------------------------------------------------- threads */

static int watch_thread(struct hodo_switches *w, uint32_t pid, uint32_t tid, int tasks)
{
	int err = hodo_perf_watch(w->perf, (pid_t)tid);
	char path[64], comm[16] = "";

	if (err)
		return err == -ESRCH ? 0 : err; /* it has ended */
	snprintf(path, sizeof(path), "%u/comm", tid);
	hodo_file_line(tasks, path, comm, sizeof(comm));
	hodo_process_name_thread(w->process, tid, pid, comm[0] ? comm : "?");
	/* Earlier records come first: times in a ring must not run back. */
	hodo_switches_take(w->recorder);
	put(w, 0, WATCHED, tid, w->now.ticks & ~3ull, false);
	return 0;
}

/* Watches the present threads that are not watched yet. How many, or a negative errno. */
static int watch_threads(struct hodo_switches *w, uint32_t pid, int tasks)
{
	HODO_AUTO_CLOSE int fd = openat(tasks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int n = 0, err = 0;

	if (!dir)
		return fd < 0 ? -errno : -ENOMEM;
	fd = -1; /* dir's */
	while (!err && (entry = readdir(dir))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!tid || hodo_map_find(&w->process->threads, &tid))
			continue;
		err = watch_thread(w, pid, tid, tasks);
		n++;
	}
	closedir(dir);
	return err ? err : n;
}

void hodo_switches_watch(struct hodo_recorder *s, pid_t pid)
{
	char path[64];
	int n = -ESRCH;

	if (!s->switches)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	{
		HODO_AUTO_CLOSE int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		uint32_t passes = 0;

		/* A thread created by one that was not watched yet is found in the next pass. */
		do
			n = tasks < 0 ? -errno : watch_threads(s->switches, (uint32_t)pid, tasks);
		while (n > 0 && ++passes < PASSES_MAX);
	}
	if (n >= 0)
		return;
	hodo_report(&s->config.reporter, "when the threads of process %d run cannot be seen: %s: %s", (int)pid, strerror(-n),
		    n == -EMFILE ? "raise 'ulimit -n': each thread takes a descriptor for each CPU" :
		    n == -EACCES || n == -EPERM ? "record it as its user, or as root" : hodo_remedy(n));
}

/* --------------------------------------------------------------------- catalogue */

/* As in hodo/abi.h: types, then texts. */
static void add_event(struct hodo_process *p, uint16_t id, const char *name, const char *field)
{
	struct hodo_shm *shm = (struct hodo_shm *)p->shm;
	uint8_t *at = p->shm + HODO_SHM_CATALOG + shm->catalog_used;
	struct hodo_record_event *r = (struct hodo_record_event *)at;

	r->kind = HODO_KIND_EVENT;
	r->nfields = field != NULL;
	at = (uint8_t *)(r + 1);
	if (field)
		*at++ = HODO_TYPE_BOOL;
	at = (uint8_t *)stpcpy((char *)at, name) + 1;
	if (field)
		at = (uint8_t *)stpcpy((char *)at, field) + 1;
	at += 4; /* format, file, function, object: empty */
	r->head.type = HODO_RECORD_EVENT;
	r->head.id = id;
	r->head.size = (uint32_t)((at - (uint8_t *)r + 7) & ~7);
	shm->catalog_used += r->head.size;
}

/* 0 or a negative errno. */
static int make_memory(struct hodo_process *p)
{
	struct hodo_shm *shm;
	void *map;

	if (p->memfd < 0 || ftruncate(p->memfd, (off_t)p->layout.total) < 0)
		return -errno;
	map = mmap(NULL, p->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->memfd, 0);
	if (map == MAP_FAILED)
		return -errno;
	p->shm = map;
	shm = map;
	memcpy(shm->magic, HODO_SHM_MAGIC, sizeof(shm->magic));
	shm->version = HODO_ABI_VERSION;
	shm->rings = p->layout.rings;
	add_event(p, WATCHED, "sched:watched", NULL);
	add_event(p, IN, "sched:switch_in", NULL);
	add_event(p, OUT, "sched:switch_out", "preempted");
	return 0;
}

/* ------------------------------------------------------------------- begin, end */

static int begin(struct hodo_switches *w)
{
	struct hodo_recorder *s = w->recorder;
	struct hodo_process_id id = { 0 };
	int err;

	hodo_recorder_choose_clock(s, true);
	hodo_config_describe(s, s->total.processes, &id.flight);
	id.flight.start = HODO_START_ATTACH;
	strcpy(id.flight.comm, "kernel");
	err = hodo_perf_open(&w->perf, s->cpus);
	if (err)
		return err;
	w->process = hodo_process_new(s, &id, -1, memfd_create("hodo-switches", MFD_CLOEXEC));
	if (!w->process)
		return -ENOMEM;
	w->process->kernel = w->process->ours = true;
	w->config = (struct hodo_ring_config){ .packet_size = s->config.packet_size, .mode = s->config.mode,
					       .ring_size = s->config.ring_size };
	memcpy(w->config.uuid, id.flight.uuid, sizeof(w->config.uuid));
	hodo_layout_init(&w->process->layout, s->cpus + 1, s->config.packet_size, s->config.ring_size);
	err = make_memory(w->process);
	if (!err)
		err = hodo_process_join(w->process);
	if (err) {
		hodo_process_free(w->process);
		w->process = NULL;
	}
	return err;
}

int hodo_recorder_add_switches(struct hodo_recorder *s, struct hodo_why *why)
{
	struct hodo_switches *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (w) {
		w->recorder = s;
		err = begin(w);
	}
	if (err) {
		if (w)
			hodo_perf_close(w->perf);
		free(w);
		return hodo_why_errno(why, err, "there is no room for when threads run");
	}
	hodo_clock_sample(s->clock, &w->now);
	s->switches = w;
	return 0;
}

void hodo_switches_end(struct hodo_recorder *s)
{
	char number[32];

	if (!s->switches)
		return;
	hodo_switches_take(s);
	if (s->switches->lost)
		hodo_report(&s->config.reporter, "%s switch%s of threads %s lost, as the recorder came too late: spans around "
			    "them do not say off_cpu: --realtime lets it run before others",
			    hodo_grouped(s->switches->lost, number), s->switches->lost == 1 ? "" : "es",
			    s->switches->lost == 1 ? "was" : "were");
	hodo_perf_close(s->switches->perf);
	free(s->switches);
	s->switches = NULL;
}
