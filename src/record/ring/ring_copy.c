/* SPDX-License-Identifier: MIT */
/*
 * ring_copy.c - copies of rings in overwrite mode, taken while they are written.
 */
#include "ring_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <base/scope.h>
#include <base/vec.h>

#include <record/clock.h>
#include "shm.h"

#define LOT_BYTES (64u << 10) /* copied between two reads of the commit word */
#define TRIES 4               /* of all rings, as long as one copy is poor */
#define RING_TRIES 16         /* of one, as long as nothing could be copied */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint64_t packets_of(const struct hodo_layout *l)
{
	return l->ring_size / l->packet_size;
}

static const struct hodo_ring *ring_at(const uint8_t *shm, uint32_t number)
{
	return (const struct hodo_ring *)(shm + hodo_layout_ring(number));
}

/* ------------------------------------------------------------ which, and room */

/* Adds the ring if it was ever used. */
static int add_ring(struct hodo_ring_copies *s, const uint8_t *shm, uint32_t number)
{
	const struct hodo_ring *ring = ring_at(shm, number);
	struct hodo_ring_copy *image;

	if (hodo_shm_load64(&ring->word) == 0 && hodo_shm_load64(&ring->lost_busy) == 0 &&
	    hodo_shm_load64(&ring->lost_too_large) == 0)
		return 0;
	image = hodo_vec_add(s->image, s->n);
	if (!image)
		return -ENOMEM;
	image->number = number;
	return 0;
}

static int find_rings(struct hodo_ring_copies *s, const uint8_t *shm, int fd)
{
	int err = 0;

	for (uint32_t i = 0; !err && (i = hodo_shm_next_ring(&s->layout, fd, i)) < s->layout.rings; i++)
		err = add_ring(s, shm, i);
	return err;
}

/* Available memory, according to the kernel. */
static uint64_t memory_available(void)
{
	HODO_AUTO_FCLOSE FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		;
	return kib ? kib * 1024 : UINT64_MAX;
}

/* How much of the ring seems to have ever been written: its memory is touched up to there. */
static uint64_t used_bytes(const struct hodo_ring_copies *s, const uint8_t *shm, const struct hodo_ring_copy *image)
{
	struct hodo_ring_reader r;
	uint64_t word, current;

	hodo_ring_reader_init(&r, (struct hodo_ring *)ring_at(shm, image->number),
			      shm + s->layout.data + image->number * s->layout.ring_size, &s->layout,
			      HODO_MODE_OVERWRITE, NULL);
	if (!hodo_ring_locate(&r, &word, &current) || current + 1 >= packets_of(&s->layout))
		return s->layout.ring_size;
	return (current + 1) * s->layout.packet_size;
}

/* Allocates pages in advance, so that copying does not wait for the kernel. */
static int make_room(struct hodo_ring_copies *s, const uint8_t *shm)
{
	uint64_t wanted = 0;

	s->map_bytes = s->n * s->layout.ring_size;
	if (s->n == 0)
		return 0;
	if (s->map_bytes / s->n != s->layout.ring_size)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		wanted += used_bytes(s, shm, &s->image[i]);
	if (wanted > memory_available())
		return -ENOMEM;
	s->map = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return -ENOMEM;
	}
	madvise(s->map, s->map_bytes, MADV_HUGEPAGE);
	for (uint32_t i = 0; i < s->n; i++) {
		s->image[i].packets = (uint8_t *)s->map + i * s->layout.ring_size;
		/* Without kernel support (before 5.14), copying is slower. */
		madvise(s->image[i].packets, used_bytes(s, shm, &s->image[i]), MADV_POPULATE_WRITE);
	}
	return 0;
}

/* -------------------------------------------------------------------- copying */

/* A ring that is being copied. */
struct source {
	struct hodo_ring_reader r; /* of the memory itself */
	uint64_t word, current;
	uint64_t end_word; /* for a copy: the word when it was made; else 0 */
};

/*
 * The oldest packet that no writer can have touched until now. The slot after the open one may be
 * overwritten.
 */
