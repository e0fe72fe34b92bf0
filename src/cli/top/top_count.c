/* SPDX-License-Identifier: MIT */
/*
 * top_count.c - hodo top: counts the events of a recorder's processes, in full packets as they come, and once
 * per interval the committed ones in open packets (docs/design/top.md).
 */
#include "top_spans.h"

#define HEADER ((uint32_t)sizeof(struct hodo_packet))

/* -------------------------------------------------------------------------- counting */

static uint64_t refused(const struct hodo_process *p, uint32_t ring)
{
	const struct hodo_ring *shared = p->ring[ring]->reader.ring;

	return hodo_shm_load64(&shared->lost_full) + hodo_shm_load64(&shared->lost_too_large) +
	       hodo_shm_load64(&shared->lost_busy);
}

static void count_lost(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring)
{
	uint64_t lost = refused(p, ring);

	if (lost <= im->place[ring].lost)
		return;
	hodo_top_count_lost(im, p, ring, lost - im->place[ring].lost);
	im->place[ring].lost = lost;
}

/* Events after the last one were refused, up to that time. */
static void tell_lost(struct hodo_top_image *im, uint32_t ring, uint64_t missing, uint64_t until)
{
	if (missing <= im->place[ring].told)
		return;
	im->place[ring].told = missing;
	hodo_top_spans_lose(im->spans, ring, until);
}

static bool lost_inside(const struct hodo_process *p, uint32_t ring)
{
	const struct hodo_ring *shared = p->ring[ring]->reader.ring;

	return hodo_shm_load64(&shared->lost_too_large) || hodo_shm_load64(&shared->lost_busy);
}

/* A packet in shared memory. */
struct packet {
	const uint8_t *at;
	uint32_t len;     /* bytes of events */
	uint64_t missing; /* events refused before its end */
	uint64_t end;     /* ticks */
};

static const uint8_t *packet_at(const struct hodo_ring_reader *r, uint64_t number)
{
	return r->packets + (number * r->packet_size & (r->ring_size - 1));
}

/* A closed one, which does not change until the recorder has taken it. If it is invalid, it has no events here. */
static struct packet closed_packet(const struct hodo_ring_reader *r, uint64_t number)
{
	struct packet packet = { .at = packet_at(r, number) };
	struct hodo_packet h, next;
	uint64_t bytes;

	hodo_shm_copy(&h, packet.at, sizeof(h));
	hodo_shm_copy(&next, packet_at(r, number + 1), sizeof(next));
	bytes = h.content_size / 8;
	if (bytes >= HEADER && bytes <= r->packet_size)
		packet.len = (uint32_t)bytes - HEADER;
	packet.missing = next.events_discarded < HODO_RING_COUNT_MAX ? next.events_discarded : 0;
	packet.end = h.timestamp_end;
	return packet;
}

/* The committed part of the open one. */
static struct packet open_packet(const struct hodo_ring_reader *r, uint64_t word, uint64_t number)
{
	uint32_t end = (uint32_t)(word >> HODO_WORD_COUNT_BITS) & (r->packet_size - 1);

	return (struct packet){ .at = packet_at(r, number), .len = end - HEADER };
}

struct look {
	struct hodo_top_image *image;
	struct hodo_process *process;
};

/*
 * Counts events of the next packet of a ring, before the recorder takes it. Returns whether another packet may
 * follow at once. If the packet has events that the catalogue did not know when it was read last, the ring lags.
 */
static bool look_further(void *arg, uint32_t ring)
{
	const struct look *l = arg;
	struct hodo_top_image *im = l->image;
	struct hodo_ring_reader r; /* a copy: only the recorder may mark a ring as broken */
	struct hodo_top_place *at = &im->place[ring];
	struct packet packet;
	uint64_t word, open;
	bool closed;

	if (!l->process->ring[ring])
		return false;
	r = l->process->ring[ring]->reader;
	if (r.broken || !hodo_ring_locate(&r, &word, &open))
		return false;
	if (at->packet < r.next)
		*at = (struct hodo_top_place){ .packet = r.next, .lost = at->lost, .told = at->told };
	closed = at->packet < open;
	packet = closed ? closed_packet(&r, at->packet) : open_packet(&r, word, open);
	if (closed && lost_inside(l->process, ring))
		tell_lost(im, ring, packet.missing, packet.end);
	if (at->bytes < packet.len)
		at->bytes += hodo_top_count_events(im, l->process, ring, packet.at + HEADER + at->bytes,
						   packet.len - at->bytes, &at->cursor);
	hodo_top_spans_lag(im->spans, ring, at->bytes < packet.len);
	if (!closed)
		tell_lost(im, ring, refused(l->process, ring), hodo_top_spans_now(im->spans));
	if (!closed || at->bytes < packet.len)
		return false;
	tell_lost(im, ring, packet.missing, packet.end);
	*at = (struct hodo_top_place){ .packet = at->packet + 1, .lost = at->lost, .told = at->told };
	return true;
}

