/* SPDX-License-Identifier: MIT */
/*
 * profile.c - a process's profile, out of its shared memory into a stream of
 * its own, one func:profile event for each function in each thread.
 *
 * Done once, when the process has exited or is let go. Nothing in the entries is believed
 * but that they are numbers: which there are is counted here, each is copied before it is used, and the
 * sums may wrap.
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <string.h>

#include <base/scope.h>

#include "shm.h"

/* Where an entry is, and of what. */
struct place {
	uint64_t addr;
	uint32_t tid;
	uint32_t entry;
};

/* The packet being filled. */
struct writer {
	struct hodo_process *process;
	struct hodo_packet head;
	uint8_t *body;
	size_t used, room; /* bytes of body */
	uint16_t id;
};

static const struct hodo_profile_entry *entry_at(const struct hodo_process *p, uint32_t i)
{
	return (const struct hodo_profile_entry *)(p->shm + p->layout.profile) + i;
}

/* The id under which the process registered func:profile with the fields that are written here, 0 if it has not. */
static uint16_t profile_id(const struct hodo_catalog *c)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64,
					 HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_ARRAY | HODO_TYPE_U32 };

	for (uint32_t i = 0; i < c->events; i++) {
		const struct hodo_catalog_event *e = c->event[i];

		if (e->kind == HODO_KIND_FUNCTION && strcmp(e->name, "func:profile") == 0 &&
		    e->nfields == sizeof(types) && memcmp(e->type, types, sizeof(types)) == 0)
			return e->id;
	}
	return 0;
}

static int by_function(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
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
	qsort(places, n, sizeof(*places), by_function);
	*out = places;
	return n;
}

static void add_entry(struct hodo_profile_entry *sum, const struct hodo_profile_entry *e)
{
	if (e->calls && (e->min < sum->min || sum->calls == 0))
		sum->min = e->min;
	if (e->max > sum->max)
		sum->max = e->max;
	sum->calls += e->calls;
	sum->total += e->total;
	sum->self += e->self;
	for (uint32_t b = 0; b < HODO_PROFILE_BUCKETS; b++)
		sum->bucket[b] += e->bucket[b];
}

static void write_packet(struct writer *w)
{
	struct hodo_process *p = w->process;

	if (w->head.events == 0)
		return;
	w->head.content_size = w->head.packet_size = 8 * (sizeof(w->head) + w->used);
	w->head.timestamp_end = w->head.timestamp_begin;
	hodo_process_write(p, &p->profile, &w->head, w->body);
	w->head.timestamp_begin += HODO_STREAM_APART;
	w->head.events_before += w->head.events;
	w->head.events = 0;
	w->used = 0;
}

/* func:profile as it stands in a packet; buckets of them follow. */
struct event {
	uint64_t head;
	uint32_t vtid;
	uint64_t addr;
	uint32_t tid;
	uint64_t calls, total, self, min, max;
	uint32_t buckets;
} __attribute__((packed));
#define EVENT_MAX (sizeof(struct event) + sizeof(((struct hodo_profile_entry *)0)->bucket))

static void write_event(struct writer *w, const struct hodo_profile_entry *sum, uint32_t tid)
{
	struct event e = {
		.vtid = tid, .addr = sum->addr, .tid = tid, .calls = sum->calls, .total = sum->total, .self = sum->self,
		.min = sum->min, .max = sum->max, .buckets = HODO_PROFILE_BUCKETS,
	};
	uint64_t ts;
	size_t bytes;

	if (w->used + EVENT_MAX > w->room)
		write_packet(w);
	ts = w->head.timestamp_begin << (64 - HODO_TIMESTAMP_BITS) >> (64 - HODO_TIMESTAMP_BITS);
	while (e.buckets > 0 && sum->bucket[e.buckets - 1] == 0)
		e.buckets--;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	e.head = ts << 16 | w->id;
#else
	e.head = w->id | ts << 16;
#endif
	bytes = e.buckets * sizeof(sum->bucket[0]);
	memcpy(w->body + w->used, &e, sizeof(e));
	memcpy(w->body + w->used + sizeof(e), sum->bucket, bytes);
	w->used += sizeof(e) + bytes;
	w->head.events++;
}

static void write_sums(struct writer *w, const struct place *places, long n)
{
	for (long i = 0, end; i < n; i = end) {
		struct hodo_profile_entry sum = { .addr = places[i].addr };

		for (end = i; end < n; end++) {
			struct hodo_profile_entry e;

			if (places[end].addr != places[i].addr || places[end].tid != places[i].tid)
				break;
			hodo_shm_copy(&e, entry_at(w->process, places[end].entry), sizeof(e));
			add_entry(&sum, &e);
		}
		if (sum.calls)
			write_event(w, &sum, places[i].tid);
	}
	write_packet(w);
}

void hodo_process_write_profile(struct hodo_process *p)
{
	struct writer w = { .process = p, .id = profile_id(&p->catalog),
			    .room = p->layout.packet_size - sizeof(struct hodo_packet) };
	HODO_AUTO_FREE struct place *places = NULL;
	HODO_AUTO_FREE uint8_t *body = malloc(w.room);
	long n;

	if (!p->layout.profile || w.id == 0)
		return;
	hodo_stream_init(&p->profile, p->id.flight.uuid, p->layout.rings - 1, p->layout.rings - 1);
	strcpy(p->profile.name, "profile");
	w.body = body;
	n = body ? find_places(p, &places) : -ENOMEM;
	if (n < 0)
		hodo_process_report(p, "its profile is lost: out of memory");
	w.head.magic = HODO_CTF_MAGIC;
	w.head.timestamp_begin = hodo_clock_now(p->session->clock);
	if (n > 0)
		write_sums(&w, places, n);
	hodo_stream_close(&p->profile);
}
