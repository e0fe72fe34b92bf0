/* SPDX-License-Identifier: MIT */
/*
 * top_watch.c - hodo top: counts the events of a process that somebody else records in overwrite mode.
 *
 *   who             writes                     beside
 *   CPU's writers   words, packets             us
 *   the recorder    nothing in the rings       us
 *   we              nothing                    all of them
 *
 * A ring comes round without asking. So each packet is copied first, and the copy used only if
 * the word then says that no writer can have been there: a writer that switches packets
 * scribbles on the one behind the open one, hence the 2 below. What was written over before
 * it was looked at is known from the packets' headers, and counted as not seen.
 *
 * The memory is hostile, as everywhere in the recorder.
 */
#define _GNU_SOURCE
#include "top_image.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <record/record.h>

/* Of packets and events: more than a ring ever has, and sums of some do not wrap. */
#define COUNT_MAX (1ull << 56)

#define STEP_MIN_NS 500000
#define STEP_MAX_NS 20000000

struct ring {
	bool begun;
	uint64_t next;   /* packet */
	uint32_t bytes;  /* of its events, counted so far */
	uint64_t events; /* of the ring, counted or known to be missed so far */
	uint64_t too_large, busy; /* when we began */
};

struct hodo_top_watch {
	struct hodo_top_watch *next;
	struct hodo_memory memory;
	struct hodo_process process; /* as far as counting asks: identity, catalogue, threads, memory */
	struct ring *ring;
	uint8_t *copy; /* packet_size bytes */
	bool begun, ended;
	bool settled; /* ended, and all of it is in the model */
	uint64_t missed, too_large, busy, limited, limited_before;
	int64_t step_ns;
};

/* ------------------------------------------------------------------------ begin, end */

static int ask(pid_t pid, struct hodo_msg_answer *answer)
{
	struct hodo_recorder *recorders = calloc(HODO_RECORDERS_MAX, sizeof(*recorders));
	int n = recorders ? hodo_recorders_find(pid, recorders) : 0, fd = -ENOENT;

	for (int i = 0; i < n && fd < 0 && fd != -EOPNOTSUPP; i++) {
		int one = hodo_memory_ask(recorders[i].path, pid, 0, "hodo top", answer);

		if (one >= 0 || one == -EOPNOTSUPP)
			fd = one;
	}
	free(recorders);
	return fd;
}

static int open_process(struct hodo_top_watch *w, pid_t pid)
{
	struct hodo_process *p = &w->process;
	char why[256];

	p->id.pid = pid;
	p->id.vpid = w->memory.pid;
	memcpy(p->id.uuid, w->memory.flight.uuid, sizeof(p->id.uuid));
	memcpy(p->id.comm, w->memory.flight.comm, sizeof(p->id.comm));
	p->id.comm[sizeof(p->id.comm) - 1] = 0;
	p->layout = w->memory.layout;
	p->shm = (uint8_t *)w->memory.shm; /* nothing that we call writes there */
	p->pidfd = hodo_peer_open(pid, why, sizeof(why));
	w->ring = calloc(p->layout.rings, sizeof(*w->ring));
	w->copy = malloc(p->layout.packet_size);
	w->step_ns = STEP_MIN_NS;
	if (!w->ring || !w->copy)
		return -ENOMEM;
	return p->pidfd < 0 ? p->pidfd : 0;
}

int hodo_top_watch_open(struct hodo_top_watch **list, pid_t pid, uint32_t *recorder)
{
	struct hodo_msg_answer answer;
	int err, fd = ask(pid, &answer);
	struct hodo_top_watch *w;

	if (fd < 0)
		return fd;
	w = calloc(1, sizeof(*w));
	if (!w) {
		close(fd);
		return -ENOMEM;
	}
	w->process.pidfd = -1;
	w->process.threads = (struct hodo_map)HODO_MAP(struct hodo_ctf_thread, tid);
	w->memory.fd = -1;
	err = hodo_memory_map(&w->memory, &answer, fd);
	if (!err && w->memory.flight.mode != HODO_MODE_OVERWRITE)
		err = -EOPNOTSUPP;
	/* Stored contexts have shapes that the catalogue's reader must know of. */
	if (!err && w->memory.flight.context != 0)
		err = -EOPNOTSUPP;
	if (!err)
		err = open_process(w, pid);
	if (err) {
		hodo_top_watch_close(w);
		return err;
	}
	*recorder = answer.recorder;
	while (*list)
		list = &(*list)->next;
	*list = w;
	return 0;
}

