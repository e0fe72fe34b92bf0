/* SPDX-License-Identifier: MIT */
/*
 * test_image.c - copies of rings while honest writers write on: only whole events, without
 * gaps, and the count of those missing before them is exact; for small and large packets and rings.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <lib/folder.h>
#include <lib/unit.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <record/ring/ring_copy.h>
#include <record/write/snapshot.h>

#include "writer.h"

#define CPUS 2u
#define EVENT (RECORD_EVENT_BYTES + 8) /* an event with a number */

struct fixture {
	struct hodo_layout layout;
	uint8_t *shm;
	struct writer w[CPUS];
	pthread_t thread[CPUS];
	bool over;
};

/* One ring of a copy. */
struct seen {
	struct hodo_read_layouts table;
	uint64_t events, first, next, ts_end, ts_max;
};

static void pin(unsigned int n)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	n %= (unsigned int)CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n-- == 0)
			CPU_SET(cpu, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

static struct fixture *current;

static void *write_on(void *arg)
{
	struct writer *w = arg;

	pin(w->cpu);
	for (uint64_t i = w->written; !__atomic_load_n(&current->over, __ATOMIC_RELAXED); i++)
		writer_event(w, i);
	return NULL;
}

static uint8_t *map_memory(uint64_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	return map;
}

static void take(struct hodo_ring_copies *images, const struct fixture *f)
{
	assert_int_equal(hodo_ring_copies_take(images, f->shm, &f->layout, -1, HODO_CLOCK_MONOTONIC, false), 0);
}

static void make_memory(struct fixture *f, uint32_t packet_size, uint32_t packets)
{
	struct hodo_shm *head;
	uint64_t used;

	memset(f, 0, sizeof(*f));
	assert_int_equal(hodo_layout_init(&f->layout, CPUS + 1, packet_size, (uint64_t)packet_size * packets), 0);
	f->shm = map_memory(f->layout.total);
	used = writer_catalog(f->shm + HODO_SHM_CATALOG);
	head = (struct hodo_shm *)f->shm;
	head->rings = CPUS + 1;
	head->catalog_used = used;
	for (uint32_t i = 0; i < CPUS; i++)
		f->w[i] = (struct writer){
			.ring = (struct hodo_ring *)(f->shm + hodo_layout_ring(i)),
			.packets = f->shm + f->layout.data + i * f->layout.ring_size, .ring_size = f->layout.ring_size,
			.packet_size = packet_size, .mode = HODO_MODE_OVERWRITE, .cpu = i,
		};
}

static void start(struct fixture *f)
{
	current = f;
	for (uint32_t i = 0; i < CPUS; i++)
		pthread_create(&f->thread[i], NULL, write_on, &f->w[i]);
	/* A lap at least. */
	for (uint32_t i = 0; i < CPUS; i++)
		while (__atomic_load_n(&f->w[i].ring->word, __ATOMIC_RELAXED) >> HODO_WORD_COUNT_BITS <
		       f->layout.ring_size)
			usleep(100);
}

static void stop(struct fixture *f)
{
	__atomic_store_n(&f->over, true, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < CPUS; i++)
		pthread_join(f->thread[i], NULL);
}

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct seen *)arg)->table;
}

static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct seen *s = arg;

	struct record record = record_begin(h->timestamp_begin);
	uint64_t end = h->content_size / 8 - sizeof(*h), events = 0;

	assert_int_equal(h->packet_size, h->content_size);
	assert_true(h->timestamp_begin >= s->ts_end);
	assert_true(h->timestamp_end >= h->timestamp_begin);
	for (uint64_t at = 0; at < end;) {
		uint64_t value;

		at += record_take(&record, body + at);
		assert_true(record.time <= s->ts_max);
		if (record.form == RECORD_ANCHOR)
			continue;
		assert_int_equal(record.form, RECORD_EVENT);
		assert_int_equal(record.tid, 7);
		memcpy(&value, body + at, 8);
		at += 8;
		events++;
		if (s->events++ == 0)
			s->first = s->next = value;
		assert_int_equal(value, s->next);
		s->next++;
	}
	assert_int_equal(events, h->events);
	s->ts_end = h->timestamp_end;
	assert_int_equal(h->events_discarded, s->first);
	(void)r;
}

