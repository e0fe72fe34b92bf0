/* SPDX-License-Identifier: MIT */
/*
 * process_life.c - one traced process image, from its memory to its folder.
 */
#include "process_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/quantity.h>
#include <base/scope.h>
#include <hodo/abi_kernel.h>

#include "conditions.h"
#include <record/write/own_stream.h>
#include <record/ring/shm.h>
#include <record/join/images.h>
#include <record/write/snapshots.h>

#define FEW_RINGS 16u /* a page each costs less than finding out, time and again, which are used */
#define WARNINGS_TOLD_MAX 100u /* of one process on the terminal; the metadata has more */

/* ---------------------------------------------------------------- catalogue */

static void tell_warnings(struct hodo_process *p)
{
	for (; p->warnings_told < p->catalog.warnings; p->warnings_told++) {
		if (p->warnings_told < WARNINGS_TOLD_MAX)
			hodo_process_report(p, "%s", p->catalog.warning[p->warnings_told]);
		else if (p->warnings_told == WARNINGS_TOLD_MAX)
			hodo_process_report(p, "more warnings: see hodo info");
	}
}

/* Other threads may be walking packets with its tables. */
static void read_catalog(struct hodo_process *p)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)p->shm;
	uint32_t events;
	int n;

	if (hodo_catalog_is_read(&p->catalog, hodo_shm_load64(&shm->catalog_used)))
		return;
	hodo_drain_alone(p->recorder->drain);
	events = p->catalog.events;
	n = hodo_catalog_read(&p->catalog, p->shm + HODO_SHM_CATALOG, hodo_shm_load64(&shm->catalog_used));

	if (n == -EBADMSG)
		hodo_process_report(p, "its catalogue of events is damaged: new events are lost");
	/* Some may have been taken before an error. */
	if (n != 0) {
		p->metadata_dirty = true;
		tell_warnings(p);
	}
	if (p->catalog.events > events) {
		hodo_pattern_see(p->recorder->config.patterns, &p->catalog, events);
		hodo_pattern_see_fields(p->recorder->config.fields, &p->catalog, events);
		if (p->recorder->config.conditions)
			hodo_conditions_see(p->recorder->config.conditions, &p->catalog, events);
	}
}

/* ------------------------------------------------------- a process's waiting writers */

/* The recorder's side of user/ring/wait.c, and how much room would have been enough. */

static void begin_room(const struct hodo_process *p, struct hodo_ring_reader *r)
{
	r->waits = p->recorder->config.wait_ns != 0;
	r->pages.round = &p->recorder->give_back;
}

/* Writers that wait for room check whether to go on waiting. */
static void wake(struct hodo_process *p)
{
	for (uint32_t i = 0; i < p->actives; i++)
		hodo_ring_wake(p->ring[p->active[i]]->reader.ring);
}

static void let_go(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	uint32_t *waits_not = &((struct hodo_shm *)p->shm)->waits_not;

	if (!r->waits || !r->broken || hodo_shm_load32(waits_not))
		return;
	__atomic_store_n(waits_not, 1, __ATOMIC_SEQ_CST);
	wake(p);
}

static void add_waited(struct hodo_process *p)
{
	uint64_t ns = p->kernel ? 0 : hodo_ring_count(&((const struct hodo_shm *)p->shm)->waited_ns);
	uint64_t *sum = &p->recorder->total.waited_ns;

	*sum = ns < HODO_RING_COUNT_MAX - *sum ? *sum + ns : HODO_RING_COUNT_MAX;
}

static void add_room(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	uint64_t room = hodo_process_room(p, r);

	if (room > p->recorder->total.room)
		p->recorder->total.room = room;
}

/* ------------------------------------------------------------------ rings */

static const struct hodo_read_layouts *sink_table(void *arg)
{
	struct hodo_process *p = arg;

	read_catalog(p);
	return &p->catalog.walk;
}

