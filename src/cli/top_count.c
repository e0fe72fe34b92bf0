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

static void free_image(struct hodo_top_image *im)
{
	free(im->tally);
	free(im->limited);
	free(im->row);
	free(im->place);
	free(im);
}

void hodo_top_counter_free(struct hodo_top_counter *c)
{
	while (c && c->watches) {
		struct hodo_top_watch *w = c->watches;

		c->watches = hodo_top_watch_next(w);
		hodo_top_watch_close(w);
	}
	while (c && c->images) {
		struct hodo_top_image *im = c->images;

		c->images = im->next;
		free_image(im);
	}
	free(c);
}

/* ---------------------------------------------------------------- images and names */

struct hodo_top_image *hodo_top_image_of(struct hodo_top_counter *c, const struct hodo_process *p)
{
	struct hodo_top_image *im;

	for (im = c->images; im; im = im->next)
		if ((im->process == p || !im->process) && memcmp(im->uuid, p->id.uuid, sizeof(im->uuid)) == 0)
			break;
	if (im) {
		im->process = p;
		return im;
	}
	im = calloc(1, sizeof(*im));
	if (im)
		im->place = calloc(p->layout.rings, sizeof(*im->place));
	if (!im || !im->place) {
		free(im);
		return NULL;
	}
	im->counter = c;
	im->process = p;
	im->rings = p->layout.rings;
	im->pid = (uint32_t)p->id.pid;
	im->vpid = p->id.vpid;
	im->thread = HODO_TOP_NONE;
	memcpy(im->comm, p->id.comm, sizeof(im->comm));
	memcpy(im->uuid, p->id.uuid, sizeof(im->uuid));
	im->next = c->images;
	c->images = im;
	c->model->images++;
	return im;
}

/* Room for as many ids as the catalogue's table of shapes has. */
static bool make_room(struct hodo_top_image *im, uint32_t ids)
{
	struct hodo_walk_tally *tally;
	uint64_t *limited;
	uint32_t *row;

	if (ids <= im->ids)
		return true;
	tally = realloc(im->tally, ids * sizeof(*tally));
	if (tally)
		im->tally = tally;
	row = realloc(im->row, ids * sizeof(*row));
	if (row)
		im->row = row;
	limited = realloc(im->limited, ids * sizeof(*limited));
	if (limited)
		im->limited = limited;
	if (!tally || !row || !limited)
		return false;
	memset(limited + im->ids, 0, (ids - im->ids) * sizeof(*limited));
	memset(tally + im->ids, 0, (ids - im->ids) * sizeof(*tally));
	for (uint32_t i = im->ids; i < ids; i++)
		row[i] = HODO_TOP_NONE;
	im->ids = ids;
	return true;
}

/* Rows for events that are new. */
void hodo_top_see_events(struct hodo_top_image *im, const struct hodo_process *p)
{
	struct hodo_top_model *m = im->counter->model;

	if (!make_room(im, p->catalog.walk.n))
		return;
	for (; im->events < p->catalog.events; im->events++) {
		const struct hodo_catalog_event *e = p->catalog.event[im->events];

		if (e->id < im->ids)
			im->row[e->id] = hodo_top_event(m, e->name);
	}
}

/* Threads that were counted; they may have taken other names. */
void hodo_top_name_threads(struct hodo_top_image *im, const struct hodo_process *p)
{
	struct hodo_top_model *m = im->counter->model;

	for (uint32_t i = 0; i < p->threads.n; i++) {
		const struct hodo_ctf_thread *t = hodo_map_at(&p->threads, i);
		uint32_t row = hodo_top_find_thread(m, im->vpid, t->tid);

		if (row != HODO_TOP_NONE)
			hodo_top_rename(&m->table[HODO_TOP_THREADS].row[row], t->comm);
	}
}

/* -------------------------------------------------------------------------- counting */

/* One that was counted for the first time. */
static void name_thread(struct hodo_top_image *im, uint32_t tid)
{
	const struct hodo_ctf_thread *t = hodo_map_find(&im->process->threads, &tid);

	if (t)
		hodo_top_rename(&im->counter->model->table[HODO_TOP_THREADS].row[im->thread], t->comm);
}

static void count_run(void *arg, uint32_t tid, uint32_t events, uint32_t bytes)
{
	struct hodo_top_image *im = arg;
	struct hodo_top_model *m = im->counter->model;
	struct hodo_top_row *row;

	m->events.total += events;
	m->bytes.total += bytes;
	if (im->thread == HODO_TOP_NONE || im->tid != tid) {
		uint32_t threads = m->table[HODO_TOP_THREADS].n;

		im->thread = hodo_top_thread(m, im->vpid, tid);
		im->tid = tid;
		if (m->table[HODO_TOP_THREADS].n > threads)
			name_thread(im, tid); /* it may not live until the next look */
	}
	if (im->thread == HODO_TOP_NONE)
		return;
	row = &m->table[HODO_TOP_THREADS].row[im->thread];
	row->events.total += events;
	row->bytes.total += bytes;
}

