/* SPDX-License-Identifier: MIT */
/*
 * test_nofloat.c - the machine as the kernel gets it, compiled without floating
 * point (and on x86-64 with -mgeneral-regs-only): no double gets in, and the
 * rest works.
 */
#include "../../src/core/filter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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

static void test_doubles_are_refused(void **state)
{
	static const uint8_t code[] = { NAMES, HODO_FILTER_F64, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f };

	assert_int_equal(hodo_filter_verify(code, sizeof(code)), -EINVAL);
}

static void test_float_fields_are_absent(void **state)
{
	static const uint8_t is_true[] = { NAMES, HODO_FILTER_FIELD, 1 };
	static const uint8_t is_false[] = { NAMES, HODO_FILTER_FIELD, 1, HODO_FILTER_NOT };
	static const uint8_t has[] = { NAMES, HODO_FILTER_HAS, 1 };

	assert_false(run(is_true, sizeof(is_true)));
	assert_false(run(is_false, sizeof(is_false)));
	assert_false(run(has, sizeof(has)));
}

static void test_integers_work(void **state)
{
	static const uint8_t equal[] = { NAMES, HODO_FILTER_FIELD, 0, HODO_FILTER_I8, 3, HODO_FILTER_EQ };
	static const uint8_t less[] = { NAMES, HODO_FILTER_FIELD, 0, HODO_FILTER_I8, 3, HODO_FILTER_LT };

	assert_true(run(equal, sizeof(equal)));
	assert_false(run(less, sizeof(less)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles_are_refused),
		cmocka_unit_test(test_float_fields_are_absent),
		cmocka_unit_test(test_integers_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
