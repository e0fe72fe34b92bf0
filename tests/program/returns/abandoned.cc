/* SPDX-License-Identifier: MIT */
/*
 * abandoned.cc - a thread that was cancelled at any point left its place in the table with a mark: 1, it was about to
 * set the place up; 2, it was examining whether the place is stale.
 */
#include <cstdio>
#include <func/x86_64/returns.h>
#include "driver.h"

#define NOINLINE __attribute__((noinline))
#define REQUIRE(c) (void)((c) || (failed = printf("abandoned.cc:%d: not so: %s\n", __LINE__, #c)))

static int failed;

static unsigned long *place_of(unsigned long at)
{
	unsigned long h = (at >> HODO_RETURNS_LOW_SHIFT) + (at >> HODO_RETURNS_HIGH_SHIFT) * HODO_RETURNS_FACTOR;

	for (unsigned long i = 0; i < HODO_RETURNS_PROBES; i++) {
		unsigned long *place = (unsigned long *)HODO_RETURNS_ENTRIES + 2 * ((h - i) & HODO_RETURNS_MASK);

		if ((*place | 3) == (at | 3))
			return place;
	}
	return nullptr;
}

static void replace_again()
{
	static unsigned long slot __attribute__((aligned(16)));
	unsigned long at = (unsigned long)&slot, *place;

	slot = 1;
	REQUIRE(driver_replace(&slot) && place_of(at));
	place = place_of(at);
	if (!place)
		return;
	REQUIRE(place[0] == at && place[1] == 1);
	place[0] = at | 1;
	slot = 2;
	REQUIRE(driver_replace(&slot) && slot == (unsigned long)driver_return && place[0] == at && place[1] == 2);
	place[0] = at | 2;
	slot = 3;
	REQUIRE(!driver_replace(&slot) && slot == 3 && place[0] == (at | 2));
}

NOINLINE static void throw_from(unsigned long *place, unsigned long mark)
{
	if (place)
		*place |= mark;
	throw place ? 7 : 0;
}

// The exception goes through this frame, whose place has the mark.
NOINLINE static void throw_through(unsigned long mark)
{
	throw_from(place_of((unsigned long)__builtin_frame_address(0) + sizeof(long)), mark);
	__asm__ volatile("");
}

int main()
{
	if (driver_why_not()) {
		printf("skipped: %s\n", driver_why_not());
		return 77;
	}
	driver_off = 1;
	replace_again();
	driver_off = 0;
	for (unsigned long mark = 1; mark <= 2; mark++) {
		int caught = 0;

		try {
			throw_through(mark);
		} catch (int e) {
			caught = e;
		}
		REQUIRE(caught == 7);
	}
	return failed ? 1 : 0;
}
