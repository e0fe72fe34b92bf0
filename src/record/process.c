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
#include <time.h>
#include <unistd.h>

#include "adopt.h"
#include "shm.h"

#define WARNINGS_TOLD_MAX 100u /* of one process, on the terminal; the metadata has more */
#define DIR_NUMBER_MAX 1000000u
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

/* ------------------------------------------------------- folder, metadata */

static int make_dir(struct hodo_process *p)
{
	char comm[32];
	int err = 0;

	if (p->dirfd >= 0)
		return 0;
	hodo_text_file_name(comm, sizeof(comm), p->id.comm);
	for (unsigned int n = 1; n < DIR_NUMBER_MAX; n++) {
		if (n == 1)
			snprintf(p->dir, sizeof(p->dir), "%s-%u", comm, p->id.vpid);
		else
			snprintf(p->dir, sizeof(p->dir), "%s-%u-%u", comm, p->id.vpid, n);
		if (mkdirat(p->session->config.out_fd, p->dir, 0777) == 0) {
			p->dirfd = openat(p->session->config.out_fd, p->dir,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			err = p->dirfd < 0 ? -errno : 0;
			if (err)
				unlinkat(p->session->config.out_fd, p->dir, AT_REMOVEDIR);
			return err;
		}
		err = -errno;
		if (err != -EEXIST)
			return err;
	}
	return err;
}

static uint32_t gather_lost(const struct hodo_process *p, struct hodo_ctf_lost *lost)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->actives; i++) {
		const struct hodo_process_ring *r = p->ring[p->active[i]];
		const struct hodo_ring_lost *l = &r->reader.lost;

		if (l->full | l->too_large | l->busy | l->overwritten | l->damaged | r->stream.unwritten)
			lost[n++] = (struct hodo_ctf_lost){ r->stream.name, l->full, l->too_large, l->busy,
							    l->overwritten, r->stream.unwritten, l->damaged };
	}
	if (p->profile.unwritten)
		lost[n++] = (struct hodo_ctf_lost){ .stream = p->profile.name, .unwritten = p->profile.unwritten };
	return n;
}

/* Writes the folder's metadata; nothing where packets go elsewhere. 0 or negative errno. */
static int write_metadata(struct hodo_process *p, bool ended)
{
	struct hodo_session *s = p->session;
	struct hodo_ctf_metadata m = {
		.pid = p->id.vpid, .ppid = p->id.ppid, .uid = p->id.uid, .comm = p->id.comm, .exe = p->id.exe,
		.hostname = s->hostname, .start = p->id.start, .mode = s->config.mode,
		.ring_size = p->layout.ring_size, .packet_size = p->layout.packet_size,
		.catalog = &p->catalog,
		.thread = p->thread, .threads = p->threads, .ended = ended,
		.functions = s->config.functions ? &p->functions : NULL,
	};
	struct hodo_ctf_lost *lost = NULL;
	struct hodo_text text = { 0 };
	struct timespec now;
	int err;

	if (s->config.packet) {
		p->metadata_dirty = p->threads_dirty = false;
		return 0;
	}
	err = make_dir(p);
	if (err)
		return err;
	m.clock = hodo_session_clock_map(s);
	memcpy(m.uuid, p->id.uuid, sizeof(m.uuid));
	if (ended) {
		clock_gettime(CLOCK_REALTIME, &now);
		m.end_real_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		lost = calloc(p->actives + 1, sizeof(*lost));
		if (!lost)
			return -ENOMEM;
		m.lost = lost;
		m.losts = gather_lost(p, lost);
	}
	hodo_ctf_metadata_text(&m, &text);
	err = hodo_session_write_metadata(s, p->dirfd, &text);
	if (!err)
		p->metadata_dirty = p->threads_dirty = false;
	hodo_text_free(&text);
	free(lost);
	return err;
}

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
	}
}

/* ------------------------------------------------------------------ rings */

static const struct hodo_walk_table *sink_table(void *arg)
{
	struct hodo_process *p = arg;

	read_catalog(p);
	return &p->catalog.walk;
}

