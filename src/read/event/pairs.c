/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - a hash table of the start events that wait for their ends: chains, the latest first, so that nested ones
 * pair correctly. All are also in a circular list in order of arrival, to give up the oldest. Entry 0 is a sentinel,
 * which begins and ends that list and each chain.
 */
#include "pairs.h"
#include "losses.h"

#include <base/hash.h>
#include <base/map.h>
#include <read/file/class.h>
#include <read/file/load.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS (2 * sizeof(uint64_t))

struct entry {
	struct hodo_pair pair;
	union {
		uint8_t small[WORDS];
		uint8_t *large;
	} key;
	uint32_t key_len, hash;
	uint32_t next, prev;   /* in the chain; next: also in the free list */
	uint32_t older, newer; /* in the circular list */
};

_Static_assert(sizeof(struct entry) == 64, "numbers become addresses by a shift");

struct hodo_pairs {
	struct entry *entries;
	uint32_t *chains; /* as many as entries fit */
	uint32_t n, used, room;
	uint32_t free;
};

static const uint8_t *key_of(const struct entry *e)
{
	return e->key_len > sizeof(e->key.small) ? e->key.large : e->key.small;
}

static uint32_t *chain_of(const struct hodo_pairs *p, uint32_t hash)
{
	return &p->chains[hash & (p->room - 1)];
}

static void put_first(struct hodo_pairs *p, uint32_t i)
{
	uint32_t *chain = chain_of(p, p->entries[i].hash);

	p->entries[i].next = *chain;
	p->entries[i].prev = 0;
	p->entries[*chain].prev = i;
	*chain = i;
}

static int grow(struct hodo_pairs *p)
{
	uint32_t room = p->room ? 2 * p->room : 256;
	struct entry *entries = reallocarray(p->entries, room, sizeof(*entries));
	uint32_t *chains = calloc(room, sizeof(*chains));

	if (entries)
		p->entries = entries;
	if (!entries || !chains) {
		free(chains);
		return -ENOMEM;
	}
	if (p->used == 0)
		entries[p->used++] = (struct entry){ 0 };
	free(p->chains);
	p->chains = chains;
	p->room = room;
	for (uint32_t i = entries[0].newer; i; i = entries[i].newer)
		put_first(p, i);
	return 0;
}

struct hodo_pairs *hodo_pairs_new(void)
{
	struct hodo_pairs *p = calloc(1, sizeof(*p));

	hodo_hash_seed();
	if (p && grow(p) == 0)
		return p;
	hodo_pairs_free(p);
	return NULL;
}

void hodo_pairs_free(struct hodo_pairs *p)
{
	if (!p)
		return;
	for (uint32_t i = p->entries ? p->entries[0].newer : 0; i; i = p->entries[i].newer)
		if (p->entries[i].key_len > sizeof(p->entries[i].key.small))
			free(p->entries[i].key.large);
	free(p->entries);
	free(p->chains);
	free(p);
}

void hodo_pairs_remove(struct hodo_pairs *p, uint32_t i)
{
	struct entry *e = &p->entries[i];

	*(e->prev ? &p->entries[e->prev].next : chain_of(p, e->hash)) = e->next;
	p->entries[e->next].prev = e->prev;
	p->entries[e->older].newer = e->newer;
	p->entries[e->newer].older = e->older;
	if (e->key_len > sizeof(e->key.small))
		free(e->key.large);
	e->next = p->free;
	p->free = i;
	p->n--;
}

bool hodo_pairs_oldest(struct hodo_pairs *p, struct hodo_pair *pair)
{
	uint32_t oldest = p->entries[0].newer;

	if (!oldest)
		return false;
	*pair = p->entries[oldest].pair;
	hodo_pairs_remove(p, oldest);
	return true;
}

/* Most keys are two words, which are hashed and compared without a loop. */
static inline uint32_t hash_of(const struct hodo_text *key)
{
	const uint8_t *bytes = (const uint8_t *)key->data;
	uint64_t h;

	if (key->len != WORDS)
		return hodo_hash_bytes(bytes, key->len);
	h = hodo_hash_mix(load64(bytes), load64(bytes + 8));
	return (uint32_t)(h ^ h >> 32);
}

static inline bool has_key(const struct entry *e, const struct hodo_text *key)
{
	if (e->key_len != key->len)
		return false;
	if (key->len == WORDS)
		return hodo_hash_same(e->key.small, key->data, WORDS);
	return hodo_hash_same(key_of(e), key->data, key->len);
}

/* The latest start event of a key; 0: there is none. */
static inline uint32_t find(const struct hodo_pairs *p, const struct hodo_text *key, uint32_t hash)
{
	uint32_t i = *chain_of(p, hash);

	while (i && !(p->entries[i].hash == hash && has_key(&p->entries[i], key)))
		i = p->entries[i].next;
	return i;
}

