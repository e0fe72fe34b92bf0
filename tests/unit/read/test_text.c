/* SPDX-License-Identifier: MIT */
/* test_text.c - numbers, escaping and marks as text. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <float.h>
#include <locale.h>
#include <math.h>

#include <read/text/text.h>
#include <lib/random.h>

static uint64_t seed = 0x853c49e6748fea9bull;

TEST(test_integers)
{
	char ours[32], theirs[32];

	for (unsigned i = 0; i < 200000; i++) {
		uint64_t v = i < 1000 ? i : xorshift(&seed) >> xorshift(&seed) % 64;

		*hodo_format_u64(ours, v) = 0;
		snprintf(theirs, sizeof(theirs), "%llu", (unsigned long long)v);
		assert_string_equal(ours, theirs);
		*hodo_format_i64(ours, (int64_t)v) = 0;
		snprintf(theirs, sizeof(theirs), "%lld", (long long)v);
		assert_string_equal(ours, theirs);
		*hodo_format_hex(ours, v) = 0;
		snprintf(theirs, sizeof(theirs), "%llx", (unsigned long long)v);
		assert_string_equal(ours, theirs);
	}
	*hodo_format_i64(ours, INT64_MIN) = 0;
	assert_string_equal(ours, "-9223372036854775808");
}

static double random_double(void)
{
	uint64_t bits = xorshift(&seed);
	double d;

	switch (xorshift(&seed) % 5) {
	case 0:
		memcpy(&d, &bits, sizeof(d));
		return d;
	case 1:
		return (double)(int64_t)(bits >> xorshift(&seed) % 63) / 1000;
	case 2:
		/* Neighbours of powers of two and of ten. */
		d = xorshift(&seed) % 2 ? (double)(1ull << bits % 50)
				      : __builtin_powi(10, (int)(bits % 24) - 6);
		memcpy(&bits, &d, sizeof(bits));
		bits += xorshift(&seed) % 5 - 2;
		memcpy(&d, &bits, sizeof(d));
		return xorshift(&seed) % 2 ? d : 1 / d;
	case 3:
		return (double)(int32_t)bits / (double)(1 << xorshift(&seed) % 20);
	default:
		return (double)(bits % 1000000) / 100;
	}
}

/* How many digits the shortest decimal has that reads back as v, as the C library finds it. */
static size_t shortest(double v, bool single)
{
	char text[64];
	size_t n = 0;
	int digits = 1;

	do
		snprintf(text, sizeof(text), "%.*e", digits - 1, v);
	while ((single ? strtof(text, NULL) != (float)v : strtod(text, NULL) != v) && digits++ < 17);
	for (const char *p = text; *p != 'e'; p++)
		n += *p >= '0' && *p <= '9';
	return n;
}

/* How many digits there are from the first to the last that is not zero. */
static size_t significant(const char *text)
{
	size_t n = 0, upto = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
			continue;
		n++;
		if (*text != '0')
			upto = n;
	}
	return upto ? upto : 1;
}

/* The text reads back as the same value, and has no more digits than needed. */
static void check_float(double v, bool single, locale_t c)
{
	char text[64] = { 0 }, *end = hodo_format_float(text, v, single, true, c), *stop;

	assert_true(end - text <= HODO_FORMAT_FLOAT_MAX);
	if (!isfinite(v)) {
		assert_string_equal(text, isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
		return;
	}
	if (single)
		assert_true(strtof(text, &stop) == (float)v);
	else
		assert_true(strtod(text, &stop) == v);
	assert_ptr_equal(stop, end);
	assert_true(signbit(strtod(text, NULL)) == signbit(v));
	assert_non_null(strpbrk(text, ".e"));
	assert_non_null(memchr("0123456789", text[strlen(text) - 1], 10)); /* as JSON wants it */
	if (significant(text) > shortest(v, single))
		fail_msg("%s has more digits than needed", text);
}

TEST(test_floats)
{
	static const double values[] = { 0,        -0.0,      1,          0.1,    0.3,     1e22,     1e23,
					 1e15,     1e16,      123456.789, 5e-324, DBL_MAX, -DBL_MAX, DBL_MIN,
					 INFINITY, -INFINITY, NAN,        0.1f,   FLT_MAX, 16777217 };
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char text[64];

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		check_float(values[i], false, c);
		check_float((double)(float)values[i], true, c);
	}
	for (unsigned i = 0; i < 300000; i++) {
		double v = random_double();

		check_float(v, false, c);
		check_float((double)(float)v, true, c);
	}
	*hodo_format_float(text, 0.1f, true, true, c) = 0;
	assert_string_equal(text, "0.1");
	*hodo_format_float(text, 0.1f, false, true, c) = 0;
	assert_string_equal(text, "0.10000000149011612");
	freelocale(c);
}