void hodo_top_watch_close(struct hodo_top_watch *w)
{
	if (!w)
		return;
	hodo_top_watch_close(w->next);
	hodo_memory_unmap(&w->memory);
	if (w->process.pidfd >= 0)
		close(w->process.pidfd);
	hodo_catalog_free(&w->process.catalog);
	hodo_map_free(&w->process.threads);
	free(w->ring);
	free(w->copy);
	free(w);
}

pid_t hodo_top_watch_pid(const struct hodo_top_watch *w, uint32_t i)
{
	for (; w && i > 0; i--)
		w = w->next;
	return w ? w->process.id.pid : 0;
}

/* -------------------------------------------------------------------------- the rings */

/* A ring at one time: its word, and what the header of the packet that was open then says. */
struct instant {
	uint64_t word, packet, before;
	uint32_t offset, events;
};

static const uint8_t *packet_at(const struct hodo_top_watch *w, uint32_t ring, uint64_t packet)
{
	const struct hodo_layout *l = &w->process.layout;

	return w->process.shm + l->data + ring * l->ring_size + (packet * l->packet_size & (l->ring_size - 1));
}

static uint64_t number_of(const struct hodo_top_watch *w, uint64_t word)
{
	return (word >> HODO_WORD_COUNT_BITS) / w->process.layout.packet_size;
}

/* How far packet number b lies after a: numbers wrap at 2^44 bytes of ring. */
static uint64_t number_delta(const struct hodo_top_watch *w, uint64_t b, uint64_t a)
{
	return (b - a) & ((1ull << (64 - HODO_WORD_COUNT_BITS)) / w->process.layout.packet_size - 1);
}

static uint64_t load_word(const struct hodo_top_watch *w, uint32_t ring)
{
	return hodo_shm_load64(&((const struct hodo_ring *)(w->process.shm + hodo_layout_ring(ring)))->word);
}

/* False: the ring was never used, makes no sense, or is too busy to be seen. */
static bool look(const struct hodo_top_watch *w, uint32_t ring, struct instant *now)
{
	for (int tries = 0; tries < 64; tries++) {
		const uint8_t *header;

		now->word = load_word(w, ring);
		if (now->word == 0)
			return false;
		header = packet_at(w, ring, number_of(w, now->word));
		now->packet = hodo_shm_get64(header + offsetof(struct hodo_packet, packet_seq_num));
		now->before = hodo_shm_get64(header + offsetof(struct hodo_packet, events_before));
		now->offset = (uint32_t)(now->word >> HODO_WORD_COUNT_BITS) & (w->process.layout.packet_size - 1);
		now->events = (uint32_t)(now->word & HODO_WORD_COUNT_MASK);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* The header belongs to this word only if its packet was still open after it was read. */
		if (number_of(w, load_word(w, ring)) == number_of(w, now->word))
			return now->offset >= HEADER && now->packet < COUNT_MAX && now->before < COUNT_MAX &&
			       number_delta(w, number_of(w, now->word), now->packet) == 0;
	}
	return false;
}

