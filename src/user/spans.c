/* SPDX-License-Identifier: MIT */
/*
 * spans.c - when spans began, for filters and triggers that ask for $duration.
 *
 * A table of begins that waits for their ends: of a scope (HODO_SPAN) by its thread, of
 * HODO_BEGIN by its id. It exists only while a condition asks for $duration.
 *
 * A key has WINDOW slots. A begin takes a free one, or that of the oldest begin; an end takes
 * the latest begin of its key, which is its own since the scopes of a thread nest. So a begin
 * whose end never comes (a scope left by longjmp, a thread that ended) does no harm but to take a
 * slot for a while. With a begin that has to go, all of its key go: the end of an inner scope
 * must not find the begin of an outer one. Those have no duration then.
 *
 *                | begin              | end
 *   begin        | beside             | beside
 *   end          |                    | beside
 *
 * Also in signal handlers that interrupted any of it. A slot is claimed by a compare-and-swap of its state to BUSY,
 * filled, and then given a ticket that no other begin ever has. So an end that read a slot and then takes it by a
 * compare-and-swap of that ticket knows that it read one begin, whole: whoever succeeds has its time.
 *
 * A key is compared whole: the span's name, by the address of its only copy (rules.c), and the id (core/key.h). One
 * that has no room here, of a text, bytes or an array of more than 64 bytes, has no duration.
 */
#include <sys/mman.h>
#include <time.h>
#include <core/fields.h>
#include <core/key.h>
#include "sys.h"
#include "user.h"

#define SLOTS 8192u /* 2^n */
#define WINDOW 8u
#define ID_BYTES 64u
#define KEY_WORDS (2u + (ID_BYTES + HODO_KEY_MORE_BYTES + 7u) / 8u)
enum { FREE = 0, BUSY = 1, FIRST_TICKET = 2 };

struct key {
	uint32_t n;             /* words, of which … */
	uint64_t w[KEY_WORDS]; /* … the first is this number and the second the name; behind the id are NULs */
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
	else /* nobody is inside */
		__builtin_memset(slots, 0, sizeof(*slots) * (SLOTS + WINDOW));
	return slots;
}

int64_t hodo_spans_now_ns(void)
{
	struct timespec now;

	hodo_sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Of HODO_BEGIN and HODO_END it is the first field; of scopes, which nest, the thread. false: it has no room. */
static bool make_key(struct key *key, const struct hodo_event *event, uint64_t span, const struct hodo_piece *pieces,
		     size_t count)
{
	bool scope = event->kind == HODO_KIND_SPAN_BEGIN || event->kind == HODO_KIND_SPAN_END;
	uint32_t tid = scope ? hodo_rules_tid() : 0, bytes = sizeof(tid);
	const void *data = &tid;
	uint8_t type = HODO_TYPE_U32;
	size_t len = 0;

	__builtin_memset(key, 0, sizeof(*key));
	if (!scope && event->nfields && count) {
		bool sized = hodo_fields_element_size(event->types[0]);

		type = event->types[0];
		bytes = sized && count == 1 ? 0 : (uint32_t)pieces[sized].len;
		data = bytes ? pieces[sized].data : data;
		if (!sized && bytes < hodo_fields_fixed_size(type))
			return false;
	}
	if (scope || event->nfields)
		len = hodo_key_put((uint8_t *)&key->w[2], ID_BYTES + HODO_KEY_MORE_BYTES, type, data, bytes);
	key->n = 2 + (uint32_t)(len + 7) / 8;
	key->w[0] = key->n;
	key->w[1] = span;
	return len <= ID_BYTES + HODO_KEY_MORE_BYTES;
}

static struct slot *window_of(const uint64_t *w, uint64_t n)
{
	uint64_t h = 0;

	for (uint64_t i = 0; i < n && i < KEY_WORDS; i++) {
		h = (h ^ w[i]) * 0xbf58476d1ce4e5b9u;
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

static void forget(const struct key *key)
{
	struct slot *first = window_of(key->w, key->n);

	for (unsigned i = 0; i < WINDOW; i++) {
		uint64_t found = hodo_load_acquire(&first[i].state);

		if (found >= FIRST_TICKET && has_key(&first[i], key))
			hodo_cas_seq(&first[i].state, &found, (uint64_t)FREE);
	}
}

/* Makes a slot ours: a free one, or that of the oldest begin. 0: others are at all of them. */
static struct slot *claim(struct slot *first)
{
	struct slot *oldest = 0;
	int64_t oldest_ns = INT64_MAX;
	uint64_t ticket = FREE;
	struct key old;

	for (unsigned i = 0; i < WINDOW; i++) {
		uint64_t found = FREE;

		if (hodo_cas_seq(&first[i].state, &found, (uint64_t)BUSY))
			return &first[i];
		if (found != BUSY && hodo_load(&first[i].begin_ns) < oldest_ns) {
			oldest_ns = hodo_load(&first[i].begin_ns);
			oldest = &first[i];
			ticket = found;
		}
	}
	if (!oldest || !hodo_cas_seq(&oldest->state, &ticket, (uint64_t)BUSY))
		return 0;
	old.n = (uint32_t)oldest->key[0];
	__builtin_memcpy(old.w, oldest->key, sizeof(old.w));
	forget(&old);
	return oldest;
}

void hodo_spans_begin(const struct hodo_event *event, uint64_t span, const struct hodo_piece *pieces, size_t count)
{
	int64_t now = hodo_spans_now_ns();
	struct slot *slot;
	struct key key;

	if (!make_key(&key, event, span, pieces, count))
		return;
	slot = claim(window_of(key.w, key.n));
	if (!slot) {
		forget(&key);
		return;
	}
	hodo_store(&slot->begin_ns, now);
	for (uint32_t i = 0; i < key.n; i++)
		hodo_store(&slot->key[i], key.w[i]);
	hodo_store_release(&slot->state, FIRST_TICKET + hodo_add(&tickets, (uint64_t)1));
}

bool hodo_spans_end(const struct hodo_event *event, uint64_t span, const struct hodo_piece *pieces, size_t count,
		    int64_t *begin_ns)
{
	struct slot *first, *latest = 0;
	uint64_t ticket = FREE;
	struct key key;

	*begin_ns = INT64_MIN;
	if (!make_key(&key, event, span, pieces, count))
		return false;
	first = window_of(key.w, key.n);
	for (unsigned i = 0; i < WINDOW; i++) {
		uint64_t found = hodo_load_acquire(&first[i].state);

		if (found >= FIRST_TICKET && has_key(&first[i], &key) && hodo_load(&first[i].begin_ns) > *begin_ns) {
			*begin_ns = hodo_load(&first[i].begin_ns);
			latest = &first[i];
			ticket = found;
		}
	}
	return latest && hodo_cas_seq(&latest->state, &ticket, (uint64_t)FREE);
}
