/* SPDX-License-Identifier: MIT */
/*
 * test_filter_verify.c - the verifier on programs that no compiler made: each
 * rule broken by hand, every truncation, random bytes and flipped bits. A program
 * that passes is run on an event, in one build under the sanitizers.
 */
#include <core/filter.h>
#include <read/event/filter_compile.h>
#include "filter_reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#define HEADER 'H', 'F', HODO_FILTER_VERSION
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

enum { ONE = HODO_FILTER_I8, FIELD = HODO_FILTER_FIELD, ADD = HODO_FILTER_ADD, NOT = HODO_FILTER_NOT,
       LAND = HODO_FILTER_LAND, SKIP = HODO_FILTER_LAND_SKIP, SELECT = HODO_FILTER_SELECT };

static void make_event(struct test_event *e)
{
	memset(e, 0, sizeof(*e));
	event_int(e, "a", HODO_TYPE_I32, 3);
	event_text(e, "key", "user:1747", 9);
	event_float(e, "ratio", HODO_TYPE_F64, 0.75);
	event_data(e, "data", HODO_TYPE_BYTES, 7);
	event_build(e);
}

/* Verifies a copy of exactly len bytes, and binds and runs it if it passes. Returns whether it passed. */
static bool try(const uint8_t *code, size_t len, const struct test_event *e)
{
	uint8_t *exact = malloc(len ? len : 1);
	struct hodo_filter f;
	int rc;

	memcpy(exact, code, len);
	rc = hodo_filter_verify(exact, len);
	assert_true(rc == 0 || rc == -EINVAL);
	assert_int_equal(hodo_filter_bind(&f, exact, len, e->n, e->types, e->names, NULL), rc);
	if (rc == 0)
		(void)hodo_filter_run(&f, e->pieces, e->count, NULL);
	free(exact);
	return rc == 0;
}

static const struct {
	const char *what;
	const uint8_t *code;
	size_t len;
	bool valid;
} programs[] = {
	{ "least program", BYTES(HEADER, 0, ONE, 1), true },
	{ "empty", BYTES(0), false },
	{ "no instruction", BYTES(HEADER, 0), false },
	{ "other magic", BYTES('H', 'G', HODO_FILTER_VERSION, 0, ONE, 1), false },
	{ "other version", BYTES('H', 'F', 1, 0, ONE, 1), false },
	{ "name", BYTES(HEADER, 1, 1, 'a', FIELD, 0), true },
	{ "name cut", BYTES(HEADER, 1, 9, 'a', FIELD, 0), false },
	{ "name of no length", BYTES(HEADER, 1, 0, FIELD, 0), false },
	{ "names missing", BYTES(HEADER, 3, 1, 'a'), false },
	{ "name not in the table", BYTES(HEADER, 1, 1, 'a', FIELD, 1), false },
	{ "has() of a name not in the table", BYTES(HEADER, 1, 1, 'a', HODO_FILTER_HAS, 1), false },
	{ "unknown instruction 0", BYTES(HEADER, 0, ONE, 1, 0), false },
	{ "unknown instruction 20", BYTES(HEADER, 0, ONE, 1, 20), false },
	{ "unknown instruction 255", BYTES(HEADER, 0, ONE, 1, 255), false },
	{ "operand missing", BYTES(HEADER, 0, ONE), false },
	{ "operand cut", BYTES(HEADER, 0, HODO_FILTER_I64, 1, 2, 3, 4, 5, 6, 7), false },
	{ "float cut", BYTES(HEADER, 0, HODO_FILTER_F64, 1, 2, 3, 4, 5, 6, 7), false },
	{ "text", BYTES(HEADER, 0, HODO_FILTER_TEXT, 2, 0, 'a', 'b'), true },
	{ "text behind the end", BYTES(HEADER, 0, HODO_FILTER_TEXT, 3, 0, 'a', 'b'), false },
	{ "text far behind the end", BYTES(HEADER, 0, HODO_FILTER_TEXT, 255, 255, 'a', 'b'), false },
	{ "nothing to negate", BYTES(HEADER, 0, NOT), false },
	{ "one operand for two", BYTES(HEADER, 0, ONE, 1, ADD), false },
	{ "two operands for three", BYTES(HEADER, 0, ONE, 1, ONE, 1, SELECT), false },
	{ "two values left", BYTES(HEADER, 0, ONE, 1, ONE, 1), false },
	{ "skip", BYTES(HEADER, 0, ONE, 1, SKIP, 3, 0, ONE, 1, LAND), true },
	{ "skip of nothing", BYTES(HEADER, 0, ONE, 1, SKIP, 0, 0), true },
	{ "skip behind the end", BYTES(HEADER, 0, ONE, 1, SKIP, 4, 0, ONE, 1, LAND), false },
	{ "skip far behind the end", BYTES(HEADER, 0, ONE, 1, SKIP, 255, 255, ONE, 1, LAND), false },
	{ "skip into an operand", BYTES(HEADER, 0, ONE, 0, SKIP, 1, 0, ONE, 1, LAND), false },
	{ "skip to another depth", BYTES(HEADER, 0, ONE, 0, SKIP, 2, 0, ONE, 1, LAND), false },
	{ "skip into the operand of another", BYTES(HEADER, 0, ONE, 0, SKIP, 1, 0, SKIP, 0, 0), false },
	{ "skip without a value", BYTES(HEADER, 0, SKIP, 0, 0, ONE, 1), false },
	{ "skips nested",
	  BYTES(HEADER, 0, ONE, 0, SKIP, 9, 0, ONE, 1, SKIP, 3, 0, ONE, 1, LAND, LAND), true },
	{ "skips overlapping",
	  BYTES(HEADER, 0, ONE, 0, SKIP, 5, 0, ONE, 1, SKIP, 4, 0, ONE, 1, LAND, LAND), false },
	{ "skip of what digs below it",
	  BYTES(HEADER, 0, ONE, 1, ONE, 0, SKIP, 3, 0, ADD, ONE, 1, ADD), true },
};

