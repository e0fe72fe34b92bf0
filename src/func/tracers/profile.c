/* SPDX-License-Identifier: MIT */
/*
 * profile.c - the profile tracer: a table of functions in shared memory, which the recorder reads after the
 * process has ended in any way.
 *
 * Each thread has its own entries, so that CPUs share nothing and no count needs to be atomic; it finds them
 * by an index in private memory. Batches of entries are never released: a new thread takes over the index of
 * one that has ended, and its entries as well once half of all are in use.
 *
 * A recursive call counts as a call, with its own duration in sum, self, min, max and the buckets; total
 * includes only the outermost, so that no function takes longer than the program.
 */
#include <func/threads.h>
#include "tracers.h"
#include <user/user.h>
#include <user/libc/sys.h>

struct slot {
	uint64_t function; /* 0: free */
	uint32_t entry;
	uint32_t outer;    /* index of its outermost frame in the chain, if that is still the frame there */
	uint64_t outer_at, outer_entry;
};

struct index {
	uint32_t mask; /* slots - 1 */
	uint32_t used;
	uint32_t next, left; /* entries of the present batch */
	uint32_t tid;
	uint32_t epoch; /* of the recording that the entries are in */
	uint64_t reserved;
	struct slot slots[];
};
#define SLOTS_FIRST 127u /* a page, about */
#define SLOTS_MAX (1u << 18)

static uint32_t profile_epoch;
/*
 * The recording's. Valid also in the child of a handler that forks in here: something else is mapped there.
 */
static struct hodo_profile_entry *entries;
static struct hodo_shm *counts;

static size_t index_bytes(uint32_t slots)
{
	return sizeof(struct index) + slots * sizeof(struct slot);
}

static uint32_t hash(uint64_t function)
{
	return (uint32_t)((function * 0x9e3779b97f4a7c15ull) >> 40);
}

/* The slot of the function, or the free one where it belongs. The index is never full. */
static struct slot *probe(struct index *x, uint64_t function)
{
	uint32_t i = hash(function) & x->mask;

	while (x->slots[i].function && x->slots[i].function != function)
		i = (i + 1) & x->mask;
	return &x->slots[i];
}

static struct index *new_index(uint32_t slots)
{
	struct index *x = hodo_map(index_bytes(slots));

	if (!x)
		return 0;
	x->mask = slots - 1;
	return x;
}

/* Doubles the slots; unchanged if there is no memory. */
static struct index *grow(struct hodo_func_thread *t)
{
	struct index *x = t->profile, *g = x->mask + 1 < SLOTS_MAX ? new_index(2 * (x->mask + 1)) : 0;

	if (!g)
		return x;
	g->used = x->used;
	g->next = x->next;
	g->left = x->left;
	g->tid = x->tid;
	g->epoch = x->epoch;
	for (uint32_t i = 0; i <= x->mask; i++) {
		if (x->slots[i].function)
			*probe(g, x->slots[i].function) = x->slots[i];
	}
	/* In this order: a signal handler may longjmp out of here. */
	hodo_store_release(&t->profile, (void *)g);
	hodo_sys2(SYS_munmap, x, index_bytes(x->mask + 1));
	return g;
}

static void forget_all(struct index *x)
{
	for (uint32_t i = 0; i <= x->mask; i++)
		x->slots[i].function = 0;
	x->used = x->left = 0;
}

/* The thread's index, ready for this thread and this recording; NULL: no memory. */
static struct index *index_of(struct hodo_func_thread *t)
{
	struct index *x = t->profile;

	if (!x) {
		x = t->profile = new_index(SLOTS_FIRST + 1);
		if (!x)
			return 0;
	}
	if (x->epoch != profile_epoch) {
		forget_all(x);
		x->epoch = profile_epoch;
		x->tid = t->tid;
	} else if (x->tid != t->tid) {
		/* It belonged to an earlier thread. */
		if (hodo_load(&counts->profile_used) < HODO_PROFILE_ENTRIES / 2)
			forget_all(x);
		else
			for (uint32_t i = 0; i <= x->mask; i++)
				if (x->slots[i].function)
					entries[x->slots[i].entry & ~(HODO_PROFILE_BATCH - 1)].calls = 0;
		x->tid = t->tid;
	}
	return x;
}

