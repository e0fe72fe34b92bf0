/* SPDX-License-Identifier: MIT */
/*
 * place.c - finds places for slots. A distance is counted from the lowest, -2 GiB being 0, so that places ascend with
 * it; its bytes are digits, each with a set of values. From any number, four digits suffice to find the next
 * one whose digits are all in their sets, and an obstacle at a place tells where to continue: nothing is
 * tried one by one.
 */
#include "place.h"

#include <errno.h>
#include <stdlib.h>

#include <base/order.h>

#define BIAS       0x80000000ull
#define NO_DIGIT   256
#define STEPS_MAX  65536u /* for one slot, in one way: then it has no place */
#define AREA_BYTES (1ull << 30)

const uint8_t hodo_probe_traps[HODO_PROBE_TRAPS] = { 0xcc, 0x06, 0x0e, 0x16, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
						     0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xea };

/* For each value of a digit: the least allowed one that is not less; NO_DIGIT: none. */
struct digit {
	uint16_t up[NO_DIGIT + 1];
};

/* Digits that trap, with only int3 or with all; also as the highest digit, whose sign is flipped. */
struct digits {
	struct digit free, trap[2], high[2];
};

static void fill(struct digit *d, const uint8_t *values, size_t n, uint8_t sign)
{
	for (int v = NO_DIGIT; v >= 0; v--) {
		d->up[v] = v == NO_DIGIT ? NO_DIGIT : d->up[v + 1];
		for (size_t k = 0; k < n; k++)
			if (v == (values[k] ^ sign))
				d->up[v] = (uint16_t)v;
	}
}

static void fill_all(struct digits *d)
{
	for (unsigned v = 0; v <= NO_DIGIT; v++)
		d->free.up[v] = (uint16_t)v;
	for (unsigned all = 0; all < 2; all++) {
		fill(&d->trap[all], hodo_probe_traps, all ? HODO_PROBE_TRAPS : 1, 0);
		fill(&d->high[all], hodo_probe_traps, all ? HODO_PROBE_TRAPS : 1, 0x80);
	}
}

/* One slot's search. */
struct search {
	const struct digit *digit[4]; /* from the lowest on */
	uint64_t base;                /* the place that is 0 */
	uint64_t low, high;           /* possible places, including the last one */
	uint32_t bytes;
};

/* The next number from u on with all digits in the sets. False: none. */
static bool next_number(const struct search *s, uint32_t u, uint32_t *out)
{
	uint32_t high = 0;

	for (int i = 3; i >= 0; i--) {
		unsigned v = u >> 8 * i & 255, up = s->digit[i]->up[v];

		/* No digit left here: increase the one before it that can be. */
		while (up == NO_DIGIT) {
			if (++i > 3)
				return false;
			up = s->digit[i]->up[(high >> 8 * i & 255) + 1];
			high &= ~(UINT32_MAX >> (24 - 8 * i));
			v = NO_DIGIT;
		}
		high |= up << 8 * i;
		if (up == v)
			continue;
		while (i-- > 0)
			high |= (uint32_t)s->digit[i]->up[0] << 8 * i;
		break;
	}
	*out = high;
	return true;
}

/* The next place from `from` on. */
static bool next_place(const struct search *s, uint64_t from, uint64_t *place)
{
	uint32_t u;

	if (from < s->low)
		from = s->low;
	if (from > s->high || from - s->base > UINT32_MAX || !next_number(s, (uint32_t)(from - s->base), &u))
		return false;
	*place = s->base + u;
	return *place <= s->high;
}

/* In our own pages. */
static bool find_owned(const struct search *s, const struct hodo_probe_space *space, uint64_t *place)
{
	uint64_t from = s->low;

	for (unsigned step = 0; step < STEPS_MAX && next_place(s, from, place); step++) {
		uint32_t i = hodo_probe_space_page(space, *place);

		/* A place across two pages is found among fresh ones, which may also be ours. */
		while (i < space->npages && space->pages[i].free < s->bytes)
			i++;
		if (i == space->npages)
			return false;
		if (space->pages[i].addr > *place)
			from = space->pages[i].addr;
		else if (hodo_probe_space_fits(space, *place, s->bytes, false, &from))
			return true;
		from = from > *place ? from : *place + 1;
	}
	return false;
}

