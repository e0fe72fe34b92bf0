/* SPDX-License-Identifier: MIT */
/*
 * spans.c - when spans began, for filters and triggers that ask for $duration.
 *
 * A table of start events that wait for their ends: of a scope (HODO_SPAN) by its thread, of
 * HODO_BEGIN by its id. It exists only while a condition asks for $duration.
 *
 * A key has WINDOW slots, which it shares with others. A start event takes a free one, or that of the oldest start
 * event; an end event takes the latest start of its key, which is its own since a thread's scopes nest. So a start
 * whose end never comes (a scope left by longjmp, a thread that ended) occupies a slot for a while. The end of an
 * inner scope must not find the start of an outer one: a key's starts are evicted from the oldest to the
 * latest. To evict one, those of its key that are older go first, one by one; a start that gets no slot
 * evicts all of its key. Those have no duration.
 *
 *                | start              | end
 *   start        | beside             | beside
 *   end          |                    | beside
 *
 * Also in signal handlers that interrupted any of it: an interrupted start leaves its slot BUSY, which
 * everybody else skips. prepare runs while nobody is inside (sections).
 *
 * A slot is claimed by a compare-and-swap of its state to BUSY, filled, and then given a unique ticket. So a
 * thread that reads a slot and then takes it by a compare-and-swap of that ticket knows that it read one
 * complete start, which nobody else took (tests/model/hodo_spans.pml). The words of key and time are atomic,
 * and relaxed: another start may fill them while they are read. What orders them:
 *   the ticket's store releases: without it, it could be seen before the words that it stands for;
 *   the loads of tickets acquire: without it, the words could be read before the ticket;
 *   an end, or a start that makes room, takes a slot with release: otherwise its loads could move after it,
 *   and read the words of the slot's next owner; a claim acquires: without it, its stores could be seen by
 *   those who still read the start that was there.
 *
 * A key is compared whole: the span's name, by the address of its only copy (rules.c), and the id
 * (core/key.h). A key that does not fit, with a text, bytes or an array of more than 64 bytes, has no
 * duration.
 */
#include <core/fields.h>
#include <core/key.h>
#include "spans.h"
#include <user/libc/sys.h>

#ifndef SLOTS /* a test makes them few */
#define SLOTS 8192u /* 2^n */
#endif
#define WINDOW 8u
#define LOOKS_MAX (3 * WINDOW)
#define ID_BYTES 64u
#define KEY_WORDS (2u + (ID_BYTES + HODO_KEY_MORE_BYTES + 7u) / 8u)
enum { FREE = 0, BUSY = 1, FIRST_TICKET = 2 };

struct key {
	uint32_t n;             /* words in use */
	uint64_t w[KEY_WORDS]; /* the first is that number, the second the name; NULs follow the id */
};

struct slot {
	uint64_t state; /* FREE, BUSY, or a ticket */
	int64_t begin_ns;
	uint64_t key[KEY_WORDS];
};
static struct slot *slots;
static uint64_t tickets;

bool hodo_spans_prepare(void)
{
	if (!slots)
		slots = hodo_map(sizeof(*slots) * (SLOTS + WINDOW));
	else
		__builtin_memset(slots, 0, sizeof(*slots) * (SLOTS + WINDOW));
	return slots;
}

/* ---------------------------------------------------------------------- keys */

/* false: it does not fit. */
static bool make_key(struct key *key, const struct hodo_span *span, uint32_t tid, const struct hodo_piece *pieces,
		     size_t count)
{
	uint8_t type = span->scope ? HODO_TYPE_U32 : span->id_type;
	uint32_t bytes = sizeof(tid);
	const void *data = &tid;
	size_t len = 0;

	__builtin_memset(key, 0, sizeof(*key));
	if (!span->scope && type != HODO_TYPE_NONE) {
		bool sized = hodo_fields_element_size(type);

		if (!count)
			return false;
		bytes = sized && count == 1 ? 0 : (uint32_t)pieces[sized].len;
		data = bytes ? pieces[sized].data : data;
		if (!sized && bytes < hodo_fields_fixed_size(type))
			return false;
	}
	if (type != HODO_TYPE_NONE)
		len = hodo_key_put((uint8_t *)&key->w[2], ID_BYTES + HODO_KEY_MORE_BYTES, type, data, bytes);
	key->n = 2 + (uint32_t)(len + 7) / 8;
	key->w[0] = key->n;
	key->w[1] = span->name;
	return len <= ID_BYTES + HODO_KEY_MORE_BYTES;
}

static struct slot *window_of(const struct key *key)
{
	uint64_t h = 0;

	for (uint32_t i = 0; i < key->n; i++) {
		h = (h ^ key->w[i]) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 29;
	}
	return &slots[h & (SLOTS - 1)];
}

