/* SPDX-License-Identifier: MIT */
/* test_counter.c - reading a hardware counter through a made-up page, so that no machine needs to have a counter. */
#include <string.h>

#include <lib/unit.h>

#include <user/event/counter.h>

static struct perf_event_mmap_page page;
static uint64_t counter_value;
static uint32_t counter_asked, changes;

static uint64_t rdpmc(uint32_t counter)
{
	counter_asked = counter;
	if (changes) {
		/* The thread loses its processor here, and has another counter afterwards. */
		changes--;
		page.lock += 2;
		page.index++;
		page.offset += 1000;
	}
	return counter_value;
}

static void set(uint32_t index, int64_t offset, uint16_t width, uint64_t value)
{
	memset(&page, 0, sizeof(page));
	page.lock = 10;
	page.cap_user_rdpmc = 1;
	page.index = index;
	page.offset = offset;
	page.pmc_width = width;
	counter_value = value;
	changes = 0;
}

TEST(test_adds)
{
	set(3, 5000, 48, 77);
	assert_int_equal(hodo_counter_read(&page, rdpmc), 5077);
	assert_int_equal(counter_asked, 2);
}

/* The kernel starts a counter below zero, so that it overflows after a period. */
TEST(test_sign)
{
	set(1, 1ll << 47, 48, (1ull << 48) - 100);
	assert_int_equal(hodo_counter_read(&page, rdpmc), (1ull << 47) - 100);
	/* Bits above the width are noise. */
	set(1, 1000, 32, 0xabcd000000000005);
	assert_int_equal(hodo_counter_read(&page, rdpmc), 1005);
	set(1, 1000, 64, UINT64_MAX);
	assert_int_equal(hodo_counter_read(&page, rdpmc), 999);
}

TEST(test_not_counting)
{
	counter_asked = 99;
	set(0, 1234, 48, 5);
	assert_int_equal(hodo_counter_read(&page, rdpmc), 1234);
	set(4, 1234, 48, 5);
	page.cap_user_rdpmc = 0;
	assert_int_equal(hodo_counter_read(&page, rdpmc), 1234);
	assert_int_equal(counter_asked, 99);
}

TEST(test_changes)
{
	set(3, 5000, 48, 77);
	changes = 2;
	assert_int_equal(hodo_counter_read(&page, rdpmc), 7077);
	assert_int_equal(counter_asked, 4);
}

TEST(test_hostile)
{
	set(1, 5, 0, 7);
	assert_int_equal(hodo_counter_read(&page, rdpmc), 0);
	set(1, 5, 65, 7);
	assert_int_equal(hodo_counter_read(&page, rdpmc), 0);
	set(1, 5, 48, 7);
	changes = UINT32_MAX;
	assert_int_equal(hodo_counter_read(&page, rdpmc), 0);
}
