/* SPDX-License-Identifier: MIT */
/*
 * test_filter_random.c - random expressions on random events: compiled and run, and compared
 * with the reference's tree walk. HODO_TEST_SEED varies them.
 */
#include "filter_reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#define TREES ROUNDS(60000)
#define EVENTS 4 /* events per expression */
#define EXPR_MAX 2048

static void random_float(uint64_t *seed, struct test_event *e, const char *name, uint8_t type, int64_t sign)
{
#if HODO_FILTER_FLOAT
	double odd = random_below(seed, 2) ? __builtin_nan("") : __builtin_inf();

	event_float(e, name, type, (double)sign * (random_below(seed, 10) ? random_double(seed) : odd));
#else
	event_float(e, name, type, 0.75);
#endif
}

static void random_event(uint64_t *seed, struct test_event *e)
{
	static const uint8_t elements[] = { HODO_TYPE_I8, HODO_TYPE_U64, HODO_TYPE_F32, HODO_TYPE_BOOL };
	unsigned int n = random_below(seed, HODO_FIELDS_MAX + 1), i;
	char text[16];
	size_t len;

	memset(e, 0, sizeof(*e));
	for (i = 0; i < n; i++) {
		const char *name = random_names[random_below(seed, RANDOM_NAMES - 1)]; /* any except "missing" */
		uint8_t type = (uint8_t)(1 + random_below(seed, HODO_TYPE_BYTES + 1));
		int64_t sign = random_below(seed, 2) ? 1 : -1;

		if (type == HODO_TYPE_F32 || type == HODO_TYPE_F64) {
			random_float(seed, e, name, type, sign);
		} else if (type == HODO_TYPE_STR) {
			len = random_text(seed, text, sizeof(text));
			event_text(e, name, random_below(seed, 8) ? text : NULL, len);
		} else if (type == HODO_TYPE_BYTES) {
			event_data(e, name, type, random_below(seed, 9));
		} else if (type > HODO_TYPE_BYTES) {
			event_data(e, name, HODO_TYPE_ARRAY | elements[random_below(seed, 4)], 0);
		} else {
			event_int(e, name, type, (int64_t)((uint64_t)sign * random_int(seed)));
		}
	}
	event_build(e);
}

static void check(const struct node *tree, const char *expr, uint64_t *seed, unsigned int *taken)
{
	static struct test_event e;
	char error[128] = "";
	int want, got, i;

	for (i = 0; i < EVENTS; i++) {
		random_event(seed, &e);
		want = node_takes(tree, &e);
		got = event_filter(&e, expr, error);
		event_free(&e);
		if (want != got)
			fail_msg("%s: %d, not %d %s", expr, got, want, error);
		*taken += (unsigned int)got;
	}
}

TEST(test_against_reference)
{
	uint64_t seed = random_seed();
	unsigned int round, taken = 0, wrong = 0, large = 0;
	char *expr = malloc(1 << 20), error[128];

	for (round = 0; round < TREES; round++) {
		unsigned int height = 1 + random_below(&seed, random_below(&seed, 50) ? 5 : 9);
		struct node *tree = node_random(&seed, height);
		size_t len = node_print(tree, &seed, expr, 1 << 20);
		static const struct test_event none;

		if (len > EXPR_MAX) {
			assert_int_equal(event_filter(&none, expr, error), -E2BIG);
			large++;
		} else if (node_is_wrong(tree)) {
			if (event_filter(&none, expr, error) != -EINVAL)
				fail_msg("not refused: %s", expr);
			wrong++;
		} else {
			check(tree, expr, &seed, &taken);
		}
		node_free(tree);
	}
	free(expr);
	/* Each outcome occurs often enough. */
	print_message("%u rounds: %u wrong, %u too large, %u events taken\n", round, wrong, large, taken);
	assert_in_range(wrong, ROUNDS(500), TREES / 3);
	assert_in_range(taken, TREES / 2, (TREES - wrong - large) * EVENTS * 3 / 4);
}
