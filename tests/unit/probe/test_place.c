/* SPDX-License-Identifier: MIT */
/* test_place.c - places for slots: each can be reached, has traps where it must, and overlaps no other. */
#include <errno.h>
#include <lib/random.h>
#include <lib/unit.h>
#include <probe/patch/place.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBES 10000u

static struct hodo_probe_space space;
static struct hodo_probe_slot slots[PROBES];

static int drop(void **state)
{
	(void)state;
	hodo_probe_space_free(&space);
	memset(slots, 0, sizeof(slots));
	return 0;
}

#define CHECK(function) TEST(function, .teardown = drop)

/* Puts windows all over that many bytes of code, after which its data lies. */
static void want(unsigned n, uint64_t code, uint64_t bytes, uint64_t *seed)
{
	/* How many boundaries windows have, and where, is as frequent here as in libc and Python. */
	static const uint8_t boundaries[] = { 0, 0, 2, 2, 4, 8, 16, 16, 8, 4, 2 | 16, 2 | 16, 4 | 16, 2 | 8,
					      2 | 4 | 16, 30 };

	for (unsigned i = 0; i < n; i++) {
		uint64_t r = xorshift(seed), addr = code + r % bytes;

		slots[i] = (struct hodo_probe_slot){ .addr = addr, .low = addr - 1000, .high = addr + 5,
						     .kind = HODO_PROBE_JUMP, .bytes = 20 + (r >> 40) % 100,
						     .boundaries = boundaries[r >> 60] };
		if (!(r >> 32 & 3))
			slots[i].high = code + bytes + (r >> 34) % 0x100000;
		if (!(r >> 48 & 63))
			slots[i].kind = HODO_PROBE_TRAP;
	}
}