TEST(test_rules)
{
	static struct test_event e;
	size_t i;

	make_event(&e);
	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (try(programs[i].code, programs[i].len, &e) != programs[i].valid)
			fail_msg("%s: %svalid", programs[i].what, programs[i].valid ? "in" : "");
	event_free(&e);
}

/* Programs that reveal a skip: without it, the result would be another. */
TEST(test_skips_are_taken)
{
	static const uint8_t and_0[] = { HEADER, 0, ONE, 0, SKIP, 3, 0, ONE, 1, HODO_FILTER_LOR };
	static const uint8_t and_1[] = { HEADER, 0, ONE, 1, SKIP, 3, 0, ONE, 0, LAND };
	static const uint8_t or_1[] = { HEADER, 0, ONE, 1, HODO_FILTER_LOR_SKIP, 3, 0, ONE, 0, LAND };
	static const uint8_t or_0[] = { HEADER, 0, ONE, 0, HODO_FILTER_LOR_SKIP, 3, 0, ONE, 1, HODO_FILTER_LOR };
	struct hodo_filter f;

	assert_int_equal(hodo_filter_bind(&f, and_0, sizeof(and_0), 0, NULL, NULL, NULL), 0);
	assert_false(hodo_filter_run(&f, NULL, 0, NULL));
	assert_int_equal(hodo_filter_bind(&f, and_1, sizeof(and_1), 0, NULL, NULL, NULL), 0);
	assert_false(hodo_filter_run(&f, NULL, 0, NULL));
	assert_int_equal(hodo_filter_bind(&f, or_1, sizeof(or_1), 0, NULL, NULL, NULL), 0);
	assert_true(hodo_filter_run(&f, NULL, 0, NULL));
	assert_int_equal(hodo_filter_bind(&f, or_0, sizeof(or_0), 0, NULL, NULL, NULL), 0);
	assert_true(hodo_filter_run(&f, NULL, 0, NULL));
}

/* Nested skips, more and more of them, all to the end. */
TEST(test_nested_skips_limit)
{
	static uint8_t code[HODO_FILTER_MAX] = { HEADER, 0, ONE, 1 };
	unsigned int n, i;

	for (n = 1; n <= 200; n++) {
		for (i = 0; i < n; i++) {
			uint8_t *skip = code + HODO_FILTER_HEADER + 2 + 3 * (size_t)i;
			uint16_t distance = (uint16_t)(3 * (n - i - 1));

			skip[0] = SKIP;
			memcpy(skip + 1, &distance, sizeof(distance));
		}
		assert_int_equal(hodo_filter_verify(code, HODO_FILTER_HEADER + 2 + 3 * (size_t)n),
				 n <= HODO_FILTER_STACK_MAX ? 0 : -EINVAL);
	}
}

/* n ones and n - 1 additions, or ones that are added at once: the limit is the stack's, not the length. */
TEST(test_stack_limit)
{
	static uint8_t code[HODO_FILTER_MAX] = { HEADER, 0 };
	unsigned int n, i;
	size_t len;

	for (n = 1; n <= 40; n++) {
		len = HODO_FILTER_HEADER;
		for (i = 0; i < n; i++) {
			code[len++] = ONE;
			code[len++] = 1;
		}
		for (i = 1; i < n; i++)
			code[len++] = ADD;
		assert_int_equal(hodo_filter_verify(code, len), n <= HODO_FILTER_STACK_MAX ? 0 : -EINVAL);
	}
	len = HODO_FILTER_HEADER;
	code[len++] = ONE;
	code[len++] = 1;
	while (len + 3 <= HODO_FILTER_MAX) {
		code[len++] = ONE;
		code[len++] = 1;
		code[len++] = ADD;
	}
	assert_int_equal(hodo_filter_verify(code, len), 0);
}