uint32_t hodo_top_cpu_number(const struct hodo_process *p, uint32_t ring)
{
	return ring == p->layout.rings - 1 ? HODO_CPU_ANY : ring;
}

/* Counts events of a ring. Returns how many of the len bytes they take. */
uint32_t hodo_top_count_events(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring,
			       const uint8_t *body, uint32_t len)
{
	struct hodo_walk_counter counter = { im->tally, im->ids, count_run, im };
	struct hodo_top_model *m = im->counter->model;
	uint64_t events = m->events.total;
	uint32_t cpu, bytes;

	bytes = hodo_walk_count(&p->catalog.walk, body, len, &counter);
	cpu = hodo_top_cpu(m, hodo_top_cpu_number(p, ring));
	if (cpu != HODO_TOP_NONE) {
		m->table[HODO_TOP_CPUS].row[cpu].events.total += m->events.total - events;
		m->table[HODO_TOP_CPUS].row[cpu].bytes.total += bytes;
	}
	return bytes;
}

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

/* What was counted by id goes to the rows of the names. */
static void add_tallies(struct hodo_top_image *im)
{
	struct hodo_top_table *t = &im->counter->model->table[HODO_TOP_EVENTS];

	for (uint32_t id = 0; id < im->ids; id++) {
		struct hodo_walk_tally *tally = &im->tally[id];

		if (tally->events == 0 || im->row[id] == HODO_TOP_NONE)
			continue;
		t->row[im->row[id]].events.total += tally->events;
		t->row[im->row[id]].bytes.total += tally->bytes;
		*tally = (struct hodo_walk_tally){ 0 };
	}
}

void hodo_top_add_states(struct hodo_top_image *im, const struct hodo_process *p)
{
	const uint32_t *on = (const uint32_t *)(p->shm + HODO_SHM_ON);
	struct hodo_top_table *t = &im->counter->model->table[HODO_TOP_EVENTS];

	for (uint32_t id = 0; id < im->ids; id++) {
		struct hodo_top_row *row;
		enum hodo_top_state state;

		if (im->row[id] == HODO_TOP_NONE)
			continue;
		row = &t->row[im->row[id]];
		state = hodo_shm_load32(&on[id]) & HODO_ON_RECORD ? HODO_TOP_ON : HODO_TOP_OFF;
		row->state = row->state == HODO_TOP_UNLOADED || row->state == state ? state : HODO_TOP_MIXED;
	}
}

void hodo_top_add_limited(struct hodo_top_image *im, const struct hodo_process *p, bool count)
{
	const uint64_t *limited = (const uint64_t *)(p->shm + HODO_SHM_LIMITED);
	struct hodo_top_table *t = &im->counter->model->table[HODO_TOP_EVENTS];

	/* What was never written stays without memory. */
	if (hodo_shm_load64(&((const struct hodo_shm *)p->shm)->limited) == 0)
		return;
	for (uint32_t id = 0; id < im->ids; id++) {
		uint64_t now = hodo_shm_load64(&limited[id]);

		if (now <= im->limited[id])
			continue;
		if (count && im->row[id] != HODO_TOP_NONE)
			t->row[im->row[id]].lost.total += now - im->limited[id];
		im->limited[id] = now;
	}
}

static void set_lost(struct hodo_top_counter *c, const struct hodo_session_stats *stats)
{
	struct hodo_top_model *m = c->model;
	const struct hodo_lost *l = &stats->lost;

	m->causes = *l;
	m->limited = stats->limited;
	for (struct hodo_top_watch *w = c->watches; w; w = hodo_top_watch_next(w))
		hodo_top_watch_lost(w, &m->causes, &m->limited);
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
	for (struct hodo_top_watch *w = c->watches; w; w = hodo_top_watch_next(w))
		c->model->live += hodo_top_watch_refresh(w, c);
	for (struct hodo_process *p = s->processes; p; p = p->next) {
		struct hodo_top_image *im = hodo_top_image_of(c, p);

		if (im)
			refresh_image(im, p);
	}
	set_lost(c, &stats);
	while (*link) {
		struct hodo_top_image *im = *link;

		add_tallies(im);
		if (im->process) {
			link = &im->next;
			continue;
		}
		*link = im->next;
		free_image(im);
	}
}

void hodo_top_settle(struct hodo_top_counter *c, const struct hodo_session_stats *stats)
{
	for (struct hodo_top_image *im = c->images; im; im = im->next)
		add_tallies(im);
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