static int compare(const void *a, const void *b)
{
	const struct hodo_probe_slot *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool is_trap(uint8_t byte, size_t n)
{
	return memchr(hodo_probe_traps, byte, n) != NULL;
}

/* Returns how many use other bytes than int3. */
static unsigned check(unsigned n)
{
	unsigned undefined = 0;

	qsort(slots, n, sizeof(slots[0]), compare);
	for (unsigned i = 0; i < n; i++) {
		const struct hodo_probe_slot *s = &slots[i];
		int64_t distance = (int64_t)(s->slot - (s->addr + 5));
		int32_t rel = (int32_t)distance;
		uint8_t bytes[4];

		assert_true(s->slot != 0);
		assert_true((int64_t)(s->slot + s->bytes - s->low) <= 1ll << 31);
		assert_true((int64_t)(s->high - s->slot) <= 1ll << 31);
		assert_true(i == 0 || slots[i - 1].slot + slots[i - 1].bytes <= s->slot);
		for (uint32_t k = 0; k < space.ntaken; k++)
			assert_true(s->slot + s->bytes <= space.taken[k].start || s->slot >= space.taken[k].end);
		undefined += s->undefined;
		if (s->kind != HODO_PROBE_JUMP)
			continue;
		assert_int_equal(rel, distance);
		memcpy(bytes, &rel, 4);
		for (unsigned k = 0; k < 4; k++)
			if (s->boundaries >> (k + 1) & 1)
				assert_true(is_trap(bytes[k], s->undefined ? HODO_PROBE_TRAPS : 1));
	}
	return undefined;
}

static void place_and_print(const char *what, unsigned n)
{
	struct timespec from, to;
	unsigned undefined;

	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(hodo_probe_place(&space, slots, n), 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	undefined = check(n);
	printf("%s: %u slots in %u pages, %u with other bytes than int3, in %.1f ms\n", what, n, space.npages, undefined,
	       (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
}

static const char library_maps[] = "5555555a4000-555555700000 r-xp 00000000 08:01 11 /usr/bin/x\n"
				   "555555800000-555555a00000 rw-p 00000000 00:00 0 [heap]\n"
				   "7ffff7000000-7ffff7400000 r-xp 00000000 08:01 12 /usr/lib/a.so\n"
				   "7ffff7400000-7ffff7500000 rw-p 00400000 08:01 12 /usr/lib/a.so\n"
				   "not a line of maps\n"
				   "7ffff7fc0000-7ffff7fff000 r-xp 00000000 08:01 13 /usr/lib/ld.so\n"
				   "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n"
				   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

CHECK(a_library_has_room)
{
	uint64_t seed = 1;

	assert_int_equal(hodo_probe_space_maps(&space, library_maps), 0);
	want(PROBES, 0x7ffff7000000, 0x400000, &seed);
	place_and_print("library", PROBES);
	/* The slots take 700 KiB. */
	assert_true(space.npages < 1000);
}

CHECK(so_has_a_program_at_a_fixed_address)
{
	uint64_t seed = 2;

	/* A heap lies above it: the place that int3 alone reaches is below 0. */
	assert_int_equal(hodo_probe_space_maps(&space, "00400000-00800000 r-xp 00000000 08:01 11 /usr/bin/python3\n"
						      "00a00000-00b00000 rw-p 00000000 00:00 0 [heap]\n"), 0);
	want(PROBES, 0x400000, 0x400000, &seed);
	place_and_print("program", PROBES);
	assert_true(check(PROBES) > 0);
	assert_true(space.npages < 1500);
}

CHECK(slots_of_two_objects_and_more_to_come_share_pages)
{
	uint64_t seed = 3;
	uint32_t pages;

	assert_int_equal(hodo_probe_space_maps(&space, library_maps), 0);
	want(2000, 0x7ffff7000000, 0x400000, &seed);
	assert_int_equal(hodo_probe_place(&space, slots, 2000), 0);
	check(2000);
	pages = space.npages;
	/* Places that are given back are used again. */
	for (unsigned i = 0; i < 2000; i++)
		hodo_probe_space_give(&space, slots[i].slot, slots[i].bytes);
	assert_int_equal(hodo_probe_place(&space, slots, 2000), 0);
	check(2000);
	assert_in_range(space.npages, pages, pages + pages / 10);
}

/* All bytes of its jump are bound to be traps. */
static const struct hodo_probe_slot bound = { .addr = 0x7ffff7000000, .low = 0x7ffff7000000, .high = 0x7ffff7000005,
					      .bytes = 40, .kind = HODO_PROBE_JUMP, .boundaries = 30 };

CHECK(int3_alone_is_taken_where_it_can_be)
{
	slots[0] = bound;
	slots[1] = slots[0];
	assert_int_equal(hodo_probe_place(&space, slots, 2), 0);
	/* Only one such place exists. */
	assert_int_equal(slots[0].undefined + slots[1].undefined, 1);
	for (unsigned i = 0; i < 2; i++)
		if (!slots[i].undefined)
			assert_int_equal(slots[i].slot, 0x7ffff7000005 + (int64_t)(int32_t)0xcccccccc);
	check(2);
}

CHECK(there_may_be_no_place)
{
	slots[0] = bound;
	slots[1] = slots[2] = slots[0];
	slots[1].kind = HODO_PROBE_TRAP;
	/* Its operands are too far apart for one slot. */
	slots[2].high = slots[2].low + (1ull << 31);
	assert_int_equal(hodo_probe_space_take(&space, 0, 0x7fffffffffff), 0);
	assert_int_equal(hodo_probe_place(&space, slots, 3), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(slots[i].slot, 0);
	assert_int_equal(space.npages, 0);
	slots[0].bytes = HODO_PROBE_PAGE_BYTES + 1;
	assert_int_equal(hodo_probe_place(&space, slots, 1), -EINVAL);
	assert_int_equal(hodo_probe_place(&space, slots, 0), 0);
}

CHECK(what_must_be_reached_bounds_the_place)
{
	/* From the window it could be anywhere 2 GiB around; its operand lies 2 GiB below. */
	slots[0] = bound;
	slots[0].low = 0x7fff78000000;
	slots[0].boundaries = 0;
	assert_int_equal(hodo_probe_space_take(&space, 0, 0x7ffff7000000), 0);
	assert_int_equal(hodo_probe_place(&space, slots, 1), 0);
	check(1);
	assert_in_range(slots[0].slot, 0x7ffff7000000, 0x7ffff8000000 - 40);
}

CHECK(no_slot_ends_beyond_what_it_must_reach)
{
	unsigned n = 0;

	/* One page is left below the limit: 85 slots of 40 bytes, in pieces of 16. */
	for (unsigned i = 0; i < 100; i++) {
		slots[i] = bound;
		slots[i].low = 0x7fff78000000;
		slots[i].boundaries = 0;
	}
	assert_int_equal(hodo_probe_space_take(&space, 0, 0x7ffff8000000 - HODO_PROBE_PAGE_BYTES), 0);
	assert_int_equal(hodo_probe_place(&space, slots, 100), 0);
	for (unsigned i = 0; i < 100; i++)
		n += slots[i].slot != 0;
	assert_int_equal(n, HODO_PROBE_PAGE_BYTES / 48);
	assert_int_equal(space.npages, 1);
}