static int add(struct hodo_pairs *p, const struct hodo_text *key, uint32_t hash, const struct hodo_pair *begin)
{
	uint8_t *copy = NULL;
	uint32_t i = p->free;
	struct entry *e;

	if (!i && p->used == p->room && grow(p) < 0)
		return -ENOMEM;
	if (key->len > sizeof(e->key.small)) {
		copy = malloc(key->len);
		if (!copy)
			return -ENOMEM;
	}
	if (!i)
		i = p->used++;
	else
		p->free = p->entries[i].next;
	e = &p->entries[i];
	e->pair = *begin;
	e->hash = hash;
	e->key_len = (uint32_t)key->len;
	if (copy)
		e->key.large = copy;
	if (key->len == WORDS)
		memcpy(e->key.small, key->data, WORDS);
	else
		memcpy(copy ? copy : e->key.small, key->data, key->len);
	e->newer = 0;
	e->older = p->entries[0].older;
	p->entries[e->older].newer = p->entries[0].older = i;
	put_first(p, i);
	p->n++;
	return 0;
}

/* The start event that no longer waits since another of its key has come; 0: none. */
static uint32_t ended_by(const struct hodo_pairs *p, const struct hodo_text *key, uint32_t hash,
			 const struct hodo_pair *begin, const struct hodo_read_process *process)
{
	bool lossy = process && hodo_losses_any(process);
	uint32_t before = begin->base || lossy ? find(p, key, hash) : 0;

	if (!before || begin->base ||
	    hodo_losses_between(process, HODO_LOSSES_ANY_CPU, p->entries[before].pair.begin_ns, begin->begin_ns))
		return before;
	return 0;
}

int hodo_pairs_begin(struct hodo_pairs *p, const struct hodo_text *key, const struct hodo_pair *begin,
		     const struct hodo_read_process *process, struct hodo_pair *pair)
{
	uint32_t hash = hash_of(key), before = ended_by(p, key, hash, begin, process);
	int paired = HODO_PAIR_NONE, err;

	if (key->error)
		return key->error;
	if (before) {
		paired = HODO_PAIR_LEFT;
		*pair = p->entries[before].pair;
		hodo_pairs_remove(p, before);
	} else if (p->n == HODO_PAIRS_MAX) {
		paired = HODO_PAIR_GIVEN_UP;
		hodo_pairs_oldest(p, pair);
	}
	err = add(p, key, hash, begin);
	return err ? err : paired;
}

int hodo_pairs_end(struct hodo_pairs *p, const struct hodo_text *key, const char *base, struct hodo_pair *pair)
{
	uint32_t i;

	if (key->error)
		return key->error;
	i = find(p, key, hash_of(key));
	if (!i)
		return HODO_PAIR_NONE;
	*pair = p->entries[i].pair;
	hodo_pairs_remove(p, i);
	return pair->base == base ? HODO_PAIR_FOUND : HODO_PAIR_LEFT;
}

uint32_t hodo_pairs_last(const struct hodo_pairs *p)
{
	return p->entries[0].older;
}

const struct hodo_pair *hodo_pairs_at(const struct hodo_pairs *p, uint32_t number)
{
	return &p->entries[number].pair;
}

/* ------------------------------------------------------------------------- keys */

/* All keys except those of texts, floats and the like are two words. */
static void set_words(struct hodo_text *key, uint64_t one, uint64_t two)
{
	const uint64_t words[] = { one, two };

	hodo_key_start(key);
	hodo_text_bytes(key, words, WORDS);
}

static __attribute__((noinline)) bool set_id(struct hodo_text *key, const struct hodo_class *c,
					     const struct hodo_read_event *e)
{
	hodo_key_start(key);
	hodo_key_add_number(key, c->paired_by);
	if (c->pub.nfields)
		hodo_key_add_value(key, &e->values[0]);
	return true;
}

bool hodo_pair_key(struct hodo_text *key, const struct hodo_read_event *e)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->cls;

	switch (c->pairing) {
	case HODO_PAIRING_NONE:
		return false;
	case HODO_PAIRING_THREAD:
		set_words(key, c->paired_by, e->tid);
		return true;
	case HODO_PAIRING_NUMBER:
		set_words(key, c->paired_by, e->values[0].u);
		return true;
	case HODO_PAIRING_SIGNED: /* -1 must differ from UINT64_MAX */
		set_words(key, c->paired_by + (e->values[0].i < 0), e->values[0].u);
		return true;
	case HODO_PAIRING_FRAME:
		set_words(key, c->paired_by, e->values[1].u << 32 | e->tid);
		return true;
	default:
		return set_id(key, c, e);
	}
}