/* Copies the packet's events from r->bytes on. Their bytes; 0: none, or they may have been written over. */
static uint32_t copy_packet(struct hodo_top_watch *w, uint32_t ring, const struct instant *now, struct hodo_packet *h)
{
	const struct ring *r = &w->ring[ring];
	const uint8_t *packet = packet_at(w, ring, r->next);
	uint64_t slots = w->process.layout.ring_size / w->process.layout.packet_size, ahead;
	uint64_t end = now->offset;

	hodo_shm_copy(h, packet, sizeof(*h));
	if (r->next < now->packet)
		end = h->content_size / 8;
	if (end > w->process.layout.packet_size || end < HEADER || end - HEADER <= r->bytes)
		return 0;
	hodo_shm_copy(w->copy, packet + HEADER + r->bytes, end - HEADER - r->bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	ahead = number_delta(w, number_of(w, load_word(w, ring)), number_of(w, now->word));
	if (r->next + slots < now->packet + ahead + 2 || h->packet_seq_num != r->next || h->magic != HODO_CTF_MAGIC)
		return 0;
	return (uint32_t)end - HEADER - r->bytes;
}

static void count_missed(struct hodo_top_watch *w, struct hodo_top_image *im, uint32_t ring, uint64_t before)
{
	struct hodo_top_model *m = im->counter->model;
	struct ring *r = &w->ring[ring];
	uint32_t cpu = hodo_top_cpu(m, hodo_top_cpu_number(&w->process, ring));

	if (before <= r->events || before >= COUNT_MAX)
		return;
	w->missed += before - r->events;
	if (cpu != HODO_TOP_NONE)
		m->table[HODO_TOP_CPUS].row[cpu].lost.total += before - r->events;
	r->events = before;
}

/* Where counting begins: for rings that are in use then, at what comes. */
static void begin_ring(struct hodo_top_watch *w, uint32_t ring, const struct instant *now)
{
	const struct hodo_ring *shared = (const struct hodo_ring *)(w->process.shm + hodo_layout_ring(ring));
	struct ring *r = &w->ring[ring];

	r->begun = true;
	if (w->begun)
		return;
	r->next = now->packet;
	r->bytes = now->offset - HEADER;
	r->events = now->before + now->events;
	r->too_large = hodo_shm_load64(&shared->lost_too_large);
	r->busy = hodo_shm_load64(&shared->lost_busy);
}

/* Whether something was new. */
static bool count_ring(struct hodo_top_watch *w, struct hodo_top_image *im, uint32_t ring)
{
	uint64_t slots = w->process.layout.ring_size / w->process.layout.packet_size;
	struct hodo_top_model *m = im->counter->model;
	struct ring *r = &w->ring[ring];
	uint64_t before = m->events.total;
	struct instant now;

	if (!look(w, ring, &now))
		return false;
	/* After the word: whatever id is in what is committed is in the catalogue by now. */
	hodo_catalog_read(&w->process.catalog, w->process.shm + HODO_SHM_CATALOG,
			  hodo_shm_load64(&((const struct hodo_shm *)w->process.shm)->catalog_used));
	hodo_top_see_events(im, &w->process);
	if (!r->begun)
		begin_ring(w, ring, &now);
	if (r->next + slots < now.packet + 2) {
		r->next = now.packet + 2 - slots;
		r->bytes = 0;
	}
	for (; r->next <= now.packet; r->next++, r->bytes = 0) {
		struct hodo_packet h;
		uint32_t len = copy_packet(w, ring, &now, &h), counted;
		uint64_t events = m->events.total;

		if (len > 0 && r->bytes == 0)
			count_missed(w, im, ring, h.events_before);
		counted = len ? hodo_top_count_events(im, &w->process, ring, w->copy, len) : 0;
		r->events += m->events.total - events;
		if (r->next == now.packet) {
			r->bytes += counted;
			break;
		}
	}
	return m->events.total != before;
}

/* Rings that have memory; reading a hole would give it some. */
static bool count_rings(struct hodo_top_watch *w, struct hodo_top_image *im)
{
	off_t at = (off_t)HODO_SHM_RINGS, end = (off_t)w->process.layout.data;
	bool any = false;

	while (at < end) {
		off_t hole;

		at = lseek(w->memory.fd, at, SEEK_DATA);
		if (at < 0 || at >= end)
			break;
		hole = lseek(w->memory.fd, at, SEEK_HOLE);
		if (hole <= at || hole > end)
			hole = end;
		for (; at < hole; at += HODO_PAGE)
			any |= count_ring(w, im, (uint32_t)((at - (off_t)HODO_SHM_RINGS) / HODO_PAGE));
	}
	w->begun = true;
	return any;
}

/* ------------------------------------------------------------------------- the process */

static bool has_ended(const struct hodo_top_watch *w)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)w->process.shm;
	struct pollfd dead = { .fd = w->process.pidfd, .events = POLLIN };

	return poll(&dead, 1, 0) != 0 || hodo_shm_load32(&shm->stopped) || hodo_shm_load32(&shm->ended);
}

