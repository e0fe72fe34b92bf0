/* SPDX-License-Identifier: MIT */
/* top_image.c - hodo top: transfers the events and the memory of a process image into the model. */
#include "top_spans.h"

#include <string.h>

/* ---------------------------------------------------------------- images and names */

struct hodo_top_image *hodo_top_image_of(struct hodo_top_model *m, const struct hodo_process *p)
{
	struct hodo_top_image *im;

	for (im = m->image; im; im = im->next)
		if ((im->process == p || !im->process) && memcmp(im->uuid, p->id.flight.uuid, sizeof(im->uuid)) == 0)
			break;
	if (im) {
		im->process = p;
		return im;
	}
	im = hodo_must(calloc(1, sizeof(*im)));
	im->place = hodo_must(calloc(p->layout.rings, sizeof(*im->place)));
	im->model = m;
	im->process = p;
	im->pid = (uint32_t)p->id.pid;
	im->vpid = p->id.vpid;
	im->thread = HODO_TOP_NONE;
	im->spans = hodo_top_spans_new(m, p);
	memcpy(im->uuid, p->id.flight.uuid, sizeof(im->uuid));
	im->next = m->image;
	m->image = im;
	m->images++;
	return im;
}

void hodo_top_image_free(struct hodo_top_image *im)
{
	hodo_top_spans_free(im->spans);
	free(im->tally);
	free(im->id);
	free(im->place);
	free(im);
}

/* Room for as many ids as the catalogue's table of shapes has. */
static void make_room(struct hodo_top_image *im, uint32_t ids)
{
	if (ids <= im->ids)
		return;
	im->tally = hodo_must(realloc(im->tally, ids * sizeof(*im->tally)));
	im->id = hodo_must(realloc(im->id, ids * sizeof(*im->id)));
	for (; im->ids < ids; im->ids++) {
		im->tally[im->ids] = (struct hodo_walk_tally){ 0 };
		im->id[im->ids] = (struct hodo_top_id){ .row = HODO_TOP_NONE };
	}
}

void hodo_top_see_events(struct hodo_top_image *im, const struct hodo_process *p)
{
	struct hodo_top_model *m = im->model;

	make_room(im, p->catalog.walk.n);
	for (; im->events < p->catalog.events; im->events++) {
		const struct hodo_catalog_event *e = p->catalog.event[im->events];

		if (e->id < im->ids)
			im->id[e->id].row = hodo_top_event(m, e->name);
		hodo_top_spans_see(im->spans, e);
	}
}

/* ------------------------------------------------------------------------- counting */

/* A thread counted for the first time. */
static void name_thread(struct hodo_top_image *im, uint32_t tid)
{
	const struct hodo_ctf_thread *t = hodo_map_find(&im->process->threads, &tid);

	if (t)
		hodo_top_rename(&im->model->table[HODO_TOP_THREADS].row[im->thread], t->comm);
}

static void count_run(void *arg, uint32_t tid, uint32_t events, uint32_t bytes)
{
	struct hodo_top_image *im = arg;
	struct hodo_top_model *m = im->model;
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

/* NULL: there is no room. */
static struct hodo_top_row *cpu_of(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring)
{
	uint32_t row = hodo_top_cpu(im->model, ring == p->layout.rings - 1 ? HODO_CPU_ANY : ring);

	return row == HODO_TOP_NONE ? NULL : &im->model->table[HODO_TOP_CPUS].row[row];
}

void hodo_top_count_lost(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring, uint64_t lost)
{
	struct hodo_top_row *cpu = lost ? cpu_of(im, p, ring) : NULL;

	if (cpu)
		cpu->lost.total += lost;
}

uint32_t hodo_top_count_events(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring,
			       const uint8_t *body, uint32_t len, struct hodo_cursor *cursor)
{
	struct hodo_walk_counter counter = { im->tally, im->ids, count_run, im, *cursor };
	struct hodo_top_model *m = im->model;
	uint64_t events = m->events.total, in_events = m->bytes.total;
	uint32_t bytes = hodo_walk_count(&p->catalog.walk, body, len, &counter);
	struct hodo_top_row *cpu = cpu_of(im, p, ring);

	if (cpu) {
		cpu->events.total += m->events.total - events;
		cpu->bytes.total += m->bytes.total - in_events; /* without anchors */
	}
	hodo_top_spans_queue(im->spans, p, ring, body, bytes, cursor);
	*cursor = counter.cursor;
	return bytes;
}

void hodo_top_add_tallies(struct hodo_top_image *im)
{
	struct hodo_top_table *t = &im->model->table[HODO_TOP_EVENTS];

	for (uint32_t id = 0; id < im->ids; id++) {
		struct hodo_walk_tally *tally = &im->tally[id];

		if (tally->events == 0 || im->id[id].row == HODO_TOP_NONE)
			continue;
		t->row[im->id[id].row].events.total += tally->events;
		t->row[im->id[id].row].bytes.total += tally->bytes;
		*tally = (struct hodo_walk_tally){ 0 };
	}
}

static void name_threads(struct hodo_top_image *im, const struct hodo_process *p)
{
	struct hodo_top_model *m = im->model;

	for (uint32_t i = 0; i < p->threads.n; i++) {
		const struct hodo_ctf_thread *t = hodo_map_at(&p->threads, i);
		uint32_t row = hodo_top_find_thread(m, im->vpid, t->tid);

		if (row == HODO_TOP_NONE)
			continue;
		hodo_top_rename(&m->table[HODO_TOP_THREADS].row[row], t->comm);
		m->table[HODO_TOP_THREADS].row[row].here = im->pid == im->vpid;
		if (p->kernel && t->pid)
			m->table[HODO_TOP_THREADS].row[row].pid = t->pid;
	}
}

void hodo_top_see_state(struct hodo_top_image *im, const struct hodo_process *p)
{
	const uint32_t *on = (const uint32_t *)(p->shm + HODO_SHM_ON);
	struct hodo_top_table *t = &im->model->table[HODO_TOP_EVENTS];

	name_threads(im, p);
	for (uint32_t id = 0; id < im->ids; id++) {
		struct hodo_top_row *row;
		enum hodo_top_state state;

		if (im->id[id].row == HODO_TOP_NONE)
			continue;
		row = &t->row[im->id[id].row];
		/* In the kernel, only recorded events have an id. */
		state = p->kernel || hodo_shm_load32(&on[id]) & HODO_ON_RECORD ? HODO_TOP_ON : HODO_TOP_OFF;
		row->state = row->state == HODO_TOP_UNLOADED || row->state == state ? state : HODO_TOP_MIXED;
	}
}

void hodo_top_add_limited(struct hodo_top_image *im, const struct hodo_process *p, bool count)
{
	const uint64_t *limited = (const uint64_t *)(p->shm + HODO_SHM_LIMITED);
	struct hodo_top_table *t = &im->model->table[HODO_TOP_EVENTS];

	/* Do not allocate memory by reading what was never written. */
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
