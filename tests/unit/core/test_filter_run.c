/* SPDX-License-Identifier: MIT */
/*
 * test_filter_run.c - expressions on events. SAME() has the C compiler compute the
 * same expression on variables with the names and types of the event's fields, which
 * compares the filter with C itself; tables have the rest.
 */
#define _GNU_SOURCE /* feenableexcept */
#include <core/filter.h>
#include <read/event/filter_compile.h>
#include "filter_event.h"

#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include <lib/unit.h>

#define SAME(expr) same(&e, #expr, !!(expr))

static void same(const struct test_event *e, const char *expr, int want)
{
	char error[128] = "";
	int got = event_filter(e, expr, error);

	if (got != want && !event_wants_floats(error))
		fail_msg("%s: %d, not %d %s", expr, got, want, error);
}

/* ------------------------------------------------------- what C would say */

/* 64-bit, as the machine computes; narrow types are promoted in the same way. */
static void with_integers(long long shard, unsigned long long bytes, signed char small, unsigned short port)
{
	static struct test_event e;

	event_int(&e, "shard", HODO_TYPE_I64, shard);
	event_int(&e, "bytes", HODO_TYPE_U64, (int64_t)bytes);
	event_int(&e, "small", HODO_TYPE_I8, small);
	event_int(&e, "port", HODO_TYPE_U16, port);
	event_build(&e);

	SAME(shard == 3);
	SAME(shard == 3 && bytes > 4096);
	SAME(shard == 3 || bytes > 4096);
	SAME(!shard);
	SAME(!!bytes && !(small < 0));
	SAME(~shard == -4);
	SAME(-shard < 0);
	SAME(shard + 1 == 4);
	SAME(shard - 5 < 0);
	SAME(shard * 7 > 20);
	SAME(shard / 2 == 1);
	SAME(shard % 2 == 1);
	SAME(small / 3 == -2);
	SAME(small % 3 == -1);
	SAME(small >> 1 == -4);
	SAME(bytes >> 12);
	SAME(bytes >> 63 == 1);
	SAME(1ll << (small & 15) == 512);
	SAME((bytes & 0xff) == 0);
	SAME((bytes | 1) == 8193);
	SAME((port ^ 443) == 0);
	SAME(port == 0x1bb);
	SAME(port == 0673);
	SAME(small == 'y' - 128);
	SAME(shard < 4 && shard <= 3 && shard > 2 && shard >= 3 && shard != 2);
	SAME(shard > 5 ? bytes > 100 : port == 443);
	SAME(shard > 1 ? shard > 2 ? shard > 3 ? 0 : 1 : 0 : 0);
	SAME((shard < 0) + (port > 400) + (bytes != 0) >= 2);
	SAME(bytes - 8193 > 0);  /* unsigned: wraps */
	SAME(bytes / 3 * 3 + bytes % 3 == bytes);
	SAME(0xffffffffffffffff / 2 > bytes);
	SAME(1 || 1 / shard);
	SAME(0x7fffffffffffffff == 9223372036854775807);

	/* Precedence and associativity, where other parentheses would change the result. */
	SAME(shard - 1 - 1);
	SAME(100 / 10 / 5 == 2);
	SAME(2 + 3 * 4 == 14);
	SAME(1 << 2 + 1 == 8);
	SAME(1 | 2 ^ 3 & 4);
	SAME((shard & 1 == 1) == 1);
	SAME(1 < 2 == 1);
	SAME(0 == 1 < 0);
	SAME(0 && 0 || 1);
	SAME(1 || 0 && 0);
	SAME(!0 + 1 == 2);
	SAME(-1 - -1 == 0);
	SAME(~0 >> 1 == -1);
	SAME(1 ? 0 : 1 ? 1 : 1);
	SAME(0 ? 0 : 0 ? 0 : 1);
	SAME((1 ? 2 : 3) == 2);
	event_free(&e);
}

TEST(test_integers_as_in_c)
{
	with_integers(3, 8192, -7, 443);
	with_integers(-9, 0, 7, 80);
	with_integers(1ll << 40, ~0ull, -128, 65535);
	with_integers(2, 5000, 1, 1);
	with_integers(5, 1ull << 63, 0, 0);
}

