/* SPDX-License-Identifier: MIT */
/* cmocka.h - the part of cmocka that the tests use, for a kernel module: unit.c. */
#ifndef HODO_UNIT_CMOCKA_H
#define HODO_UNIT_CMOCKA_H

#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

/* The part of <stdint.h> that the core does not use. */
#define INT8_MIN S8_MIN
#define INT16_MIN S16_MIN
#define INT32_MIN S32_MIN
#define UINT8_MAX U8_MAX

/* Ends the running test and its thread: it does not return. */
__printf(3, 4) void hodo_unit_fail(const char *file, int line, const char *format, ...);
#define fail_msg(...) hodo_unit_fail(__FILE__, __LINE__, __VA_ARGS__)
__printf(1, 2) void print_message(const char *format, ...);

#define assert_true(x)                                               \
	do {                                                         \
		if (!(x))                                            \
			fail_msg("%s", #x);                          \
	} while (0)
#define assert_false(x) assert_true(!(x))
#define assert_non_null(x) assert_true((x) != NULL)
#define assert_null(x) assert_true((x) == NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))

static inline void hodo_unit_equal(uint64_t a, uint64_t b, const char *text, const char *file, int line)
{
	if (a != b)
		hodo_unit_fail(file, line, "%s: %#llx", text, a);
}
/* Compares as cmocka does: as the widest unsigned type. */
#define assert_int_equal(a, b) hodo_unit_equal((uint64_t)(a), (uint64_t)(b), #a " == " #b, __FILE__, __LINE__)

static inline void hodo_unit_in_range(uint64_t x, uint64_t least, uint64_t most, const char *text, const char *file,
				      int line)
{
	if (x < least || x > most)
		hodo_unit_fail(file, line, "%s: %llu, not %llu to %llu", text, x, least, most);
}
#define assert_in_range(x, least, most) \
	hodo_unit_in_range((uint64_t)(x), (uint64_t)(least), (uint64_t)(most), #x, __FILE__, __LINE__)

static inline void hodo_unit_strings(const char *a, const char *b, bool equal, const char *file, int line)
{
	if ((strcmp(a, b) == 0) != equal)
		hodo_unit_fail(file, line, "\"%s\", \"%s\"", a, b);
}
#define assert_string_equal(a, b) hodo_unit_strings(a, b, true, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) hodo_unit_strings(a, b, false, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)

#endif