static bool find_fresh(const struct search *s, const struct hodo_probe_space *space, uint64_t from, uint64_t *place)
{
	for (unsigned step = 0; step < STEPS_MAX && next_place(s, from, place); step++) {
		if (hodo_probe_space_fits(space, *place, s->bytes, true, &from))
			return true;
		from = from > *place ? from : *place + 1;
	}
	return false;
}

/* Sets up the constraints that do not depend on the digits. False: no place reaches everything. */
static bool begin(struct search *s, const struct hodo_probe_slot *slot)
{
	uint64_t from = slot->addr + HODO_PROBE_JUMP_BYTES, end;

	*s = (struct search){ .base = from - BIAS, .bytes = slot->bytes };
	s->low = from > BIAS ? from - BIAS : 0;
	s->high = from + BIAS - 1;
	if (slot->high > BIAS && slot->high - BIAS > s->low)
		s->low = slot->high - BIAS;
	end = slot->low + BIAS;
	if (end - slot->bytes < s->high)
		s->high = end - slot->bytes;
	return slot->high - slot->low < BIAS && s->low <= s->high;
}

static void set_digits(struct search *s, const struct digits *d, const struct hodo_probe_slot *slot, bool all)
{
	unsigned boundaries = slot->kind == HODO_PROBE_JUMP ? slot->boundaries >> 1 : 0;

	for (unsigned i = 0; i < 4; i++)
		s->digit[i] = !(boundaries >> i & 1) ? &d->free : i == 3 ? &d->high[all] : &d->trap[all];
}

static int place(struct hodo_probe_space *space, const struct digits *d, struct hodo_probe_slot *slot)
{
	/*
	 * Slots of nearby code are close to each other: the search for fresh pages starts at the same place.
	 */
	uint64_t area = slot->addr & ~(AREA_BYTES - 1), at = 0;
	bool constrained = slot->kind == HODO_PROBE_JUMP && slot->boundaries;
	struct search s;

	slot->slot = 0;
	slot->undefined = false;
	if (slot->bytes == 0 || slot->bytes > HODO_PROBE_PAGE_BYTES)
		return -EINVAL;
	if (!begin(&s, slot))
		return 0;
	for (unsigned all = 0; all <= constrained; all++) {
		set_digits(&s, d, slot, all);
		if (!find_owned(&s, space, &at) && !find_fresh(&s, space, area, &at) &&
		    !find_fresh(&s, space, s.low, &at))
			continue;
		slot->slot = at;
		slot->undefined = all;
		return hodo_probe_space_put(space, at, slot->bytes);
	}
	return 0;
}

struct order {
	struct hodo_probe_slot *slot;
	unsigned choice; /* the lower, the earlier */
};

static int compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return hodo_order(x->choice, y->choice) ?: hodo_order(x->slot->addr, y->slot->addr);
}

int hodo_probe_place(struct hodo_probe_space *s, struct hodo_probe_slot *slots, size_t n)
{
	struct order *order = n ? malloc(n * sizeof(*order)) : NULL;
	struct digits *d = malloc(sizeof(*d));
	int err = d && (order || !n) ? 0 : -ENOMEM;

	if (!err) {
		fill_all(d);
		hodo_probe_space_settle(s);
		for (size_t i = 0; i < n; i++) {
			unsigned boundaries = slots[i].kind == HODO_PROBE_JUMP ? slots[i].boundaries : 0;

			/* With equally many boundaries, higher ones leave fewer places. */
			order[i].slot = &slots[i];
			order[i].choice = (4u - (unsigned)__builtin_popcount(boundaries)) << 8 | (31u - boundaries);
		}
		hodo_order_sort(order, n, compare);
	}
	for (size_t i = 0; i < n && !err; i++)
		err = place(s, d, order[i].slot);
	free(order);
	free(d);
	return err;
}

struct hodo_probe_slot hodo_probe_slot_of(const struct hodo_probe_window *w, const struct hodo_probe_recipe *r)
{
	return (struct hodo_probe_slot){ .addr = r->addr, .low = r->low, .high = r->high, .bytes = r->bytes,
					 .kind = w->kind, .boundaries = w->boundaries };
}
