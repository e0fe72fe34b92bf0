/* SPDX-License-Identifier: MIT */
/* call_places.c - see call_places.h. */
#include "call_places.h"

#include <stdlib.h>

static uint32_t slot_of(const struct hodo_places *p, uint64_t at)
{
	uint32_t i = (uint32_t)(at * 0x9e3779b97f4a7c15ull >> 32) & p->mask;

	while (p->slots[i].at && p->slots[i].at != at)
		i = (i + 1) & p->mask;
	return i;
}

static bool grow(struct hodo_places *p)
{
	struct hodo_places larger = { .mask = p->slots ? p->mask * 2 + 1 : 1023 };

	if (larger.mask == UINT32_MAX)
		return false;
	larger.slots = calloc((size_t)larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (uint32_t i = 0; p->slots && i <= p->mask; i++)
		if (p->slots[i].at)
			larger.slots[slot_of(&larger, p->slots[i].at)] = p->slots[i];
	larger.count = p->count;
	free(p->slots);
	*p = larger;
	return true;
}

uint32_t hodo_places_get(const struct hodo_places *p, uint64_t at)
{
	uint32_t i;

	if (!p->slots || !at)
		return HODO_PLACE_NONE;
	i = slot_of(p, at);
	return p->slots[i].at ? p->slots[i].thread : HODO_PLACE_NONE;
}

bool hodo_places_set(struct hodo_places *p, uint64_t at, uint32_t thread, uint32_t *before)
{
	uint32_t i;

	*before = HODO_PLACE_NONE;
	if (!at)
		return true;
	if ((!p->slots || p->count > p->mask / 2) && !grow(p))
		return false;
	i = slot_of(p, at);
	if (p->slots[i].at)
		*before = p->slots[i].thread;
	else
		p->count++;
	p->slots[i] = (struct hodo_place_slot){ at, thread };
	return true;
}

void hodo_places_free(struct hodo_places *p)
{
	free(p->slots);
}