static void check_escape(const char *s, size_t len, const char *json, const char *plain)
{
	struct hodo_read_text *t = hodo_read_text_new();
	const char *data;
	size_t n;

	assert_int_equal(hodo_read_text_json_string(t, s, len), 0);
	data = hodo_read_text_data(t, &n);
	assert_int_equal(n, strlen(json));
	assert_memory_equal(data, json, n);
	hodo_read_text_clear(t);
	assert_int_equal(hodo_read_text_plain(t, s, len), 0);
	data = hodo_read_text_data(t, &n);
	assert_int_equal(n, strlen(plain));
	assert_memory_equal(data, plain, n);
	hodo_read_text_free(t);
}

TEST(test_escapes)
{
	check_escape("plain", 5, "\"plain\"", "plain");
	check_escape("a\"b\\c\n\t\r\b\f\1\x7f", 12, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u007f\"",
		     "a\"b\\c\\n\\t\\r\\b\\f\\x01\\x7f");
	check_escape("\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\"",
		     "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80");
	check_escape("\xc2\x85", 2, "\"\\u0085\"", "\\xc2\\x85"); /* a control character of a terminal */
	check_escape("\xc0\x80", 2, "\"\\u00c0\\u0080\"", "\\xc0\\x80");                 /* overlong */
	check_escape("\xed\xa0\x80", 3, "\"\\u00ed\\u00a0\\u0080\"", "\\xed\\xa0\\x80"); /* a surrogate */
	check_escape("\xf4\x90\x80\x80", 4, "\"\\u00f4\\u0090\\u0080\\u0080\"", "\\xf4\\x90\\x80\\x80");
	check_escape("\xe2\x82", 2, "\"\\u00e2\\u0082\"", "\\xe2\\x82"); /* cut */
	check_escape("\0", 1, "\"\\u0000\"", "\\x00");
	check_escape("", 0, "\"\"", "");
}