/* A batch for the thread; false: none left. */
static bool new_batch(struct index *x)
{
	uint64_t first = hodo_add(&counts->profile_used, HODO_PROFILE_BATCH);
	struct hodo_profile_entry *head;

	if (first > HODO_PROFILE_ENTRIES - HODO_PROFILE_BATCH)
		return false;
	head = &entries[first];
	head->calls = x->tid;
	hodo_store_release(&head->addr, HODO_PROFILE_THREAD);
	x->next = (uint32_t)first + 1;
	x->left = HODO_PROFILE_BATCH - 1;
	return true;
}

/* The function's slot, with an entry; NULL: there is no room. */
static struct slot *slot_of(struct hodo_func_thread *t, uint64_t function)
{
	struct index *x = index_of(t);
	struct slot *s;

	if (!x)
		return 0;
	s = probe(x, function);
	if (s->function)
		return s;
	if (x->used >= x->mask / 4 * 3) {
		x = grow(t);
		if (x->used >= x->mask)
			return 0;
		s = probe(x, function);
	}
	if (!x->left && (hodo_load(&counts->profile_used) >= HODO_PROFILE_ENTRIES || !new_batch(x)))
		return 0;
	x->left--;
	*s = (struct slot){ .function = function, .entry = x->next++ };
	x->used++;
	hodo_store_release(&entries[s->entry].addr, function);
	return s;
}

static bool ready(void)
{
	return hodo_recording.on && hodo_recording.layout.profile;
}

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	struct slot *s = ready() ? slot_of(hodo_func_thread(shadow), frame->function) : 0;
	const struct hodo_frame *outer;

	if (!s)
		return;
	outer = &shadow->frames[s->outer];
	if (s->outer_at && s->outer < shadow->n && outer != frame && outer->at == s->outer_at &&
	    outer->entry == s->outer_entry && outer->function == frame->function) {
		frame->user |= HODO_USER(PROFILE);
		return;
	}
	s->outer = (uint32_t)(frame - shadow->frames);
	s->outer_at = frame->at;
	s->outer_entry = frame->entry;
}

static unsigned bucket_of(uint64_t ticks)
{
	unsigned octave;

	if (ticks < 4)
		return (unsigned)ticks;
	octave = 63u - (unsigned)__builtin_clzll(ticks);
	octave = 4 * (octave - 1) + (unsigned)(ticks >> (octave - 2) & 3);
	return octave < HODO_PROFILE_BUCKETS ? octave : HODO_PROFILE_BUCKETS - 1;
}

static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	uint64_t ticks = hodo_func_ticks(frame, end, now);
	struct hodo_profile_entry *e;
	uint32_t *bucket;
	struct slot *s;

	if (!ready())
		return;
	s = slot_of(hodo_func_thread(shadow), frame->function);
	if (!s) {
		hodo_add(&counts->profile_lost, 1);
		return;
	}
	e = &entries[s->entry];
	e->calls++;
	if (frame->user & HODO_USER_NO_EXIT) {
		e->no_exit++;
		return;
	}
	e->sum += ticks;
	if (!(frame->user & HODO_USER(PROFILE)))
		e->total += ticks;
	e->self += ticks > frame->children ? ticks - frame->children : 0;
	if (ticks > e->max)
		e->max = ticks;
	if (ticks < e->min || e->calls - e->no_exit == 1)
		e->min = ticks;
	bucket = &e->bucket[bucket_of(ticks)];
	*bucket += *bucket != UINT32_MAX;
}

/* Entries of an earlier recording, or of the parent before a fork, are not ours. */
static int start(const struct hodo_functions_config *config)
{
	counts = hodo_shm();
	entries = (struct hodo_profile_entry *)(hodo_recording.shm + hodo_recording.layout.profile);
	hodo_store_release(&profile_epoch, profile_epoch + 1);
	return 0;
}

const struct hodo_builtin_ops hodo_builtin_profile = { .enter = enter, .exit = leave, .start = start };
