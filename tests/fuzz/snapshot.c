/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - a snapshot of a memory that holds anything, and whose head says anything.
 *
 * Input: a byte of choices, then changes to a memory that honest writers filled: each 8 bytes of value and 4
 * of place. The result must make a valid trace.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lib/fuzz.h>
#include <record/ring/ring_copy.h>
#include <record/write/snapshot.h>

#include <unit/record/writer.h>

#define PACKET 1024u
#define RING (8 * PACKET)
#define RINGS 3u

struct out {
	struct hodo_read_layouts table;
	uint64_t ts_end, discarded, packets;
};

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct out *)arg)->table;
}

static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct hodo_walk_result walk;
	struct out *o = arg;
	uint64_t bytes = h->content_size / 8;

	(void)r;
	if (bytes < sizeof(*h) || bytes > PACKET || h->packet_size != h->content_size || h->events == 0 ||
	    h->timestamp_begin > h->timestamp_end || h->timestamp_begin < o->ts_end ||
	    h->events_discarded < o->discarded || h->events_discarded == UINT64_MAX)
		abort();
	hodo_walk(&o->table, body, (uint32_t)(bytes - sizeof(*h)), h->timestamp_begin, h->events, &walk);
	if (walk.events != h->events || walk.bytes != bytes - sizeof(*h) || walk.ts_last > h->timestamp_end)
		abort();
	o->ts_end = h->timestamp_end;
	o->discarded = h->events_discarded;
	if (++o->packets > RING / PACKET)
		abort();
}

static void read_images(const uint8_t *shm, const struct hodo_layout *layout, bool copy)
{
	static const uint8_t number[] = { HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR, HODO_TYPE_U32 };
	static const uint8_t call[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	struct hodo_ring_copies images;

	if (hodo_ring_copies_take(&images, shm, layout, -1, HODO_CLOCK_MONOTONIC, copy) != 0)
		abort();
	for (uint32_t i = 0; i < images.n; i++) {
		struct out out = { .packets = 0 };
		struct hodo_ring_sink sink = { sink_packet, sink_table, &out };
		struct hodo_ring_reader r;

		hodo_read_layouts_add(&out.table, 1, number, 1);
		hodo_read_layouts_add(&out.table, 2, text, 2);
		hodo_read_layouts_add(&out.table, WRITER_CALL, call, 2);
		hodo_read_layouts_add(&out.table, WRITER_RETURN, call, 2);
		hodo_read_layouts_calls(&out.table, WRITER_CALL, WRITER_RETURN);
		hodo_ring_copy_reader(&images, &images.image[i], &r);
		hodo_ring_finish(&r, &sink, false);
		hodo_layouts_clear(&out.table);
	}
	hodo_ring_copies_free(&images);
}

/* The whole snapshot, with files, in memory. */
static void write_files(const uint8_t *shm, const struct hodo_layout *layout, struct hodo_flight *flight)
{
	struct hodo_read_clock map = { HODO_CLOCK_MONOTONIC, 1000000000, 0, 0 };
	struct hodo_snapshot_source source = { .shm = shm, .layout = *layout, .fd = -1, .flight = flight, .pid = 1,
					       .clock = &map, .functions = true, .why = "because" };
	struct hodo_why why;
	char path[] = "/dev/shm/hodo-fuzz-XXXXXX", file[sizeof(path) + 96];
	static const char *const names[] = { "cpu0", "cpu1", "fallback", "metadata" };
	struct hodo_snapshot_result result;
	int fd;

	if (!mkdtemp(path))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (hodo_snapshot_write(&source, fd, &result, &why) != 0)
		abort();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(file, sizeof(file), "%s/%s", result.dir, names[i]);
		unlinkat(fd, file, 0);
	}
	if (unlinkat(fd, result.dir, AT_REMOVEDIR) < 0)
		abort();
	close(fd);
	rmdir(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t *shm;
	struct hodo_flight flight = { .size = sizeof(flight), .packet_size = PACKET, .ring_size = RING,
				      .mode = HODO_MODE_OVERWRITE, .clock = HODO_CLOCK_MONOTONIC };
	uint8_t choice = len > 0 ? data[0] : 0;
	struct hodo_read_clock map;
	struct hodo_layout layout, other;
	uint64_t used;

	hodo_layout_init(&layout, RINGS, PACKET, RING);
	if (!shm)
		shm = mmap(NULL, layout.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);
	madvise(shm, layout.total, MADV_DONTNEED);
	((struct hodo_shm *)shm)->rings = RINGS;
	used = writer_catalog(shm + HODO_SHM_CATALOG);
	writer_catalog_calls(shm + HODO_SHM_CATALOG, &used);
	((struct hodo_shm *)shm)->catalog_used = used;
	for (uint32_t k = 0; k < RINGS; k++) {
		struct writer w = { .ring = (struct hodo_ring *)(shm + hodo_layout_ring(k)),
				    .packets = shm + layout.data + k * RING, .ring_size = RING, .packet_size = PACKET,
				    .mode = HODO_MODE_OVERWRITE, .now = 1000, .threads = 1 };

		for (uint64_t i = 0; i < k * 20u * (choice >> 2); i++)
			writer_any(&w, i);
		w.ring->word_before = w.ring->word;
	}
	for (size_t at = 1; at + 12 <= len; at += 12) {
		uint64_t value;
		uint32_t place;

		memcpy(&value, data + at, 8);
		memcpy(&place, data + at + 8, 4);
		/* The rings and their control blocks, the catalogue's begin, the head, or what came with the answer. */
		if (place >> 30 == 0)
			memcpy(shm + layout.data + place % (RINGS * RING - 8), &value, 8);
		else if (place >> 30 == 1)
			memcpy(shm + HODO_SHM_RINGS + place % (RINGS * HODO_PAGE - 8), &value, 8);
		else if (place >> 30 == 2)
			memcpy(shm + (place & 1 ? HODO_SHM_CATALOG : 0) + (place >> 1) % 512, &value, 8);
		else
			memcpy((uint8_t *)&flight + place % (sizeof(flight) - 8), &value, 8);
	}
	read_images(shm, &layout, choice & 1);
	if (hodo_snapshot_layout(&flight, RINGS, layout.total, &other) == 0) {
		if (other.packet_size == PACKET && choice & 2)
			write_files(shm, &other, &flight);
		hodo_snapshot_clock(&flight, &map);
	}
	return 0;
}