static struct hodo_process_ring *ring_of(struct hodo_ring_reader *reader)
{
	return HODO_OWNER(reader, struct hodo_process_ring, reader);
}

static void sink_packet(void *arg, struct hodo_ring_reader *reader, const struct hodo_packet *h, const uint8_t *body)
{
	hodo_process_write(arg, &ring_of(reader)->stream, h, body);
}

static void tell_damage(struct hodo_process *p, const struct hodo_ring_reader *r)
{
	if (p->damage_told || (!r->broken && r->damage == 0))
		return;
	p->damage_told = true;
	hodo_process_report(p, "its buffers are damaged: some of its events are lost");
}

/* If such a request to the kernel fails, less is recorded, which is counted; nothing else. */
static void consume_in_kernel(struct hodo_ring_reader *reader, uint64_t packets)
{
	struct hodo_process_ring *r = ring_of(reader);
	struct hodo_kernel_consumed c = { .ring = r->number, .packets = packets };

	ioctl(r->process->memfd, HODO_IOC_CONSUMED, &c);
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
			      p->recorder->config.mode, p->recorder->thread[0].copy);
	r->reader.drain = p->recorder->drain;
	if (hodo_process_of_module(p))
		r->reader.consume = consume_in_kernel;
	else
		begin_room(p, &r->reader);
	hodo_stream_file_init(&r->stream, p->id.flight.uuid, i, p->layout.rings - 1);
	r->stream.drain = p->recorder->drain;
	p->ring[i] = r;
	p->active[p->actives++] = i;
}

void hodo_process_find_rings(struct hodo_process *p)
{
	/* Many processes end before they have used one. */
	bool few = p->actives && p->layout.rings <= FEW_RINGS;

	for (uint32_t i = 0; p->actives < p->layout.rings && i < p->layout.rings; i++) {
		if (!p->ring[i])
			i = hodo_shm_next_ring(&p->layout, few || hodo_process_of_module(p) ? -1 : p->memfd, i);
		if (i < p->layout.rings)
			activate_ring(p, i);
	}
}

/* Ring active[i], for one of the threads to read. */
static struct hodo_ring_reader *take_ring(struct hodo_process *p, uint32_t i, uint32_t thread)
{
	struct hodo_process_ring *r = p->ring[p->active[i]];

	r->reader.copy = p->recorder->thread[thread].copy;
	r->stream.compressor = p->recorder->thread[thread].compressor;
	return &r->reader;
}

int hodo_process_poll(struct hodo_process *p, uint32_t i, uint32_t thread)
{
	struct hodo_ring_sink sink = { sink_packet, sink_table, p };
	struct hodo_ring_reader *r = take_ring(p, i, thread);
	int used = hodo_ring_poll(r, &sink);

	tell_damage(p, r);
	let_go(p, r);
	return used;
}

uint64_t hodo_process_take_open(struct hodo_process *p)
{
	struct hodo_ring_sink sink = { sink_packet, sink_table, p };
	uint64_t until = UINT64_MAX;

	for (uint32_t i = 0; i < p->actives; i++) {
		struct hodo_ring_reader *r = take_ring(p, i, 0);

		if (!hodo_ring_take_open(r, &sink) && r->ts_end < until)
			until = r->ts_end;
	}
	return until;
}

/* --------------------------------------------------------- on words, age */

