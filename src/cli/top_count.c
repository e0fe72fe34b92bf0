/* SPDX-License-Identifier: MIT */
/*
 * top_count.c - hodo top: counts the events of the processes of a session, in full packets as they come, and once an
 * interval in the open ones as far as they are committed (docs/design/top.md).
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

/* Events behind the last one were refused, up to that time. */
static void tell_lost(struct hodo_top_image *im, uint32_t ring, uint64_t missing, uint64_t until)
{
	if (missing <= im->place[ring].told)
		return;
	im->place[ring].told = missing;
	hodo_top_spans_lose(im->spans, ring, until);
}

/* The open packet. If the session is late, so that it is not the next one, those before it come first. */
static void look_at_ring(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring)
{
	struct hodo_ring_reader r = p->ring[ring]->reader; /* a copy: it is the session that finds a ring broken */
	struct hodo_top_place *at = &im->place[ring];
	uint64_t word, open;
	const uint8_t *packet;
	uint32_t end;

	if (r.broken || !hodo_ring_locate(&r, &word, &open))
		return;
	hodo_top_spans_lag(im->spans, ring, open > r.next);
	if (open != r.next) /* less: it has been read to its end */
		return;
	packet = r.packets + (open * r.packet_size & (r.ring_size - 1));
	end = (uint32_t)(word >> HODO_WORD_COUNT_BITS) & (r.packet_size - 1);
	if (at->packet != open)
		*at = (struct hodo_top_place){ .packet = open, .lost = at->lost, .told = at->told };
	if (at->bytes < end - HEADER)
		at->bytes += hodo_top_count_events(im, p, ring, packet + HEADER + at->bytes, end - HEADER - at->bytes,
						   &at->cursor);
	tell_lost(im, ring, refused(p, ring), hodo_top_spans_now(im->spans));
}

/* Those that have just come into use, too: what happened in them is as old as what others have. */
static void look_at_rings(struct hodo_top_image *im, struct hodo_process *p)
{
	hodo_process_find_rings(p);
	hodo_top_see_events(im, p);
	for (uint32_t i = 0; i < p->actives; i++)
		look_at_ring(im, p, p->active[i]);
}

/* Spans and counters of all processes, as far as it is known what came before them. */
static void take_spans(struct hodo_session *s, struct hodo_top_model *m)
{
	for (struct hodo_process *p = s->processes; p; p = p->next) {
		struct hodo_top_image *im = hodo_top_image_of(m, p);
		uint64_t now = hodo_top_spans_now(im->spans);

		look_at_rings(im, p);
		hodo_top_take_spans(im, now);
	}
}

static bool lost_inside(const struct hodo_process *p, uint32_t ring)
{
	const struct hodo_ring *shared = p->ring[ring]->reader.ring;

	return hodo_shm_load64(&shared->lost_too_large) || hodo_shm_load64(&shared->lost_busy);
}

void hodo_top_packet(void *model, const struct hodo_process *p, const struct hodo_packet *h, const uint8_t *body)
{
	struct hodo_top_model *m = model;
	struct hodo_top_image *im = hodo_top_image_of(m, p);
	uint32_t ring = h->cpu_id < p->layout.rings - 1 ? h->cpu_id : p->layout.rings - 1;
	uint32_t len = (uint32_t)(h->content_size / 8) - HEADER, counted;
	struct hodo_top_place *at = &im->place[ring];

	if (!p->ring[ring])
		return;
	hodo_top_see_events(im, p);
	count_lost(im, p, ring);
	if (at->packet != p->ring[ring]->reader.next)
		*at = (struct hodo_top_place){ .packet = p->ring[ring]->reader.next, .lost = at->lost,
					       .told = at->told };
	/* A full ring refuses what comes behind a packet's last event; for other reasons they may be anywhere in it. */
	if (lost_inside(p, ring))
		tell_lost(im, ring, h->events_discarded, h->timestamp_end);
	counted = at->bytes < len ? at->bytes : len;
	hodo_top_count_events(im, p, ring, body + counted, len - counted, &at->cursor);
	tell_lost(im, ring, h->events_discarded, h->timestamp_end);
	at->bytes = len;
	if (m->queued >= HODO_TOP_QUEUED_MAX)
		take_spans(p->session, m);
}

/* ------------------------------------------------------------------- into the model */

static void set_lost(struct hodo_top_model *m, const struct hodo_session_stats *stats)
{
	const struct hodo_lost *l = &m->causes;

	m->causes = stats->lost;
	m->limited = stats->limited;
	hodo_top_watch_lost(m, &m->causes, &m->limited);
	m->lost.total = l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static void refresh_image(struct hodo_top_image *im, struct hodo_process *p)
{
	uint64_t now = hodo_top_spans_now(im->spans);

	/* New events and threads now, and not when it is next time for it. */
	hodo_process_chores(p, 0, UINT64_MAX);
	look_at_rings(im, p);
	for (uint32_t i = 0; i < p->actives; i++)
		count_lost(im, p, p->active[i]);
	hodo_top_take_spans(im, now);
	hodo_top_see_state(im, p);
	hodo_top_add_limited(im, p, true);
}

void hodo_top_refresh(struct hodo_top_model *m, struct hodo_session *s)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_EVENTS];
	struct hodo_session_stats stats;

	hodo_session_stats(s, &stats);
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i].state = HODO_TOP_UNLOADED;
	for (uint32_t i = 0; i < m->table[HODO_TOP_THREADS].n; i++)
		m->table[HODO_TOP_THREADS].row[i].here = false;
	for (struct hodo_top_image *im = m->image; im; im = im->next)
		im->process = NULL;
	m->live = stats.live + hodo_top_watch_refresh(m);
	for (struct hodo_process *p = s->processes; p; p = p->next)
		refresh_image(hodo_top_image_of(m, p), p);
	set_lost(m, &stats);
	for (struct hodo_top_image **link = &m->image, *im; (im = *link);) {
		hodo_top_add_tallies(im);
		if (im->process) {
			link = &im->next;
			continue;
		}
		hodo_top_take_spans(im, UINT64_MAX);
		*link = im->next;
		hodo_top_image_free(im);
	}
}

void hodo_top_settle(struct hodo_top_model *m, const struct hodo_session_stats *stats)
{
	for (struct hodo_top_image *im = m->image; im; im = im->next) {
		hodo_top_add_tallies(im);
		hodo_top_take_spans(im, UINT64_MAX);
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