/* Looks at all rings, and processes spans and counters up to the time before which everything is known. */
static void look_at_rings(struct hodo_top_image *im, struct hodo_process *p)
{
	uint64_t now = hodo_top_spans_now(im->spans);
	struct look look = { im, p };

	/* Includes rings newly in use: their events are as old as the others'. */
	hodo_process_find_rings(p);
	hodo_top_see_events(im, p);
	hodo_top_spans_take(im->spans, now, look_further, &look);
}

void hodo_top_packet(struct hodo_top_model *m, const struct hodo_process *p, const struct hodo_packet *h,
		     const uint8_t *body)
{
	struct hodo_top_image *im = hodo_top_image_of(m, p);
	uint32_t ring = h->cpu_id < p->layout.rings - 1 ? h->cpu_id : p->layout.rings - 1;
	uint32_t len = (uint32_t)(h->content_size / 8) - HEADER, counted;
	struct hodo_top_place *at = &im->place[ring];
	uint64_t number;

	if (!p->ring[ring])
		return;
	number = p->ring[ring]->reader.next;
	hodo_top_see_events(im, p);
	count_lost(im, p, ring);
	if (at->packet < number)
		*at = (struct hodo_top_place){ .packet = number, .lost = at->lost, .told = at->told };
	/*
	 * A full ring refuses events after a packet's last one; events refused for other reasons may be
	 * anywhere in it.
	 */
	if (lost_inside(p, ring))
		tell_lost(im, ring, h->events_discarded, h->timestamp_end);
	if (at->packet == number) { /* else it was counted before */
		counted = at->bytes < len ? at->bytes : len;
		hodo_top_count_events(im, p, ring, body + counted, len - counted, &at->cursor);
		at->bytes = len;
	}
	tell_lost(im, ring, h->events_discarded, h->timestamp_end);
	for (struct hodo_process *each = hodo_recorder_processes(p->recorder); m->queued >= HODO_TOP_QUEUED_MAX && each;
	     each = each->next)
		look_at_rings(hodo_top_image_of(m, each), each);
}

/* ------------------------------------------------------------------- into the model */

static void set_lost(struct hodo_top_model *m, const struct hodo_recorder_stats *stats)
{
	const struct hodo_lost *l = &m->causes;

	m->causes = stats->lost;
	m->limited = stats->limited;
	hodo_top_watch_lost(m, &m->causes, &m->limited);
	m->lost.total = l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static void refresh_image(struct hodo_top_image *im, struct hodo_process *p)
{
	/* Finds new events and threads now, not at the next regular time. */
	hodo_process_chores(p, 0, UINT64_MAX);
	look_at_rings(im, p);
	for (uint32_t i = 0; i < p->actives; i++)
		count_lost(im, p, p->active[i]);
	hodo_top_see_state(im, p);
	hodo_top_add_limited(im, p, true);
}

void hodo_top_refresh(struct hodo_top_model *m, struct hodo_recorder *s)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_EVENTS];
	struct hodo_recorder_stats stats;

	hodo_recorder_stats(s, &stats);
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i].state = HODO_TOP_UNLOADED;
	for (uint32_t i = 0; i < m->table[HODO_TOP_THREADS].n; i++)
		m->table[HODO_TOP_THREADS].row[i].here = false;
	for (struct hodo_top_image *im = m->image; im; im = im->next)
		im->process = NULL;
	m->live = stats.live + hodo_top_watch_refresh(m);
	for (struct hodo_process *p = hodo_recorder_processes(s); p; p = p->next)
		refresh_image(hodo_top_image_of(m, p), p);
	set_lost(m, &stats);
	for (struct hodo_top_image **link = &m->image, *im; (im = *link);) {
		hodo_top_add_tallies(im);
		if (im->process) {
			link = &im->next;
			continue;
		}
		hodo_top_spans_take(im->spans, UINT64_MAX, NULL, NULL);
		*link = im->next;
		hodo_top_image_free(im);
	}
}

void hodo_top_settle(struct hodo_top_model *m, const struct hodo_recorder_stats *stats)
{
	for (struct hodo_top_image *im = m->image; im; im = im->next) {
		hodo_top_add_tallies(im);
		hodo_top_spans_take(im->spans, UINT64_MAX, NULL, NULL);
	}
	set_lost(m, stats);
	m->live = 0;
	m->settled = true;
}

void hodo_top_images_free(struct hodo_top_model *m)
{
	for (struct hodo_top_image *im; (im = m->image);) {
		m->image = im->next;
		hodo_top_image_free(im);
	}
}