/* Sets or clears a bit in the on words that are not 0; the process may change them meanwhile. */
static void change_on_words(struct hodo_process *p, uint32_t set, uint32_t keep)
{
	uint32_t *on = (uint32_t *)(p->shm + HODO_SHM_ON);

	for (uint32_t i = 0; i < p->catalog.events; i++) {
		uint32_t *word = &on[p->catalog.event[i]->id];
		uint32_t old = hodo_shm_load32(word);

		/* A word that is off stays off; one that just changed is handled next time. */
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
	if ((p->metadata_dirty || p->threads_dirty) && p->dirfd >= 0) /* tried again a second later if it fails */
		hodo_process_metadata(p, false);
	for (uint32_t i = 0; i < p->actives && !old; i++) {
		uint64_t since = hodo_ring_open_since(&p->ring[p->active[i]]->reader);

		old = since != 0 && since < now_ticks && now_ticks - since > age_ticks;
	}
	if (old && hodo_process_of_module(p))
		ioctl(p->memfd, HODO_IOC_FLUSH, &age_ticks);
	else if (old)
		change_on_words(p, HODO_ON_AGE, ~0u);
	else if (p->age_set)
		change_on_words(p, 0, ~HODO_ON_AGE);
	p->age_set = old && !hodo_process_of_module(p);
}

void hodo_process_stop(struct hodo_process *p)
{
	struct hodo_shm *shm = (struct hodo_shm *)p->shm;
	uint32_t *on = (uint32_t *)(p->shm + HODO_SHM_ON);

	hodo_functions_see(shm, &p->functions);
	if (hodo_process_of_module(p)) {
		while (ioctl(p->memfd, HODO_IOC_STOP) < 0 && errno == EINTR)
			;
		return;
	}
	__atomic_store_n(&shm->stopped, 1, __ATOMIC_SEQ_CST);
	read_catalog(p);
	for (uint32_t i = 0; i < p->catalog.events; i++)
		__atomic_store_n(&on[p->catalog.event[i]->id], 0, __ATOMIC_SEQ_CST);
	if (p->recorder->config.wait_ns)
		wake(p);
}

/* ------------------------------------------------------- begin, end, count */

/* A stream's share of the recorder's totals. */
static void add_total(struct hodo_recorder_stats *t, const struct hodo_stream_file *stream)
{
	t->events += stream->events_before + stream->events;
	t->lost.unwritten += stream->unwritten;
}

static void add_limited(struct hodo_process *p)
{
	uint64_t limited = hodo_conditions_limited(p->shm, hodo_recorder_limited_most(p->recorder));

	p->recorder->total.limited += limited;
	if (limited == 0 && hodo_conditions_limited(p->shm, UINT64_MAX) > 0)
		hodo_process_report(p, "its count of events over their rate limit cannot be true, and is "
				    "left out: look for stray writes in it");
}

static void tell_untrue(const struct hodo_process *p)
{
	for (uint32_t i = 0; i < p->actives; i++) {
		if (!p->ring[p->active[i]]->reader.untrue)
			continue;
		hodo_process_report(p, "its counts of lost events cannot be true, and are left out: look for stray writes in "
				    "it");
		break;
	}
}

static void tell_catalog_full(const struct hodo_process *p)
{
	uint64_t lost = hodo_shm_load64(&((const struct hodo_shm *)p->shm)->catalog_lost);
	char number[32];

	if (lost)
		hodo_process_report(p, "there were too many events and libraries: the last %s ha%s no name: trace for "
				    "a shorter time, or fewer events", hodo_grouped(lost, number),
				    lost == 1 ? "s" : "ve");
}

void hodo_process_close_line(struct hodo_process *p)
{
	hodo_close(p->line_fd); /* that removes it from epoll: there is no other descriptor for it */
	p->line_fd = -1;
}

static void leave_recorder(struct hodo_process *p)
{
	struct hodo_recorder *s = p->recorder;
	struct hodo_process **link = &s->processes;

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	s->live -= !p->ours;
	hodo_process_free(p);
}

static void write_own(struct hodo_process *p)
{
	struct hodo_own_stream own;

	if (hodo_own_stream_begin(&own, p, p->layout.profile ? "profile" : "open") == 0) {
		if (p->layout.profile)
			hodo_process_write_profile(&own);
		if (p->layout.open)
			hodo_process_write_open(&own);
	}
	hodo_own_stream_end(&own);
}

struct last_round {
	struct hodo_process *process;
	uint32_t next; /* of active[], that no thread has taken */
	bool alive;
};

static void finish_rings(void *arg, uint32_t thread)
{
	struct last_round *l = arg;
	struct hodo_ring_sink sink = { sink_packet, sink_table, l->process };

	while (l->next < l->process->actives)
		hodo_ring_finish(take_ring(l->process, l->next++, thread), &sink, l->alive);
}

static void finish_all_rings(struct hodo_process *p, bool alive)
{
	struct last_round last = { p, 0, alive };
	uint32_t lag = 0;

	hodo_process_find_rings(p);
	for (uint32_t i = 0; p->recorder->drain && i < p->actives; i++)
		lag += hodo_ring_lags(&p->ring[p->active[i]]->reader);
	hodo_drain_run(p->recorder->drain, lag > 1 ? lag - 1 : 0, finish_rings, &last);
}

void hodo_process_finish(struct hodo_process *p, bool alive)
{
	struct hodo_recorder *s = p->recorder;

	read_catalog(p);
	if (s->config.conditions)
		hodo_conditions_count(s->config.conditions, p->shm, s->total.met);
	add_limited(p);
	hodo_images_take(p, alive);
	if (!s->process_ends(p)) {
		leave_recorder(p);
		return;
	}
	tell_catalog_full(p);
	hodo_process_read_threads(p, true);
	if (p->threads_full)
		hodo_report(&s->config.reporter, "there were more than %u threads: later ones have no names",
			    p->threads.n);
	hodo_functions_see((const struct hodo_shm *)p->shm, &p->functions);
	add_waited(p);
	hodo_functions_sum(&s->total.functions, &p->functions);
	finish_all_rings(p, alive);
	for (uint32_t i = 0; i < p->actives; i++) {
		struct hodo_process_ring *r = p->ring[p->active[i]];

		tell_damage(p, &r->reader);
		hodo_process_settle(p, r);
		hodo_stream_file_end(&r->stream);
		add_total(&s->total, &r->stream);
		if (p->ours) /* these are reported elsewhere */
			continue;
		hodo_lost_add(&s->total.lost, &r->reader.lost);
		add_room(p, &r->reader);
	}
	tell_untrue(p);
	if (p->layout.profile || p->layout.open)
		write_own(p);
	add_total(&s->total, &p->own);
	hodo_process_metadata(p, true);
	leave_recorder(p);
}

static void pidfd_ready(struct hodo_watch *w)
{
	struct hodo_process *p = (struct hodo_process *)w;

	hodo_process_tell_ended(p);
	hodo_process_finish(p, false);
}

struct hodo_process *hodo_process_new(struct hodo_recorder *s, const struct hodo_process_id *id, int pidfd, int memfd)
{
	struct hodo_process *p = calloc(1, sizeof(*p));

	if (!p) {
		hodo_close(pidfd);
		close(memfd);
		return NULL;
	}
	p->watch.ready = pidfd_ready;
	p->recorder = s;
	p->id = *id;
	p->pidfd = pidfd;
	p->memfd = memfd;
	p->dirfd = p->line_fd = -1;
	p->threads = (struct hodo_map)HODO_MAP(struct hodo_ctf_thread, tid);
	return p;
}

int hodo_process_join(struct hodo_process *p)
{
	struct hodo_recorder *s = p->recorder;

	p->ring = calloc(p->layout.rings, sizeof(*p->ring));
	p->active = calloc(p->layout.rings, sizeof(*p->active));
	if (!p->ring || !p->active)
		return -ENOMEM;
	p->next = s->processes;
	s->processes = p;
	s->live += !p->ours;
	s->total.processes += !p->ours;
	s->total.kernel |= hodo_process_of_module(p);
	s->total.command |= !p->kernel && p->id.pid == s->command;
	p->snapshots.withheld = s->withholding;
	hodo_process_guard(p); /* before anybody can see that it has joined */
	read_catalog(p);
	hodo_process_read_threads(p, p->kernel);
	hodo_process_make_folder(p);
	return 0;
}

/* ---------------------------------------------------------------------- memory */

/* Checked before anything in it is used. */
static const char *header_flaw(const uint8_t *shm, const struct hodo_layout *l)
{
	struct hodo_shm h;

	hodo_shm_copy(&h, shm, sizeof(h));
	if (memcmp(h.magic, HODO_SHM_MAGIC, sizeof(h.magic)) != 0 || h.version != HODO_ABI_VERSION)
		return "its memory does not have Hodoscope's header";
	if (h.rings != l->rings)
		return "its memory has another layout";
	return NULL;
}

/* With layout's size. 0; -EPROTO and a reason in why, or another negative errno. */
static int map_memory(struct hodo_process *p, const char **why)
{
	struct stat st;
	void *map;

	*why = hodo_shm_flaw(p->memfd);
	if (!*why && (fstat(p->memfd, &st) < 0 || (uint64_t)st.st_size != p->layout.total))
		*why = "its memory has the wrong size";
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

int hodo_process_start(struct hodo_recorder *s, const struct hodo_process_id *id, int pidfd, int memfd,
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
	if (s->config.functions && hodo_functions_end_only(s->config.functions->tracers))
		hodo_layout_add_open(&p->layout);
	err = map_memory(p, why);
	if (!err) {
		err = hodo_recorder_watch(s, pidfd, &p->watch);
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
		hodo_stream_file_end(&p->ring[p->active[i]]->stream);
		free(p->ring[p->active[i]]);
	}
	hodo_process_close_line(p);
	if (p->shm)
		munmap(p->shm, p->layout.total);
	hodo_close(p->dirfd);
	hodo_close(p->pidfd);
	close(p->memfd);
	hodo_catalog_free(&p->catalog);
	free(p->ring);
	free(p->active);
	hodo_map_free(&p->threads);
	free(p->limited);
	free(p);
}

void hodo_process_count(const struct hodo_process *p, struct hodo_recorder_stats *stats)
{
	stats->limited += hodo_conditions_limited(p->shm, hodo_recorder_limited_most(p->recorder));
	for (uint32_t i = 0; i < p->actives && !p->ours; i++) {
		const struct hodo_process_ring *r = p->ring[p->active[i]];

		stats->events += hodo_ring_events(&r->reader);
		stats->lost.full += hodo_ring_count(&r->reader.ring->lost_full);
		stats->lost.too_large += hodo_ring_count(&r->reader.ring->lost_too_large);
		stats->lost.busy += hodo_ring_count(&r->reader.ring->lost_busy);
		stats->lost.unwritten += r->stream.unwritten;
		stats->lost.damaged += r->reader.lost.damaged;
	}
}

struct hodo_process *hodo_process_find(struct hodo_recorder *s, pid_t pid)
{
	for (struct hodo_process *p = s->processes; p; p = p->next)
		if (p->id.pid == pid)
			return p;
	return NULL;
}

/* ----------------------------------------------------------------------- guard */

/* Names the processes whose semaphores may be raised: HODO_WANTS_GUARD. */
void hodo_process_guard(struct hodo_process *p)
{
	const struct hodo_recorder_config *config = &p->recorder->config;

	/* An attached process notices by its connection. */
	if (p->guarded || !config->ops.guard || p->kernel || p->id.nested || p->id.flight.start == HODO_START_ATTACH ||
	    !(hodo_shm_load32(&((const struct hodo_shm *)p->shm)->wants) & HODO_WANTS_GUARD))
		return;
	p->guarded = true;
	config->ops.guard(config->arg, p->id.pid);
}

bool hodo_process_has_ended(const struct hodo_process *p)
{
	return hodo_shm_load32(&((const struct hodo_shm *)p->shm)->ended) != 0;
}

void hodo_process_tell_ended(const struct hodo_process *p)
{
	if (!hodo_process_has_ended(p))
		return;
	if (p->kernel)
		hodo_report(&p->recorder->config.reporter, "the kernel's recording was ended through its control tree");
	else
		hodo_process_report(p, "its recording was ended, by 'hodo detach' or by itself");
}
