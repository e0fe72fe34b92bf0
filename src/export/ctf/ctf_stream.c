/* SPDX-License-Identifier: MIT */
/* ctf_stream.c - the format ctf: files of packets, one for each CPU, in which losses are counted. */
#define _GNU_SOURCE
#include "ctf_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

#define PACKET_BYTES (256u << 10)

/* As ctf_types.c describes it. */
struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end, content_size, packet_size, packet_seq_num, events_discarded;
	uint32_t cpu_id;
} __attribute__((packed));

static int write_packet(struct ctf *c, struct ctf_stream *s, uint64_t begin, uint64_t end, const void *body, size_t len)
{
	struct packet h = { .magic = HODO_CTF_MAGIC, .timestamp_begin = begin, .timestamp_end = end,
			    .content_size = 8 * (sizeof(h) + len), .packet_size = 8 * (sizeof(h) + len),
			    .packet_seq_num = s->packets, .events_discarded = s->discarded,
			    .cpu_id = (uint32_t)s->cpu };
	struct hodo_text bytes = { 0 };
	char name[32] = "fallback";
	int err;

	if (s->cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d", s->cpu);
	memcpy(h.uuid, c->uuid, sizeof(h.uuid));
	hodo_text_bytes(&bytes, &h, sizeof(h));
	hodo_text_bytes(&bytes, body, len);
	err = bytes.error ? bytes.error : c->e->file(c->e->folder, name, bytes.data, bytes.len);
	hodo_text_free(&bytes);
	s->packets++;
	return err;
}

/* Readers count losses by the difference of two packets: one without losses comes first. */
static int write_origin(struct ctf *c, struct ctf_stream *s, uint64_t before)
{
	uint64_t at = before > 0 ? before - 1 : 0;

	return s->packets == 0 ? write_packet(c, s, at, at, "", 0) : 0;
}

static int flush(struct ctf *c, struct ctf_stream *s)
{
	int err = s->body.error;

	if (!err && s->body.len > 0)
		err = write_packet(c, s, s->begin, s->last, s->body.data, s->body.len);
	s->body.len = 0;
	return err;
}

static uint64_t ticks_of(const struct ctf *c, int64_t ns)
{
	int64_t begin = c->base_s * 1000000000;

	return ns > begin ? (uint64_t)ns - (uint64_t)begin : 0;
}

/* Counts losses up to a time: between the previous packet and the next one. */
static int take_losses(struct ctf *c, struct ctf_stream *s, int64_t until_ns)
{
	uint64_t lost = 0, first = 0;
	int err;

	for (; s->next_loss < c->nlosses && c->losses[s->next_loss].from_ns <= until_ns; s->next_loss++) {
		const struct ctf_loss *l = &c->losses[s->next_loss];

		if (l->cpu != s->cpu)
			continue;
		first = lost ? first : ticks_of(c, l->from_ns);
		lost += l->events;
	}
	if (!lost)
		return 0;
	err = flush(c, s);
	if (!err)
		err = write_origin(c, s, first);
	s->discarded += lost;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct ctf_loss *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* NULL: no memory. */
static struct ctf_stream *stream_of(struct ctf *c, int32_t cpu)
{
	bool is_new;
	struct ctf_stream *s = hodo_map_add_u64(&c->streams, (uint32_t)cpu, &is_new);

	if (s && is_new)
		s->cpu = cpu;
	if (!c->ready && c->nlosses)
		qsort(c->losses, c->nlosses, sizeof(*c->losses), by_time);
	c->ready = true;
	return s;
}

struct hodo_text *ctf_begin(struct ctf *c, const struct ctf_event *event, int *err)
{
	struct ctf_stream *s = stream_of(c, event->cpu);
	uint64_t ticks = ticks_of(c, event->ts_ns);
	const uint32_t ids[] = { event->pid, event->tid };

	*err = s ? take_losses(c, s, event->ts_ns) : -ENOMEM;
	if (!*err && s->body.len >= PACKET_BYTES)
		*err = flush(c, s);
	if (*err)
		return NULL;
	/* An event noticed late is placed after those already written. */
	if (s->packets + s->body.len > 0 && ticks < s->last)
		ticks = s->last;
	s->begin = s->body.len ? s->begin : ticks;
	s->last = ticks;
	hodo_text_bytes(&s->body, &event->id, sizeof(event->id));
	hodo_text_bytes(&s->body, &ticks, sizeof(ticks));
	hodo_text_bytes(&s->body, ids, sizeof(ids));
	hodo_text_bytes(&s->body, event->comm, strlen(event->comm) + 1);
	return &s->body;
}

/* A packet without events reports losses after the last event. */
int ctf_finish(struct ctf *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nlosses && !err; i++)
		err = stream_of(c, c->losses[i].cpu) ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < c->streams.n && !err; i++) {
		struct ctf_stream *s = hodo_map_at(&c->streams, i);
		uint64_t before = s->discarded, at = s->last;

		for (uint32_t k = s->next_loss; k < c->nlosses; k++)
			if (c->losses[k].cpu == s->cpu && ticks_of(c, c->losses[k].until_ns) > at)
				at = ticks_of(c, c->losses[k].until_ns);
		err = take_losses(c, s, INT64_MAX);
		if (!err)
			err = s->discarded > before ? write_packet(c, s, at, at, "", 0) : flush(c, s);
	}
	return err;
}

int ctf_lost(struct ctf *c, const struct hodo_read_loss *loss)
{
	struct ctf_loss *l = hodo_vec_reserve(c->losses, c->losses_room, c->nlosses + 1) < 0 ? NULL :
			     &c->losses[c->nlosses++];

	if (!l)
		return -ENOMEM;
	*l = (struct ctf_loss){ loss->stream->cpu, loss->from_ns, loss->until_ns,
				loss->discarded + loss->overwritten + loss->damaged };
	return 0;
}

void ctf_streams_free(struct ctf *c)
{
	for (uint32_t i = 0; i < c->streams.n; i++)
		hodo_text_free(&((struct ctf_stream *)hodo_map_at(&c->streams, i))->body);
	hodo_map_free(&c->streams);
	free(c->losses);
}
