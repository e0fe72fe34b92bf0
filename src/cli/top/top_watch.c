/* SPDX-License-Identifier: MIT */
/*
 * top_watch.c - hodo top: counts the events of a process that another recorder records in overwrite mode.
 *
 *   who             writes                     beside
 *   CPU's writers   words, packets             us
 *   the recorder    nothing in the rings       us
 *   we              nothing                    all of them
 *
 * A ring wraps at any time. So each packet is copied first, and the copy used only if the word then shows
 * that no writer can have been there: a writer that switches packets overwrites the one after the open one,
 * hence the 2 below. Packets' headers show what was overwritten before it was read, which is counted as not
 * seen.
 *
 * The memory is hostile, as everywhere in the recorder.
 */
#include "top_spans.h"

#include <base/scope.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define HEADER ((uint32_t)sizeof(struct hodo_packet))
/* For packets and events: more than a ring ever has, and small enough that sums do not wrap. */

#define STEP_MIN_NS 500000
#define STEP_MAX_NS 20000000

struct ring {
	struct hodo_ring_reader reader; /* next: the packet to be counted */
	bool begun;
	uint32_t bytes;  /* of its events, counted so far */
	struct hodo_cursor cursor; /* of the next ones, unless an anchor says otherwise */
	uint64_t events; /* of the ring, counted or known to be missed so far */
	uint64_t too_large, busy; /* when we began */
};

struct hodo_top_watch {
	struct hodo_top_watch *next;
	struct hodo_lent memory;
	struct hodo_process process; /* the parts needed for counting: identity, catalogue, threads, memory */
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
	HODO_AUTO_FREE struct hodo_found_recorder *recorders =
		hodo_must(calloc(HODO_RECORDERS_MAX, sizeof(*recorders)));
	int n = hodo_recorders_find(pid, recorders), fd = -ENOENT;

	for (int i = 0; i < n && fd < 0 && fd != -EOPNOTSUPP; i++) {
		int one = hodo_lent_ask(recorders[i].path, pid, 0, "hodo top", answer);

		if (one >= 0 || one == -EOPNOTSUPP)
			fd = one;
	}
	return fd;
}

static int open_process(struct hodo_top_watch *w, pid_t pid)
{
	struct hodo_process *p = &w->process;

	p->id = (struct hodo_process_id){ .pid = pid, .vpid = w->memory.pid, .flight = w->memory.flight };
	p->layout = w->memory.layout;
	p->shm = (uint8_t *)w->memory.shm; /* nothing that we call writes to it */
	p->pidfd = hodo_peer_open(pid, NULL);
	w->ring = hodo_must(calloc(p->layout.rings, sizeof(*w->ring)));
	w->copy = hodo_must(malloc(p->layout.packet_size));
	w->step_ns = STEP_MIN_NS;
	for (uint32_t i = 0; i < p->layout.rings; i++)
		hodo_ring_reader_init(&w->ring[i].reader, (struct hodo_ring *)(p->shm + hodo_layout_ring(i)),
				      p->shm + p->layout.data + i * p->layout.ring_size, &p->layout,
				      HODO_MODE_OVERWRITE, NULL);
	return p->pidfd < 0 ? p->pidfd : 0;
}