/* Instead of a file: the packet as it would stand there. */
static void give_packet(struct hodo_process *p, struct hodo_process_ring *r, const struct hodo_packet *header,
			const uint8_t *body)
{
	struct hodo_packet h = *header;

	h.stream_id = 0;
	h.cpu_id = r->stream.cpu_id;
	h.packet_seq_num = r->stream.packets++;
	memcpy(h.uuid, p->id.uuid, sizeof(h.uuid));
	r->stream.events += h.events;
	r->stream.bytes += h.packet_size / 8;
	r->stream.discarded = h.events_discarded;
	p->session->config.packet(p->session->config.arg, p, &h, body);
}

static void sink_packet(void *arg, struct hodo_ring_reader *reader, const struct hodo_packet *h,
			const uint8_t *body)
{
	struct hodo_process *p = arg;
	struct hodo_process_ring *r =
		(struct hodo_process_ring *)((char *)reader - offsetof(struct hodo_process_ring, reader));
	int err = 0;

	if (p->session->config.packet) {
		give_packet(p, r, h, body);
		return;
	}
	/* Before the packet: a reader must find every id. */
	if (p->metadata_dirty || p->dirfd < 0)
		err = write_metadata(p, false);
	if (err) {
		hodo_stream_skip(&r->stream, h);
		hodo_session_write_failed(p->session, p->dir, "metadata", err);
		return;
	}
	err = hodo_stream_write(&r->stream, p->dirfd, h, body);
	if (err == -EMFILE || err == -ENFILE) {
		hodo_session_close_files(p->session);
		r->stream.unwritten -= h->events;
		err = hodo_stream_write(&r->stream, p->dirfd, h, body);
	}
	if (err)
		hodo_session_write_failed(p->session, p->dir, r->stream.name, err);
}