#if HODO_FILTER_FLOAT
static void with_floats(double ratio, float load, int n, unsigned long long big)
{
	static struct test_event e;

	event_float(&e, "ratio", HODO_TYPE_F64, ratio);
	event_float(&e, "load", HODO_TYPE_F32, load);
	event_int(&e, "n", HODO_TYPE_I32, n);
	event_int(&e, "big", HODO_TYPE_U64, (int64_t)big);
	event_build(&e);

	SAME(ratio > 0.5);
	SAME(ratio >= 0.5 && ratio < 1e3);
	SAME(ratio == ratio);
	SAME(ratio != ratio);
	SAME(ratio < n);
	SAME(n <= ratio);
	SAME(load == 0.25f);
	SAME(load * 4.0 == 1); /* in double, as the machine computes */
	SAME(ratio + load - 1 > n * 0.5);
	SAME(-ratio < .5);
	SAME(n / 2.0 == 1.5);
	SAME(n / 2 == 1.5);
	SAME(ratio / 2. > load);
	SAME(ratio ? 1 : 0);
	SAME(!ratio);
	SAME(ratio && load);
	SAME(0x1.8p1 == 3);
	SAME(1e-3 < 1E+3);
	SAME((n > 0 ? ratio : load) > 0.3);
	SAME(big * 1.0 > 1e18);
	event_free(&e);
}

TEST(test_floats_as_in_c)
{
	with_floats(0.75, 0.25f, 3, 0);
	with_floats(0.5, 1.5f, -3, 1ull << 63);
	with_floats(0.0, 0.0f, 0, ~0ull);
	with_floats(__builtin_nan(""), 0.25f, 1, 7);
	with_floats(__builtin_inf(), -__builtin_inff(), 1, 7);
	with_floats(-1e300, 3e38f, 2147483647, 1ull << 62);
}
#endif

/* -------------------------------------------------------------- what C cannot say */

struct row {
	const char *expr;
	int takes;
};

static void check_rows(struct test_event *e, const struct row *rows, size_t n)
{
	size_t i;

	event_build(e);
	for (i = 0; i < n; i++)
		same(e, rows[i].expr, rows[i].takes);
	event_free(e);
}
#define CHECK_ROWS(e, rows) check_rows(e, rows, sizeof(rows) / sizeof((rows)[0]))

TEST(test_texts)
{
	static const struct row rows[] = {
		{ "key == \"user:1747\"", 1 },
		{ "key == \"user:1748\"", 0 },
		{ "key == \"user:174\"", 0 },
		{ "key == \"user:17470\"", 0 },
		{ "\"user:1747\" == key", 1 },
		{ "key != \"user:1748\"", 1 },
		{ "key < \"user:1748\"", 1 },
		{ "key < \"user:1747\"", 0 },
		{ "key <= \"user:1747\"", 1 },
		{ "key > \"user:174\"", 1 }, /* the shorter comes first */
		{ "key >= \"v\"", 0 },
		{ "accent > \"z\"", 1 }, /* bytes are unsigned */
		{ "key =~ \"user*\"", 1 },
		{ "key =~ \"user\"", 0 },
		{ "key =~ \"*:????\"", 1 },
		{ "key =~ \"*[0-9]\"", 1 },
		{ "key !~ \"user*\"", 0 },
		{ "key !~ \"shard*\"", 1 },
		{ "star =~ \"\\\\*\"", 1 },
		{ "key =~ \"\\\\*\"", 0 },
		{ "key =~ star", 1 }, /* the pattern may be a field */
		{ "star == \"\\x2a\" && star == \"\\052\" && star == \"*\"", 1 },
		{ "empty == \"\"", 1 },
		{ "empty =~ \"*\"", 1 },
		{ "empty < \"a\"", 1 },
		{ "\"\" < empty", 0 },
		{ "escapes == \"\\a\\b\\t\\n\\v\\f\\r\\e\\\\\\'\\\"\\?\"", 1 },
		{ "n == 5 && key =~ \"user*\"", 1 },
		{ "(n > 3 ? key : star) == key", 1 },
		{ "\"a\" \"b\"", -EINVAL },
	};
	static const char escapes[] = "\a\b\t\n\v\f\r\033\\'\"?";
	static struct test_event e;

	event_text(&e, "key", "user:1747", 9);
	event_int(&e, "n", HODO_TYPE_I32, 5);
	event_text(&e, "star", "*", 1);
	event_text(&e, "empty", "", 0);
	event_text(&e, "accent", "\xc3\xa9", 2);
	event_text(&e, "escapes", escapes, sizeof(escapes) - 1);
	CHECK_ROWS(&e, rows);
}

