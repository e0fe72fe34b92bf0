/* SPDX-License-Identifier: MIT */
/*
 * flight.c - the file of a flight recorder that holds anything.
 *
 * Input: one byte of choices, then changes to the file of an honest process, each 4 bytes of place and
 * 8 of value; the places number only the pages that matter, in sequence. The file must be refused,
 * or become a recording that reads without a complaint.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hodo/read.h>
#include <lib/fuzz.h>
#include <record/recover/flight_memory.h>
#include <record/write/out_dir.h>
#include <record/write/snapshot.h>

#include <unit/record/honest.h>

/* The place in the file for a number below MATTER_BYTES. */
#define MATTER_PAGES 12u
#define MATTER_BYTES (MATTER_PAGES * HODO_PAGE)

static uint64_t place(uint32_t n)
{
	static const uint64_t pages[MATTER_PAGES] = {
		0, 0, HODO_SHM_THREADS, HODO_SHM_CATALOG, HODO_SHM_RINGS, HODO_SHM_RINGS + HODO_PAGE,
		HONEST_DATA, HONEST_DATA, HONEST_DATA, HONEST_DATA + HODO_PAGE, HONEST_DATA + HONEST_RING,
		HONEST_DATA + HONEST_RING + HODO_PAGE,
	};

	n %= MATTER_BYTES;
	return pages[n / HODO_PAGE] + n % HODO_PAGE;
}

static void warn(void *data, const char *text)
{
	fprintf(stderr, "%s\n", text);
	abort();
}

static void read_back(const char *dir)
{
	struct hodo_read_options o = { .size = sizeof(o), .warn = warn };
	const struct hodo_read_event *e;
	struct hodo_read *r;

	if (hodo_read_open(&r, dir, &o) != 0)
		abort();
	while (hodo_read_next(r, &e) > 0)
		;
	hodo_read_close(r);
}

static void write_out(const struct hodo_flight_memory *m)
{
	struct hodo_read_clock clock = { HODO_CLOCK_MONOTONIC, 1000000000, 0, 0 };
	struct hodo_snapshot_source source = { .shm = m->shm, .layout = m->layout, .fd = -1, .flight = &m->flight,
					       .pid = m->pid, .clock = &clock, .number = m->number,
					       .why = m->number ? m->why : NULL, .taken_real_ns = 1 };
	struct hodo_why why;
	char dir[] = "/dev/shm/hodo-fuzz-XXXXXX", path[64];
	struct hodo_snapshot_result result;
	struct hodo_read_clock fitted;
	int fd;

	if (!mkdtemp(dir)) {
		memcpy(dir, "/var/tmp", 8);
		if (!mkdtemp(dir))
			abort();
	}
	snprintf(path, sizeof(path), "%s/out", dir);
	fd = hodo_out_dir_open(path, &why);
	if (fd < 0)
		abort();
	hodo_snapshot_clock(&m->flight, &fitted);
	if (hodo_snapshot_write(&source, fd, &result, &why) == 0)
		read_back(path);
	if (hodo_out_dir_remove(fd, path) != 0)
		abort();
	close(fd);
	rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_flight_memory m;
	uint8_t *file;
	struct hodo_why why;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (len == 0 || fd < 0 || ftruncate(fd, HONEST_TOTAL) != 0)
		return 0;
	file = mmap(NULL, HONEST_TOTAL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		abort();
	honest_make(file, data[0] & 1);
	for (size_t at = 1; at + 12 <= len && at < 12 * 256; at += 12) {
		uint64_t value, where;
		uint32_t n;

		memcpy(&n, data + at, sizeof(n));
		memcpy(&value, data + at + 4, sizeof(value));
		where = place(n);
		/* Layouts that only ask for much memory show nothing. */
		if (where + 8 <= HONEST_TOTAL)
			memcpy(file + where, &value, sizeof(value));
	}
	munmap(file, HONEST_TOTAL);
	if (data[0] & 2 && len > 5) {
		uint32_t n;

		memcpy(&n, data + len - 4, sizeof(n));
		if (ftruncate(fd, (off_t)place(n)) != 0)
			abort();
	}
	if (hodo_flight_memory_read(&m, fd, &why) == 0) {
		if (m.layout.total <= 1ull << 30)
			write_out(&m);
		hodo_flight_memory_free(&m);
	}
	close(fd);
	return 0;
}