int hodo_top_watch_open(struct hodo_top_watch **list, pid_t pid, uint32_t *recorder)
{
	struct hodo_msg_answer answer;
	int err, fd = ask(pid, &answer);
	struct hodo_top_watch *w;

	if (fd < 0)
		return fd;
	w = hodo_must(calloc(1, sizeof(*w)));
	w->process.pidfd = -1;
	w->process.threads = (struct hodo_map)HODO_MAP(struct hodo_ctf_thread, tid);
	w->memory.fd = -1;
	err = hodo_lent_map(&w->memory, &answer, fd);
	if (!err && w->memory.flight.mode != HODO_MODE_OVERWRITE)
		err = -EOPNOTSUPP;
	/* The catalogue's reader must know the shapes of stored contexts. */
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
	hodo_lent_unmap(&w->memory);
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

/* False: the ring was never used, is invalid, or is too busy to be read. */
static bool look(struct ring *r, uint64_t *packet)
{
	r->reader.broken = false;
	return hodo_ring_locate(&r->reader, &r->reader.word, packet) && *packet < HODO_RING_COUNT_MAX;
}

/* How many packets were begun since look(). */
static uint64_t ahead(const struct ring *r)
{
	/* Everything read before is from the ring's state before this load. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return hodo_ring_ahead(&r->reader, hodo_shm_load64(&r->reader.ring->word), r->reader.word);
}

/* In the open packet, as of the look. */
static uint32_t offset_of(const struct ring *r)
{
	return (uint32_t)(r->reader.word >> HODO_WORD_COUNT_BITS) & (r->reader.packet_size - 1);
}

static const uint8_t *packet_of(const struct ring *r)
{
	return r->reader.packets + (r->reader.next * r->reader.packet_size & (r->reader.ring_size - 1));
}

/*
 * Copies the packet's events from r->bytes on; open: the open packet at look(). Returns their bytes; 0: none,
 * or they may have been overwritten.
 */
static uint32_t copy_packet(const struct ring *r, uint64_t open, uint8_t *copy, struct hodo_packet *h)
{
	const struct hodo_ring_reader *reader = &r->reader;
	const uint8_t *packet = packet_of(r);
	uint64_t end = offset_of(r);

	hodo_shm_copy(h, packet, sizeof(*h));
	if (reader->next < open)
		end = h->content_size / 8;
	if (end > reader->packet_size || end < HEADER || end - HEADER <= r->bytes)
		return 0;
	hodo_shm_copy(copy, packet + HEADER + r->bytes, end - HEADER - r->bytes);
	if (reader->next + reader->ring_size / reader->packet_size < open + ahead(r) + 2 ||
	    h->packet_seq_num != reader->next || h->magic != HODO_CTF_MAGIC)
		return 0;
	return (uint32_t)end - HEADER - r->bytes;
}

/* h: of the next packet after them. */
static void count_missed(struct hodo_top_watch *w, struct hodo_top_image *im, uint32_t ring,
			 const struct hodo_packet *h)
{
	uint64_t before = h->events_before;
	struct ring *r = &w->ring[ring];

	if (before <= r->events || before >= HODO_RING_COUNT_MAX)
		return;
	w->missed += before - r->events;
	hodo_top_count_lost(im, &w->process, ring, before - r->events);
	hodo_top_spans_lose(im->spans, ring, h->timestamp_begin);
	r->events = before;
}

/* Where counting begins: in rings already in use, with new events. False: the ring is too busy to be read. */
static bool begin_ring(struct hodo_top_watch *w, struct ring *r, uint64_t *packet)
{
	r->begun = true;
	if (w->begun)
		return true;
	r->events = hodo_ring_events(&r->reader);
	/* The header belongs to the word only if its packet was still open after it was read. */
	for (int tries = 0; ahead(r) > 0; tries++) {
		if (tries == 64 || !look(r, packet))
			return r->begun = false;
		r->events = hodo_ring_events(&r->reader);
	}
	r->reader.next = *packet;
	r->bytes = offset_of(r) - HEADER;
	r->too_large = hodo_shm_load64(&r->reader.ring->lost_too_large);
	r->busy = hodo_shm_load64(&r->reader.ring->lost_busy);
	return true;
}

/* Finds the thread of the next events in a packet counted from its middle on. */
static void find_thread(struct hodo_top_watch *w, struct ring *r)
{
	struct hodo_walk_result walk;

	hodo_shm_copy(w->copy, packet_of(r) + HEADER, r->bytes);
	hodo_walk(&w->process.catalog.walk, w->copy, r->bytes, 0, UINT32_MAX, &walk);
	r->cursor = walk.cursor;
}

/* Whether something was new. */
static bool count_ring(struct hodo_top_watch *w, struct hodo_top_image *im, uint32_t ring)
{
	struct hodo_top_model *m = im->model;
	struct ring *r = &w->ring[ring];
	uint64_t slots = r->reader.ring_size / r->reader.packet_size, before = m->events.total, open;

	bool first = !r->begun;

	if (!look(r, &open) || (first && !begin_ring(w, r, &open)))
		return false;
	/* After the word: the catalogue has every committed id by now. */
	hodo_catalog_read(&w->process.catalog, w->process.shm + HODO_SHM_CATALOG,
			  hodo_shm_load64(&((const struct hodo_shm *)w->process.shm)->catalog_used));
	hodo_top_see_events(im, &w->process);
	if (first)
		find_thread(w, r);
	if (r->reader.next + slots < open + 2) {
		r->reader.next = open + 2 - slots;
		r->bytes = 0;
	}
	for (; r->reader.next <= open; r->reader.next++, r->bytes = 0) {
		struct hodo_packet h;
		uint32_t len = copy_packet(r, open, w->copy, &h), counted;
		uint64_t events = m->events.total;

		if (len > 0 && r->bytes == 0)
			count_missed(w, im, ring, &h);
		counted = len ? hodo_top_count_events(im, &w->process, ring, w->copy, len, &r->cursor) : 0;
		r->events += m->events.total - events;
		if (r->reader.next == open) {
			r->bytes += counted;
			break;
		}
	}
	return m->events.total != before;
}

static bool count_rings(struct hodo_top_watch *w, struct hodo_top_image *im)
{
	const struct hodo_layout *l = &w->process.layout;
	bool any = false;

	for (uint32_t i = 0; (i = hodo_shm_next_ring(l, w->memory.fd, i)) < l->rings; i++)
		any |= count_ring(w, im, i);
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

static bool count_process(struct hodo_top_watch *w, struct hodo_top_model *m)
{
	struct hodo_top_image *im;
	uint64_t now;
	bool any;

	if (w->ended)
		return false;
	im = hodo_top_image_of(m, &w->process);
	w->ended = has_ended(w); /* before the last look */
	hodo_process_read_threads(&w->process, false);
	now = hodo_top_spans_now(im->spans);
	any = count_rings(w, im);
	hodo_top_spans_take(im->spans, w->ended ? UINT64_MAX : now, NULL, NULL);
	return any;
}

void hodo_top_watch_begin(struct hodo_top_model *m, struct hodo_top_watch *list)
{
	m->watch = list;
	for (struct hodo_top_watch *w = list; w; w = w->next) {
		w->limited_before = hodo_shm_load64(&((const struct hodo_shm *)w->process.shm)->limited);
		count_process(w, m);
		hodo_top_add_limited(hodo_top_image_of(m, &w->process), &w->process, false);
	}
}

int64_t hodo_top_watch_step(struct hodo_top_model *m)
{
	int64_t step = -1;

	for (struct hodo_top_watch *w = m->watch; w; w = w->next) {
		if (w->ended)
			continue;
		w->step_ns = count_process(w, m) ? STEP_MIN_NS : 2 * w->step_ns;
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
static bool refresh(struct hodo_top_watch *w, struct hodo_top_model *m)
{
	struct hodo_top_image *im;

	if (w->settled)
		return false;
	count_process(w, m);
	im = hodo_top_image_of(m, &w->process);
	w->limited = above(hodo_shm_load64(&((const struct hodo_shm *)w->process.shm)->limited), w->limited_before);
	w->too_large = w->busy = 0;
	for (uint32_t i = 0; i < w->process.layout.rings; i++) {
		const struct ring *r = &w->ring[i];

		if (!r->begun)
			continue;
		w->too_large += above(hodo_shm_load64(&r->reader.ring->lost_too_large), r->too_large);
		w->busy += above(hodo_shm_load64(&r->reader.ring->lost_busy), r->busy);
	}
	w->settled = w->ended;
	hodo_top_add_limited(im, &w->process, true);
	if (w->ended) {
		im->process = NULL;
		return false;
	}
	hodo_process_refresh_threads(&w->process);
	hodo_top_see_state(im, &w->process);
	return true;
}

uint32_t hodo_top_watch_refresh(struct hodo_top_model *m)
{
	uint32_t live = 0;

	for (struct hodo_top_watch *w = m->watch; w; w = w->next)
		live += refresh(w, m);
	return live;
}

void hodo_top_watch_lost(const struct hodo_top_model *m, struct hodo_lost *lost, uint64_t *limited)
{
	for (const struct hodo_top_watch *w = m->watch; w; w = w->next) {
		lost->unwritten += w->missed;
		lost->too_large += w->too_large;
		lost->busy += w->busy;
		*limited += w->limited;
	}
}
