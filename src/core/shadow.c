/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * shadow.c - the chain of a thread's frames, and the table of those that are parked. Calls only the caller's functions:
 * structs are copied field by field, without memcpy().
 *
 * May be left at any instruction for good: a signal handler that interrupted it may longjmp. So a frame is
 * complete before it counts in `n` and no longer counts when it is closed, and every index is compared with
 * `n` before it is used.
 */
#include "shadow.h"
#include "search.h"

#define LANES_MAX 64u  /* more lanes than that: all but the first are parked */
#define NEIGHBOURS 8u  /* slots searched for the oldest parked frame, which makes room */
#define WALK_MAX 64u   /* frames searched for the function of an exit without an exact address */
#define SLACK 64u      /* bytes that the stack pointer at an exit may be above the entry's (arguments) */
#define EXITED 2u      /* hodo_frame.sp in the table: an exit whose entry may be in another thread's chain */
#define OVER 3u        /* in the chain: it is over, but the frames above it may not be */

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* Stops the compiler from moving stores across: a handler may run in between. */
#define ordered() __asm__ volatile("" ::: "memory")

/* ------------------------------------------------------------ parked frames */

static inline void copy_frame(struct hodo_frame *to, const struct hodo_frame *from)
{
	to->at = from->at;
	to->function = from->function;
	to->entry = from->entry;
	to->children = from->children;
	to->user = from->user;
	to->parked = from->parked;
	to->depth = from->depth;
	to->lane = from->lane;
	to->thread = from->thread;
	to->sp = from->sp;
}

/* sp frames with the same address are different calls if their functions differ: inlined functions share a
 * frame. */
static inline bool is_frame(const struct hodo_frame *f, uint64_t at, uint64_t function, uint32_t sp)
{
	return f->at == at && f->sp == sp && (sp != 1 || f->function == function);
}

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
		if (there - at >= within || !is_frame(f, there, function, sp))
			continue;
		best = i;
		within = there - at;
		if (!within)
			break;
	}
	return best;
}

/* The common case, a single address, which takes fewer comparisons. */
static __attribute__((noinline)) uint32_t find_at(const struct hodo_parked *p, uint64_t at, uint64_t function,
						  uint32_t sp)
{
	return look(p, at, function, sp, 1);
}

static __attribute__((noinline)) uint32_t find_above(const struct hodo_parked *p, uint64_t at, uint64_t function,
						     uint64_t within)
{
	return look(p, at, function, 1, within);
}

static inline uint32_t find_parked(const struct hodo_parked *p, uint64_t at, uint64_t function, uint32_t sp,
				   uint64_t within)
{
	return within == 1 ? find_at(p, at, function, sp) : find_above(p, at, function, within);
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
			copy_frame(&p->slots[i], &p->slots[k]);
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
		if (!p->slots[i].at || is_frame(&p->slots[i], frame->at, frame->function, frame->sp))
			break;
	if (n > p->mask)
		return;
	if (!p->slots[i].at)
		p->count++;
	copy_frame(&p->slots[i], frame);
}

/* Takes out and gives the frame at the address, or the function's nearest sp frame less than so many bytes
 * above it; false: there is none. */