/* Checks what the copy holds; returns the number of its events. */
static uint64_t check_images(struct hodo_ring_copies *images)
{
	static const uint8_t number[] = { HODO_TYPE_U64 };
	uint64_t events = 0;

	for (uint32_t i = 0; i < images->n; i++) {
		struct seen s = { .ts_max = images->image[i].ts_max };
		struct hodo_ring_sink sink = { sink_packet, sink_table, &s };
		struct hodo_ring_reader r;

		hodo_read_layouts_add(&s.table, 1, number, 1);
		hodo_ring_copy_reader(images, &images->image[i], &r);
		hodo_ring_finish(&r, &sink, false);
		assert_false(r.broken);
		assert_int_equal(r.damage, 0);
		assert_int_equal(r.lost.damaged, 0);
		if (s.events > 0)
			assert_int_equal(r.lost.overwritten, s.first);
		events += s.events;
		hodo_layouts_clear(&s.table);
	}
	return events;
}

static const uint32_t sizes[][2] = {
	{ 1024, 4 }, { 1024, 64 }, { 1024, 4096 }, { 65536, 4 }, { 65536, 64 }, { 262144, 16 },
};

TEST(test_at_full_speed)
{
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		struct hodo_ring_copies images;
		uint64_t events = 0;
		struct fixture f;

		make_memory(&f, sizes[k][0], sizes[k][1]);
		start(&f);
		for (int i = 0; i < 20; i++) {
			take(&images, &f);
			events += check_images(&images);
			hodo_ring_copies_free(&images);
		}
		stop(&f);
		assert_true(events > 0);
		/* Nobody writes any more: now the copy must have all. */
		take(&images, &f);
		assert_int_equal(images.n, CPUS);
		assert_int_equal(images.image[0].available, sizes[k][1] - 1);
		events = check_images(&images);
		assert_true(events > 2 * (sizes[k][1] - 2) * ((sizes[k][0] - 88 - RECORD_ANCHOR_BYTES) / EVENT - 3));
		hodo_ring_copies_free(&images);
		munmap(f.shm, f.layout.total);
	}
}

/* A copy of memory that was written meanwhile, as a flight recorder makes one: the words before and after. */
TEST(test_copy_of_a_copy)
{
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		uint64_t events = 0;
		struct fixture f;
		uint8_t *copy;

		make_memory(&f, sizes[k][0], sizes[k][1]);
		copy = map_memory(f.layout.total);
		start(&f);
		for (int i = 0; i < 10; i++) {
			struct hodo_ring_copies images;

			for (uint32_t c = 0; c < CPUS; c++) {
				struct hodo_ring *ring = (struct hodo_ring *)(copy + hodo_layout_ring(c));
				uint64_t at = f.layout.data + c * f.layout.ring_size;

				ring->word_before = __atomic_load_n(&f.w[c].ring->word, __ATOMIC_ACQUIRE);
				memcpy(copy + at, f.shm + at, f.layout.ring_size);
				__atomic_thread_fence(__ATOMIC_ACQUIRE);
				ring->word = __atomic_load_n(&f.w[c].ring->word, __ATOMIC_ACQUIRE);
			}
			assert_int_equal(hodo_ring_copies_take(&images, copy, &f.layout, -1, HODO_CLOCK_MONOTONIC,
							       true), 0);
			for (uint32_t c = 0; c < images.n; c++)
				images.image[c].broken = false; /* completely overwritten */
			events += check_images(&images);
			hodo_ring_copies_free(&images);
		}
		stop(&f);
		munmap(copy, f.layout.total);
		munmap(f.shm, f.layout.total);
	}
}

