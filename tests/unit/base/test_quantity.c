/* SPDX-License-Identifier: MIT */
/* test_quantity.c - numbers, sizes and times as they are written. */
#include <stdio.h>
#include <lib/unit.h>

#include <base/quantity.h>

#define REFUSED (-1)

TEST(test_times)
{
	static const struct {
		const char *text;
		int64_t with_unit, bare;
	} times[] = {
		{ "0", REFUSED, 0 },
		{ "2", REFUSED, 2000000000 },
		{ "0.5", REFUSED, 500000000 },
		{ ".5", REFUSED, 500000000 },
		{ "0.000000001", REFUSED, 1 },
		{ "1700000000.123456789", REFUSED, 1700000000123456789 },
		{ "1ns", 1, 1 },
		{ "1.5ns", 2, 2 },
		{ "0.4ns", 0, 0 },
		{ "1.5us", 1500, 1500 },
		{ "5ms", 5000000, 5000000 },
		{ "100ms", 100000000, 100000000 },
		{ "0s", 0, 0 },
		{ "10s", 10000000000, 10000000000 },
		{ "2m", 120000000000, 120000000000 },
		{ "0.5m", 30000000000, 30000000000 },
		{ "1h", 3600000000000, 3600000000000 },
		{ "1d", 86400000000000, 86400000000000 },
		{ "1.000000001d", 86400000086400, 86400000086400 },
		{ "106751d", 9223286400000000000, 9223286400000000000 },
		{ "106752d", REFUSED, REFUSED }, /* 292 years */
		{ "9999999999", REFUSED, REFUSED },
		{ "99999999999999999999999999999999999999999999", REFUSED, REFUSED },
		{ "", REFUSED, REFUSED },
		{ "ms", REFUSED, REFUSED },
		{ ".", REFUSED, REFUSED },
		{ "1.", REFUSED, REFUSED },
		{ "1.s", REFUSED, REFUSED },
		{ "1.2.3", REFUSED, REFUSED },
		{ "0.0000000001", REFUSED, REFUSED },
		{ "-1", REFUSED, REFUSED },
		{ "+1", REFUSED, REFUSED },
		{ " 1", REFUSED, REFUSED },
		{ "1 s", REFUSED, REFUSED },
		{ "1S", REFUSED, REFUSED },
		{ "1M", REFUSED, REFUSED },
		{ "1sec", REFUSED, REFUSED },
		{ "10ss", REFUSED, REFUSED },
		{ "1h30m", REFUSED, REFUSED },
		{ "1:30", REFUSED, REFUSED },
		{ "1e3", REFUSED, REFUSED },
		{ "0x10", REFUSED, REFUSED },
		{ "noon", REFUSED, REFUSED },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		for (int form = HODO_TIME_BARE; form <= HODO_TIME_WITH_UNIT; form++) {
			int64_t ns = -7, expected = form == HODO_TIME_BARE ? times[i].bare : times[i].with_unit;
			int err = hodo_parse_time(times[i].text, (enum hodo_time_form)form, &ns);

			if ((err < 0) != (expected == REFUSED) || (err == 0 && ns != expected))
				fail_msg("'%s', form %d: %d, %lld ns", times[i].text, form, err, (long long)ns);
			if (err < 0)
				assert_int_equal(ns, -7);
		}
	}
}

TEST(test_time_text)
{
	static const struct {
		int64_t ns;
		const char *text;
	} times[] = {
		{ 0, "0ns" }, { 1, "1ns" }, { 1500, "1500ns" }, { 100000000, "100ms" }, { 3600000000000, "1h" },
		{ 5400000000000, "90m" }, { 172800000000000, "2d" },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		char buf[32];
		int64_t ns;

		assert_string_equal(hodo_time_text(times[i].ns, buf), times[i].text);
		assert_int_equal(hodo_parse_time(buf, HODO_TIME_WITH_UNIT, &ns), 0);
		assert_int_equal(ns, times[i].ns);
	}
}

TEST(test_sizes)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
	} sizes[] = {
		{ "1", 1 }, { "4096", 4096 }, { "64K", 65536 }, { "64k", 65536 }, { "64KB", 65536 }, { "64KiB", 65536 },
		{ "2M", 2 << 20 }, { "1G", 1 << 30 }, { "1T", 1ull << 40 }, { "16777215T", 16777215ull << 40 },
		{ "16777216T", 0 }, { "18446744073709551615", UINT64_MAX }, { "18446744073709551616", 0 }, { "", 0 },
		{ "K", 0 }, { "1P", 0 }, { "1.5M", 0 }, { "-1", 0 }, { "1Ki", 0 }, { "1KBs", 0 }, { "0x10", 0 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t bytes = 0;
		int err = hodo_parse_size(sizes[i].text, &bytes);

		if ((err < 0) != (sizes[i].bytes == 0) || bytes != sizes[i].bytes)
			fail_msg("'%s': %d, %llu", sizes[i].text, err, (unsigned long long)bytes);
	}
}

TEST(test_numbers)
{
	uint64_t n;
	char buf[32];

	assert_int_equal(hodo_parse_number("00042", 42, &n), 0);
	assert_int_equal(n, 42);
	assert_true(hodo_parse_number("43", 42, &n) < 0);
	assert_true(hodo_parse_number("5", 4, &n) < 0);
	assert_true(hodo_parse_number("", 42, &n) < 0);
	assert_true(hodo_parse_number("4 ", 42, &n) < 0);
	assert_int_equal(hodo_parse_number("18446744073709551615", UINT64_MAX, &n), 0);
	assert_true(hodo_parse_number("18446744073709551616", UINT64_MAX, &n) < 0);
	assert_string_equal(hodo_grouped(1234567, buf), "1,234,567");
	assert_string_equal(hodo_grouped(UINT64_MAX, buf), "18,446,744,073,709,551,615");
	assert_string_equal(hodo_grouped(0, buf), "0");
	assert_string_equal(hodo_size_text(0, buf), "0");
	assert_string_equal(hodo_size_text(1023, buf), "1023");
	assert_string_equal(hodo_size_text(1536 << 10, buf), "1536K");
	assert_string_equal(hodo_size_text(16 << 20, buf), "16M");
	assert_string_equal(hodo_size_text(4ull << 50, buf), "4096T");
	assert_string_equal(hodo_human_bytes(1023, buf), "1023 B");
	assert_string_equal(hodo_human_bytes(1536, buf), "1.5 KiB");
	assert_string_equal(hodo_human_bytes(UINT64_MAX, buf), "16.0 EiB");
	assert_string_equal(hodo_duration(1234, buf), "  1.234 us");
	assert_string_equal(hodo_duration(1234567890123, buf), "1234.567 s ");
}
