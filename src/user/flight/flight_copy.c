/* SPDX-License-Identifier: MIT */
/*
 * flight_copy.c - a snapshot: a copy of the flight recorder's file, made while the program keeps writing to
 * it. Under the control lock.
 */
#include "flight.h"
#include <user/libc/sys.h>
#include <user/event/event.h>
#include <user/libc/libc.h>

#define BUFFER_MAX (64ull << 20) /* larger rings do not wrap while they are being copied */
#define COPY_TRIES 8

/* Copies a used ring: the packets between the two commit words. buffer: of a ring's size, or NULL. */
static int copy_ring(int fd, uint32_t i, uint8_t *buffer)
{
	const struct hodo_layout *l = &hodo_recording.layout;
	const uint8_t *data = hodo_recording.shm + l->data + i * l->ring_size;
	struct hodo_ring *ring = hodo_ring_of(i), copy;
	uint64_t used = 0, packets = l->ring_size / l->packet_size, seq;
	int error = 0;

	__builtin_memset(&copy, 0, sizeof(copy));
	if (hodo_load_acquire(&ring->activation) != 2)
		return 0;
	copy.lost_full = hodo_load(&ring->lost_full);
	copy.lost_too_large = hodo_load(&ring->lost_too_large);
	copy.lost_busy = hodo_load(&ring->lost_busy);
	copy.activation = 2;
	for (int tries = 0; tries < COPY_TRIES; tries++) {
		/* Before the packets: they contain what it says was committed. */
		copy.word_before = hodo_load_acquire(&ring->word);
		/* In its first lap: only what has been begun. */
		seq = hodo_load_acquire(&((const struct hodo_packet *)(data + (hodo_word_position(copy.word_before) &
					  (l->ring_size - 1) & ~(uint64_t)(l->packet_size - 1))))->packet_seq_num);
		used = seq + 1 < packets ? (seq + 1) * l->packet_size : l->ring_size;
		/* At full speed a ring wraps faster than a file is written; memory is fast enough. */
		if (buffer)
			__builtin_memcpy(buffer, data, used);
		else
			error = hodo_sys_file_write(fd, data, used, l->data + i * l->ring_size);
		/* After the packets: it says which of them may have been overwritten meanwhile. Without the
		 * fence, the load could come before the last bytes were read. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		copy.word = hodo_load_acquire(&ring->word);
		if (error || (copy.word - copy.word_before) >> HODO_WORD_COUNT_BITS < l->ring_size / 4 * 3)
			break; /* else we were preempted while it wrapped: once more */
	}
	if (buffer)
		error = hodo_sys_file_write(fd, buffer, used, l->data + i * l->ring_size);
	return error ? error : hodo_sys_file_write(fd, &copy, sizeof(copy), hodo_layout_ring(i));
}

/* All but the rings; after them, so that every event in a packet has its description. */
static int copy_rest(int fd, const char *why, uint32_t number)
{
	const uint8_t *shm = hodo_recording.shm;
	uint32_t threads = hodo_load_acquire(&hodo_shm()->threads);
	uint8_t page[HODO_PAGE];
	struct hodo_shm *head = (struct hodo_shm *)page;
	int error;

	__builtin_memcpy(page, shm, sizeof(page));
	head->catalog_used = hodo_load_acquire(&hodo_shm()->catalog_used);
	head->flags = HODO_SHM_FLIGHT | HODO_SHM_SNAPSHOT;
	head->threads = threads < HODO_THREADS_MAX ? threads : HODO_THREADS_MAX;
	head->snapshots = number;
	__builtin_memset(head->why, 0, sizeof(head->why));
	hodo_fixed_text_add(head->why, sizeof(head->why), why ? why : "");
	hodo_flight_note_clocks(hodo_flight_of(page));
	error = hodo_sys_file_write(fd, shm + HODO_SHM_CATALOG, head->catalog_used, HODO_SHM_CATALOG);
	if (!error)
		error = hodo_sys_file_write(fd, shm + HODO_SHM_THREADS, head->threads * sizeof(struct hodo_thread),
				 HODO_SHM_THREADS);
	if (!error)
		error = hodo_sys_file_write(fd, shm + HODO_SHM_LIMITED, 8ull * (hodo_nevents + 1), HODO_SHM_LIMITED);
	/* The first page last: an unfinished copy has none. */
	return error ? error : hodo_sys_file_write(fd, page, sizeof(page), 0);
}

int hodo_flight_copy(const char *why)
{
	static char path[HODO_FLIGHT_PATH_MAX]; /* under the control lock */
	uint32_t number = hodo_load(&hodo_shm()->snapshots) + 1;
	uint64_t ring_size = hodo_recording.layout.ring_size;
	uint8_t *buffer = 0;
	int error = 0;
	long fd;

	fd = hodo_flight_file_snapshot(path, hodo_flight_path(), hodo_recording.layout.total, &number);
	if (fd < 0)
		return (int)fd;
	if (ring_size <= BUFFER_MAX)
		buffer = hodo_mmap(ring_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
	if (hodo_is_error(buffer))
		buffer = 0;
	error = (int)hodo_sys2(SYS_ftruncate, fd, hodo_recording.layout.total);
	for (uint32_t i = 0; !error && i < hodo_recording.layout.rings; i++)
		error = copy_ring((int)fd, i, buffer);
	if (buffer)
		hodo_sys2(SYS_munmap, buffer, ring_size);
	if (!error)
		error = copy_rest((int)fd, why, number);
	hodo_sys1(SYS_close, fd);
	if (error) {
		hodo_sys_file_remove(path);
		return error;
	}
	hodo_store(&hodo_shm()->snapshots, number);
	return (int)number;
}
