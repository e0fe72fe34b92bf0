/* SPDX-License-Identifier: MIT */
/*
 * shm.h - how the recorder accesses memory shared with a traced process.
 *
 * Everything in it is hostile: it may change at any time. Each word is loaded
 * once, through these functions, into a local that the compiler cannot load
 * again, and only the local is checked and used.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include <hodo/abi.h>

/* Makes the compiler forget where v came from, so that it cannot reload it. */
#define HODO_OPAQUE(v) __asm__("" : "+r"(v))

static inline uint64_t hodo_shm_load64(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
static inline uint32_t hodo_shm_load32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* Unaligned values within packets and catalogue. */
static inline uint64_t hodo_shm_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	HODO_OPAQUE(v);
	return v;
}
static inline uint32_t hodo_shm_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	HODO_OPAQUE(v);
	return v;
}
static inline uint16_t hodo_shm_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	HODO_OPAQUE(v);
	return v;
}

/* Copies now: later changes of the source are not seen. */
static inline void hodo_shm_copy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	__asm__ volatile("" ::: "memory");
}

/*
 * No ring ever counts that many events: a count not below it is false and is ignored, and sums of the others
 * do not wrap. To readers, all ones means "none".
 */
#define HODO_RING_COUNT_MAX (1ull << 56)

/* 0 for a number of lost events that cannot be true. */
static inline uint64_t hodo_ring_believed(uint64_t n)
{
	return n < HODO_RING_COUNT_MAX ? n : 0;
}

static inline uint64_t hodo_ring_count(const uint64_t *counter)
{
	return hodo_ring_believed(hodo_shm_load64(counter));
}

/* Copies a thread's name. False: there is none, or it is being replaced. */
static inline bool hodo_shm_thread(const struct hodo_thread *from, struct hodo_thread *to)
{
	struct hodo_thread again;

	/* Its writer clears the tid first, so that a copy that mixes two names is not seen twice. */
	for (int i = 0; i < 4; i++) {
		hodo_shm_copy(to, from, sizeof(*to));
		if (to->tid == 0)
			return false;
		hodo_shm_copy(&again, from, sizeof(again));
		if (memcmp(to, &again, sizeof(again)) == 0) {
			to->comm[sizeof(to->comm) - 1] = 0;
			return true;
		}
	}
	return false;
}

/*
 * Why received memory is not safe to map, or NULL: if it could be truncated, or its pages could be
 * unavailable (huge pages have a quota), SIGBUS would end us. The caller checks its size.
 */
const char *hodo_shm_flaw(int fd);

/*
 * The first ring from index `from` on that has memory; layout->rings: none. It asks the file for holes instead of
 * reading them, which would allocate memory. fd -1: not possible, all count.
 */
uint32_t hodo_shm_next_ring(const struct hodo_layout *layout, int fd, uint32_t from);