/* Three-valued: absent is neither true nor false, and only what is true is recorded. */
TEST(test_absent)
{
	static const struct row rows[] = {
		{ "shard == 3", 0 },
		{ "shard != 3", 0 },
		{ "!(shard == 3)", 0 },
		{ "!shard", 0 },
		{ "shard == shard", 0 },
		{ "shard < 3 || shard >= 3", 0 },
		{ "shard == 3 || n == 5", 1 },
		{ "n == 5 || shard == 3", 1 },
		{ "shard == 3 && n == 5", 0 },
		{ "!(shard == 3 && n == 4)", 1 }, /* false whatever shard may be */
		{ "!(n == 4 && shard == 3)", 1 },
		{ "!(shard == 3 && n == 5)", 0 },
		{ "!(shard == 3 || n == 4)", 0 },
		{ "shard ? 1 : 1", 0 },
		{ "n ? 1 : shard", 1 },
		{ "n ? shard : 1", 0 },
		{ "n + shard", 0 },
		{ "-shard == -shard", 0 },
		{ "~shard || 1", 1 },
		{ "shard =~ \"*\"", 0 },
		{ "shard !~ \"*\"", 0 },
		{ "!has(shard)", 1 },
		{ "!has(shard) || shard == 3", 1 },
		{ "has(n) && n == 5", 1 },
		{ "has(n) + has(key) == 2", 1 },
		/* No value */
		{ "n / 0", 0 },
		{ "!(n / 0)", 0 },
		{ "n % 0 == 0 || n / 0.0 > 0", 0 },
		{ "1 / (n - 5) || 1", 1 },
		{ "n << 64 || n << -1 || n >> 64", 0 },
		{ "!(n << 64)", 0 },
		{ "n << 63 != 0", 1 },
		/* Kinds that do not go together */
		{ "key == 5", 0 },
		{ "key != 5", 0 },
		{ "n == key || n != key || n < key", 0 },
		{ "n =~ key || key =~ n", 0 },
		{ "key + 1 || -key || ~key || key * key", 0 },
		{ "real & 1 || real % 2 || ~real || real << 1 || 1 << real", 0 },
		{ "-real < 0 && real > 1", FLOATS(1, 0) },
		{ "key", 1 }, /* as a pointer that is not NULL */
		{ "!key", 0 },
		/* NULL texts, bytes and arrays */
		{ "null == \"(null)\" || null == \"\" || null != \"x\" || null =~ \"*\"", 0 },
		{ "has(null)", 0 },
		{ "null", 0 },
		{ "has(data) && has(list)", 1 },
		{ "data == 1 || data == \"x\" || !data || list || !list", 0 },
		{ "behind == 77", 1 }, /* the machine finds fields after those of variable size */
		{ "missing || NONE", 0 },
	};
	static struct test_event e;

	event_int(&e, "n", HODO_TYPE_U8, 5);
	event_text(&e, "key", "k", 1);
	event_float(&e, "real", HODO_TYPE_F32, 1.5);
	event_text(&e, "null", NULL, 0);
	event_data(&e, "data", HODO_TYPE_BYTES, 5);
	event_data(&e, "list", HODO_TYPE_ARRAY | HODO_TYPE_I8, 3);
	event_int(&e, "behind", HODO_TYPE_U16, 77);
	CHECK_ROWS(&e, rows);
}