/* The moment of the copy: events before it are there; later ones are not, and do not count as missing. */
TEST(test_moment)
{
	struct hodo_ring_copies images;
	struct fixture f;

	make_memory(&f, 1024, 16);
	for (uint64_t i = 0; i < 300; i++)
		writer_event(&f.w[0], i);
	take(&images, &f);
	assert_int_equal(images.n, 1);
	for (uint64_t i = 0, packet = 0; i < 300; packet++) {
		const uint8_t *start = images.image[0].packets + packet * 1024;
		const uint8_t *at = start + sizeof(struct hodo_packet);
		const struct hodo_packet *h = (const struct hodo_packet *)start;
		struct record record = record_begin(h->timestamp_begin);
		/* The last packet is open, and its header says nothing of its contents. */
		uint64_t events = h->events ? h->events : 300 - i;

		while (events > 0) {
			at += record_take(&record, at);
			if (record.form == RECORD_ANCHOR)
				continue;
			at += 8;
			events--;
			images.image[0].ts_max = record.time;
			assert_int_equal(check_images(&images), ++i);
		}
	}
	hodo_ring_copies_free(&images);
	munmap(f.shm, f.layout.total);
}

/* Copying writes nothing to the memory, and does not touch unused parts. */
TEST(test_reads_only)
{
	struct hodo_ring_copies images;
	struct fixture f;
	unsigned char in_core;

	make_memory(&f, 65536, 1024);
	for (uint64_t i = 0; i < 10000; i++)
		writer_event(&f.w[1], i);
	assert_int_equal(mprotect(f.shm, f.layout.total, PROT_READ), 0);
	take(&images, &f);
	assert_int_equal(images.n, 1);
	assert_int_equal(images.image[0].number, 1);
	assert_int_equal(check_images(&images), 10000);
	hodo_ring_copies_free(&images);
	assert_int_equal(mincore(f.shm + f.layout.data, HODO_PAGE, &in_core), 0);
	assert_false(in_core & 1);
	munmap(f.shm, f.layout.total);
}

/* Whole snapshots, one after the other, and one that cannot be written. */
TEST(test_written)
{
	struct hodo_flight flight = { .size = sizeof(flight), .packet_size = 1024, .ring_size = 65536,
				      .mode = HODO_MODE_OVERWRITE, .clock = HODO_CLOCK_MONOTONIC, .comm = "x/y" };
	struct hodo_read_clock map = { HODO_CLOCK_MONOTONIC, 1000000000, 0, 0 };
	struct hodo_snapshot_source source = { .fd = -1, .flight = &flight, .pid = 7, .clock = &map, .number = 1,
					       .why = "*/ \n" };
	struct hodo_why why = { "" };
	struct hodo_snapshot_result result;
	struct hodo_layout layout;
	struct fixture f;
	int fd;

	fd = open(folder(), O_RDONLY | O_DIRECTORY);
	make_memory(&f, 1024, 64);
	assert_int_equal(hodo_snapshot_layout(&flight, CPUS + 1, f.layout.total, &layout), 0);
	assert_int_equal(hodo_snapshot_layout(&flight, CPUS + 2, f.layout.total, &layout), -EPROTO);
	source.shm = f.shm;
	source.layout = f.layout;
	start(&f);
	for (int i = 0; i < 3; i++) {
		char rm[200];

		assert_int_equal(hodo_snapshot_write(&source, fd, &result, &why), 0);
		assert_string_equal(result.dir, i == 0 ? "x_y-7" : i == 1 ? "x_y-7-2" : "x_y-7-3");
		snprintf(rm, sizeof(rm), "rm -r '%s/%s'", folder(), result.dir);
		if (i == 2)
			assert_int_equal(system(rm), 0);
	}
	stop(&f);
	fchmod(fd, 0500);
	if (geteuid() != 0) {
		assert_int_equal(hodo_snapshot_write(&source, fd, &result, &why), -EACCES);
		assert_true(strlen(why.text) > 0);
	}
	fchmod(fd, 0700);
	close(fd);
	munmap(f.shm, f.layout.total);
}