/* A text ends at its first NUL, and the next field begins after all of its bytes. */
TEST(test_values)
{
	static const struct {
		const char *bytes;
		uint16_t stored, count;
		bool null;
	} rows[] = {
		{ "bash\0\0\0\0\0\0\0\0\0\0\0\0", 16, 4, false },
		{ "0123456789abcdef", 16, 16, false },
		{ "\0\0\0\0", 4, 0, false },
		{ "x\0yz", 4, 1, false },
		{ "", 0, 0, false },
		{ "(null)", 7, 7, true },
		{ "(null)", 6, 6, false },
		{ "(null)\0", 8, 6, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hodo_read_value v;
		uint8_t stored[32];

		memcpy(stored, &rows[i].stored, 2);
		memcpy(stored + 2, rows[i].bytes, rows[i].stored);
		assert_ptr_equal(hodo_read_value_take(HODO_TYPE_STR, stored, &v), stored + 2 + rows[i].stored);
		assert_int_equal(v.count, rows[i].count);
		assert_int_equal(v.null, rows[i].null);
		assert_ptr_equal(v.data, stored + 2);
	}
}

/* ------------------------------------------------------------------------ marks */

struct mark {
	struct hodo_class cls;
	struct hodo_read_value values[HODO_FIELDS_MAX];
	struct hodo_read_event event;
};

static void mark_start(struct mark *m, const char *format)
{
	memset(m, 0, sizeof(*m));
	m->cls.pub.kind = HODO_KIND_MARK;
	m->cls.pub.format = format;
	m->cls.pub.fields = m->cls.fields;
	m->event.cls = &m->cls.pub;
	m->event.values = m->values;
}

static struct hodo_read_value *mark_add(struct mark *m, uint32_t type)
{
	struct hodo_read_value *v = &m->values[m->cls.pub.nfields];

	m->cls.fields[m->cls.pub.nfields].type = type;
	m->cls.fields[m->cls.pub.nfields].name = "x";
	m->cls.pub.nfields++;
	v->type = type;
	v->count = 1;
	return v;
}

static void mark_is(struct mark *m, const char *want)
{
	struct hodo_read_text *t = hodo_read_text_new();
	const char *data;
	size_t n;

	assert_int_equal(hodo_read_text_mark(t, &m->event), 0);
	data = hodo_read_text_data(t, &n);
	if (n != strlen(want) || memcmp(data, want, n) != 0)
		fail_msg("'%s' gives '%.*s', not '%s'", m->cls.pub.format, (int)n, data, want);
	hodo_read_text_free(t);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

/* Every combination of flags, widths and precisions, compared with the C library. */
TEST(test_mark_integers)
{
	static const char *const flags[] = {
		"", "-", "+", " ", "#", "0", "-0", "+ ", "#0", "-#", "+0", " 0"
	};
	static const char *const sizes[] = { "", "1", "5", "12", ".0", ".1", ".8", "12.5", "5.12", "." };
	static const char types[] = "diouxX";
	static const int64_t values[] = { 0, 1, -1, 42, -42, INT32_MAX, INT32_MIN };

	for (unsigned f = 0; f < 12; f++) {
		for (unsigned s = 0; s < 10; s++) {
			for (const char *type = types; *type; type++) {
				for (unsigned v = 0; v < 7; v++) {
					char format[32], want[64];
					struct mark m;

					snprintf(format, sizeof(format), "<%%%s%s%c>", flags[f], sizes[s],
						 *type);
					snprintf(want, sizeof(want), format, (int)values[v]);
					mark_start(&m, format);
					mark_add(&m, HODO_TYPE_I32)->i = values[v];
					mark_is(&m, want);
					snprintf(format, sizeof(format), "<%%%s%sl%c>", flags[f], sizes[s],
						 *type);
					snprintf(want, sizeof(want), format, values[v] * 4000000000);
					mark_start(&m, format);
					mark_add(&m, HODO_TYPE_I64)->i = values[v] * 4000000000;
					mark_is(&m, want);
				}
			}
		}
	}
}

TEST(test_mark_others)
{
	static const char *const formats[] = {
		"%f",       "%.0f", "%.3f", "%+.2e", "%g",    "%#g", "%010.3f",
		"%-12.2fx", "% a",  "%G",   "%E",    "%.17g", "%F",  "%20.5g"
	};
	static const double values[] = { 0, -0.0, 1.5, -2.25e10, 1e300, 5e-324, INFINITY, -INFINITY, NAN };
	char want[1024];
	struct mark m;

	for (unsigned f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			mark_start(&m, formats[f]);
			mark_add(&m, HODO_TYPE_F64)->f = values[v];
			snprintf(want, sizeof(want), formats[f], values[v]);
			mark_is(&m, want);
		}
	}
	mark_start(&m, "%hhd %hd %hhu %hx %d %c%c %p %p %8p");
	mark_add(&m, HODO_TYPE_I32)->i = 300;
	mark_add(&m, HODO_TYPE_I32)->i = 70000;
	mark_add(&m, HODO_TYPE_I8)->i = -1;
	mark_add(&m, HODO_TYPE_I8)->i = -1;
	mark_add(&m, HODO_TYPE_U8)->u = 200;
	mark_add(&m, HODO_TYPE_CHAR)->i = 'A';
	mark_add(&m, HODO_TYPE_I32)->i = 'B';
	mark_add(&m, HODO_TYPE_PTR)->u = 0;
	mark_add(&m, HODO_TYPE_PTR)->u = 0xdead;
	mark_add(&m, HODO_TYPE_PTR)->u = 1;
	mark_is(&m, "44 4464 255 ffff 200 AB (nil) 0xdead      0x1");
}

static struct hodo_read_value *add_text(struct mark *m, const char *s)
{
	struct hodo_read_value *v = mark_add(m, HODO_TYPE_STR);

	v->data = s ? s : HODO_NULL_TEXT;
	v->count = s ? (uint32_t)strlen(s) : HODO_NULL_TEXT_LEN;
	v->null = !s;
	return v;
}

TEST(test_mark_texts)
{
	struct mark m;

	mark_start(&m, "%s|%5s|%-5s|%.2s|%s|%.3s|%8s|%%|%2$s");
	for (unsigned i = 0; i < 4; i++)
		add_text(&m, i == 1 ? "b" : "abc");
	add_text(&m, NULL);
	add_text(&m, NULL);
	add_text(&m, NULL);
	mark_is(&m, "abc|    b|abc  |ab|(null)||  (null)|%|b");
	mark_start(&m, "");
	mark_is(&m, "");
	mark_start(&m, "%s");
	add_text(&m, "");
	mark_is(&m, "");
	mark_start(&m, "no values\n");
	mark_is(&m, "no values\n");
}

#pragma GCC diagnostic pop

/* Formats that no compiler has checked. */
TEST(test_mark_hostile)
{
	static const uint8_t raw[] = { 0xab, 0xcd };
	struct hodo_read_text *t = hodo_read_text_new();
	char long_format[2000];
	struct mark m;
	size_t n;

	mark_start(&m, "%n %d %s %* %");
	mark_add(&m, HODO_TYPE_I32)->i = 5;
	mark_is(&m, "%n 5 %s %* %");
	mark_start(&m, "%s %d %x %f %c %s");
	mark_add(&m, HODO_TYPE_I32)->i = -5;
	add_text(&m, "text");
	mark_add(&m, HODO_TYPE_F64)->f = 1.5;
	mark_add(&m, HODO_TYPE_U64)->u = 7;
	mark_add(&m, HODO_TYPE_F32)->f = 0.25;
	mark_add(&m, HODO_TYPE_BYTES)->data = raw;
	m.values[5].count = 2;
	mark_is(&m, "-5 \"text\" 1.5 7 0.25 abcd");
	mark_start(&m, "%99999999999d|%.99999999999d|%0$d|%9$d|%4294967297$d|%m|%ls|%k");
	mark_add(&m, HODO_TYPE_I32)->i = 1;
	mark_add(&m, HODO_TYPE_I32)->i = 2;
	assert_int_equal(hodo_read_text_mark(t, &m.event), 0);
	hodo_read_text_data(t, &n);
	assert_true(n > 2 * 1024 && n < 2 * 1024 + 100);
	/* One value printed many times, as wide as possible. */
	for (unsigned i = 0; i + 8 < sizeof(long_format); i += 8)
		memcpy(long_format + i, "%1$1024d", 9);
	mark_start(&m, long_format);
	mark_add(&m, HODO_TYPE_I32)->i = 1;
	hodo_read_text_clear(t);
	assert_int_equal(hodo_read_text_mark(t, &m.event), 0);
	hodo_read_text_data(t, &n);
	assert_true(n < 80 * 1024);
	hodo_read_text_free(t);
}

TEST(test_names)
{
	assert_string_equal(hodo_read_type_name(HODO_TYPE_I32), "i32");
	assert_string_equal(hodo_read_type_name(HODO_TYPE_F64 | HODO_TYPE_ARRAY), "f64[]");
	assert_string_equal(hodo_read_type_name(HODO_TYPE_STR | HODO_TYPE_ARRAY), "?");
	assert_string_equal(hodo_read_type_name(0), "?");
	assert_string_equal(hodo_read_type_name(0xffffffff), "?");
	assert_string_equal(hodo_read_kind_name(HODO_KIND_SPAN_END), "span_end");
	assert_string_equal(hodo_read_kind_name(99), "?");
}
