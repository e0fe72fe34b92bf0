/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* parked.c - the table of parked frames, see parked.h. */
#include "parked.h"

#define NEIGHBOURS 8u  /* slots searched for the oldest frame, which makes room */

/* sp frames are hashed by their function, since their exits may have another address. */
static inline uint32_t slot_of(const struct hodo_parked *p, uint64_t at, uint64_t function, uint32_t sp)
{
	return (uint32_t)((sp == 1 ? function : at) * 0x9e3779b97f4a7c15ull >> 32) & p->mask;
}

/*
 * The slot of the frame at the address, or of the nearest of the function's sp frames less than so many bytes above
 * it; UINT32_MAX: none. Without the lock, it may miss a frame that is being moved, as if it were not there.
 */
static inline __attribute__((always_inline)) uint32_t look(const struct hodo_parked *p, uint64_t at, uint64_t function,
							   uint32_t sp, uint64_t within)
{
	uint32_t i = slot_of(p, at, function, sp), best = UINT32_MAX;

	for (uint32_t n = 0; n <= p->mask; n++, i = (i + 1) & p->mask) {
		const struct hodo_frame *f = &p->slots[i];
		uint64_t there = __atomic_load_n(&f->at, __ATOMIC_RELAXED);

		if (!there)
			break;
		if (there - at >= within || !hodo_parked_is(f, there, function, sp))
			continue;
		best = i;
		within = there - at;
		if (!within)
			break;
	}
	return best;
}

/* The common case, a single address, which takes fewer comparisons. */
static __attribute__((noinline)) uint32_t find_exact(const struct hodo_parked *p, uint64_t at, uint64_t function,
						     uint32_t sp)
{
	return look(p, at, function, sp, 1);
}

static __attribute__((noinline)) uint32_t find_near(const struct hodo_parked *p, uint64_t at, uint64_t function,
						    uint64_t within)
{
	return look(p, at, function, 1, within);
}

static inline uint32_t find(const struct hodo_parked *p, uint64_t at, uint64_t function, uint32_t sp, uint64_t within)
{
	return within == 1 ? find_exact(p, at, function, sp) : find_near(p, at, function, within);
}

/* Frees a slot and moves up the frames after it that would not be found any more. */
static void take_out(struct hodo_parked *p, uint32_t i)
{
	uint32_t k = i, home;

	for (uint32_t n = 0; n < p->mask; n++) {
		k = (k + 1) & p->mask;
		if (!p->slots[k].at)
			break;
		home = slot_of(p, p->slots[k].at, p->slots[k].function, p->slots[k].sp);
		if (((k - home) & p->mask) >= ((k - i) & p->mask)) {
			hodo_frame_copy(&p->slots[i], &p->slots[k]);
			i = k;
		}
	}
	p->slots[i].at = 0;
	p->count--;
}

void hodo_parked_put(struct hodo_parked *p, const struct hodo_frame *frame)
{
	uint32_t i = slot_of(p, frame->at, frame->function, frame->sp);
	uint32_t n;

	for (n = 0; n <= p->mask; n++, i = (i + 1) & p->mask)
		if (!p->slots[i].at || hodo_parked_is(&p->slots[i], frame->at, frame->function, frame->sp))
			break;
	if (n > p->mask)
		return;
	if (!p->slots[i].at)
		p->count++;
	hodo_frame_copy(&p->slots[i], frame);
}

bool hodo_parked_take(struct hodo_parked *p, uint64_t at, uint64_t function, uint32_t sp, uint64_t within,
		      struct hodo_frame *frame)
{
	uint32_t i;

	if (!p || !__atomic_load_n(&p->count, __ATOMIC_RELAXED))
		return false;
	i = find(p, at, function, sp, within);
	if (i == UINT32_MAX || (p->lock && !p->lock(p)))
		return false;
	if (p->lock) /* it may have been moved, or taken */
		i = find(p, at, function, sp, within);
	if (i != UINT32_MAX) {
		hodo_frame_copy(frame, &p->slots[i]);
		take_out(p, i);
	}
	if (p->unlock)
		p->unlock(p);
	return i != UINT32_MAX;
}

/* The oldest of the frames from a slot on. */
static uint32_t oldest(const struct hodo_parked *p, uint32_t i)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t n = 0, seen = 0; n <= p->mask && seen < NEIGHBOURS; n++, i = (i + 1) & p->mask) {
		if (!p->slots[i].at)
			continue;
		seen++;
		if (best == UINT32_MAX || p->slots[i].parked < p->slots[best].parked)
			best = i;
	}
	return best;
}

int hodo_parked_add(struct hodo_parked *p, const struct hodo_frame *frame, struct hodo_frame evicted[2])
{
	uint32_t i;
	int n = 0;

	if (!p || !p->slots || !frame->at || (p->lock && !p->lock(p)))
		return -1;
	i = find(p, frame->at, frame->function, frame->sp, 1);
	if (i != UINT32_MAX && p->slots[i].entry > frame->entry) {
		/* Both were in one chain: the newer shows that the older is over. */
		hodo_frame_copy(&evicted[n++], frame);
		goto out;
	}
	if (i != UINT32_MAX) {
		hodo_frame_copy(&evicted[n++], &p->slots[i]);
		take_out(p, i);
	}
	/* Grows when half full, if it can: probe sequences stay short. */
	if (p->count >= (p->grow ? p->mask / 2 : p->mask / 4 * 3) && !(p->grow && p->grow(p))) {
		i = oldest(p, slot_of(p, frame->at, frame->function, frame->sp));
		if (i != UINT32_MAX) {
			hodo_frame_copy(&evicted[n++], &p->slots[i]);
			take_out(p, i);
		}
	}
	hodo_parked_put(p, frame);
out:
	if (p->unlock)
		p->unlock(p);
	return n;
}
