/* SPDX-License-Identifier: MIT */
/*
 * own_stream.c - a stream of events that the recorder itself writes about a process: its profile, and the calls that it
 * was inside of.
 */
#include "own_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/quantity.h>
#include <base/scope.h>
#include <record/functions.h>
#include <record/ring/shm.h>

int hodo_own_stream_begin(struct hodo_own_stream *own, struct hodo_process *p, const char *name)
{
	*own = (struct hodo_own_stream){ .process = p, .room = p->layout.packet_size - sizeof(struct hodo_packet) };
	hodo_stream_file_init(&p->own, p->id.flight.uuid, p->layout.rings - 1, p->layout.rings - 1);
	strcpy(p->own.name, name);
	p->own.compressor = p->recorder->thread[0].compressor;
	own->head.magic = HODO_CTF_MAGIC;
	own->head.timestamp_begin = hodo_clock_ticks(p->recorder->clock);
	own->body = malloc(own->room);
	if (!own->body)
		hodo_process_report(p, "its %s is lost: out of memory", name);
	return own->body ? 0 : -ENOMEM;
}

static void write_packet(struct hodo_own_stream *own)
{
	struct hodo_process *p = own->process;

	if (own->head.events == 0)
		return;
	own->head.content_size = own->head.packet_size = 8 * (sizeof(own->head) + own->used);
	own->head.timestamp_end = own->head.timestamp_begin;
	hodo_process_write(p, &p->own, &own->head, own->body);
	own->head.timestamp_begin += HODO_STREAM_APART;
	own->head.events_before += own->head.events;
	own->head.events = 0;
	own->used = 0;
}

void hodo_own_stream_end(struct hodo_own_stream *own)
{
	write_packet(own);
	hodo_stream_file_end(&own->process->own);
	free(own->body);
}

/* The id under which the process registered the event with fields of these types, 0 if it has not. */
static uint16_t event_id(const struct hodo_own_stream *own, const char *name, const uint8_t *types, size_t n)
{
	const struct hodo_catalog *c = &own->process->catalog;

	for (uint32_t i = 0; i < c->events; i++) {
		const struct hodo_catalog_event *e = c->event[i];

		if (e->kind == HODO_KIND_FUNCTION && strcmp(e->name, name) == 0 && e->nfields == n &&
		    memcmp(e->type, types, n) == 0)
			return e->id;
	}
	return 0;
}

/* Makes room for an event with that many bytes of payload; events added then have own->head.timestamp_begin. */
static void make_room(struct hodo_own_stream *own, size_t payload)
{
	if (own->used + HODO_ANCHOR_BYTES + HODO_EVENT_HEADER + payload > own->room)
		write_packet(own);
}

static void put(struct hodo_own_stream *own, const void *data, size_t bytes)
{
	if (bytes)
		memcpy(own->body + own->used, data, bytes);
	own->used += bytes;
}

/* Adds an event of a thread: its payload, and what follows it. */
static void add_event(struct hodo_own_stream *own, uint16_t id, uint32_t tid, const void *payload, size_t bytes,
		      const void *more, size_t more_bytes)
{
	uint64_t head = hodo_event_word(id, own->head.timestamp_begin), anchor[2];

	if (own->used == 0 || tid != own->tid) {
		hodo_anchor_words(anchor, own->head.timestamp_begin, tid, 0);
		put(own, anchor, sizeof(anchor));
		own->tid = tid;
	}
	put(own, &head, HODO_EVENT_HEADER);
	put(own, payload, bytes);
	put(own, more, more_bytes);
	own->head.events++;
}

/* --------------------------------------------------------------------- profile */

/*
 * From the process's shared memory, one func:profile event for each function in each thread. The entries are only used
 * as numbers: they are counted here, each is copied before it is used, and the sums may wrap.
 */

/* Where an entry is, and what it is for. */
struct place {
	uint64_t addr;
	uint32_t tid;
	uint32_t entry;
};

