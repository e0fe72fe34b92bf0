/* SPDX-License-Identifier: MIT */
/*
 * profile.c - copies a process's profile from its shared memory into a separate stream, one func:profile
 * event for each function in each thread.
 *
 * Done once, when the process has exited or is let go. The entries are only used as numbers: they are counted
 * here, each is copied before it is used, and the sums may wrap.
 */
#define _GNU_SOURCE
#include "own_stream.h"

#include <errno.h>
#include <string.h>

#include <base/scope.h>

#include <record/ring/shm.h>

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

	hodo_own_stream_room(own, EVENT_MAX);
	while (e.buckets > 0 && sum->bucket[e.buckets - 1] == 0)
		e.buckets--;
	memcpy(rest, sum->bucket, e.buckets * BUCKET);
	memcpy(rest + e.buckets * BUCKET, &end, sizeof(end));
	hodo_own_stream_add(own, id, tid, &e, sizeof(e), rest, e.buckets * BUCKET + sizeof(end));
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
	uint16_t id = hodo_own_stream_id(own, "func:profile", types, sizeof(types));
	HODO_AUTO_FREE struct place *places = NULL;
	long n = id ? find_places(own->process, &places) : 0;

	if (n < 0)
		hodo_process_report(own->process, "its profile is lost: out of memory");
	else
		write_sums(own, id, places, n);
}
