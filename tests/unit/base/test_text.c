/* SPDX-License-Identifier: MIT */
/* test_text.c - texts, escapes, and JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <lib/unit.h>

#include <errno.h>
#include <math.h>

#include <base/json.h>
#include <base/number.h>
#include <core/search.h>
#include <base/text.h>

TEST(test_kept)
{
	struct hodo_text t = { 0 };
	size_t len;

	assert_string_equal(hodo_text_string(&t), "");
	hodo_text_add(&t, "");
	for (unsigned i = 0; i < 1000; i++) {
		hodo_text_printf(&t, "%u,", i);
		hodo_text_char(&t, '-');
	}
	len = t.len;
	assert_int_equal(strlen(hodo_text_string(&t)), len);
	assert_memory_equal(t.data, "0,-1,-2,-", 9);
	hodo_text_printf(&t, "%*d", 5000, 7); /* more than fits */
	assert_int_equal(t.len, len + 5000);
	assert_int_equal(t.data[t.len - 1], '7');
	t.len = 0;
	hodo_text_u64(&t, UINT64_MAX);
	hodo_text_i64(&t, INT64_MIN);
	assert_string_equal(hodo_text_string(&t), "18446744073709551615-9223372036854775808");
	assert_null(hodo_text_room(&t, SIZE_MAX));
	assert_int_equal(t.error, -ENOMEM);
	hodo_text_add(&t, "dropped");
	assert_string_equal(hodo_text_string(&t), "");
	hodo_text_free(&t);
}

struct sink {
	char data[1 << 20];
	size_t len, limit;
};

static int take(void *to, const void *data, size_t len)
{
	struct sink *s = to;

	if (s->len + len > s->limit)
		return -ENOSPC;
	memcpy(s->data + s->len, data, len);
	s->len += len;
	return 0;
}

TEST(test_written)
{
	static struct sink sink, expected;
	struct hodo_text t = HODO_TEXT_TO(take, &sink);

	sink.limit = sizeof(sink.data);
	for (unsigned i = 0; i < 90000; i++) {
		hodo_text_printf(&t, "%u ", i);
		expected.len += (size_t)sprintf(expected.data + expected.len, "%u ", i);
	}
	assert_int_not_equal(sink.len, 0); /* some of it was written before the flush */
	assert_int_equal(hodo_text_flush(&t), 0);
	assert_int_equal(t.written, expected.len);
	assert_int_equal(sink.len, expected.len);
	assert_memory_equal(sink.data, expected.data, sink.len);
	sink.limit = sink.len;
	hodo_text_add(&t, "more");
	assert_int_equal(hodo_text_flush(&t), -ENOSPC);
	hodo_text_add(&t, "x");
	assert_int_equal(hodo_text_flush(&t), -ENOSPC); /* the first failure stays */
	hodo_text_free(&t);
}

static void escaped(const char *bytes, size_t len, const char *json, const char *script, const char *plain)
{
	struct hodo_text t = { 0 };

	hodo_text_json(&t, bytes, len, HODO_JSON_PLAIN);
	assert_string_equal(hodo_text_string(&t), json);
	t.len = 0;
	hodo_text_json(&t, bytes, len, HODO_JSON_SCRIPT);
	assert_string_equal(hodo_text_string(&t), script);
	t.len = 0;
	hodo_text_plain(&t, bytes, len);
	assert_string_equal(hodo_text_string(&t), plain);
	hodo_text_free(&t);
}

TEST(test_escapes)
{
	escaped("kv:get", 6, "\"kv:get\"", "\"kv:get\"", "kv:get");
	escaped("a\n\"\\\x7f<\0", 7, "\"a\\n\\\"\\\\\\u007f<\\u0000\"", "\"a\\u000a\\u0022\\u005c\\u007f\\u003c\\u0000\"",
		"a\\n\"\\\\x7f<\\x00");
	/* é, €, U+1F600; then a lone continuation, an overlong slash, a surrogate, U+110000, one cut short. */
	escaped("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	escaped("\x80\xc0\xaf\xed\xa0\x80", 6, "\"\\u0080\\u00c0\\u00af\\u00ed\\u00a0\\u0080\"",
		"\"\\u0080\\u00c0\\u00af\\u00ed\\u00a0\\u0080\"", "\\x80\\xc0\\xaf\\xed\\xa0\\x80");
	escaped("\xf4\x90\x80\x80\xe2\x82", 6, "\"\\u00f4\\u0090\\u0080\\u0080\\u00e2\\u0082\"",
		"\"\\u00f4\\u0090\\u0080\\u0080\\u00e2\\u0082\"", "\\xf4\\x90\\x80\\x80\\xe2\\x82");
	/* U+009B would begin a terminal's control sequence. */
	escaped("\xc2\x9b", 2, "\"\\u009b\"", "\"\\u009b\"", "\\xc2\\x9b");
	/* U+00A0, U+00AD, U+202F, U+202E, U+FEFF, U+E0041. */
	escaped("\xc2\xa0\xc2\xad\xe2\x80\xaf", 7, "\"\xc2\xa0\\u00ad\xe2\x80\xaf\"",
		"\"\xc2\xa0\\u00ad\xe2\x80\xaf\"", "\xc2\xa0\\xc2\\xad\xe2\x80\xaf");
	escaped("\xe2\x80\xae", 3, "\"\\u202e\"", "\"\\u202e\"", "\\xe2\\x80\\xae");
	escaped("\xef\xbb\xbf\xf3\xa0\x81\x81", 7, "\"\\ufeff\\udb40\\udc41\"", "\"\\ufeff\\udb40\\udc41\"",
		"\\xef\\xbb\\xbf\\xf3\\xa0\\x81\\x81");
}

