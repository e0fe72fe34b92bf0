/* SPDX-License-Identifier: MIT */
/*
 * conditions.c - libFuzzer target for the conditions in CONFIG: the first byte says how many, the rest are
 * their bytes. Accepted ones must lie inside, and their filters must run.
 */
#include <core/condition.h>
#include <core/filter.h>
#include <lib/fuzz.h>

#include <stdlib.h>
#include <string.h>

static void require(bool so)
{
	if (!so)
		abort();
}

static bool find_label(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		       int64_t *value)
{
	*value = (int64_t)len;
	return len % 2;
}

static bool get_var(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	memcpy(vars->comm, "fuzz", 5);
	*number = 4;
	return var != HODO_FILTER_DURATION;
}

static void run(const uint8_t *code, size_t len)
{
	static const uint8_t types[] = { HODO_TYPE_I32, HODO_TYPE_STR, HODO_TYPE_F64, HODO_TYPE_ARRAY | HODO_TYPE_I16 };
	static const char *const names[] = { "n", "key", "ratio", "list" };
	static const struct hodo_filter_labels labels = { find_label };
	uint8_t bytes[14] = { 3 }, *more = malloc(12);
	const struct hodo_piece pieces[] = { { bytes, 6 }, { "user:1", 6 }, { more, 12 }, { bytes, 6 } };
	struct hodo_filter_vars vars = { .get = get_var };
	struct hodo_filter f;

	memset(more, 1, 12);
	require(hodo_filter_bind(&f, code, len, 4, types, names, &labels) == 0);
	for (size_t count = 0; count <= 4; count++)
		(void)hodo_filter_run(&f, pieces, count, count % 2 ? NULL : &vars);
	free(more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hodo_condition_parts parts[HODO_CONDITIONS_MAX];
	uint8_t *exact;

	if (size == 0 || size > HODO_EXTRAS_MAX)
		return 0;
	exact = malloc(size); /* so that a read past the end is noticed */
	memcpy(exact, data + 1, size - 1);
	if (hodo_conditions_parse(exact, data[0], (uint32_t)size - 1, parts) == 0) {
		require(data[0] <= HODO_CONDITIONS_MAX);
		for (uint32_t i = 0; i < data[0]; i++) {
			require(strlen(parts[i].pattern) + 1 == parts[i].head.pattern_len);
			if (parts[i].head.filter_len)
				run(parts[i].filter, parts[i].head.filter_len);
		}
	}
	free(exact);
	return 0;
}