static const struct hodo_profile_entry *entry_at(const struct hodo_process *p, uint32_t i)
{
	return (const struct hodo_profile_entry *)(p->shm + p->layout.profile) + i;
}

static int by_function(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return hodo_order(x->addr, y->addr) ?: hodo_order(x->tid, y->tid) ?: hodo_order(x->entry, y->entry);
}

/* All entries in use, sorted; their number, or -ENOMEM. */
static long find_places(const struct hodo_process *p, struct place **out)
{
	uint64_t used = hodo_shm_load64(&((const struct hodo_shm *)p->shm)->profile_used);
	struct place *places;
	uint32_t n = 0, end;

	end = (uint32_t)(used < HODO_PROFILE_ENTRIES ? used : HODO_PROFILE_ENTRIES);
	places = malloc((end + 1) * sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (uint32_t batch = 0; batch + HODO_PROFILE_BATCH <= end; batch += HODO_PROFILE_BATCH) {
		const struct hodo_profile_entry *head = entry_at(p, batch);
		uint64_t tid = hodo_shm_load64(&head->calls);

		/* Killed before it had begun the batch. */
		if (hodo_shm_load64(&head->addr) != HODO_PROFILE_THREAD)
			continue;
		for (uint32_t i = batch + 1; i < batch + HODO_PROFILE_BATCH; i++) {
			uint64_t addr = hodo_shm_load64(&entry_at(p, i)->addr);

			if (addr > HODO_PROFILE_THREAD)
				places[n++] = (struct place){ addr, (uint32_t)tid, i };
		}
	}
	hodo_order_sort(places, n, by_function);
	*out = places;
	return n;
}

static void add_entry(struct hodo_profile_entry *sum, const struct hodo_profile_entry *e)
{
	if (e->calls != e->no_exit && (e->min < sum->min || sum->calls == sum->no_exit))
		sum->min = e->min;
	if (e->max > sum->max)
		sum->max = e->max;
	sum->calls += e->calls;
	sum->total += e->total;
	sum->self += e->self;
	sum->sum += e->sum;
	sum->no_exit += e->no_exit;
	for (uint32_t b = 0; b < HODO_PROFILE_BUCKETS; b++)
		if (__builtin_add_overflow(sum->bucket[b], e->bucket[b], &sum->bucket[b]))
			sum->bucket[b] = UINT32_MAX;
}

/* func:profile's payload; buckets of them follow, and then struct event_end. */
struct event {
	uint64_t addr;
	uint32_t tid;
	uint64_t calls, total, self, min, max;
	uint32_t buckets;
} __attribute__((packed));
struct event_end {
	uint64_t sum, no_exit;
} __attribute__((packed));
#define BUCKET sizeof(((struct hodo_profile_entry *)0)->bucket[0])
#define EVENT_MAX (sizeof(struct event) + HODO_PROFILE_BUCKETS * BUCKET + sizeof(struct event_end))

static void write_event(struct hodo_own_stream *own, uint16_t id, const struct hodo_profile_entry *sum, uint32_t tid)
{
	struct event e = {
		.addr = sum->addr, .tid = tid, .calls = sum->calls, .total = sum->total,
		.self = sum->self, .min = sum->min, .max = sum->max, .buckets = HODO_PROFILE_BUCKETS,
	};
	const struct event_end end = { sum->sum, sum->no_exit };
	uint8_t rest[EVENT_MAX - sizeof(e)];

	make_room(own, EVENT_MAX);
	while (e.buckets > 0 && sum->bucket[e.buckets - 1] == 0)
		e.buckets--;
	memcpy(rest, sum->bucket, e.buckets * BUCKET);
	memcpy(rest + e.buckets * BUCKET, &end, sizeof(end));
	add_event(own, id, tid, &e, sizeof(e), rest, e.buckets * BUCKET + sizeof(end));
}

static void write_sums(struct hodo_own_stream *own, uint16_t id, const struct place *places, long n)
{
	for (long i = 0, end; i < n; i = end) {
		struct hodo_profile_entry sum = { .addr = places[i].addr };

		for (end = i; end < n; end++) {
			struct hodo_profile_entry e;

			if (places[end].addr != places[i].addr || places[end].tid != places[i].tid)
				break;
			hodo_shm_copy(&e, entry_at(own->process, places[end].entry), sizeof(e));
			add_entry(&sum, &e);
		}
		if (sum.calls)
			write_event(own, id, &sum, places[i].tid);
	}
}

void hodo_process_write_profile(struct hodo_own_stream *own)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64,
					 HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_ARRAY | HODO_TYPE_U32,
					 HODO_TYPE_U64, HODO_TYPE_U64 };
	uint16_t id = event_id(own, "func:profile", types, sizeof(types));
	HODO_AUTO_FREE struct place *places = NULL;
	long n = id ? find_places(own->process, &places) : 0;

	if (n < 0)
		hodo_process_report(own->process, "its profile is lost: out of memory");
	else
		write_sums(own, id, places, n);
}