static uint64_t oldest_now(const struct source *s)
{
	uint64_t n = s->r.ring_size / s->r.packet_size, word, behind;

	/* Without it, the copy's loads could come after this one, when the slots hold other packets. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	word = s->end_word ? s->end_word : hodo_shm_load64(&s->r.ring->word);
	behind = s->current + hodo_ring_ahead(&s->r, word, s->word) + 2;
	return behind > n ? behind - n : 0;
}

static void copy_packets(const struct source *s, uint8_t *to, uint64_t first, uint64_t bytes)
{
	uint64_t at = first * s->r.packet_size & (s->r.ring_size - 1);

	hodo_shm_copy(to + at, s->r.packets + at, bytes);
}

/* Copies backwards from the open packet. False: not even that could be copied. */
static bool copy_back(const struct source *s, struct hodo_ring_copy *image)
{
	uint64_t lot = LOT_BYTES > s->r.packet_size ? LOT_BYTES / s->r.packet_size : 1;
	uint64_t n = s->r.ring_size / s->r.packet_size, end = s->current, oldest = oldest_now(s);

	image->available = s->current + 1 - (oldest < s->current ? oldest : s->current);
	copy_packets(s, image->packets, s->current, s->word >> HODO_WORD_COUNT_BITS & (s->r.packet_size - 1));
	oldest = oldest_now(s);
	if (oldest > s->current)
		return false;
	if (lot > n)
		lot = n;
	while (end > oldest) {
		/* Lots begin at multiples of their size, so that none wraps at the ring's end. */
		uint64_t begin = (end - 1) & ~(lot - 1);

		if (begin < oldest)
			begin = oldest;
		copy_packets(s, image->packets, begin, (end - begin) * s->r.packet_size);
		oldest = oldest_now(s);
		if (oldest >= end)
			break;
		end = begin > oldest ? begin : oldest;
	}
	image->oldest = end;
	return true;
}

/* Committed so far, if the words are credible. */
static uint64_t committed(const struct source *s)
{
	struct hodo_ring_reader r = s->r;

	r.word = hodo_shm_load64(&r.ring->word);
	return hodo_ring_events(&r);
}

static void copy_ring(const struct hodo_ring_copies *images, const uint8_t *shm, bool snapshot,
		      struct hodo_ring_copy *image)
{
	const struct hodo_ring *ring = ring_at(shm, image->number);
	struct hodo_ring control;
	struct source s = { .current = 0 };
	bool done = false;

	image->available = image->missed = image->oldest = 0;
	memset(&image->ring, 0, sizeof(image->ring));
	memset(&control, 0, sizeof(control));
	control.word = hodo_shm_load64(&ring->word_before);
	hodo_ring_reader_init(&s.r, snapshot ? &control : (struct hodo_ring *)ring,
			      shm + images->layout.data + image->number * images->layout.ring_size, &images->layout,
			      HODO_MODE_OVERWRITE, NULL);
	if (snapshot)
		s.end_word = hodo_shm_load64(&ring->word);
	for (int i = 0; i < RING_TRIES && !done; i++) {
		s.r.broken = false;
		if (!hodo_ring_locate(&s.r, &s.word, &s.current) && !s.r.broken)
			break; /* never used */
		if (!s.r.broken)
			done = copy_back(&s, image);
	}
	image->ring.lost_full = hodo_shm_load64(&ring->lost_full);
	image->ring.lost_too_large = hodo_shm_load64(&ring->lost_too_large);
	image->ring.lost_busy = hodo_shm_load64(&ring->lost_busy);
	if (done)
		image->ring.word = s.word;
	else if (!s.r.broken)
		image->missed = committed(&s);
	image->broken = s.r.broken;
}

/* Whether less was copied than possible: the writers were faster, or we were preempted. */
static bool came_off_badly(const struct hodo_ring_copies *s, const struct hodo_ring_copy *image)
{
	struct hodo_ring_reader r;
	uint64_t word, current;

	if (image->ring.word == 0)
		return image->missed > 0;
	hodo_ring_copy_reader(s, (struct hodo_ring_copy *)image, &r);
	return hodo_ring_locate(&r, &word, &current) && current + 1 - image->oldest < image->available / 4;
}

/*
 * If most of a ring is later than that time, it was overwritten while others were copied: it is not cut off,
 * since nothing would remain.
 */
static void set_moment(struct hodo_ring_copies *s, struct hodo_ring_copy *image, uint64_t ts_max)
{
	struct hodo_packet middle;
	struct hodo_ring_reader r;
	uint64_t word, current, half;

	image->ts_max = ts_max;
	hodo_ring_copy_reader(s, image, &r);
	if (image->ring.word == 0 || !hodo_ring_locate(&r, &word, &current))
		return;
	half = image->oldest + (current - image->oldest) / 2;
	memcpy(&middle, image->packets + (half * s->layout.packet_size & (s->layout.ring_size - 1)), sizeof(middle));
	if (middle.timestamp_begin > ts_max)
		image->ts_max = UINT64_MAX;
}

int hodo_ring_copies_take(struct hodo_ring_copies *s, const uint8_t *shm, const struct hodo_layout *layout, int fd,
			  enum hodo_clock clock, bool snapshot)
{
	uint64_t ts_max = UINT64_MAX;
	bool again = true;
	int err;

	memset(s, 0, sizeof(*s));
	s->layout = *layout;
	err = find_rings(s, shm, fd);
	if (!err)
		err = make_room(s, shm);
	if (err) {
		hodo_ring_copies_free(s);
		return err;
	}
	for (int i = 0; i < TRIES && again; i++) {
		again = false;
		if (!snapshot)
			ts_max = hodo_clock_ticks(clock);
		for (uint32_t k = 0; k < s->n; k++) {
			copy_ring(s, shm, snapshot, &s->image[k]);
			again |= came_off_badly(s, &s->image[k]);
		}
	}
	for (uint32_t k = 0; k < s->n; k++)
		set_moment(s, &s->image[k], ts_max);
	return 0;
}

void hodo_ring_copies_free(struct hodo_ring_copies *s)
{
	if (s->map)
		munmap(s->map, s->map_bytes);
	free(s->image);
	memset(s, 0, sizeof(*s));
}

void hodo_ring_copy_reader(const struct hodo_ring_copies *s, struct hodo_ring_copy *image, struct hodo_ring_reader *r)
{
	hodo_ring_reader_init(r, &image->ring, image->packets, &s->layout, HODO_MODE_OVERWRITE, NULL);
	r->frozen = true;
	r->next = image->oldest;
	r->ts_max = image->ts_max ? image->ts_max : UINT64_MAX;
	r->broken = image->broken;
	r->lost.overwritten = r->missed = image->missed;
}
