/* SPDX-License-Identifier: MIT */
/* honest.c - the file of a flight recorder, made here. */
#include "honest.h"

#include <string.h>

#include <core/ring.h>

#define EVENTS 400u

static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16 };

static uint64_t add_event(uint8_t *at, uint16_t id, const char *name, uint8_t type)
{
	struct hodo_record_event e = { { 0, HODO_RECORD_EVENT, id }, HODO_KIND_EVENT, 1, 0, 7 };
	size_t used = sizeof(e), len = strlen(name) + 1;

	at[used++] = type;
	memcpy(at + used, name, len);
	used += len;
	/* field, format, file, function, object */
	memcpy(at + used, "n\0\0a.c\0main\0/bin/a", 19);
	used += 19;
	e.head.size = (uint32_t)((used + 7) & ~7ull);
	memcpy(at, &e, sizeof(e));
	return e.head.size;
}

static void fill_ring(uint8_t *file, uint32_t number, uint64_t now)
{
	struct hodo_ring_config config = { .packet_size = HONEST_PACKET, .mode = HODO_MODE_OVERWRITE,
					   .ring_size = HONEST_RING };
	struct hodo_ring *ring = (struct hodo_ring *)(file + hodo_layout_ring(number));
	struct hodo_view v = { ring, file + HONEST_DATA + number * HONEST_RING, HONEST_RING - 1, HONEST_PACKET, 0, 0,
			       { 0 } };
	uint32_t cpu = number == HONEST_RINGS - 1 ? HODO_CPU_ANY : number;

	memcpy(config.uuid, uuid, sizeof(config.uuid));
	hodo_ring_activate(&config, ring, v.data, cpu, now);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct { uint16_t len; char s[6]; } text = { 6, "hello" };
		uint64_t n = i;
		struct hodo_piece piece = { i % 5 ? (const void *)&n : &text, 8 };
		struct hodo_switch plan;

		if (!hodo_ring_has_room(ring->word, HONEST_PACKET, 8)) {
			hodo_ring_plan(&config, &v, cpu, ring->word, &plan);
			plan.now = ++now;
			hodo_ring_switch_locked(&plan);
		}
		hodo_ring_write_locked(&v, i % 5 ? 1 : 2, 100 + i % 3, ++now, &piece, 1, 8);
	}
	ring->word_before = ring->word;
}

void honest_make(uint8_t *file, bool snapshot)
{
	struct hodo_shm *shm = (struct hodo_shm *)file;
	struct hodo_flight *f = (struct hodo_flight *)(file + HODO_SHM_FLIGHT_HEAD);
	struct hodo_thread *t = (struct hodo_thread *)(file + HODO_SHM_THREADS);

	memcpy(shm->magic, HODO_SHM_MAGIC, sizeof(shm->magic));
	shm->version = HODO_ABI_VERSION;
	shm->rings = HONEST_RINGS;
	shm->pid = 4711;
	shm->flags = HODO_SHM_FLIGHT | HODO_SHM_LOCKED | (snapshot ? HODO_SHM_SNAPSHOT : 0);
	shm->catalog_used = add_event(file + HODO_SHM_CATALOG, 1, "kv:put", HODO_TYPE_U64);
	shm->catalog_used += add_event(file + HODO_SHM_CATALOG + shm->catalog_used, 2, "kv:get", HODO_TYPE_STR);
	shm->threads = 3;
	for (uint32_t i = 0; i < 3; i++)
		t[i] = (struct hodo_thread){ 100 + i, 0, "worker" };
	*f = (struct hodo_flight){ .size = sizeof(*f), .packet_size = HONEST_PACKET, .ring_size = HONEST_RING,
				   .mode = HODO_MODE_OVERWRITE, .clock = HODO_CLOCK_MONOTONIC, .uid = 1000,
				   .start = HODO_START_EXEC, .comm = "kvd", .exe = "/usr/bin/kvd",
				   .hostname = "host", .boot_id = "00000000-0000-0000-0000-000000000000",
				   .first = { 1000, 1000, 1700000000000000000 },
				   .last = { { 5000000, 5000000, 1700000000004999000 } } };
	memcpy(f->uuid, uuid, sizeof(f->uuid));
	fill_ring(file, 0, 1000);
	fill_ring(file, 1, 2000);
}