static void tell_damage(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	if (p->damage_told || (!r->broken && r->damage == 0))
		return;
	p->damage_told = true;
	hodo_session_report(p->session, "%s[%u]: its buffers are damaged: some of its events are lost", p->id.comm,
			    p->id.vpid);
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
	hodo_ring_reader_init(&r->reader, (struct hodo_ring *)(p->shm + hodo_layout_ring(i)),
			      p->shm + p->layout.data + i * p->layout.ring_size, &p->layout,
			      p->session->config.mode, p->session->copy);
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

	if (p->layout.rings <= FEW_RINGS)
		for (uint32_t i = 0; p->actives < p->layout.rings && i < p->layout.rings; i++)
			activate_ring(p, i);
	while (p->actives < p->layout.rings && at < end) {
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
	if (p->threads_dirty) /* tried again a second later if it fails */
		write_metadata(p, false);
	for (uint32_t i = 0; i < p->actives && !old; i++) {
		uint64_t since = hodo_ring_open_since(&p->ring[p->active[i]]->reader);

		old = since != 0 && since < now_ticks && now_ticks - since > age_ticks;
	}
	if (old)
		change_on_words(p, HODO_ON_AGE, ~0u);
	else if (p->age_set)
		change_on_words(p, 0, ~HODO_ON_AGE);
	p->age_set = old;
}

void hodo_process_stop(struct hodo_process *p)
{
	struct hodo_shm *shm = (struct hodo_shm *)p->shm;
	uint32_t *on = (uint32_t *)(p->shm + HODO_SHM_ON);

	hodo_functions_see(shm, &p->functions);
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

	t->events += r->stream.events;
	t->bytes += r->stream.bytes;
	t->lost.full += l->full;
	t->lost.too_large += l->too_large;
	t->lost.busy += l->busy;
	t->lost.overwritten += l->overwritten;
	t->lost.unwritten += r->stream.unwritten;
	t->lost.damaged += l->damaged;
}

/* Losses after a stream's last packet get one of their own, on a full disk with the room kept for it. */
static void settle(struct hodo_process *p, struct hodo_process_ring *r)
{
	uint64_t now = hodo_session_ticks(p->session);
	int err;

	if (r->reader.discarded + r->stream.unwritten == 0 || p->session->config.packet)
		return;
	if (now < r->reader.ts_end)
		now = r->reader.ts_end;
	err = make_dir(p);
	if (!err)
		err = hodo_stream_settle(&r->stream, p->dirfd, r->reader.discarded, now);
	if (err && hodo_session_release_reserve(p->session, err))
		err = hodo_stream_settle(&r->stream, p->dirfd, r->reader.discarded, now);
	if (err)
		hodo_session_write_failed(p->session, p->dir, r->stream.name, err);
}

static void tell_catalog_full(const struct hodo_process *p)
{
	uint64_t lost = hodo_shm_load64(&((const struct hodo_shm *)p->shm)->catalog_lost);

	if (lost)
		hodo_session_report(p->session, "%s[%u]: %llu descriptions of events or libraries were too many: what "
				    "came late has no name: trace it for a shorter time, or less of it", p->id.comm,
				    p->id.vpid, (unsigned long long)lost);
}

void hodo_process_finish(struct hodo_process *p, bool alive)
{
	struct hodo_ring_sink sink = { sink_packet, sink_table, p };
	struct hodo_session *s = p->session;
	struct hodo_process **link = &s->processes;
	struct hodo_done *done;
	int err;

	read_catalog(p);
	tell_catalog_full(p);
	hodo_process_read_threads(p, true);
	hodo_functions_see((const struct hodo_shm *)p->shm, &p->functions);
	hodo_functions_sum(&s->total.functions, &p->functions);
	find_rings(p);
	for (uint32_t i = 0; i < p->actives; i++) {
		struct hodo_process_ring *r = p->ring[p->active[i]];

		hodo_ring_finish(&r->reader, &sink, alive);
		tell_damage(p, &r->reader);
		settle(p, r);
		hodo_stream_close(&r->stream);
		add_total(&s->total, r);
	}
	err = p->metadata_dirty && p->layout.profile ? write_metadata(p, false) : 0;
	if (!err)
		hodo_process_write_profile(p);
	s->total.events += p->profile.events;
	s->total.bytes += p->profile.bytes;
	s->total.lost.unwritten += p->profile.unwritten;
	err = write_metadata(p, true);
	if (err)
		hodo_session_write_failed(s, p->dir, "metadata", err);
	done = p->dirfd < 0 ? NULL : malloc(sizeof(*done) + strlen(p->dir) + 1);
	if (done) {
		strcpy(done->dir, p->dir);
		done->next = s->done;
		s->done = done;
	}
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	p->next = s->gone;
	s->gone = p;
	s->live--;
	hodo_lifeline_end(p);
	/* The descriptor leaves epoll with this; what epoll has already told is answered by gone(). */
	close(p->pidfd);
	p->pidfd = -1;
}

static void pidfd_ready(struct hodo_watch *w, uint32_t events)
{
	struct hodo_process *p = (struct hodo_process *)w;

	(void)events;
	if (p->pidfd >= 0)
		hodo_process_finish(p, false);
}

int hodo_process_start(struct hodo_session *s, const struct hodo_process_id *id, int pidfd, int memfd,
		       const char **why)
{
	struct hodo_process *p = calloc(1, sizeof(*p));
	int err;

	*why = strerror(ENOMEM);
	if (!p) {
		close(pidfd);
		close(memfd);
		return -ENOMEM;
	}
	p->watch.ready = pidfd_ready;
	p->session = s;
	p->id = *id;
	p->pidfd = pidfd;
	p->memfd = memfd;
	p->dirfd = -1;
	hodo_layout_init(&p->layout, s->cpus + 1, s->config.packet_size, s->config.ring_size);
	if (s->config.functions && (s->config.functions->tracers & 1u << HODO_TRACER_PROFILE))
		hodo_layout_add_profile(&p->layout);
	p->ring = calloc(p->layout.rings, sizeof(*p->ring));
	p->active = calloc(p->layout.rings, sizeof(*p->active));
	err = p->ring && p->active ? map_memory(p, why) : -ENOMEM;
	if (!err) {
		err = hodo_session_watch(s, pidfd, &p->watch);
		*why = strerror(-err);
	}
	if (err) {
		hodo_process_free(p);
		return err;
	}
	p->next = s->processes;
	s->processes = p;
	s->live++;
	s->total.processes++;
	s->total.command |= id->pid == s->command;
	read_catalog(p);
	hodo_process_read_threads(p, false);
	err = write_metadata(p, false);
	if (err)
		hodo_session_write_failed(s, p->dir, "metadata", err);
	return 0;
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
	free(p->thread);
	free(p);
}

void hodo_process_count(const struct hodo_process *p, struct hodo_session_stats *stats)
{
	for (uint32_t i = 0; i < p->actives; i++) {
		const struct hodo_process_ring *r = p->ring[p->active[i]];

		stats->events += hodo_ring_events(&r->reader);
		stats->bytes += r->stream.bytes;
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