/* Numbers compare by value, where C would first convert one of them. */
TEST(test_exact_comparisons)
{
	static const struct row rows[] = {
		{ "neg < big", 1 },
		{ "big > -1", 1 },
		{ "max != -1", 1 }, /* C: equal */
		{ "neg < 1u", 1 },
		{ "least == -9223372036854775808", 1 },
		{ "least == -0x8000000000000000", 1 },
		{ "least < -9223372036854775807", 1 },
		{ "odd == 9007199254740993", 1 },
		{ "odd == 9007199254740992.0", 0 }, /* C: equal, odd rounded */
		{ "odd > 9007199254740992.0", 1 },
		{ "9007199254740992.0 < odd", 1 },
		{ "max < 18446744073709551616.0", 1 },
		{ "max == 18446744073709551616.0", 0 },
		{ "least >= -9223372036854775808.0", 1 },
		{ "least < -9223372036854775808.0", 0 },
		{ "neg > -1e30 && least > -1e30 && max < 1e30 && big < 1e30 && -1e30 < neg", 1 },
		{ "neg < -0.5 && neg > -1.5 && neg == -1.0", 1 },
		{ "0 == -0.0", 1 },
		{ "least / -1 == least && least % -1 == 0", 1 }, /* C: traps */
		{ "-least == least", 1 },
		{ "max + 1 == 0", 1 },
		{ "max * max == 1", 1 },
		{ "ptr == 0x7fff00001000", 1 },
		{ "max >> 63 == 1 && least >> 63 == -1", 1 },
	};
	static struct test_event e;

	event_int(&e, "neg", HODO_TYPE_I16, -1);
	event_int(&e, "big", HODO_TYPE_U64, 1);
	event_int(&e, "max", HODO_TYPE_U64, -1);
	event_int(&e, "least", HODO_TYPE_I64, INT64_MIN);
	event_int(&e, "odd", HODO_TYPE_I64, (1ll << 53) + 1);
	event_int(&e, "ptr", HODO_TYPE_PTR, 0x7fff00001000);
	CHECK_ROWS(&e, rows);
}

/* Every type, at both ends of its range, with its sign. */
TEST(test_types)
{
	static const struct row rows[] = {
		{ "i8 == -128 && u8 == 255", 1 },
		{ "i16 == -32768 && u16 == 65535", 1 },
		{ "i32 == -2147483648 && u32 == 4294967295", 1 },
		{ "i64 == -9223372036854775807 && u64 == 0xffffffffffffffff", 1 },
		{ "yes && yes == true && no == false && !no", 1 },
		{ "letter == 'x' && high < 0", 1 },
		{ "f32 == 0.1", 0 }, /* a float is not equal to the double */
		{ "f32 > 0.0999 && f32 < 0.1001 && f64 == 0.1", 1 },
		{ "u32 + 1 == 0x100000000", 1 }, /* all integers are 64 bits */
		{ "~u8 == -256", 1 },
	};
	static struct test_event e;

	event_int(&e, "i8", HODO_TYPE_I8, INT8_MIN);
	event_int(&e, "u8", HODO_TYPE_U8, UINT8_MAX);
	event_int(&e, "i16", HODO_TYPE_I16, INT16_MIN);
	event_int(&e, "u16", HODO_TYPE_U16, UINT16_MAX);
	event_int(&e, "i32", HODO_TYPE_I32, INT32_MIN);
	event_int(&e, "u32", HODO_TYPE_U32, UINT32_MAX);
	event_int(&e, "i64", HODO_TYPE_I64, -INT64_MAX);
	event_int(&e, "u64", HODO_TYPE_U64, -1);
	event_int(&e, "yes", HODO_TYPE_BOOL, 1);
	event_int(&e, "no", HODO_TYPE_BOOL, 0);
	event_int(&e, "letter", HODO_TYPE_CHAR, 'x');
	event_int(&e, "high", HODO_TYPE_CHAR, (signed char)0xe9);
	event_float(&e, "f32", HODO_TYPE_F32, 0.1);
	event_float(&e, "f64", HODO_TYPE_F64, 0.1);
	CHECK_ROWS(&e, rows);
}

/* ------------------------------------------------------------------ binding */

TEST(test_bind_refuses)
{
	static const uint8_t bad[] = { HODO_TYPE_NONE, HODO_TYPE_BYTES + 1, HODO_TYPE_ARRAY,
				       HODO_TYPE_ARRAY | HODO_TYPE_STR, 0x80, 0xff };
	static struct test_event e;
	static uint8_t code[HODO_FILTER_MAX];
	struct hodo_filter f;
	size_t i;

	event_int(&e, "a", HODO_TYPE_I32, 1);
	assert_int_equal(event_bind(&f, code, "a == 1", &e), 0);
	for (i = 0; i < sizeof(bad); i++) {
		e.types[0] = bad[i];
		assert_int_equal(event_bind(&f, code, "a == 1", &e), -EINVAL);
	}
	e.n = HODO_FIELDS_MAX + 1;
	assert_int_equal(event_bind(&f, code, "a == 1", &e), -EINVAL);
	assert_int_equal(hodo_filter_bind(&f, code, 3, 0, NULL, NULL, NULL), -EINVAL);
}

