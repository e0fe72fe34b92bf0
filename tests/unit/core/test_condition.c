/* SPDX-License-Identifier: MIT */
/* test_condition.c - conditions of a recording, from any source: each rule broken once. */
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <core/condition.h>
#include <core/filter.h>

/* One condition, with something wrong in its head or pattern. */
static int broken(struct hodo_condition head, const char *pattern, size_t pattern_len)
{
	uint8_t bytes[sizeof(head) + 64];

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), pattern, pattern_len);
	return hodo_conditions_parse(bytes, 1, (uint32_t)(sizeof(head) + pattern_len), NULL);
}

TEST(test_rules)
{
	const struct hodo_condition stop = { .kind = HODO_CONDITION_STOP, .pattern_len = 4 };
	const struct hodo_condition rate = { .kind = HODO_CONDITION_RATE, .pattern_len = 4, .interval_ticks = 1 };
	struct hodo_condition c;

	assert_int_equal(broken(stop, "k:g", 4), 0);
	assert_int_equal(broken(rate, "k:g", 4), 0);
	assert_int_equal(broken(stop, "k:gx", 4), -1); /* not terminated */
	assert_int_equal(broken(stop, "k\0g", 4), -1); /* terminated before its end */
	for (uint32_t kind = 0; kind < 9; kind++) {
		c = rate;
		c.kind = kind;
		assert_int_equal(broken(c, "k:g", 4), kind >= 1 && kind <= 5 ? 0 : -1);
	}
	c = stop;
	c.pattern_len = UINT32_MAX;
	assert_int_equal(broken(c, "k:g", 4), -1);
	c = stop;
	c.filter_len = UINT32_MAX - 3;
	assert_int_equal(broken(c, "k:g", 4), -1);
	c = stop;
	c.filter_len = 1;
	assert_int_equal(broken(c, "k:g\0", 5), -1); /* no program */
	c = rate;
	c.interval_ticks = 0;
	assert_int_equal(broken(c, "k:g", 4), -1);
	c.interval_ticks = HODO_CONDITION_TICKS_MAX + 1;
	assert_int_equal(broken(c, "k:g", 4), -1);
	c.interval_ticks = 1;
	c.burst_ticks = UINT64_MAX;
	assert_int_equal(broken(c, "k:g", 4), -1);
	c = stop;
	c.pattern_len = 1;
	assert_int_equal(broken(c, "", 1), -1);
}

static size_t append(uint8_t *at, struct hodo_condition head, const char *pattern, const void *filter, size_t len)
{
	size_t pattern_len = strlen(pattern) + 1;

	head.pattern_len = (uint32_t)pattern_len;
	head.filter_len = (uint32_t)len;
	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), pattern, pattern_len);
	memcpy(at + sizeof(head) + pattern_len, filter, len);
	return sizeof(head) + pattern_len + len;
}

/* Three whole conditions; then every truncation, and every count except the right one. */
TEST(test_parts)
{
	static const uint8_t program[] = { 'H', 'F', HODO_FILTER_VERSION, 0, HODO_FILTER_I8, 1 };
	static struct hodo_condition_parts parts[HODO_CONDITIONS_MAX];
	static uint8_t packed[512];
	uint32_t total = 0;

	total += append(packed, (struct hodo_condition){ .kind = HODO_CONDITION_STOP, .after = 17 }, "kv:get",
			program, sizeof(program));
	total += append(packed + total, (struct hodo_condition){ .kind = HODO_CONDITION_RATE, .interval_ticks = 7,
								 .burst_ticks = 9 }, "kv:*", "", 0);
	total += append(packed + total, (struct hodo_condition){ .kind = HODO_CONDITION_SNAPSHOT }, "*", "", 0);
	assert_int_equal(hodo_conditions_parse(packed, 3, total, parts), 0);
	assert_string_equal(parts[0].pattern, "kv:get");
	assert_int_equal(parts[0].head.after, 17);
	assert_memory_equal(parts[0].filter, program, sizeof(program));
	assert_string_equal(parts[1].pattern, "kv:*");
	assert_int_equal(parts[1].head.burst_ticks, 9);
	assert_int_equal(parts[2].head.kind, HODO_CONDITION_SNAPSHOT);
	for (uint32_t len = 0; len < total; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		memcpy(exact, packed, len);
		assert_int_equal(hodo_conditions_parse(exact, 3, len, parts), -1);
		free(exact);
	}
	assert_int_equal(hodo_conditions_parse(packed, 2, total, NULL), -1);
	assert_int_equal(hodo_conditions_parse(packed, 4, total, NULL), -1);
	assert_int_equal(hodo_conditions_parse(packed, HODO_CONDITIONS_MAX + 1, total, NULL), -1);
	assert_int_equal(hodo_conditions_parse(packed, UINT32_MAX, total, NULL), -1);
	assert_int_equal(hodo_conditions_parse(packed, 0, 0, NULL), 0);
}

TEST(test_acts)
{
	struct hodo_condition c = { .kind = HODO_CONDITION_STOP };

	assert_int_equal(hodo_condition_acts(&c, 1), HODO_CONDITION_STOP); /* after 0: at once */
	c.after = 3;
	for (uint64_t n = 1; n < 9; n++)
		assert_int_equal(hodo_condition_acts(&c, n), n >= 3 ? HODO_CONDITION_STOP : 0);
	c.kind = HODO_CONDITION_SNAPSHOT;
	for (uint64_t n = 1; n < 9; n++)
		assert_int_equal(hodo_condition_acts(&c, n), n % 3 == 0 ? HODO_CONDITION_SNAPSHOT : 0);
}

TEST(test_rate)
{
	const struct hodo_condition c = { .kind = HODO_CONDITION_RATE, .interval_ticks = 10, .burst_ticks = 20 };
	uint64_t due = 0, now = 1000;

	/* One event, and a burst of two more; then one in each interval. */
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(hodo_condition_within_rate(&c, &due, now), i < 3);
	for (unsigned int i = 0; i < 5; i++) {
		assert_false(hodo_condition_within_rate(&c, &due, now + 9));
		now += 10;
		assert_true(hodo_condition_within_rate(&c, &due, now));
	}
	/* Another CPU's clock that is behind takes nothing twice; unused events are not saved beyond the burst. */
	assert_false(hodo_condition_within_rate(&c, &due, now - 5));
	now += 1000000;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(hodo_condition_within_rate(&c, &due, now), i < 3);
	/* The clock may pass through its largest value. */
	due = UINT64_MAX - 4;
	assert_true(hodo_condition_within_rate(&c, &due, UINT64_MAX - 4));
	assert_true(hodo_condition_within_rate(&c, &due, 6));
	assert_int_equal(due, 16);
}
