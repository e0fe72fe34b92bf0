/* SPDX-License-Identifier: MIT */
/*
 * top_count.c - hodo top: counts the events of the processes of a session.
 *
 * A packet comes here when it is full, which with rare events is late. So the
 * open packet of each ring is looked at, too, once an interval, as far as it is
 * committed; how far it has been counted is kept, and the rest counted when the
 * packet comes, or at the next look. In discard mode, which hodo top uses,
 * a packet stays as it is until the session has taken it.
 */
#define _GNU_SOURCE
#include "top_image.h"

#include <stdlib.h>
#include <string.h>

#include <record/record.h>

struct hodo_top_counter *hodo_top_counter_new(struct hodo_top_model *m)
{
	struct hodo_top_counter *c = calloc(1, sizeof(*c));

	if (c)
		c->model = m;
	return c;
}

void hodo_top_counter_free(struct hodo_top_counter *c)
{
	while (c && c->images) {
		struct hodo_top_image *im = c->images;

		c->images = im->next;
		hodo_top_image_free(im);
	}
	free(c);
}

/* -------------------------------------------------------------------------- counting */

static void count_lost(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring)
{
	const struct hodo_ring *shared = p->ring[ring]->reader.ring;
	struct hodo_top_model *m = im->counter->model;
	uint64_t lost = hodo_shm_load64(&shared->lost_full) + hodo_shm_load64(&shared->lost_too_large) +
			hodo_shm_load64(&shared->lost_busy);
	uint32_t cpu;

	if (lost <= im->place[ring].lost)
		return;
	cpu = hodo_top_cpu(m, hodo_top_cpu_number(p, ring));
	if (cpu != HODO_TOP_NONE)
		m->table[HODO_TOP_CPUS].row[cpu].lost.total += lost - im->place[ring].lost;
	im->place[ring].lost = lost;
}

void hodo_top_packet(struct hodo_top_counter *c, const struct hodo_process *p, const struct hodo_packet *h,
		     const uint8_t *body)
{
	struct hodo_top_image *im = hodo_top_image_of(c, p);
	uint32_t ring = h->cpu_id < p->layout.rings - 1 ? h->cpu_id : p->layout.rings - 1;
	uint32_t len = (uint32_t)(h->content_size / 8) - HEADER, counted = 0;

	if (!im || !p->ring[ring])
		return;
	hodo_top_see_events(im, p);
	count_lost(im, p, ring);
	if (p->ring[ring]->reader.next == im->place[ring].packet)
		counted = im->place[ring].bytes < len ? im->place[ring].bytes : len;
	hodo_top_count_events(im, p, ring, body + counted, len - counted);
}

/* The open packet, which is next or, if the session is late, one of those behind it. */
static void look_at_ring(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring)
{
	const struct hodo_ring_reader *r = &p->ring[ring]->reader;
	uint64_t word = hodo_shm_load64(&r->ring->word), position = word >> HODO_WORD_COUNT_BITS;
	uint64_t numbers = (1ull << (64 - HODO_WORD_COUNT_BITS)) / r->packet_size;
	uint64_t ahead = (position / r->packet_size - r->next) & (numbers - 1);
	uint32_t end = (uint32_t)(position & (r->packet_size - 1));
	struct hodo_top_place *at = &im->place[ring];
	const uint8_t *packet = r->packets + ((r->next + ahead) * r->packet_size & (r->ring_size - 1));

	if (word == 0 || r->broken || end < HEADER || ahead >= r->ring_size / r->packet_size)
		return;
	/* What was looked at earlier must have come first, so that it is known what of it is new. */
	if (at->packet != r->next + ahead && at->packet >= r->next && at->bytes > 0)
		return;
	if (at->packet != r->next + ahead)
		*at = (struct hodo_top_place){ r->next + ahead, 0, at->lost };
	if (at->bytes < end - HEADER)
		at->bytes += hodo_top_count_events(im, p, ring, packet + HEADER + at->bytes, end - HEADER - at->bytes);
}

/* ------------------------------------------------------------------- into the model */

static void set_lost(struct hodo_top_counter *c, const struct hodo_session_stats *stats)
{
	struct hodo_top_model *m = c->model;
	const struct hodo_lost *l = &stats->lost;

	m->causes = *l;
	m->limited = stats->limited;
	hodo_top_watch_lost(c, &m->causes, &m->limited);
	l = &m->causes;
	m->lost.total = l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static void refresh_image(struct hodo_top_image *im, struct hodo_process *p)
{
	/* New events and threads now, and not when it is next time for it. */
	hodo_process_chores(p, 0, UINT64_MAX);
	hodo_top_see_events(im, p);
	for (uint32_t i = 0; i < p->actives; i++) {
		look_at_ring(im, p, p->active[i]);
		count_lost(im, p, p->active[i]);
	}
	hodo_top_name_threads(im, p);
	hodo_top_add_states(im, p);
	hodo_top_add_limited(im, p, true);
}

void hodo_top_refresh(struct hodo_top_counter *c, struct hodo_session *s)
{
	struct hodo_top_table *t = &c->model->table[HODO_TOP_EVENTS];
	struct hodo_session_stats stats;
	struct hodo_top_image **link = &c->images;

	hodo_session_stats(s, &stats);
	c->model->live = stats.live;
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i].state = HODO_TOP_UNLOADED;
	for (struct hodo_top_image *im = c->images; im; im = im->next)
		im->process = NULL;
	c->model->live += hodo_top_watch_refresh(c);
	for (struct hodo_process *p = s->processes; p; p = p->next) {
		struct hodo_top_image *im = hodo_top_image_of(c, p);

		if (im)
			refresh_image(im, p);
	}
	set_lost(c, &stats);
	while (*link) {
		struct hodo_top_image *im = *link;

		hodo_top_add_tallies(im);
		if (im->process) {
			link = &im->next;
			continue;
		}
		*link = im->next;
		hodo_top_image_free(im);
	}
}

void hodo_top_settle(struct hodo_top_counter *c, const struct hodo_session_stats *stats)
{
	for (struct hodo_top_image *im = c->images; im; im = im->next)
		hodo_top_add_tallies(im);
	set_lost(c, stats);
	c->model->live = 0;
}

bool hodo_top_counter_pid(const struct hodo_top_counter *c, uint32_t i, pid_t *pid)
{
	for (const struct hodo_top_image *im = c->images; im; im = im->next) {
		if (!im->process || i-- > 0)
			continue;
		*pid = (pid_t)im->pid;
		return true;
	}
	return false;
}
