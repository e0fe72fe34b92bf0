/* SPDX-License-Identifier: MIT */
/* test_conditions.c - conditions as hodo record packs them, unpacked as in the process. Rules: see tests/unit/core. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>
#include <core/condition.h>
#include <record/conditions.h>

#define TICKS_PER_S 1000000u

static uint8_t packed[HODO_EXTRAS_MAX];

static void add(struct hodo_conditions *c, const char *text)
{
	struct hodo_why why = { "" };
	int err = strchr(text, '/') ? hodo_conditions_add_rate(c, text, &why) :
				      hodo_conditions_add_trigger(c, text, &why);

	if (err)
		fail_msg("%s: %s", text, why.text);
}

static void check_rate(const char *text, uint64_t interval, uint64_t burst)
{
	struct hodo_condition_parts parts[HODO_CONDITIONS_MAX];
	struct hodo_conditions c = { .n = 0 };

	add(&c, text);
	hodo_conditions_pack(&c, TICKS_PER_S, packed);
	assert_int_equal(hodo_conditions_parse(packed, c.n, (uint32_t)c.bytes, parts), 0);
	assert_int_equal(parts[0].head.kind, HODO_CONDITION_RATE);
	assert_int_equal(parts[0].head.interval_ticks, interval);
	assert_int_equal(parts[0].head.burst_ticks, burst);
	hodo_conditions_free(&c);
}

TEST(test_rates)
{
	check_rate("kv:get=100/s", 10000, 9 * 10000);
	check_rate("kv:get=100/s:1", 10000, 0);
	check_rate("kv:get=100/s:50", 10000, 49 * 10000);
	check_rate("kv=1/ms", 1000, 99 * 1000);
	check_rate("kv:*=6/m", 10000000, 0);
	check_rate("kv:x=1/h", 3600000000, 0);
	check_rate("kv:get=1000000000/s:1", 1, 0); /* as close as the clock allows */
}

TEST(test_round_trip)
{
	struct hodo_condition_parts parts[HODO_CONDITIONS_MAX];
	struct hodo_conditions c = { .n = 0 };

	add(&c, "kv:get if shard == 3 && key =~ \"user*\" -> stop after 17");
	add(&c, "  kv  if(bytes>4096)->start");
	add(&c, "kv:put -> exit");
	add(&c, "kv:put after 3");
	add(&c, "kv:put if after > 3 after 4");
	add(&c, "kv:put=10/s");
	assert_true(hodo_conditions_have(&c, HODO_CONDITION_START));
	assert_true(hodo_conditions_have(&c, HODO_CONDITION_SNAPSHOT));
	hodo_conditions_pack(&c, TICKS_PER_S, packed);
	assert_int_equal(hodo_conditions_parse(packed, c.n, (uint32_t)c.bytes, parts), 0);
	assert_int_equal(parts[0].head.kind, HODO_CONDITION_STOP);
	assert_int_equal(parts[0].head.after, 17);
	assert_string_equal(parts[0].pattern, "kv:get");
	assert_true(parts[0].head.filter_len > 0);
	assert_int_equal(parts[1].head.kind, HODO_CONDITION_START);
	assert_string_equal(parts[1].pattern, "kv:*");
	assert_int_equal(parts[2].head.kind, HODO_CONDITION_EXIT);
	assert_int_equal(parts[2].head.filter_len, 0);
	assert_int_equal(parts[3].head.kind, HODO_CONDITION_SNAPSHOT);
	assert_int_equal(parts[3].head.after, 3);
	assert_int_equal(parts[4].head.after, 4);
	assert_int_equal(parts[5].head.kind, HODO_CONDITION_RATE);
	/* Every truncation, and every count except the right one. */
	for (uint32_t len = 0; len < c.bytes; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		memcpy(exact, packed, len);
		for (uint32_t n = 0; n <= c.n; n++)
			assert_true(hodo_conditions_parse(exact, n, len, parts) != 0 || (n == 0 && len == 0) ||
				    n < c.n);
		assert_int_equal(hodo_conditions_parse(exact, c.n, len, parts), -1);
		free(exact);
	}
	assert_int_equal(hodo_conditions_parse(packed, c.n - 1, (uint32_t)c.bytes, NULL), -1);
	assert_int_equal(hodo_conditions_parse(packed, c.n + 1, (uint32_t)c.bytes, NULL), -1);
	assert_int_equal(hodo_conditions_parse(packed, HODO_CONDITIONS_MAX + 1, (uint32_t)c.bytes, NULL), -1);
	hodo_conditions_free(&c);
}
