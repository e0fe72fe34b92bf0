/* SPDX-License-Identifier: MIT */
/* test_bounds.c - lines of time, and the lines that messages allow. */
#include <lib/unit.h>

#include <math.h>
#include <stdlib.h>

#include <merge/bounds.h>

#define NS_PER_S 1000000000ll
#define START    (1800000000ll * NS_PER_S)

/* Repeatable. */
static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static int64_t abs_ns(int64_t ns) { return ns < 0 ? -ns : ns; }

TEST(a_line_maps_and_its_inverse_maps_back)
{
	const struct hodo_line_of_time l = { START, START + 5 * NS_PER_S, 100e-6 };
	const struct hodo_line_of_time back = hodo_time_inverse(&l);

	assert_int_equal(hodo_time_map(&l, START), START + 5 * NS_PER_S);
	assert_int_equal(hodo_time_map(&l, START + NS_PER_S), START + 6 * NS_PER_S + 100000);
	for (int64_t x = -1000; x <= 1000; x += 125)
		assert_true(abs_ns(hodo_time_map(&back, hodo_time_map(&l, START + x * NS_PER_S)) - START -
				   x * NS_PER_S) <= 1);
}

TEST(two_lines_are_one)
{
	const struct hodo_line_of_time a = { START, START + 5 * NS_PER_S, 100e-6 },
				       b = { START, START - NS_PER_S, -20e-6 };
	const struct hodo_line_of_time both = hodo_time_join(&a, &b, START + 77 * NS_PER_S);

	for (int64_t x = -500; x <= 500; x += 100)
		assert_true(abs_ns(hodo_time_map(&both, START + x * NS_PER_S) -
				   hodo_time_map(&b, hodo_time_map(&a, START + x * NS_PER_S))) <= 1);
}

TEST(times_at_the_end_of_the_range_do_not_wrap)
{
	const struct hodo_line_of_time l = { 0, NS_PER_S, 0.0005 };

	assert_int_equal(hodo_time_map(&l, INT64_MAX), INT64_MAX);
	assert_int_equal(hodo_time_map(&(struct hodo_line_of_time){ 0, -NS_PER_S, 0.0005 }, INT64_MIN), INT64_MIN);
}

/*
 * Messages between a clock and another one, which is `offset` ahead at START and gains `drift` a second: one message in
 * each direction every `every` ns, with at least those delays.
 */
struct talk {
	int64_t offset, every, there, back;
	double drift;
	unsigned n;
	bool only_there;
};

static int64_t other_clock(const struct talk *t, int64_t ns)
{
	return ns + t->offset + llrint((double)(ns - START) * t->drift);
}

static void talk(struct hodo_bounds *b, const struct talk *t)
{
	uint64_t state = 7;

	assert_int_equal(hodo_bounds_begin(b, START + t->n * t->every / 2, -t->offset), 0);
	for (unsigned i = 0; i < t->n; i++) {
		int64_t sent = START + i * t->every, received = sent + t->there + (int64_t)(next(&state) % 100000);
		int64_t answered = received + 10000, got = answered + t->back + (int64_t)(next(&state) % 100000);

		hodo_bounds_least(b, other_clock(t, received), sent - other_clock(t, received));
		if (!t->only_there)
			hodo_bounds_most(b, other_clock(t, answered), got - other_clock(t, answered));
	}
}

/* The line maps the other clock to the first one, to within what it says, and that is at most `most`. */
static void check(const struct talk *t, double most_ns)
{
	struct hodo_line_of_time l;
	struct hodo_bounds b;

	talk(&b, t);
	assert_true(b.n > 0);
	l = hodo_bounds_middle(&b);
	for (unsigned i = 0; i <= 10; i++) {
		int64_t ns = START + (int64_t)t->n * t->every * i / 10, x = other_clock(t, ns);
		int64_t y = hodo_time_map(&l, x);
		double error = hodo_bounds_error_ns(&b, x, y);

		assert_true((double)abs_ns(y - ns) <= error + 2);
		assert_true(error <= most_ns);
	}
	assert_true(fabs(-l.drift - t->drift) < 1e-9 + 2 * most_ns / ((double)t->n * (double)t->every));
	hodo_bounds_free(&b);
}

TEST(offset_and_drift_are_found)
{
	/* Delays of 50 us at least: so much is the offset unknown. */
	check(&(struct talk){ .offset = 3 * NS_PER_S, .drift = 80e-6, .n = 2000, .every = 50000000, .there = 50000,
			      .back = 50000 }, 62000);
	check(&(struct talk){ .offset = -7200 * NS_PER_S, .drift = -310e-6, .n = 500, .every = 10000000, .there = 20000,
			      .back = 20000 }, 40000);
	check(&(struct talk){ .n = 100, .every = 1000000, .there = 1000, .back = 1000 }, 60000);
}

