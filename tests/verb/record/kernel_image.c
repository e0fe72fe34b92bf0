/* SPDX-License-Identifier: MIT */
/*
 * kernel_image FILE [running|discard|version] - writes what the kernel module's file `memory` would hold after a
 * flight recorder's recording of two CPUs: the events that test_kernel.py expects. running: it has not ended;
 * discard: it was not a flight recorder; version: by a module of another version.
 */
#define _GNU_SOURCE
#include <unit/record/writer.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PACKET 4096u
#define RING (64u << 10)
#define RINGS 3u

#define I32 HODO_TYPE_I32
#define STR HODO_TYPE_STR

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------ events */

/* Fixed fields first; then two arrays of constant length, whose texts end before the arrays do. */
static void put_switch(struct writer *w, const char prev[16], const char next[16], int32_t next_pid)
{
	uint8_t fields[4 + 2 * 18];
	uint16_t len = 16;

	memcpy(fields, &next_pid, 4);
	memcpy(fields + 4, &len, 2);
	memcpy(fields + 6, prev, 16);
	memcpy(fields + 22, &len, 2);
	memcpy(fields + 24, next, 16);
	writer_raw(w, 1, fields, sizeof(fields));
}

static void put_open(struct writer *w, const char *path, uint16_t len, int32_t flags)
{
	uint8_t fields[4 + 2 + 64];

	memcpy(fields, &flags, 4);
	memcpy(fields + 4, &len, 2);
	memcpy(fields + 6, path, len);
	writer_raw(w, 2, fields, 6u + len);
}

static void put_many(struct writer *w)
{
	uint64_t fields[HODO_FIELDS_MAX];

	for (unsigned int i = 0; i < HODO_FIELDS_MAX; i++)
		fields[i] = 1000 + i;
	writer_raw(w, 3, fields, sizeof(fields));
}

static uint64_t put_catalog(uint8_t *catalog)
{
	static const uint8_t switches[] = { I32, STR, STR }, opens[] = { I32, STR };
	static const char *const switch_names[] = { "next_pid", "prev_comm", "next_comm" };
	static const char *const open_names[] = { "flags", "filename" };
	static char names[HODO_FIELDS_MAX][8];
	const char *many_names[HODO_FIELDS_MAX];
	uint8_t many[HODO_FIELDS_MAX];
	uint64_t used = 0;

	for (unsigned int i = 0; i < HODO_FIELDS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		many_names[i] = names[i];
		many[i] = HODO_TYPE_U64;
	}
	writer_catalog_event(catalog, &used, 1, "sched:sched_switch", switches, 3, switch_names);
	writer_catalog_event(catalog, &used, 2, "syscalls:sys_enter_openat", opens, 2, open_names);
	writer_catalog_event(catalog, &used, 3, "test:many", many, HODO_FIELDS_MAX, many_names);
	return used;
}

static void put_events(struct writer *w)
{
	w[0].tid = 100;
	put_switch(&w[0], "init\0\0\0\0\0\0\0\0\0\0\0", "worker\0behind it", 101);
	put_open(&w[0], "/etc/passwd", 11, 1);
	put_open(&w[0], HODO_NULL_TEXT, HODO_NULL_TEXT_LEN, 2);
	put_open(&w[0], "", 0, 3);
	w[0].tid = 101;
	put_many(&w[0]);
	w[1].tid = 0; /* each CPU's idle thread */
	put_switch(&w[1], "swapper/1\0\0\0\0\0\0", "0123456789abcdef", 100);
	w[1].tid = 555; /* a thread of which nothing is known */
	put_open(&w[1], "a\0b", 3, 4);
	w[2].tid = 102;
	put_open(&w[2], "\0\0\0\0", 4, 5); /* an array with an empty text */
}

/* -------------------------------------------------------------------- memory */

static void put_threads(uint8_t *shm)
{
	static const struct hodo_thread threads[] = {
		{ 101, 100, "worker" }, { 102, 102, "other" }, { 100, 100, "main" },
	};

	/* Any places in the table will do. */
	for (unsigned int i = 0; i < 3; i++)
		memcpy(shm + HODO_SHM_THREADS + (HODO_THREADS_MAX - 1 - 1000 * i) * sizeof(*threads), &threads[i],
		       sizeof(*threads));
	((struct hodo_shm *)shm)->threads = 5;
}

static void put_head(uint8_t *shm, const char *how)
{
	struct hodo_shm *h = (struct hodo_shm *)shm;
	struct hodo_flight *f = (struct hodo_flight *)(shm + HODO_SHM_FLIGHT_HEAD);

	memcpy(h->magic, HODO_SHM_MAGIC, sizeof(h->magic));
	h->version = HODO_ABI_VERSION + (strcmp(how, "version") == 0);
	h->rings = RINGS;
	h->ended = strcmp(how, "running") != 0;
	f->size = sizeof(*f);
	f->packet_size = PACKET;
	f->ring_size = RING;
	f->mode = strcmp(how, "discard") == 0 ? HODO_MODE_DISCARD : HODO_MODE_OVERWRITE;
	f->clock = HODO_CLOCK_MONOTONIC;
	memset(f->uuid, 0x5a, sizeof(f->uuid));
	f->start = HODO_START_EXEC;
	strcpy(f->comm, "kernel");
	strcpy(f->hostname, "here");
	f->first.ticks = clock_ns(CLOCK_MONOTONIC);
	f->first.mono_ns = (int64_t)f->first.ticks;
	f->first.real_ns = (int64_t)clock_ns(CLOCK_REALTIME);
}

int main(int argc, char **argv)
{
	struct writer w[RINGS] = { { 0 } };
	struct hodo_layout l;
	uint8_t *shm;
	int fd;

	if (argc < 2 || hodo_layout_init(&l, RINGS, PACKET, RING) < 0)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)l.total) < 0)
		return 1;
	shm = mmap(NULL, l.total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shm == MAP_FAILED)
		return 1;
	put_head(shm, argc > 2 ? argv[2] : "");
	put_threads(shm);
	((struct hodo_shm *)shm)->catalog_used = put_catalog(shm + HODO_SHM_CATALOG);
	for (uint32_t i = 0; i < RINGS; i++)
		w[i] = (struct writer){
			.ring = (struct hodo_ring *)(shm + hodo_layout_ring(i)), .packets = shm + l.data + i * RING,
			.ring_size = RING, .packet_size = PACKET, .mode = HODO_MODE_OVERWRITE,
			.cpu = i == RINGS - 1 ? HODO_CPU_ANY : i, .threads = 1,
		};
	put_events(w);
	return 0;
}
