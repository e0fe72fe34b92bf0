/* SPDX-License-Identifier: MIT */
/*
 * report_open.c - begins whose end has not come.
 *
 * A hash table of chains, the latest first, so that spans inside of each other pair as they nest. All of them are also
 * in the order in which they came: where there are too many the oldest goes.
 */
#include "report_events.h"

#include <errno.h>
#include <stdlib.h>

#define OPEN_MAX (1u << 20)
#define NONE     REPORT_NONE

struct entry {
	uint64_t key;
	int64_t begin_ns;
	uint32_t series, row;
	uint32_t next, prev;   /* in the chain; next: among free ones, too */
	uint32_t older, newer; /* of all */
};

struct report_open {
	struct entry *entries;
	uint32_t *chains;
	uint32_t n, used, room; /* entries; chains are as many as there is room */
	uint32_t free, oldest, newest;
};

struct report_open *report_open_new(void)
{
	struct report_open *o = calloc(1, sizeof(*o));

	if (o)
		o->free = o->oldest = o->newest = NONE;
	return o;
}

void report_open_free(struct report_open *o)
{
	if (!o)
		return;
	free(o->entries);
	free(o->chains);
	free(o);
}

static uint32_t *chain_of(const struct report_open *o, uint64_t key)
{
	return &o->chains[(uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & (o->room - 1)];
}

static void put_first(struct report_open *o, uint32_t *chain, uint32_t i)
{
	o->entries[i].next = *chain;
	o->entries[i].prev = NONE;
	if (*chain != NONE)
		o->entries[*chain].prev = i;
	*chain = i;
}

static int grow(struct report_open *o)
{
	uint32_t room = o->room ? 2 * o->room : 256;
	struct entry *entries = reallocarray(o->entries, room, sizeof(*entries));
	uint32_t *chains = malloc(room * sizeof(*chains));

	if (entries)
		o->entries = entries;
	if (!entries || !chains) {
		free(chains);
		return -ENOMEM;
	}
	free(o->chains);
	o->chains = chains;
	o->room = room;
	for (uint32_t i = 0; i < room; i++)
		chains[i] = NONE;
	for (uint32_t i = o->oldest; i != NONE; i = entries[i].newer)
		put_first(o, chain_of(o, entries[i].key), i);
	return 0;
}

static void take_out(struct report_open *o, uint32_t i)
{
	struct entry *e = &o->entries[i];

	*(e->prev == NONE ? chain_of(o, e->key) : &o->entries[e->prev].next) = e->next;
	if (e->next != NONE)
		o->entries[e->next].prev = e->prev;
	*(e->older == NONE ? &o->oldest : &o->entries[e->older].newer) = e->newer;
	*(e->newer == NONE ? &o->newest : &o->entries[e->newer].older) = e->older;
	e->next = o->free;
	o->free = i;
	o->n--;
}

bool report_open_any(struct report_open *o, uint32_t *row)
{
	if (o->oldest == NONE)
		return false;
	*row = o->entries[o->oldest].row;
	take_out(o, o->oldest);
	return true;
}

int report_open_add(struct report_open *o, uint64_t key, uint32_t series, uint32_t row, int64_t begin_ns,
		    uint32_t *forgotten)
{
	uint32_t i;

	*forgotten = NONE;
	if (o->n == OPEN_MAX)
		report_open_any(o, forgotten);
	if (o->free == NONE && o->used == o->room && grow(o) < 0)
		return -ENOMEM;
	i = o->free;
	if (i == NONE)
		i = o->used++;
	else
		o->free = o->entries[i].next;
	o->entries[i] = (struct entry){ .key = key, .begin_ns = begin_ns, .series = series, .row = row,
					.older = o->newest, .newer = NONE };
	put_first(o, chain_of(o, key), i);
	*(o->newest == NONE ? &o->oldest : &o->entries[o->newest].newer) = i;
	o->newest = i;
	o->n++;
	return 0;
}

bool report_open_take(struct report_open *o, uint64_t key, uint32_t series, uint32_t *row, int64_t *begin_ns)
{
	if (!o->room)
		return false;
	for (uint32_t i = *chain_of(o, key); i != NONE; i = o->entries[i].next) {
		const struct entry *e = &o->entries[i];

		if (e->key != key || e->series != series)
			continue;
		*row = e->row;
		*begin_ns = e->begin_ns;
		take_out(o, i);
		return true;
	}
	return false;
}
