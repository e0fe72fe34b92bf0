/* SPDX-License-Identifier: MIT */
/*
 * shm.h - how the recorder touches memory that a traced process also has.
 *
 * Everything in it is hostile: it may change at any time. Each word is loaded
 * once, through these functions, into a local that the compiler cannot load
 * again, and only the local is checked and used.
 */
#ifndef HODO_RECORD_SHM_H
#define HODO_RECORD_SHM_H

#include <stdbool.h>
#include <string.h>

#include <hodo/abi.h>

/* Makes the compiler forget where v came from, so that it cannot be read from there again. */
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

/* A copy that is taken here and now: later changes of the source are not seen. */
static inline void hodo_shm_copy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	__asm__ volatile("" ::: "memory");
}

/* A copy of a thread's name. False: there is none, or it is being replaced. */
static inline bool hodo_shm_thread(const struct hodo_thread *from, struct hodo_thread *to)
{
	struct hodo_thread again;

	/* Its writer takes the tid away first, so that a copy that is half a new one is not found twice. */
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
 * Why memory that somebody sent is not safe to be mapped, or NULL: what could be cut short under us, or whose pages
 * might not come (huge pages have a quota), would end us with SIGBUS. Its size is the caller's to check.
 */
const char *hodo_shm_flaw(int fd);

/*
 * The first ring from number `from` on that has memory; layout->rings: there is none. On a machine with many CPUs holes
 * are asked for rather than read: reading a hole would give it memory. fd -1: it cannot be asked, all have.
 */
uint32_t hodo_shm_next_ring(const struct hodo_layout *layout, int fd, uint32_t from);

#endif