TEST(test_mask_unseen)
{
	/* A tab, DEL, U+0085, U+202E, U+FEFF, a lone continuation, an overlong slash, one cut short. Others stay. */
	char text[] = "a\tb\x7f\xc2\x85\xe2\x80\xae\xef\xbb\xbf\x80\xc0\xaf"
		      "\"\\ \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x82";
	char none[] = "";

	hodo_mask_unseen(text);
	assert_string_equal(text, "a?b????" "???\"\\ \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80??");
	hodo_mask_unseen(none);
	assert_string_equal(none, "");
}

TEST(test_json)
{
	struct hodo_text t = { 0 };
	struct hodo_json j = { .text = &t };

	hodo_json_object(&j, NULL);
	hodo_json_u64(&j, "version", 1);
	hodo_json_array(&j, "events");
	for (int i = 0; i < 2; i++) {
		hodo_json_line(&j);
		hodo_json_object(&j, NULL);
		hodo_json_string(&j, "na\"me", i ? NULL : "kv:get");
		hodo_json_i64(&j, "n", -i);
		hodo_json_end(&j);
	}
	hodo_json_line(&j);
	hodo_json_end(&j);
	hodo_json_array(&j, "none");
	hodo_json_end(&j);
	hodo_json_double(&j, "rate", 1.25, 3);
	hodo_json_double(&j, "inf", INFINITY, 3);
	hodo_json_bool(&j, "on", true);
	hodo_json_printf(&j, "raw", "[%d]", 3);
	hodo_text_add(hodo_json_value(&j, "own"), "0x1");
	hodo_json_end(&j);
	hodo_json_line(&j);
	hodo_json_u64(&j, NULL, 2); /* another document, on its own line */
	assert_string_equal(hodo_text_string(&t),
			    "{\"version\":1,\"events\":[\n{\"na\\\"me\":\"kv:get\",\"n\":0},\n"
			    "{\"na\\\"me\":null,\"n\":-1}\n],"
			    "\"none\":[],\"rate\":1.250,\"inf\":null,\"on\":true,\"raw\":[3],\"own\":0x1}\n2");
	hodo_text_free(&t);
}

TEST(test_depth)
{
	struct hodo_text t = { 0 };
	struct hodo_json j = { .text = &t };

	for (unsigned i = 0; i < HODO_JSON_DEPTH_MAX; i++)
		hodo_json_array(&j, NULL);
	assert_int_equal(t.error, 0);
	for (unsigned i = 0; i < HODO_JSON_DEPTH_MAX; i++)
		hodo_json_end(&j);
	assert_int_equal(t.len, 2 * HODO_JSON_DEPTH_MAX);
	for (unsigned i = 0; i <= HODO_JSON_DEPTH_MAX; i++)
		hodo_json_array(&j, NULL);
	assert_int_equal(t.error, -EOVERFLOW);
	hodo_text_free(&t);
}

TEST(test_digits)
{
	char text[] = "a%20b%zz%0", nul[] = "x%00", number[HODO_FORMAT_INTEGER_MAX + 1];
	uint8_t bytes[2];
	uint64_t power = 1;

	assert_int_equal(hodo_hex_bytes(bytes, 2, "0aFf"), 2);
	assert_memory_equal(bytes, "\x0a\xff", 2);
	assert_int_equal(hodo_hex_bytes(bytes, 2, ""), 0);
	assert_int_equal(hodo_hex_bytes(bytes, 2, "012"), -1);
	assert_int_equal(hodo_hex_bytes(bytes, 2, "0g"), -1);
	assert_int_equal(hodo_hex_bytes(bytes, 2, "000102"), -1);
	assert_false(hodo_percent_decode(text));
	assert_string_equal(text, "a b%zz%0");
	assert_false(hodo_percent_decode(nul));
	assert_string_equal(nul, "x?");
	for (unsigned i = 1; i <= 20; i++, power *= 10) {
		*hodo_format_u64(number, power) = 0;
		assert_int_equal(strlen(number), i);
		*hodo_format_u64(number, power - 1) = 0;
		assert_int_equal(strlen(number), i > 1 ? i - 1 : 1);
	}
}

TEST(test_search)
{
	const int sorted[] = { 1, 3, 3, 7 };

	assert_int_equal(hodo_search(i, 4, sorted[i] > 0), 0);
	assert_int_equal(hodo_search(i, 4, sorted[i] >= 3), 1);
	assert_int_equal(hodo_search(i, 4, sorted[i] > 3), 3);
	assert_int_equal(hodo_search(i, 4, sorted[i] > 7), 4);
	assert_int_equal(hodo_search(i, 0, sorted[i] > 7), 0);
}

TEST(test_decimals)
{
	static const struct {
		int64_t v;
		unsigned decimals;
		const char *text;
	} all[] = {
		{ 0, 3, "0" },   { 1500, 3, "1.5" },  { 1005, 3, "1.005" }, { -1, 6, "-0.000001" },
		{ 12, 0, "12" }, { 999, 3, "0.999" }, { INT64_MIN, 3, "-9223372036854775.808" },
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct hodo_text t = { 0 };

		hodo_text_decimal(&t, all[i].v, all[i].decimals);
		assert_string_equal(hodo_text_string(&t), all[i].text);
		hodo_text_free(&t);
	}
}

TEST(test_utf8)
{
	char text[64];

	*hodo_escape_utf8(text, "a\"\xff\xc3\xa9", 5, '"') = 0;
	assert_string_equal(text, "a\"\"\xc3\xbf\xc3\xa9");
	*hodo_escape_utf8(text, "\"\0\x80", 3, 0) = 0;
	assert_memory_equal(text, "\"\0\xc2\x80", 5);
}