static __attribute__((noinline)) bool take_parked(struct hodo_parked *p, uint64_t at, uint64_t function, uint32_t sp,
						  uint64_t within, struct hodo_frame *frame)
{
	uint32_t i;

	if (!p || !__atomic_load_n(&p->count, __ATOMIC_RELAXED))
		return false;
	i = find_parked(p, at, function, sp, within);
	if (i == UINT32_MAX || (p->lock && !p->lock(p)))
		return false;
	if (p->lock) /* it may have been moved, or taken */
		i = find_parked(p, at, function, sp, within);
	if (i != UINT32_MAX) {
		copy_frame(frame, &p->slots[i]);
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

/* Puts it in, however full the table is. The frames that it evicts, at most 2, come in evicted[0 .. returned - 1].
 * -1: not possible. */
static __attribute__((noinline)) int add_parked(struct hodo_parked *p, const struct hodo_frame *frame,
						struct hodo_frame evicted[2])
{
	uint32_t i;
	int n = 0;

	if (!p || !p->slots || !frame->at || (p->lock && !p->lock(p)))
		return -1;
	i = find_parked(p, frame->at, frame->function, frame->sp, 1);
	if (i != UINT32_MAX && p->slots[i].entry > frame->entry) {
		/* Both were in one chain: the newer shows that the older is over. */
		copy_frame(&evicted[n++], frame);
		goto out;
	}
	if (i != UINT32_MAX) {
		copy_frame(&evicted[n++], &p->slots[i]);
		take_out(p, i);
	}
	/* Grows when half full, if it can: probe sequences stay short. */
	if (p->count >= (p->grow ? p->mask / 2 : p->mask / 4 * 3) && !(p->grow && p->grow(p))) {
		i = oldest(p, slot_of(p, frame->at, frame->function, frame->sp));
		if (i != UINT32_MAX) {
			copy_frame(&evicted[n++], &p->slots[i]);
			take_out(p, i);
		}
	}
	hodo_parked_put(p, frame);
out:
	if (p->unlock)
		p->unlock(p);
	return n;
}

/* ------------------------------------------------------------------- the chain */

static inline bool own(const struct hodo_shadow *s, uint64_t at)
{
	return at - s->stack_low < s->stack_high - s->stack_low && !s->doubt;
}

/*
 * An exit on the thread's own stack that has no entry, below frames that were entered: its frame was closed
 * as left, wrongly. So there are other stacks inside this one (an array that a coroutine or a signal handler
 * runs on), and addresses on it prove nothing: from now on it is treated like any stack.
 */
static void doubt(struct hodo_shadow *s, uint64_t at)
{
	if (own(s, at) && at <= s->own_high && !s->deep)
		s->doubt = 1;
}

/* Whether a frame at `below` may be inside one at `above` on the same stack. */
static inline bool one_stack(const struct hodo_shadow *s, uint64_t above, uint64_t below)
{
	bool is_own = own(s, below);

	if (own(s, above) != is_own)
		return false;
	return is_own || above - below <= HODO_SHADOW_NEAR;
}

/* Closes a frame that is no longer in any chain or table. */
static void close_away(struct hodo_shadow *s, const struct hodo_frame *f)
{
	if (f->sp != EXITED)
		s->closed(s, f, HODO_FRAME_LEFT, f->parked);
}

/* Whether its exit came in another thread. */
static bool returned_elsewhere(struct hodo_shadow *s, const struct hodo_frame *f, uint64_t *when)
{
	struct hodo_frame exited;

	if (f->sp || !take_parked(s->parked, f->at, 0, EXITED, 1, &exited))
		return false;
	if (exited.parked < f->entry)
		return false; /* older: the exit of a frame that was never seen */
	*when = exited.parked;
	s->orphans--; /* counted by the other thread; the sum is right */
	return true;
}

/* Remembers an exit that has no entry in this chain or the table. */
static void keep_exit(struct hodo_shadow *s, uint64_t at, uint64_t function, uint64_t now)
{
	struct hodo_frame exited = { .at = at, .function = function, .entry = now, .parked = now, .sp = EXITED };
	struct hodo_frame evicted[2];
	int n;

	if (own(s, at) || s->deep)
		return; /* no other thread runs there, or there was no room for its entry */
	n = add_parked(s->parked, &exited, evicted);
	for (int i = 0; i < n; i++)
		close_away(s, &evicted[i]);
}

/* Takes the topmost frame out of the chain: it leaves the array before anybody is told. */
static inline const struct hodo_frame *pop(struct hodo_shadow *s, uint64_t now)
{
	const struct hodo_frame *f = &s->frames[s->n - 1];

	ordered();
	s->n--;
	ordered();
	if (s->n)
		s->frames[s->n - 1].children += now - f->entry;
	return f;
}

/* First index of the lane that index i is in. */
static inline uint32_t lane_of(const struct hodo_shadow *s, uint32_t i)
{
	uint32_t lane = s->frames[i].lane;

	return lane <= i ? lane : i;
}

/* In a lane, first .. last: the first index whose address is below `at` (or is it: with_equal); last + 1 if none. */
static uint32_t first_below(const struct hodo_shadow *s, uint32_t first, uint32_t last, uint64_t at, bool with_equal)
{
	if (s->frames[last].at > at)
		return last + 1;
	return first + hodo_search(i, last + 1 - first, s->frames[first + i].at < at ||
				   (with_equal && s->frames[first + i].at == at));
}

/* The index of the frame that an exit belongs to, UINT32_MAX if it is not in the chain. */
static uint32_t find_exact(const struct hodo_shadow *s, uint64_t at, uint64_t function, bool sp)
{
	uint32_t end = s->n;

	for (uint32_t lanes = 0; end > 0 && lanes <= LANES_MAX; lanes++) {
		uint32_t first = lane_of(s, end - 1);
		uint32_t i = first_below(s, first, end - 1, at, true);

		for (uint32_t n = 0; i < end && s->frames[i].at == at && n < WALK_MAX; n++, i++)
			if (is_frame(&s->frames[i], at, function, sp))
				return i;
		end = first;
	}
	return UINT32_MAX;
}

/* Once it is in the table, an older frame in the chain with the same address must not be mistaken for it. */
static void park(struct hodo_shadow *s, uint32_t lane, uint64_t now)
{
	struct hodo_frame f, evicted[2];
	uint32_t older;
	int n;

	copy_frame(&f, pop(s, now));
	f.parked = now;
	f.lane = f.lane == lane;
	older = f.sp ? UINT32_MAX : find_exact(s, f.at, 0, false);
	if (older != UINT32_MAX)
		s->frames[older].sp = OVER;
	n = add_parked(s->parked, &f, evicted);
	if (n < 0) {
		s->closed(s, &f, HODO_FRAME_LEFT, now);
		return;
	}
	if (s->park)
		s->park(s, &f);
	for (int i = 0; i < n; i++)
		close_away(s, &evicted[i]);
}

/* Gives up the frames from index `to` on, which an event at `at`, in a lane, shows to be over. exact: so is a
 * frame at `at`. */
static void unwind(struct hodo_shadow *s, uint32_t to, uint32_t lane, uint64_t at, bool exact, uint64_t now)
{
	bool at_own = own(s, at);

	while (s->n > to) {
		const struct hodo_frame *f = &s->frames[s->n - 1];
		uint64_t when = now;

		if (f->sp == OVER || (at_own && own(s, f->at) && f->at <= at))
			s->closed(s, pop(s, now), HODO_FRAME_LEFT, now);
		else if (returned_elsewhere(s, f, &when))
			s->closed(s, pop(s, when), HODO_FRAME_RETURNED, when);
		else if (exact && f->at == at && !f->sp)
			s->closed(s, pop(s, now), HODO_FRAME_LEFT, now);
		else
			park(s, lane, now);
	}
}

/* Adds it at index n; there is room. */
static inline struct hodo_frame *add(struct hodo_shadow *s, uint32_t n, uint32_t lane, uint64_t at, uint64_t function,
				     uint64_t now, bool sp)
{
	struct hodo_frame *f = &s->frames[n];

	f->at = at;
	f->function = function;
	f->entry = now;
	f->children = 0;
	f->user = 0;
	f->parked = 0;
	f->depth = n;
	f->lane = lane;
	f->thread = s->thread;
	f->sp = sp;
	ordered();
	s->n = n + 1;
	return f;
}

static struct hodo_frame *push(struct hodo_shadow *s, uint32_t lane, uint64_t at, uint64_t function, uint64_t now,
			       bool sp)
{
	if (unlikely(s->n >= s->max) && !(s->grow && s->grow(s) && s->n < s->max)) {
		s->deep++;
		return 0;
	}
	return add(s, s->n, lane, at, function, now, sp);
}

/* Looks for the frame that encloses one at `at`, and gives up what that shows to be over. Returns the lane to
 * push on; UINT32_MAX: a new one. */
static uint32_t find_lane(struct hodo_shadow *s, uint64_t at, uint64_t now, bool sp)
{
	uint32_t end = s->n, second = 0;

	for (uint32_t lanes = 0; end > 0; lanes++) {
		uint32_t first = lane_of(s, end - 1), over;

		if (lanes > LANES_MAX)
			break;
		if (lanes == LANES_MAX)
			unwind(s, second, UINT32_MAX, at, !sp, now);
		over = first_below(s, first, end - 1, at, !sp);
		if (over > first && one_stack(s, s->frames[over - 1].at, at)) {
			unwind(s, over, first, at, !sp, now);
			return first;
		}
		/* The whole lane is over if it begins where the new frame is. */
		if (over == first && !sp && s->frames[first].at == at)
			unwind(s, first, first, at, true, now);
		second = first;
		end = first;
	}
	/* While the thread is on its own stack, coroutines wait, and whatever was below is over. */
	if (own(s, at))
		unwind(s, 0, UINT32_MAX, at, !sp, now);
	return UINT32_MAX;
}

/* A parked frame with that address is over: its stack is in use again. */
static void close_parked(struct hodo_shadow *s, uint64_t at, uint64_t function, bool sp)
{
	struct hodo_frame old;
	uint64_t when;

	if (!take_parked(s->parked, at, function, sp, 1, &old))
		return;
	if (returned_elsewhere(s, &old, &when))
		s->closed(s, &old, HODO_FRAME_RETURNED, when);
	else
		close_away(s, &old);
}

static __attribute__((noinline)) struct hodo_frame *enter_slow(struct hodo_shadow *s, uint64_t at, uint64_t function,
							       uint64_t now, bool sp)
{
	uint32_t lane;

	close_parked(s, at, function, sp);
	lane = find_lane(s, at, now, sp);
	if (own(s, at) && at > s->own_high)
		s->own_high = at; /* frames pushed elsewhere lie below one of these */
	return push(s, lane == UINT32_MAX ? s->n : lane, at, function, now, sp);
}

struct hodo_frame *hodo_shadow_enter(struct hodo_shadow *s, uint64_t at, uint64_t function, uint64_t now, bool sp)
{
	uint32_t n = s->n;

	if (likely(n > 0 && n < s->max)) {
		const struct hodo_frame *top = &s->frames[n - 1];

		if (likely(at < top->at && one_stack(s, top->at, at) &&
			   !(s->parked && __atomic_load_n(&s->parked->count, __ATOMIC_RELAXED))))
			return add(s, n, lane_of(s, n - 1), at, function, now, sp);
	}
	return enter_slow(s, at, function, now, sp);
}

/* ------------------------------------------------------------------------ exit */

typedef bool same_function(struct hodo_shadow *s, const struct hodo_frame *frame, uint64_t function);

/* The innermost frame of this function that contains it: the stack pointer may be lower at the exit (alloca). */
static uint32_t find_sp(struct hodo_shadow *s, uint64_t at, uint64_t function, same_function *same)
{
	uint32_t end = s->n;

	for (uint32_t lanes = 0; end > 0 && lanes <= LANES_MAX; lanes++) {
		uint32_t first = lane_of(s, end - 1);
		uint32_t i = first_below(s, first, end - 1, at - SLACK, false);

		for (uint32_t n = 0; i > first && n < WALK_MAX; n++, i--) {
			const struct hodo_frame *f = &s->frames[i - 1];

			if (!one_stack(s, f->at, at - SLACK))
				break;
			if (f->sp && (same ? same(s, f, function) : f->function == function))
				return i - 1;
		}
		end = first;
	}
	return UINT32_MAX;
}

static __attribute__((noinline)) bool exit_slow(struct hodo_shadow *s, uint64_t at, uint64_t function, uint64_t now,
						bool sp, same_function *same)
{
	uint32_t i = find_exact(s, at, function, sp);
	bool match = true, parked = false;
	struct hodo_frame f;

	if (i == UINT32_MAX)
		parked = take_parked(s->parked, at, function, sp, 1, &f);
	if (i == UINT32_MAX && !parked && sp) {
		i = find_sp(s, at, function, same);
		/* Nearer than the frame in the chain. */
		parked = take_parked(s->parked, at - SLACK, function, 1, i == UINT32_MAX ? HODO_SHADOW_NEAR + 1 :
					  s->frames[i].at - (at - SLACK), &f);
	}
	if (i != UINT32_MAX && !parked) {
		unwind(s, i + 1, lane_of(s, i), s->frames[i].at, false, now);
		if (s->n != i + 1)
			return false; /* only possible after a longjmp */
		if (!sp && same)
			match = same(s, &s->frames[i], function);
		s->closed(s, pop(s, now), match ? HODO_FRAME_RETURNED : HODO_FRAME_LEFT, now);
	} else if (parked) {
		if (!sp && same)
			match = same(s, &f, function);
		s->closed(s, &f, match ? HODO_FRAME_RETURNED : HODO_FRAME_LEFT, match ? now : f.parked);
	} else {
		match = false;
		doubt(s, at);
		if (!sp)
			keep_exit(s, at, function, now);
	}
	if (!match)
		s->orphans++;
	return match;
}

bool hodo_shadow_exit(struct hodo_shadow *s, uint64_t at, uint64_t function, uint64_t now, bool sp,
		      bool (*same)(struct hodo_shadow *shadow, const struct hodo_frame *frame, uint64_t function))
{
	uint32_t n = s->n;

	if (likely(n > 0)) {
		const struct hodo_frame *top = &s->frames[n - 1];

		if (likely(top->at == at && top->sp == sp &&
			   (same ? same(s, top, function) : !sp || top->function == function))) {
			s->closed(s, pop(s, now), HODO_FRAME_RETURNED, now);
			return true;
		}
	}
	return exit_slow(s, at, function, now, sp, same);
}

bool hodo_shadow_holds(const struct hodo_shadow *s, uint64_t at)
{
	return find_exact(s, at, 0, false) != UINT32_MAX;
}

uint64_t hodo_shadow_near(struct hodo_shadow *s, uint64_t at, uint64_t function)
{
	uint32_t i = find_exact(s, at, function, true);

	if (i == UINT32_MAX)
		i = find_sp(s, at, function, 0);
	return i == UINT32_MAX ? UINT64_MAX : s->frames[i].at - (at - SLACK);
}

void hodo_shadow_gone(struct hodo_shadow *s, uint64_t at, uint64_t now)
{
	uint32_t i = find_exact(s, at, 0, false);

	if (i != UINT32_MAX)
		unwind(s, i, lane_of(s, i), at, true, now);
}

void hodo_shadow_landed(struct hodo_shadow *s, uint64_t at, uint64_t now, bool other_stack)
{
	close_parked(s, at, 0, false);
	/* No frame of its lane is above: neither the function that continues nor its callers are traced. */
	if (s->n && !other_stack) {
		uint32_t first = lane_of(s, s->n - 1);

		if (s->frames[first].at <= at && one_stack(s, at, s->frames[first].at))
			unwind(s, first, first, at, true, now);
	}
	find_lane(s, at, now, false);
}

void hodo_shadow_clear(struct hodo_shadow *s, uint64_t now)
{
	while (s->n > 0) {
		uint64_t when;

		if (returned_elsewhere(s, &s->frames[s->n - 1], &when))
			s->closed(s, pop(s, when), HODO_FRAME_RETURNED, when);
		else
			s->closed(s, pop(s, now), HODO_FRAME_LEFT, now);
	}
}