static bool count_process(struct hodo_top_watch *w, struct hodo_top_counter *c)
{
	struct hodo_top_image *im = w->ended ? NULL : hodo_top_image_of(c, &w->process);

	if (!im)
		return false;
	w->ended = has_ended(w); /* before the last look */
	hodo_process_read_threads(&w->process, false);
	return count_rings(w, im);
}

void hodo_top_counter_watch(struct hodo_top_counter *c, struct hodo_top_watch *list)
{
	c->watches = list;
	for (struct hodo_top_watch *w = list; w; w = w->next) {
		struct hodo_top_image *im;

		w->limited_before = hodo_shm_load64(&((const struct hodo_shm *)w->process.shm)->limited);
		count_process(w, c);
		im = hodo_top_image_of(c, &w->process);
		if (im)
			hodo_top_add_limited(im, &w->process, false);
	}
}

int64_t hodo_top_watch_step(struct hodo_top_counter *c)
{
	int64_t step = -1;

	for (struct hodo_top_watch *w = c->watches; w; w = w->next) {
		if (w->ended)
			continue;
		w->step_ns = count_process(w, c) ? STEP_MIN_NS : 2 * w->step_ns;
		if (w->step_ns > STEP_MAX_NS)
			w->step_ns = STEP_MAX_NS;
		if (!w->ended && (step < 0 || w->step_ns < step))
			step = w->step_ns;
	}
	return step;
}

static uint64_t above(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Whether it goes on. */
static bool refresh(struct hodo_top_watch *w, struct hodo_top_counter *c)
{
	struct hodo_top_image *im;

	if (w->settled)
		return false;
	count_process(w, c);
	im = hodo_top_image_of(c, &w->process);
	w->limited = above(hodo_shm_load64(&((const struct hodo_shm *)w->process.shm)->limited), w->limited_before);
	w->too_large = w->busy = 0;
	for (uint32_t i = 0; i < w->process.layout.rings; i++) {
		const struct hodo_ring *shared = (const struct hodo_ring *)(w->process.shm + hodo_layout_ring(i));

		if (!w->ring[i].begun)
			continue;
		w->too_large += above(hodo_shm_load64(&shared->lost_too_large), w->ring[i].too_large);
		w->busy += above(hodo_shm_load64(&shared->lost_busy), w->ring[i].busy);
	}
	w->settled = w->ended;
	if (!im)
		return false;
	hodo_top_add_limited(im, &w->process, true);
	if (w->ended) {
		im->process = NULL;
		return false;
	}
	hodo_process_refresh_threads(&w->process);
	hodo_top_name_threads(im, &w->process);
	hodo_top_add_states(im, &w->process);
	return true;
}

uint32_t hodo_top_watch_refresh(struct hodo_top_counter *c)
{
	uint32_t live = 0;

	for (struct hodo_top_watch *w = c->watches; w; w = w->next)
		live += refresh(w, c);
	return live;
}

void hodo_top_watch_lost(const struct hodo_top_counter *c, struct hodo_lost *lost, uint64_t *limited)
{
	for (const struct hodo_top_watch *w = c->watches; w; w = w->next) {
		lost->unwritten += w->missed;
		lost->too_large += w->too_large;
		lost->busy += w->busy;
		*limited += w->limited;
	}
}
