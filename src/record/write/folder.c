/* SPDX-License-Identifier: MIT */
/*
 * folder.c - the folder of a process in the recording, or in its newest part: metadata, packets, and losses,
 * which docs/design/recorder.md divides between the parts.
 */
#include <record/process_impl.h>

#include <string.h>

#include <base/scope.h>

#include <record/conditions.h>
#include "out_dir.h"
#include "parts.h"
#include <record/ring/shm.h>

static int make_dir(struct hodo_process *p)
{
	char name[sizeof(p->dir)];
	int fd = p->dirfd;

	if (fd >= 0)
		return 0;
	hodo_out_dir_folder(name, sizeof(name), p->id.flight.comm, p->id.vpid, p->kernel);
	do
		fd = hodo_out_dir_add(p->recorder->parts.fd, name, p->dir, sizeof(p->dir));
	while (hodo_recorder_make_room(p->recorder, fd));
	p->dirfd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

/* --------------------------------------------------------------------- losses */

/* How much was added to *reported since the folder was begun, at most *left, which is reduced by it. */
static uint64_t share(uint64_t now, uint64_t reported, uint64_t *left)
{
	uint64_t n = now > reported ? now - reported : 0;

	if (n > *left)
		n = *left;
	*left -= n;
	return n;
}

/*
 * A ring's losses that belong in this folder. last: all that no folder has reported; else as many as its
 * packets count. Those in packets first: the packets surely count them, while a process may just have counted
 * others.
 */
static void ring_lost(struct hodo_process_ring *r, bool last)
{
	const struct hodo_ring *ring = r->reader.ring;
	struct hodo_lost now = r->reader.lost;
	const struct hodo_lost *t = &r->reported;
	uint64_t left = last ? UINT64_MAX : r->stream.discarded;

	if (!last) { /* the reader checks these only at the end */
		now.full = hodo_ring_count(&ring->lost_full);
		now.too_large = hodo_ring_count(&ring->lost_too_large);
		now.busy = hodo_ring_count(&ring->lost_busy);
	}
	r->reporting.unwritten = share(r->stream.unwritten, t->unwritten, &left);
	r->reporting.overwritten = share(now.overwritten, t->overwritten, &left);
	r->reporting.damaged = share(now.damaged, t->damaged, &left);
	r->reporting.too_large = share(now.too_large, t->too_large, &left);
	r->reporting.busy = share(now.busy, t->busy, &left);
	r->reporting.full = share(now.full, t->full, &left);
}

static void share_limited(struct hodo_process *p)
{
	uint64_t most = hodo_recorder_limited_most(p->recorder);

	if (!p->limited && hodo_conditions_limited(p->shm, most))
		p->limited = calloc(HODO_EVENTS_MAX, sizeof(*p->limited));
	for (uint32_t i = 0; p->limited && i < p->catalog.events; i++) {
		struct hodo_process_limited *l = &p->limited[p->catalog.event[i]->id];
		uint64_t left = UINT64_MAX;

		l->reporting = share(hodo_conditions_limited_event(p->shm, p->catalog.event[i]->id, most),
				     l->reported, &left);
	}
}

/* Determines the losses that this folder's metadata reports. */
static void share_losses(struct hodo_process *p, bool last)
{
	uint64_t left = last ? UINT64_MAX : p->own.discarded;

	for (uint32_t i = 0; i < p->actives; i++)
		ring_lost(p->ring[p->active[i]], last);
	p->own_reporting = share(p->own.unwritten, p->own_reported, &left);
	share_limited(p);
}

/* This folder's metadata lines about losses. */
static void add_losses(const struct hodo_process *p, struct hodo_text *t)
{
	hodo_ctf_add_lost(t, p->own.name, &(struct hodo_lost){ .unwritten = p->own_reporting }, 0);
	for (uint32_t i = 0; i < p->actives; i++) {
		const struct hodo_process_ring *r = p->ring[p->active[i]];

		hodo_ctf_add_lost(t, r->stream.name, &r->reporting, hodo_process_room(p, &r->reader));
	}
	for (uint32_t i = 0; p->limited && i < p->catalog.events; i++)
		hodo_ctf_add_limited(t, p->catalog.event[i]->id, p->limited[p->catalog.event[i]->id].reporting);
}

/* -------------------------------------------------------------------- metadata */

enum folder_end { GOES_ON, PART_ENDS, ENDS };

/* Unless it goes on, the folder is complete, and its losses are final. */
static int write_metadata(struct hodo_process *p, enum folder_end end)
{
	struct hodo_recorder *s = p->recorder;
	struct hodo_ctf_metadata m = {
		.flight = &p->id.flight, .pid = p->id.vpid, .nested = p->id.nested,
		.kernel = p->kernel ? s->release : NULL,
		.ended = end != GOES_ON, .goes_on = end == PART_ENDS,
		.catalog = &p->catalog, .thread = p->threads.entries, .threads = p->threads.n,
		.functions = s->config.functions ? &p->functions : NULL,
	};
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text lost = { 0 };
	int err;

	if (s->config.ops.packet) {
		p->metadata_dirty = p->threads_dirty = false;
		return 0;
	}
	if (p->snapshots.withheld)
		return 0;
	err = make_dir(p);
	if (err)
		return err;
	m.clock = hodo_recorder_clock_map(s);
	if (m.ended) {
		m.real_ns = hodo_clock_ns(CLOCK_REALTIME);
		add_losses(p, &lost);
		m.lost = &lost;
	}
	hodo_ctf_metadata_text(&m, &text);
	if (end == ENDS && !p->described && hodo_parts_folder_done(s, p->dir, &text))
		return 0;
	err = hodo_recorder_write_metadata(s, p->dirfd, &text, NULL);
	if (!err) {
		p->metadata_dirty = p->threads_dirty = false;
		p->described = true;
	}
	return err;
}

/* Its metadata is written when it is needed: before its first packet, by the chores, or at its end. */
void hodo_process_make_folder(struct hodo_process *p)
{
	int err = p->recorder->config.ops.packet || p->snapshots.withheld ? 0 : make_dir(p);

	p->metadata_dirty = true;
	if (err)
		hodo_recorder_write_failed(p->recorder, p->dir, "metadata", err);
}

int hodo_process_metadata(struct hodo_process *p, bool ended)
{
	int err;

	if (ended)
		share_losses(p, true);
	err = write_metadata(p, ended ? ENDS : GOES_ON);
	if (err)
		hodo_recorder_write_failed(p->recorder, p->dir, "metadata", err);
	if (ended && p->described)
		hodo_parts_folder_done(p->recorder, p->dir, &(struct hodo_text){ 0 });
	return err;
}

void hodo_process_name_new_threads(struct hodo_process *p)
{
	hodo_process_read_threads(p, false);
	if (p->threads_dirty && p->dirfd >= 0) /* tried again by the next chores if it fails */
		hodo_process_metadata(p, false);
}

/* ----------------------------------------------------------------------- parts */

/* Completes the folder in the part that ends. */
static void end_part(struct hodo_process *p)
{
	int err;

	if (p->dirfd < 0)
		return;
	/* The part must contain what is known by now; chores run only once a second. */
	hodo_process_read_threads(p, false);
	hodo_functions_see((const struct hodo_shm *)p->shm, &p->functions);
	share_losses(p, false);
	err = write_metadata(p, PART_ENDS);
	if (err) /* its packets say how many; otherwise the part is good */
		hodo_recorder_write_failed(p->recorder, p->dir, "metadata", err);
}

/* Then, if another part was begun, continues there: reported losses are not reported again. */
static void next_part(struct hodo_process *p, bool named)
{
	if (p->dirfd < 0)
		return;
	if (!named) { /* the metadata wrongly says that it has ended */
		p->metadata_dirty = true;
		return;
	}
	for (uint32_t i = 0; i < p->actives; i++) {
		struct hodo_process_ring *r = p->ring[p->active[i]];

		hodo_lost_add(&r->reported, &r->reporting);
		hodo_stream_file_next(&r->stream);
	}
	for (uint32_t i = 0; p->limited && i < p->catalog.events; i++) {
		struct hodo_process_limited *l = &p->limited[p->catalog.event[i]->id];

		l->reported += l->reporting;
		l->reporting = 0;
	}
	if (p->own.name[0]) {
		p->own_reported += p->own_reporting;
		hodo_stream_file_next(&p->own);
	}
	hodo_parts_folder_done(p->recorder, p->dir, &(struct hodo_text){ 0 });
	close(p->dirfd);
	p->dirfd = -1;
	p->described = false;
}

/*
 * Ends the newest part and begins another. Its room is taken first and its name given last; if either fails,
 * the newest part continues, and another try is made a little later.
 */
static void rotate(struct hodo_recorder *s)
{
	int fd = hodo_parts_prepare(s);
	bool named;

	if (fd < 0)
		return;
	for (struct hodo_process *p = s->processes; p; p = p->next)
		end_part(p);
	named = hodo_parts_name(s, fd);
	for (struct hodo_process *p = s->processes; p; p = p->next)
		next_part(p, named);
	if (named)
		hodo_parts_begin(s, fd);
}

void hodo_folders_step(struct hodo_recorder *s, int64_t now_ns)
{
	if (hodo_parts_due(s, now_ns))
		rotate(s);
}

/* --------------------------------------------------------------------- packets */

/* Instead of writing a file: passes on the packet as the file would contain it. */
static void give_packet(struct hodo_process *p, struct hodo_stream_file *stream, const struct hodo_packet *header,
			const uint8_t *body)
{
	struct hodo_packet h = *header;

	h.stream_id = 0;
	h.cpu_id = stream->cpu_id;
	h.packet_seq_num = stream->packets++;
	memcpy(h.uuid, p->id.flight.uuid, sizeof(h.uuid));
	stream->discarded = h.events_discarded;
	hodo_parts_wrote(p->recorder, h.packet_size / 8, h.events, 0);
	p->recorder->config.ops.packet(p->recorder->config.arg, p, &h, body);
}

static int write_packet(struct hodo_process *p, struct hodo_stream_file *stream, const struct hodo_packet *h,
			const uint8_t *body)
{
	uint64_t unwritten = stream->unwritten;
	int err = hodo_stream_file_write(stream, p->dirfd, h, body);

	if (hodo_recorder_free_files(p->recorder, err)) {
		stream->unwritten = unwritten;
		err = hodo_stream_file_write(stream, p->dirfd, h, body);
	}
	return err;
}

void hodo_process_write(struct hodo_process *p, struct hodo_stream_file *stream, const struct hodo_packet *h,
			const uint8_t *body)
{
	struct hodo_recorder *s = p->recorder;
	uint64_t bytes, events;
	int err = 0;

	if (s->config.ops.packet) {
		give_packet(p, stream, h, body);
		return;
	}
	if (hodo_parts_filled(s, h->packet_size / 8))
		rotate(s);
	if (!hodo_parts_room(s, h->packet_size / 8)) {
		stream->unwritten += h->events;
		return;
	}
	/* Before the packet: a reader must find every id. */
	if (p->metadata_dirty || p->dirfd < 0)
		err = write_metadata(p, GOES_ON);
	if (err) {
		stream->unwritten += h->events;
		hodo_recorder_write_failed(s, p->dir, "metadata", err);
		hodo_parts_wrote(s, 0, 0, err);
		return;
	}
	bytes = stream->bytes;
	events = stream->events;
	s->parts.promised += h->packet_size / 8;
	err = write_packet(p, stream, h, body);
	s->parts.promised -= h->packet_size / 8;
	if (err)
		hodo_recorder_write_failed(s, p->dir, stream->name, err);
	hodo_parts_wrote(s, stream->bytes - bytes, stream->events - events, err);
}

void hodo_process_settle(struct hodo_process *p, struct hodo_process_ring *r)
{
	struct hodo_recorder *s = p->recorder;
	uint64_t now = hodo_clock_ticks(s->clock), bytes = r->stream.bytes;
	int err;

	if (r->reader.discarded + r->stream.unwritten == 0 || s->config.ops.packet)
		return;
	if (now < r->reader.ts_end)
		now = r->reader.ts_end;
	err = make_dir(p);
	if (!err)
		err = hodo_stream_file_settle(&r->stream, p->dirfd, r->reader.discarded, now);
	while (hodo_recorder_make_room(s, err))
		err = hodo_stream_file_settle(&r->stream, p->dirfd, r->reader.discarded, now);
	if (err)
		hodo_recorder_write_failed(s, p->dir, r->stream.name, err);
	hodo_parts_wrote(s, r->stream.bytes - bytes, 0, err);
	hodo_recorder_take_reserve(s, 0);
}
