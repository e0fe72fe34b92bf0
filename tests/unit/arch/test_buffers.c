/* SPDX-License-Identifier: MIT */
/* test_buffers.c - memory for the time of an event: who owns it, and when another takes it over. */
#include <lib/unit.h>
#include <user/event/event.h>
#include <user/ring/rings.h>

#define BYTES 256
#define LONG_TICKS (1ull << 36)

static struct hodo_buffers buffers;

static int make(void **state) { return hodo_buffers_make(&buffers, BYTES); }

/* As if another owner had taken all of them at that time. */
static void all_taken(uint64_t since)
{
	for (uint32_t i = 0; i < HODO_BUFFERS; i++)
		buffers.taken[i].since = since;
}

TEST(test_each_once, .setup = make)
{
	uint8_t *buffer[HODO_BUFFERS];

	for (uint32_t i = 0; i < HODO_BUFFERS; i++) {
		buffer[i] = hodo_buffers_take(&buffers);
		assert_non_null(buffer[i]);
		for (uint32_t k = 0; k < i; k++)
			assert_true(buffer[k] + BYTES <= buffer[i] || buffer[i] + BYTES <= buffer[k]);
	}
	hodo_buffers_release(&buffers, buffer[7]);
	assert_ptr_equal(hodo_buffers_take(&buffers), buffer[7]);
}

TEST(test_forgotten_ones, .setup = make)
{
	all_taken(hodo_ticks_now() - LONG_TICKS);
	assert_non_null(hodo_buffers_take(&buffers));
}

/* By a thread that read the clock later than this one, which was preempted between its reading and its search. */
TEST(test_later_ones, .setup = make)
{
	all_taken(hodo_ticks_now() + LONG_TICKS);
	assert_null(hodo_buffers_take(&buffers));
}