/* ------------------------------------------------------------------ open calls */

/*
 * A func:open event for each call that was long enough, inner ones first as with func:call. Each place is copied before
 * it is read; its contents are only used as numbers.
 */

/* func:open's payload. */
struct open_event {
	uint64_t addr;
	uint32_t frame, depth;
	uint64_t ticks;
} __attribute__((packed));

/* Writes the calls that one thread is inside of. */
static void write_thread(struct hodo_own_stream *own, uint16_t id, const struct hodo_open_thread *t, uint32_t n)
{
	const struct hodo_recorder *s = own->process->recorder;
	const struct hodo_functions *f = s->config.functions;
	uint64_t limit = f->limit_ns ? hodo_recorder_ticks_in(s, f->limit_ns) : 0;

	while (n-- > 0) {
		const struct hodo_open_call *c = &t->call[n];
		struct open_event e = { .addr = c->addr, .frame = c->frame, .depth = c->depth };
		uint64_t now;

		make_room(own, sizeof(e));
		now = own->head.timestamp_begin;
		e.ticks = now > c->entry ? now - c->entry : 0;
		if (c->addr && e.ticks >= limit && !(f->depth_max && c->depth >= f->depth_max))
			add_event(own, id, t->tid, &e, sizeof(e), NULL, 0);
	}
}

void hodo_process_write_open(struct hodo_own_stream *own)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U32, HODO_TYPE_U64 };
	const struct hodo_process *p = own->process;
	const struct hodo_open_thread *places = (const struct hodo_open_thread *)(p->shm + p->layout.open);
	uint16_t id = event_id(own, "func:open", types, sizeof(types));
	uint32_t used = hodo_shm_load32(&places[0].n);
	HODO_AUTO_FREE struct hodo_open_thread *copy = id ? malloc(sizeof(*copy)) : NULL;
	uint64_t deep = 0;
	char number[32];

	if (!copy)
		return;
	for (uint32_t i = 1; i <= used && i < HODO_OPEN_THREADS; i++) {
		uint32_t n = hodo_shm_load32(&places[i].n);

		if (n > HODO_OPEN_CALLS) {
			deep += n - HODO_OPEN_CALLS;
			n = HODO_OPEN_CALLS;
		}
		hodo_shm_copy(copy, &places[i], offsetof(struct hodo_open_thread, call) + n * sizeof(copy->call[0]));
		write_thread(own, id, copy, n);
	}
	if (deep)
		hodo_process_report(p, "%s call%s not ended and not in the recording: nested in %u others",
				    hodo_grouped(deep, number), deep == 1 ? " was" : "s were", HODO_OPEN_CALLS);
	if (used >= HODO_OPEN_THREADS)
		hodo_process_report(p, "calls that had not ended, in threads after the first %u, are not in "
				    "the recording",
				    (unsigned)HODO_OPEN_THREADS - 1);
}
