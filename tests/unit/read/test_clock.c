/* SPDX-License-Identifier: MIT */
/* test_clock.c - the conversion of ticks, against arithmetic in more digits than it needs. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <read/file/clock.h>
#include <lib/random.h>

/* offset_s + (offset + ticks) / freq in ns, rounded down, by long division of decimal digits. */
static int64_t exact(const struct hodo_read_clock *c, uint64_t ticks)
{
	unsigned __int128 sum = (unsigned __int128)ticks + (uint64_t)c->offset_ticks;
	unsigned __int128 whole = sum / c->freq_hz, rest = sum % c->freq_hz;

	for (unsigned digit = 0; digit < 9; digit++) {
		rest *= 10;
		whole = whole * 10 + rest / c->freq_hz;
		rest %= c->freq_hz;
	}
	return (int64_t)((__int128)whole + (__int128)c->offset_s * 1000000000);
}

static uint64_t seed = 88172645463325252ull;

TEST(test_exact)
{
	static const uint64_t freqs[] = { 1,          3,          999983,     1000000,
					  1000003,    24000000,   1000000000, 999999999,
					  2596000000, 2596123457, 3999999999, 1000000000000 };

	for (unsigned f = 0; f < sizeof(freqs) / sizeof(freqs[0]); f++) {
		for (unsigned i = 0; i < 20000; i++) {
			struct hodo_read_clock c = { .freq_hz = freqs[f], .offset_s = 1700000000 };
			/* At most 200 years. */
			uint64_t ticks =
				xorshift(&seed) % (freqs[f] * (freqs[f] > 2000000000 ? 1000000 : 3000000000));

			c.offset_ticks = (int64_t)(xorshift(&seed) % (freqs[f] * 1000));
			assert_int_equal(hodo_read_clock_ns(&c, ticks), exact(&c, ticks));
		}
	}
}

/* The fast conversion, along times of a stream that advance in small and large steps, and go back. */
TEST(test_near)
{
	static const uint64_t freqs[] = { 1, 999983, 24000000, 1000000000, 2596123457, 1000000000000 };

	for (unsigned f = 0; f < sizeof(freqs) / sizeof(freqs[0]); f++) {
		struct hodo_read_clock c = { .freq_hz = freqs[f],
					     .offset_s = 1700000000,
					     .offset_ticks = 12345 };
		uint64_t ticks = xorshift(&seed) % freqs[f];
		struct hodo_clock_near near;

		hodo_read_clock_near_set(&near, &c, 0);
		for (unsigned i = 0; i < 100000; i++) {
			ticks += xorshift(&seed) % (xorshift(&seed) % 64 ? 5000 : freqs[f] * 20 + 1);
			if (xorshift(&seed) % 1000 == 0)
				ticks -= xorshift(&seed) % (ticks + 1);
			ticks %= freqs[f] * 1000000;
			assert_int_equal(hodo_read_clock_near_ns(&near, &c, ticks), exact(&c, ticks));
		}
	}
}

TEST(test_ends)
{
	struct hodo_read_clock c = { .freq_hz = 1, .offset_s = INT64_MAX, .offset_ticks = INT64_MAX };
	struct hodo_clock_near near;

	assert_int_equal(hodo_read_clock_ns(&c, UINT64_MAX), INT64_MAX - 1);
	hodo_read_clock_near_set(&near, &c, 0);
	assert_int_equal(hodo_read_clock_near_ns(&near, &c, UINT64_MAX), INT64_MAX - 1);
	c.offset_s = -INT64_MAX;
	c.offset_ticks = -INT64_MAX;
	assert_int_equal(hodo_read_clock_ns(&c, 0), INT64_MIN);
	/* Times before the epoch also round down. */
	c = (struct hodo_read_clock){ .freq_hz = 3, .offset_ticks = -1 };
	assert_int_equal(hodo_read_clock_ns(&c, 0), -333333334);
}
