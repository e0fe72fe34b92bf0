/* SPDX-License-Identifier: MIT */
/*
 * test_filter_nofloat.c - the machine as the kernel module uses it, compiled without floating
 * point (and on x86-64 with -mgeneral-regs-only): it accepts no double, and the
 * rest works.
 */
#include <core/filter.h>
#include <core/filter_parse.h>

#include <errno.h>
#include <string.h>

#include <lib/unit.h>

#if HODO_FILTER_FLOAT
#error compile with -DHODO_FILTER_FLOAT=0
#endif

#define NAMES 'H', 'F', HODO_FILTER_VERSION, 2, 1, 'n', 1, 'd'

static bool run(const uint8_t *code, size_t len)
{
	static const uint8_t types[] = { HODO_TYPE_I32, HODO_TYPE_F64 };
	static const char *const names[] = { "n", "d" };
	uint8_t bytes[12] = { 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f };
	struct hodo_piece piece = { bytes, sizeof(bytes) };
	struct hodo_filter f;

	assert_int_equal(hodo_filter_bind(&f, code, len, 2, types, names, NULL), 0);
	return hodo_filter_run(&f, &piece, 1, NULL);
}

TEST(test_doubles_are_refused)
{
	static const uint8_t code[] = { NAMES, HODO_FILTER_F64, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f };

	assert_int_equal(hodo_filter_verify(code, sizeof(code)), -EINVAL);
}

TEST(test_float_fields_are_absent)
{
	static const uint8_t is_true[] = { NAMES, HODO_FILTER_FIELD, 1 };
	static const uint8_t is_false[] = { NAMES, HODO_FILTER_FIELD, 1, HODO_FILTER_NOT };
	static const uint8_t has[] = { NAMES, HODO_FILTER_HAS, 1 };

	assert_false(run(is_true, sizeof(is_true)));
	assert_false(run(is_false, sizeof(is_false)));
	assert_false(run(has, sizeof(has)));
}

/* If two fields have one name the first counts, even if it is absent. */
TEST(test_float_field_hides_another)
{
	static const uint8_t types[] = { HODO_TYPE_F64, HODO_TYPE_I32 };
	static const char *const names[] = { "d", "d" };
	static const uint8_t has[] = { NAMES, HODO_FILTER_HAS, 1 };
	uint8_t bytes[12] = { 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 3 };
	struct hodo_piece piece = { bytes, sizeof(bytes) };
	struct hodo_filter f;

	assert_int_equal(hodo_filter_bind(&f, has, sizeof(has), 2, types, names, NULL), 0);
	assert_false(hodo_filter_run(&f, &piece, 1, NULL));
}

TEST(test_integers_work)
{
	static const uint8_t equal[] = { NAMES, HODO_FILTER_FIELD, 0, HODO_FILTER_I8, 3, HODO_FILTER_EQ };
	static const uint8_t less[] = { NAMES, HODO_FILTER_FIELD, 0, HODO_FILTER_I8, 3, HODO_FILTER_LT };

	assert_true(run(equal, sizeof(equal)));
	assert_false(run(less, sizeof(less)));
}

/* The compiler has no floating point, either: it refuses what needs it, with its place in the text. */
TEST(test_text_without_doubles)
{
	static const struct {
		const char *expr;
		int rc;
		const char *error;
	} rows[] = {
		{ "n == 3", 0, "" },
		{ "n == 0x3 && 3ms == 3000000", 0, "" },
		{ "n == 4", 0, "" },
		{ "n == 1.5", -EINVAL, "floating-point numbers are not allowed here at column 6" },
		{ "n > 1e3", -EINVAL, "floating-point numbers are not allowed here at column 5" },
		{ "$duration > 1.5ms", -EINVAL, "floating-point numbers are not allowed here at column 13" },
		{ "n == 99999999999999999999", -EINVAL, "number too large at column 6" },
	};
	static const struct hodo_filter_lexer lexer = { .real = NULL };
	static struct hodo_filter_parser parser;
	static uint8_t code[HODO_FILTER_MAX];
	char error[128];
	size_t i, len;

	parser.lexer = &lexer;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		error[0] = '\0';
		assert_int_equal(hodo_filter_parse(&parser, rows[i].expr, code, sizeof(code), &len, error,
						   sizeof(error)), rows[i].rc);
		assert_string_equal(error, rows[i].error);
		if (!rows[i].rc) {
			assert_int_equal(parser.names_n, 1);
			assert_ptr_equal(parser.names[0], rows[i].expr);
			assert_int_equal(run(code, len), !strchr(rows[i].expr, '4'));
		}
	}
}
