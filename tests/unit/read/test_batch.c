/* SPDX-License-Identifier: MIT */
/* test_batch.c - columns of which values are repeated, against plain arrays. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <lib/unit.h>

#include <read/table/batch.h>

enum { TS, REPEATED, NAME, UNWANTED, COLUMNS };
#define ROWS 3000u

static const struct hodo_rows_column columns[COLUMNS] = {
	[TS] = { "ts", HODO_TYPE_I64 },
	[REPEATED] = { "tid", HODO_TYPE_U32 },
	[NAME] = { "thread", HODO_ROWS_NAME },
	[UNWANTED] = { "cpu", HODO_TYPE_U32 },
};
static const struct hodo_rows_table table = { .name = "t", .ncolumns = COLUMNS, .columns = columns };

static struct {
	bool has;
	uint32_t value;
} expected[2][ROWS];

/* Runs and gaps, whose mean length is `longest` / 2: some begin and end at words of bits. */
static void put_rows(struct hodo_rows_batch *b, uint32_t n, unsigned longest)
{
	unsigned left[2] = { 0, 0 };

	memset(expected, 0, sizeof(expected));
	for (uint32_t row = 0; row < n; row++) {
		assert_int_equal(hodo_rows_begin(b, row), 0);
		for (unsigned c = 0; c < 2; c++) {
			expected[c][row] = expected[c][row ? row - 1 : 0];
			if (left[c]-- == 0) {
				left[c] = (unsigned)rand() % longest;
				expected[c][row].has = rand() % 4 != 0;
				expected[c][row].value = (unsigned)rand() % 3;
			}
		}
		if (expected[0][row].has)
			hodo_rows_repeat(b, REPEATED, expected[0][row].value);
		hodo_rows_repeat_name(b, NAME, expected[1][row].has ? expected[1][row].value : HODO_STRINGS_NONE);
		hodo_rows_repeat(b, UNWANTED, 1);
		b->n++;
	}
	assert_int_equal(hodo_rows_batch_end(b), 0);
}

static void compare(const struct hodo_rows_batch *b, uint32_t n)
{
	for (unsigned c = 0; c < 2; c++) {
		const struct hodo_rows_values *v = &b->columns[REPEATED + c];
		uint32_t nvalid = 0;

		for (uint32_t row = 0; row < n; row++) {
			bool has = v->data && hodo_rows_has(v, row);

			assert_int_equal(has, expected[c][row].has);
			if (has)
				assert_int_equal(((const uint32_t *)v->data)[row], expected[c][row].value);
			nvalid += has;
		}
		assert_int_equal(v->nvalid, nvalid);
		assert_int_equal(v->until, 0);
	}
	assert_null(b->columns[UNWANTED].data);
}

/* One batch for all, as it is used: what an earlier round left is not seen in a later one. */
TEST(test_repeated)
{
	static const bool wanted[COLUMNS] = { [REPEATED] = true, [NAME] = true };
	static const unsigned longest[] = { 1, 3, 70, 1000 };
	struct hodo_rows_batch b;

	srand(1);
	assert_int_equal(hodo_rows_batch_init(&b, 0, &table, wanted, NULL), 0);
	for (unsigned round = 0; round < 80; round++) {
		uint32_t n = 1 + (unsigned)rand() % ROWS;

		put_rows(&b, n, longest[round % 4]);
		compare(&b, n);
		if (round % 3)
			hodo_rows_batch_clear(&b);
		else
			hodo_rows_batch_shrink(&b);
	}
	hodo_rows_batch_free(&b);
}
