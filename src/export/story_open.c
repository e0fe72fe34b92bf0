/* SPDX-License-Identifier: MIT */
/*
 * story_open.c - open slices, found by their track and a key: spans of a thread by their name, others by their id.
 *
 * A hash table of chains, the latest first, so that slices inside of each other pair as they nest. Its seed is drawn
 * anew for each story: ids and thread ids are the recording's, and could be chosen such that all are in one chain.
 */
#define _GNU_SOURCE
#include "story_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define FIRST_BITS 8u
#define LAST_BITS  24u

void story_seed(struct hodo_story *s)
{
	s->seed[0] = 0x9e3779b97f4a7c15ull;
	s->seed[1] = 0xc2b2ae3d27d4eb4full;
	/* Without random bytes it works all the same. */
	if (getrandom(s->seed, sizeof(s->seed), GRND_NONBLOCK) < 0)
		errno = 0;
	s->seed[0] |= 1;
	s->seed[1] |= 1;
}

uint64_t story_hash(const struct hodo_story *s, uint64_t a, uint64_t b, uint32_t bits)
{
	return (a * s->seed[0] + b * s->seed[1]) >> (64 - bits);
}

static void put_first(struct story_node **chain, struct story_node *node)
{
	node->prev = NULL;
	node->next = *chain;
	if (*chain)
		(*chain)->prev = node;
	*chain = node;
}

static struct story_node **chain_of(const struct hodo_story *s, const struct hodo_track *track, uint64_t key)
{
	return &s->open.chains[story_hash(s, key, track->id, s->open.bits)];
}

static bool grow(struct hodo_story *s)
{
	struct story_open old = s->open;
	uint32_t bits = old.chains ? old.bits + 1 : FIRST_BITS;
	struct story_node **chains = calloc((size_t)1 << bits, sizeof(*chains));

	if (!chains)
		return false;
	s->open.chains = chains;
	s->open.bits = bits;
	for (size_t i = 0; old.chains && i < (size_t)1 << old.bits; i++) {
		struct story_node *node = old.chains[i], *before;

		/* From its end, so that the latest is first again. */
		while (node && node->next)
			node = node->next;
		for (; node; node = before) {
			before = node->prev;
			put_first(chain_of(s, node->slice.track, node->key), node);
		}
	}
	free(old.chains);
	return true;
}

bool story_open_put(struct hodo_story *s, struct story_node *node, uint64_t key)
{
	if (!s->open.chains || (s->open.n >> s->open.bits && s->open.bits < LAST_BITS)) {
		if (!grow(s)) {
			story_fail(s, -ENOMEM);
			return false;
		}
	}
	node->key = key;
	node->listed = true;
	put_first(chain_of(s, node->slice.track, key), node);
	s->open.n++;
	return true;
}

struct story_node *story_open_find(const struct hodo_story *s, const struct hodo_track *track, uint64_t key)
{
	struct story_node *node = s->open.chains ? *chain_of(s, track, key) : NULL;

	while (node && (node->key != key || node->slice.track != track))
		node = node->next;
	return node;
}

void story_open_take_out(struct hodo_story *s, struct story_node *node)
{
	if (node->next)
		node->next->prev = node->prev;
	*(node->prev ? &node->prev->next : chain_of(s, node->slice.track, node->key)) = node->next;
	node->listed = false;
	s->open.n--;
}