static bool has_key(const struct slot *slot, const struct key *key)
{
	for (uint32_t i = 0; i < key->n; i++)
		if (hodo_load(&slot->key[i]) != key->w[i])
			return false;
	return true;
}

/* Perhaps a mix of several start events, if the slot changes. */
static void read_key(struct key *key, const struct slot *slot)
{
	key->n = (uint32_t)hodo_load(&slot->key[0]);
	for (uint32_t i = 0; i < key->n; i++)
		key->w[i] = hodo_load(&slot->key[i]);
}

/* --------------------------------------------------------------------- slots */

/* A start event as it was read. */
struct seen {
	struct slot *slot; /* NULL: none */
	uint64_t ticket;
	int64_t begin_ns;
};

/* The oldest start event of a key, or the latest one. */
static struct seen find(const struct key *key, bool latest)
{
	struct slot *first = window_of(key);
	struct seen found = { 0 };

	for (struct slot *s = first; s < first + WINDOW; s++) {
		struct seen one = { s, hodo_load_acquire(&s->state), 0 };

		if (one.ticket < FIRST_TICKET || !has_key(s, key))
			continue;
		HODO_INJECT(HODO_INJECT_SPAN);
		one.begin_ns = hodo_load(&s->begin_ns);
		if (!found.slot || (latest ? one.begin_ns > found.begin_ns : one.begin_ns < found.begin_ns))
			found = one;
	}
	return found;
}

/* False: the slot has changed meanwhile. */
static bool take(const struct seen *seen, uint64_t state)
{
	uint64_t ticket = seen->ticket;

	HODO_INJECT(HODO_INJECT_SPAN);
	return hodo_cas_seq(&seen->slot->state, &ticket, state);
}

/*
 * Claims the slot of a start event, after older ones of its key are gone. A start event is the oldest only if a second
 * look finds it, too: during the first, an outer and an inner scope may have begun, of which it saw only the
 * inner one. False: too much contention.
 */
static bool evict(const struct seen *victim)
{
	uint64_t ticket = 0;
	struct key key;

	read_key(&key, victim->slot);
	for (unsigned i = 0; i < LOOKS_MAX; i++) {
		struct seen oldest = find(&key, false);

		if (!oldest.slot)
			return false;
		if (oldest.ticket != ticket) {
			ticket = oldest.ticket;
			continue;
		}
		if (ticket == victim->ticket)
			return take(victim, BUSY);
		take(&oldest, FREE);
	}
	return false;
}

/* Makes a slot ours: a free one, or that of the oldest start event. NULL: others use all of them. */
static struct slot *claim(const struct key *key)
{
	struct slot *first = window_of(key);
	struct seen oldest = { 0 };

	for (struct slot *s = first; s < first + WINDOW; s++) {
		struct seen one = { s, FREE, 0 };

		if (hodo_cas_acquire(&s->state, &one.ticket, BUSY))
			return s;
		if (one.ticket == BUSY)
			continue;
		one.begin_ns = hodo_load(&s->begin_ns);
		if (!oldest.slot || one.begin_ns < oldest.begin_ns)
			oldest = one;
	}
	return oldest.slot && evict(&oldest) ? oldest.slot : 0;
}

void hodo_spans_begin(const struct hodo_span *span, uint32_t tid, const struct hodo_piece *pieces, size_t count,
		      int64_t now_ns)
{
	struct slot *slot;
	struct key key;

	if (!make_key(&key, span, tid, pieces, count))
		return;
	slot = claim(&key);
	if (!slot) {
		/* In any order: none of the thread's scopes ends meanwhile. */
		for (unsigned i = 0; i < LOOKS_MAX; i++) {
			struct seen open = find(&key, false);

			if (!open.slot)
				break;
			take(&open, FREE);
		}
		return;
	}
	hodo_store(&slot->begin_ns, now_ns);
	HODO_INJECT(HODO_INJECT_SPAN);
	for (uint32_t i = 0; i < key.n; i++)
		hodo_store(&slot->key[i], key.w[i]);
	hodo_store_release(&slot->state, FIRST_TICKET + hodo_add(&tickets, (uint64_t)1));
}

bool hodo_spans_end(const struct hodo_span *span, uint32_t tid, const struct hodo_piece *pieces, size_t count,
		    int64_t *begin_ns)
{
	struct key key;

	if (!make_key(&key, span, tid, pieces, count))
		return false;
	/*
	 * Again, if a handler made room in between: the end of an outer scope would take a start event of ours that
	 * stayed.
	 */
	for (unsigned i = 0; i < LOOKS_MAX; i++) {
		struct seen latest = find(&key, true);

		if (!latest.slot)
			break;
		if (take(&latest, FREE)) {
			*begin_ns = latest.begin_ns;
			return true;
		}
	}
	return false;
}