TEST(test_longest_program)
{
	static const uint8_t start[] = { HEADER, 0, ONE, 1 };
	uint8_t *code = malloc(HODO_FILTER_MAX + 1);
	size_t i;

	for (i = 0; i <= HODO_FILTER_MAX; i++)
		code[i] = NOT;
	memcpy(code, start, sizeof(start));
	assert_int_equal(hodo_filter_verify(code, HODO_FILTER_MAX), 0);
	assert_int_equal(hodo_filter_verify(code, HODO_FILTER_MAX + 1), -EINVAL);
	free(code);
}

/* Programs of all instructions: a part of one passes only if it is a whole program itself. */
#if HODO_FILTER_FLOAT
#define FRACTION "0.5"
#else
#define FRACTION "1"
#endif
static const char *const samples[] = {
	"a == 3 && key =~ \"user*\" || has(data) && !(ratio > " FRACTION ")",
	"a ? key : \"x\" != key",
	"(~a & 0xffffffffffff) >> 2 << 1 | -a ^ 18446744073709551615u",
	"a * 2 / 3 % 4 + 1 - ratio < 1000000 && a <= 3 && a >= 2 && a != 7 || key !~ \"[a-z]\"",
};

static size_t sample(size_t i, uint8_t *code)
{
	size_t len;

	assert_int_equal(hodo_filter_compile(samples[i], code, HODO_FILTER_MAX, &len, NULL, 0), 0);
	return len;
}
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

TEST(test_every_truncation)
{
	static uint8_t code[HODO_FILTER_MAX];
	static struct test_event e;
	size_t i, len, cut;

	make_event(&e);
	for (i = 0; i < SAMPLES; i++) {
		len = sample(i, code);
		assert_true(try(code, len, &e));
		assert_false(try(code, len - 1, &e)); /* ends in an operator */
		for (cut = 0; cut < len; cut++)
			(void)try(code, cut, &e);
	}
	event_free(&e);
}

TEST(test_flipped_bits_and_bytes)
{
	uint64_t seed = random_seed();
	static uint8_t code[HODO_FILTER_MAX];
	static struct test_event e;
	size_t i, len, bit;
	unsigned int round, flips, valid = 0;

	make_event(&e);
	for (i = 0; i < SAMPLES; i++) {
		len = sample(i, code);
		for (bit = 0; bit < len * 8; bit++) {
			code[bit / 8] ^= (uint8_t)(1u << bit % 8);
			valid += try(code, len, &e);
			code[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		for (round = 0; round < ROUNDS(20000); round++) {
			len = sample(i, code);
			for (flips = 1 + random_below(&seed, 4); flips > 0; flips--)
				code[random_below(&seed, (unsigned int)len)] = (uint8_t)random_u64(&seed);
			valid += try(code, len, &e);
		}
	}
	assert_in_range(valid, ROUNDS(1000), ROUNDS(80000)); /* both outcomes must occur */
	event_free(&e);
}

/* Random instructions, most of them known, so that many programs pass. */
TEST(test_random_programs)
{
	static const uint8_t known[] = { 1,  1,  1,  5,  6,  6,  7,  2,  3,  4,  16, 17, 18, 32, 33, 34, 35, 36,
					 37, 38, 39, 40, 41, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 64, 80, 81 };
	uint64_t seed = random_seed();
	static struct test_event e;
	unsigned int round, valid = 0;

	make_event(&e);
	for (round = 0; round < ROUNDS(400000); round++) {
		uint8_t code[64] = { HEADER, 2, 1, 'a', 3, 'k', 'e', 'y' };
		size_t len = 10, end = 12 + random_below(&seed, 40);

		while (len < end) {
			uint8_t op = known[random_below(&seed, sizeof(known))];

			code[len++] = op;
			if (op == 5 || op >= 80) {
				code[len++] = (uint8_t)random_below(&seed, 6);
				code[len++] = 0;
			} else if (op < 16) {
				code[len++] = (uint8_t)random_below(&seed, 3);
			}
			if (random_below(&seed, 200) == 0)
				code[len - 1] = (uint8_t)random_u64(&seed);
		}
		valid += try(code, len, &e);
	}
	print_message("%u of %u random programs are valid\n", valid, round);
	assert_in_range(valid, ROUNDS(1000), round - ROUNDS(1000));
	for (round = 0; round < ROUNDS(200000); round++) {
		uint8_t code[32];
		size_t len = random_below(&seed, sizeof(code) + 1), i;

		for (i = 0; i < len; i++)
			code[i] = (uint8_t)random_u64(&seed);
		(void)try(code, len, &e);
	}
	event_free(&e);
}