/* The middle is off by half of the difference; the truth is still within what is said. */
TEST(different_delays_are_within_the_error)
{
	check(&(struct talk){ .offset = NS_PER_S, .drift = 5e-6, .n = 2000, .every = 50000000, .there = 50000,
			      .back = 900000 }, 1000000);
}

/* The middle of symmetrical delays is better than the error says. */
TEST(the_middle_is_in_the_middle)
{
	const struct talk t = { .offset = NS_PER_S, .drift = 40e-6, .n = 5000, .every = 20000000, .there = 50000,
				.back = 50000 };
	struct hodo_line_of_time l;
	struct hodo_bounds b;

	talk(&b, &t);
	l = hodo_bounds_middle(&b);
	for (int64_t s = 0; s <= 100; s += 10) {
		int64_t x = other_clock(&t, START + s * NS_PER_S);

		assert_true(abs_ns(hodo_time_map(&l, x) - START - s * NS_PER_S) < 10000);
	}
	hodo_bounds_free(&b);
}

TEST(one_message_in_each_direction_is_not_a_drift)
{
	const struct talk t = { .offset = NS_PER_S, .n = 1, .every = 1000000, .there = 1000, .back = 1000 };
	struct hodo_bounds b;

	talk(&b, &t);
	assert_true(fabs(hodo_bounds_middle(&b).drift) < 1e-6);
	/* So an hour later, little is known. */
	assert_true(hodo_bounds_error_ns(&b, START + 3601 * NS_PER_S, START + 3600 * NS_PER_S) > 1e9);
	hodo_bounds_free(&b);
}

TEST(one_direction_bounds_one_side)
{
	const struct talk t = { .offset = NS_PER_S, .n = 100, .every = 1000000, .there = 1000, .only_there = true };
	struct hodo_bounds b;

	talk(&b, &t);
	assert_int_equal(b.most, 0);
	assert_int_equal(b.least, 100);
	/* What is allowed stays; what is not becomes what is just allowed: no message arrives before it was sent. */
	assert_int_equal(hodo_bounds_clamp(&b, NS_PER_S), NS_PER_S);
	assert_true(hodo_bounds_clamp(&b, -10 * NS_PER_S) > -NS_PER_S - 200000);
	assert_true(hodo_bounds_clamp(&b, -10 * NS_PER_S) < -NS_PER_S);
	hodo_bounds_free(&b);
}

/* Two messages ten seconds apart allow almost any drift on one side; usual ones are taken to be more likely. */
TEST(a_drift_that_is_not_shown_is_a_usual_one)
{
	struct hodo_bounds b;

	assert_int_equal(hodo_bounds_begin(&b, START, 0), 0);
	hodo_bounds_least(&b, START, 0);
	hodo_bounds_most(&b, START + 10 * NS_PER_S, 1000000);
	assert_true(fabs(hodo_bounds_middle(&b).drift) < 100e-6);
	hodo_bounds_free(&b);
}

TEST(what_is_too_much_becomes_the_most)
{
	struct hodo_bounds b;

	assert_int_equal(hodo_bounds_begin(&b, START, 0), 0);
	hodo_bounds_most(&b, START, 5000);
	assert_true(llabs(hodo_bounds_clamp(&b, NS_PER_S) - 5000) <= 2);
	assert_int_equal(hodo_bounds_clamp(&b, -NS_PER_S), -NS_PER_S);
	hodo_bounds_free(&b);
}

TEST(contradictions_leave_no_line)
{
	struct hodo_bounds b;

	assert_int_equal(hodo_bounds_begin(&b, START, 0), 0);
	hodo_bounds_least(&b, START, 1000);
	hodo_bounds_most(&b, START, 2000);
	assert_true(b.n > 0);
	hodo_bounds_most(&b, START, 990);
	assert_int_equal(b.n, 0);
	/* And none comes back. */
	hodo_bounds_least(&b, START, -1000);
	assert_int_equal(b.n, 0);
	hodo_bounds_free(&b);
}

/* Times are whole nanoseconds, rounded down: a message that seems to take none, or one less, is possible. */
TEST(rounding_is_no_contradiction)
{
	struct hodo_bounds b;

	assert_int_equal(hodo_bounds_begin(&b, START, 0), 0);
	hodo_bounds_least(&b, START, 1000);
	hodo_bounds_most(&b, START, 999);
	assert_true(b.n > 0);
	hodo_bounds_free(&b);
}

/* Bounds along a parabola each say something new: there are at most so many corners, and what is left out only leaves
 * more lines than need be. */
TEST(corners_are_bounded)
{
	struct hodo_bounds b;

	assert_int_equal(hodo_bounds_begin(&b, START, 0), 0);
	for (int64_t i = -3000; i <= 3000; i++)
		hodo_bounds_least(&b, START + i * NS_PER_S, -i * i * 10);
	assert_true(b.n > 100 && b.n <= HODO_BOUNDS_CORNERS);
	hodo_bounds_most(&b, START, 100000);
	assert_true(b.n > 0);
	hodo_bounds_free(&b);
}
