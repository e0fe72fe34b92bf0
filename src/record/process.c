/* SPDX-License-Identifier: MIT */
/*
 * process.c - one traced process image, from its memory to its folder.
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "adopt.h"
#include "conditions.h"
#include "kernel.h"
#include "shm.h"

#define WARNINGS_TOLD_MAX 100u /* of one process, on the terminal; the metadata has more */
#define FEW_RINGS 16u /* a page each is less than the trouble of looking which are used */

/* ------------------------------------------------------------- the memory */

/*
 * Memory that could be cut short under us, or whose pages might not come (huge
 * pages have a quota), would end the recorder with SIGBUS.
 */
static const char *memory_flaw(int memfd, const struct hodo_layout *l)
{
	int seals = fcntl(memfd, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0)
		return "what it sent is no memfd";
	if ((seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return "its memory is not sealed";
	if (fstat(memfd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != l->total)
		return "its memory has the wrong size";
	if (fstatfs(memfd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return "its memory is of the wrong kind";
	return NULL;
}

static const char *header_flaw(const uint8_t *shm, const struct hodo_layout *l)
{
	struct hodo_shm h;

	hodo_shm_copy(&h, shm, sizeof(h));
	if (memcmp(h.magic, HODO_SHM_MAGIC, sizeof(h.magic)) != 0 || h.version != HODO_ABI_VERSION)
		return "its memory has no header of ours";
	if (h.rings != l->rings)
		return "its memory is laid out otherwise";
	return NULL;
}

static int map_memory(struct hodo_process *p, const char **why)
{
	void *map;

	*why = memory_flaw(p->memfd, &p->layout);
	if (*why)
		return -EPROTO;
	map = mmap(NULL, p->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->memfd, 0);
	if (map == MAP_FAILED) {
		int err = -errno;

		*why = err == -EPERM ? "its memory cannot be written" : strerror(errno);
		return err == -EPERM ? -EPROTO : err;
	}
	p->shm = map;
	*why = header_flaw(p->shm, &p->layout);
	return *why ? -EPROTO : 0;
}

/* ---------------------------------------------------------------- catalogue */

static void tell_warnings(struct hodo_process *p)
{
	for (; p->warnings_told < p->catalog.warnings; p->warnings_told++) {
		if (p->warnings_told < WARNINGS_TOLD_MAX)
			hodo_session_report(p->session, "%s[%u]: %s", p->id.comm, p->id.vpid,
					    p->catalog.warning[p->warnings_told]);
		else if (p->warnings_told == WARNINGS_TOLD_MAX)
			hodo_session_report(p->session, "%s[%u]: more warnings: see hodo info", p->id.comm,
					    p->id.vpid);
	}
}

static void read_catalog(struct hodo_process *p)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)p->shm;
	uint32_t events = p->catalog.events;
	int n = hodo_catalog_read(&p->catalog, p->shm + HODO_SHM_CATALOG, hodo_shm_load64(&shm->catalog_used));

	if (n == -EBADMSG)
		hodo_session_report(p->session, "%s[%u]: its catalogue of events is damaged: new events are lost",
				    p->id.comm, p->id.vpid);
	/* Something may have been taken before an error, too. */
	if (n != 0) {
		p->metadata_dirty = true;
		tell_warnings(p);
	}
	if (p->catalog.events > events) {
		hodo_pattern_see(p->session->config.patterns, &p->catalog, events);
		hodo_pattern_see_fields(p->session->config.fields, &p->catalog, events);
		if (p->session->config.conditions)
			hodo_conditions_see(p->session->config.conditions, &p->catalog, events);
	}
}

/* ------------------------------------------------------------------ rings */

static const struct hodo_read_layouts *sink_table(void *arg)
{
	struct hodo_process *p = arg;

	read_catalog(p);
	return &p->catalog.walk;
}

static void sink_packet(void *arg, struct hodo_ring_reader *reader, const struct hodo_packet *h,
			const uint8_t *body)
{
	struct hodo_process_ring *r =
		(struct hodo_process_ring *)((char *)reader - offsetof(struct hodo_process_ring, reader));

	hodo_process_write(arg, &r->stream, h, body);
}

static void tell_damage(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	if (p->damage_told || (!r->broken && r->damage == 0))
		return;
	p->damage_told = true;
	hodo_session_report(p->session, "%s[%u]: its buffers are damaged: some of its events are lost", p->id.comm,
			    p->id.vpid);
}

static void consume_in_kernel(struct hodo_ring_reader *reader, uint64_t packets)
{
	struct hodo_process_ring *r =
		(struct hodo_process_ring *)((char *)reader - offsetof(struct hodo_process_ring, reader));

	hodo_kernel_consume(r->process, r->number, packets);
}

static void activate_ring(struct hodo_process *p, uint32_t i)
{
	struct hodo_process_ring *r;

	if (p->ring[i])
		return;
	r = calloc(1, sizeof(*r));
	if (!r)
		return; /* tried again at the next poll */
	r->process = p;
	r->number = i;
	hodo_ring_reader_init(&r->reader, (struct hodo_ring *)(p->shm + hodo_layout_ring(i)),
			      p->shm + p->layout.data + i * p->layout.ring_size, &p->layout,
			      p->session->config.mode, p->session->copy);
	if (p->kernel)
		r->reader.consume = consume_in_kernel;
	hodo_stream_init(&r->stream, p->id.uuid, i, p->layout.rings - 1);
	p->ring[i] = r;
	p->active[p->actives++] = i;
}

/*
 * Rings that have memory. On a machine with many CPUs the memory's holes are
 * asked for rather than read: reading a hole would give it memory.
 */
static void find_rings(struct hodo_process *p)
{
	off_t at = (off_t)HODO_SHM_RINGS, end = (off_t)p->layout.data;

	if (p->layout.rings <= FEW_RINGS || p->kernel)
		for (uint32_t i = 0; p->actives < p->layout.rings && i < p->layout.rings; i++)
			activate_ring(p, i);
	while (p->actives < p->layout.rings && at < end && !p->kernel) {
		off_t hole;

		at = lseek(p->memfd, at, SEEK_DATA);
		if (at < 0 || at >= end)
			return;
		hole = lseek(p->memfd, at, SEEK_HOLE);
		if (hole < 0 || hole > end)
			hole = end;
		if (hole <= at) /* it changed meanwhile */
			hole = at + HODO_PAGE;
		for (; at < hole; at += HODO_PAGE)
			activate_ring(p, (uint32_t)((at - (off_t)HODO_SHM_RINGS) / HODO_PAGE));
	}
}

int hodo_process_poll(struct hodo_process *p)
{
	struct hodo_ring_sink sink = { sink_packet, sink_table, p };
	int used_max = 0;

	find_rings(p);
	for (uint32_t i = 0; i < p->actives; i++) {
		struct hodo_ring_reader *r = &p->ring[p->active[i]]->reader;
		int used = hodo_ring_poll(r, &sink);

		tell_damage(p, r);
		if (used > used_max)
			used_max = used;
	}
	return used_max;
}

/* --------------------------------------------------------- on words, age */

/* Adds a bit to the words that are on, or takes it away; the process may change them meanwhile. */
static void change_on_words(struct hodo_process *p, uint32_t set, uint32_t keep)
{
	uint32_t *on = (uint32_t *)(p->shm + HODO_SHM_ON);

	for (uint32_t i = 0; i < p->catalog.events; i++) {
		uint32_t *word = &on[p->catalog.event[i]->id];
		uint32_t old = hodo_shm_load32(word);

		/* A word that is off stays off; one that just changed is looked at next time. */
		if (old != 0 && ((old & keep) | set) != old)
			__atomic_compare_exchange_n(word, &old, (old & keep) | set, false, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST);
	}
}

void hodo_process_chores(struct hodo_process *p, uint64_t now_ticks, uint64_t age_ticks)
{
	bool old = false;

	read_catalog(p);
	hodo_functions_see((const struct hodo_shm *)p->shm, &p->functions);
	hodo_process_read_threads(p, false);
	hodo_process_refresh_threads(p);
	if (p->threads_dirty && p->dirfd >= 0) /* tried again a second later if it fails */
		hodo_process_metadata(p, false);
	for (uint32_t i = 0; i < p->actives && !old; i++) {
		uint64_t since = hodo_ring_open_since(&p->ring[p->active[i]]->reader);

		old = since != 0 && since < now_ticks && now_ticks - since > age_ticks;
	}
	if (old && p->kernel)
		hodo_kernel_flush(p, age_ticks);
	else if (old)
		change_on_words(p, HODO_ON_AGE, ~0u);
	else if (p->age_set)
		change_on_words(p, 0, ~HODO_ON_AGE);
	p->age_set = old && !p->kernel;
}

void hodo_process_stop(struct hodo_process *p)
{
	struct hodo_shm *shm = (struct hodo_shm *)p->shm;
	uint32_t *on = (uint32_t *)(p->shm + HODO_SHM_ON);

	hodo_functions_see(shm, &p->functions);
	if (p->kernel) {
		hodo_kernel_stop(p);
		return;
	}
	__atomic_store_n(&shm->stopped, 1, __ATOMIC_SEQ_CST);
	read_catalog(p);
	for (uint32_t i = 0; i < p->catalog.events; i++)
		__atomic_store_n(&on[p->catalog.event[i]->id], 0, __ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------- begin, end, count */

/* A ring's share of the session's totals. */
static void add_total(struct hodo_session_stats *t, const struct hodo_process_ring *r)
{
	const struct hodo_ring_lost *l = &r->reader.lost;

	t->events += r->stream.events_before + r->stream.events;
	t->lost.full += l->full;
	t->lost.too_large += l->too_large;
	t->lost.busy += l->busy;
	t->lost.overwritten += l->overwritten;
	t->lost.unwritten += r->stream.unwritten;
	t->lost.damaged += l->damaged;
}

static void tell_catalog_full(const struct hodo_process *p)
{
	uint64_t lost = hodo_shm_load64(&((const struct hodo_shm *)p->shm)->catalog_lost);

	if (lost)
		hodo_session_report(p->session, "%s[%u]: %llu descriptions of events or libraries were too many: what "
				    "came late has no name: trace it for a shorter time, or less of it", p->id.comm,
				    p->id.vpid, (unsigned long long)lost);
}

static void leave_session(struct hodo_process *p)
{
	struct hodo_session *s = p->session;
	struct hodo_process **link = &s->processes;

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	p->next = s->finished;
	s->finished = p;
	s->live--;
	hodo_lifeline_end(p);
	/* The descriptor leaves epoll with this; what epoll has already reported is answered by pidfd_ready(). */
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

void hodo_process_finish(struct hodo_process *p, bool alive)
{
	struct hodo_ring_sink sink = { sink_packet, sink_table, p };
	struct hodo_session *s = p->session;

	read_catalog(p);
	if (s->config.conditions)
		hodo_conditions_count(s->config.conditions, p->shm, s->total.met);
	s->total.limited += hodo_conditions_limited(p->shm);
	if (!hodo_snapshots_end(p)) {
		leave_session(p);
		return;
	}
	tell_catalog_full(p);
	hodo_process_read_threads(p, true);
	if (p->kernel && p->threads_read == HODO_THREADS_MAX)
		hodo_session_report(s, "more than %u threads came or changed their names: late ones have none",
				    HODO_THREADS_MAX);
	hodo_functions_see((const struct hodo_shm *)p->shm, &p->functions);
	hodo_functions_sum(&s->total.functions, &p->functions);
	find_rings(p);
	for (uint32_t i = 0; i < p->actives; i++) {
		struct hodo_process_ring *r = p->ring[p->active[i]];

		hodo_ring_finish(&r->reader, &sink, alive);
		tell_damage(p, &r->reader);
		hodo_process_settle(p, r);
		hodo_stream_close(&r->stream);
		add_total(&s->total, r);
	}
	if (!p->metadata_dirty || !p->layout.profile || hodo_process_metadata(p, false) == 0)
		hodo_process_write_profile(p);
	s->total.events += p->profile.events_before + p->profile.events;
	s->total.lost.unwritten += p->profile.unwritten;
	hodo_process_metadata(p, true);
	leave_session(p);
}

static void pidfd_ready(struct hodo_watch *w, uint32_t events)
{
	struct hodo_process *p = (struct hodo_process *)w;

	(void)events;
	if (p->pidfd < 0)
		return;
	hodo_adopt_tell(p);
	hodo_process_finish(p, false);
}

struct hodo_process *hodo_process_new(struct hodo_session *s, const struct hodo_process_id *id, int pidfd, int memfd)
{
	struct hodo_process *p = calloc(1, sizeof(*p));

	if (!p) {
		if (pidfd >= 0)
			close(pidfd);
		close(memfd);
		return NULL;
	}
	p->watch.ready = pidfd_ready;
	p->session = s;
	p->id = *id;
	p->pidfd = pidfd;
	p->memfd = memfd;
	p->dirfd = -1;
	p->threads = (struct hodo_map)HODO_MAP(struct hodo_ctf_thread, tid);
	return p;
}

int hodo_process_join(struct hodo_process *p)
{
	struct hodo_session *s = p->session;

	p->ring = calloc(p->layout.rings, sizeof(*p->ring));
	p->active = calloc(p->layout.rings, sizeof(*p->active));
	if (!p->ring || !p->active)
		return -ENOMEM;
	p->next = s->processes;
	s->processes = p;
	s->live++;
	s->total.processes++;
	s->total.kernel |= p->kernel;
	s->total.command |= !p->kernel && p->id.pid == s->command;
	hodo_snapshots_begin(p);
	read_catalog(p);
	hodo_process_read_threads(p, p->kernel);
	hodo_process_metadata(p, false);
	return 0;
}

int hodo_process_start(struct hodo_session *s, const struct hodo_process_id *id, int pidfd, int memfd,
		       const char **why)
{
	struct hodo_process *p = hodo_process_new(s, id, pidfd, memfd);
	int err;

	*why = strerror(ENOMEM);
	if (!p)
		return -ENOMEM;
	hodo_layout_init(&p->layout, s->cpus + 1, s->config.packet_size, s->config.ring_size);
	if (s->config.functions && (s->config.functions->tracers & 1u << HODO_TRACER_PROFILE))
		hodo_layout_add_profile(&p->layout);
	err = map_memory(p, why);
	if (!err) {
		err = hodo_session_watch(s, pidfd, &p->watch);
		*why = strerror(-err);
	}
	if (!err)
		err = hodo_process_join(p);
	if (err)
		hodo_process_free(p);
	return err;
}

void hodo_process_free(struct hodo_process *p)
{
	for (uint32_t i = 0; i < p->actives; i++) {
		hodo_stream_close(&p->ring[p->active[i]]->stream);
		free(p->ring[p->active[i]]);
	}
	hodo_lifeline_free(p);
	if (p->shm)
		munmap(p->shm, p->layout.total);
	if (p->dirfd >= 0)
		close(p->dirfd);
	if (p->pidfd >= 0)
		close(p->pidfd);
	close(p->memfd);
	hodo_catalog_free(&p->catalog);
	free(p->ring);
	free(p->active);
	hodo_map_free(&p->threads);
	free(p->limited);
	free(p);
}

void hodo_process_count(const struct hodo_process *p, struct hodo_session_stats *stats)
{
	stats->limited += hodo_conditions_limited(p->shm);
	for (uint32_t i = 0; i < p->actives; i++) {
		const struct hodo_process_ring *r = p->ring[p->active[i]];

		stats->events += hodo_ring_events(&r->reader);
		stats->lost.full += hodo_shm_load64(&r->reader.ring->lost_full);
		stats->lost.too_large += hodo_shm_load64(&r->reader.ring->lost_too_large);
		stats->lost.busy += hodo_shm_load64(&r->reader.ring->lost_busy);
		stats->lost.unwritten += r->stream.unwritten;
		stats->lost.damaged += r->reader.lost.damaged;
	}
}

struct hodo_process *hodo_process_find(struct hodo_session *s, pid_t pid)
{
	for (struct hodo_process *p = s->processes; p; p = p->next)
		if (p->id.pid == pid)
			return p;
	return NULL;
}
