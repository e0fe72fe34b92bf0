/* SPDX-License-Identifier: MIT */
/* top_image.c - hodo top: from the events and the memory of a process image into the model. */
#define _GNU_SOURCE
#include "top_image.h"

#include <stdlib.h>
#include <string.h>

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
	im->pid = (uint32_t)p->id.pid;
	im->vpid = p->id.vpid;
	im->thread = HODO_TOP_NONE;
	memcpy(im->uuid, p->id.uuid, sizeof(im->uuid));
	im->next = c->images;
	c->images = im;
	c->model->images++;
	return im;
}

void hodo_top_image_free(struct hodo_top_image *im)
{
	free(im->tally);
	free(im->id);
	free(im->place);
	free(im);
}

/* Room for as many ids as the catalogue's table of shapes has. */
static bool make_room(struct hodo_top_image *im, uint32_t ids)
{
	struct hodo_walk_tally *tally;
	struct hodo_top_id *id;

	if (ids <= im->ids)
		return true;
	tally = realloc(im->tally, ids * sizeof(*tally));
	im->tally = tally ? tally : im->tally;
	id = realloc(im->id, ids * sizeof(*id));
	im->id = id ? id : im->id;
	if (!tally || !id)
		return false;
	for (uint32_t i = im->ids; i < ids; i++) {
		tally[i] = (struct hodo_walk_tally){ 0 };
		id[i] = (struct hodo_top_id){ .row = HODO_TOP_NONE };
	}
	im->ids = ids;
	return true;
}

void hodo_top_see_events(struct hodo_top_image *im, const struct hodo_process *p)
{
	struct hodo_top_model *m = im->counter->model;

	if (!make_room(im, p->catalog.walk.n))
		return;
	for (; im->events < p->catalog.events; im->events++) {
		const struct hodo_catalog_event *e = p->catalog.event[im->events];

		if (e->id < im->ids)
			im->id[e->id].row = hodo_top_event(m, e->name);
	}
}

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

/* ------------------------------------------------------------------------- counting */

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

/* What was counted by id goes to the rows of the names. */
void hodo_top_add_tallies(struct hodo_top_image *im)
{
	struct hodo_top_table *t = &im->counter->model->table[HODO_TOP_EVENTS];

	for (uint32_t id = 0; id < im->ids; id++) {
		struct hodo_walk_tally *tally = &im->tally[id];

		if (tally->events == 0 || im->id[id].row == HODO_TOP_NONE)
			continue;
		t->row[im->id[id].row].events.total += tally->events;
		t->row[im->id[id].row].bytes.total += tally->bytes;
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

		if (im->id[id].row == HODO_TOP_NONE)
			continue;
		row = &t->row[im->id[id].row];
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

		if (now <= im->id[id].limited)
			continue;
		if (count && im->id[id].row != HODO_TOP_NONE)
			t->row[im->id[id].row].lost.total += now - im->id[id].limited;
		im->id[id].limited = now;
	}
}