/* Pieces that do not match the types: fields are absent, and nothing reads outside (the sanitizer checks that). */
TEST(test_short_pieces)
{
	static struct test_event e;
	static uint8_t code[HODO_FILTER_MAX];
	struct hodo_filter f;
	size_t count;

	event_int(&e, "a", HODO_TYPE_I32, 1);
	event_text(&e, "t", "x", 1);
	event_int(&e, "b", HODO_TYPE_I64, 1);
	event_build(&e);
	assert_int_equal(event_bind(&f, code, "a == 1 && t == \"x\" && b == 1", &e), 0);
	assert_true(hodo_filter_run(&f, e.pieces, e.count, NULL));
	for (count = 0; count < e.count; count++)
		assert_false(hodo_filter_run(&f, e.pieces, count, NULL));
	for (count = 0; count < e.count; count++) {
		size_t len = e.pieces[count].len, needed = count == 0 ? 4 : len, cut;

		for (cut = 0; cut < needed; cut++) {
			e.pieces[count].len = cut;
			assert_false(hodo_filter_run(&f, e.pieces, e.count, NULL));
		}
		e.pieces[count].len = len;
	}
	event_free(&e);
}

/* If two fields have one name the first counts; the maximum number of fields reaches the last piece and byte. */
TEST(test_fields_found)
{
	static char names[HODO_FIELDS_MAX][8];
	static struct test_event e;
	unsigned int i;

	event_int(&e, "n", HODO_TYPE_I32, 1);
	event_int(&e, "n", HODO_TYPE_I32, 2);
	event_build(&e);
	same(&e, "n == 1", 1);
	event_free(&e);

	for (i = 0; i < HODO_FIELDS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		event_text(&e, names[i], names[i], strlen(names[i]));
	}
	event_build(&e);
	same(&e, "t0 == \"t0\" && t7 == \"t7\" && t31 == \"t31\" && t30 !~ \"t31\"", 1);
	event_free(&e);

	for (i = 0; i < HODO_FIELDS_MAX; i++)
		event_int(&e, names[i], HODO_TYPE_U64, 1000 + i);
	event_build(&e);
	same(&e, "t0 == 1000 && t30 == 1030 && t31 == 1031", 1);
	e.pieces[0].len--;
	same(&e, "t30 == 1030", 1);
	same(&e, "t31 == 1031", 0);
	same(&e, "t31 + 0 == 1031", 0);
	event_free(&e);
}

/* What an array of the kernel has after the end of its text does not belong to the text. */
TEST(test_text_ends_at_nul)
{
	static const struct row rows[] = {
		{ "comm == \"bash\" && comm =~ \"b*h\" && comm =~ \"*sh\" && comm =~ \"ba*\"", 1 },
		{ "len(comm) == 4 && len(full) == 16 && len(none) == 0 && len(tail) == 1", 1 },
		{ "comm == \"bash\\0\" || comm != \"bash\"", 0 },
		{ "full == \"0123456789abcdef\" && none == \"\" && tail == \"x\"", 1 },
		{ "comm[3] == 'h' && !has(null) && has(none)", 1 },
		{ "comm[4] == 0", 0 }, /* after the end: absent */
		{ "tail == \"xyz\"", 0 },
		{ "none > \"\"", 0 },
	};
	static struct test_event e;

	event_text(&e, "comm", "bash\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	event_text(&e, "full", "0123456789abcdef", 16);
	event_text(&e, "none", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	event_text(&e, "tail", "x\0yz", 4);
	event_text(&e, "null", NULL, 0);
	CHECK_ROWS(&e, rows);
}

/* ------------------------------------------------- the program's own state */

#if HODO_FILTER_FLOAT
TEST(test_float_state_untouched)
{
	static struct test_event e;
	static uint8_t code[HODO_FILTER_MAX];
	struct hodo_filter f;

	event_float(&e, "d", HODO_TYPE_F64, 1e300);
	event_int(&e, "n", HODO_TYPE_I64, INT64_MAX);
	event_build(&e);
	assert_int_equal(event_bind(&f, code, "d * d / 3 > 1 && d / 3 > 0.1 && 0.1 / d != 1 && n / 3 < d", &e), 0);
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
	fesetround(FE_DOWNWARD);
	(void)hodo_filter_run(&f, e.pieces, e.count, NULL); /* SIGFPE if it raises an exception */
	assert_int_equal(fegetround(), FE_DOWNWARD);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
	assert_int_equal(fegetexcept(), FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
	fedisableexcept(FE_ALL_EXCEPT);
	fesetround(FE_TONEAREST);
	event_free(&e);
}
#endif
