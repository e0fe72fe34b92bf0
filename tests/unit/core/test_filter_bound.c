/* SPDX-License-Identifier: MIT */
/* test_filter_bound.c - what a filter uses besides an event's fields: variables, labels, elements of sequences. */
#include <core/filter.h>
#include <read/event/filter_compile.h>
#include "filter_event.h"

#include <string.h>

#include <lib/unit.h>

struct row {
	const char *expr;
	int takes;
};

static bool some_vars(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	static const int64_t numbers[] = { 4713, 4700, 2, 6, 0 };

	memcpy(vars->comm, "worker", 7);
	*number = numbers[var];
	return var != HODO_FILTER_DURATION;
}

static bool all_vars(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number)
{
	some_vars(vars, var, number);
	if (var == HODO_FILTER_DURATION)
		*number = 5000000;
	return true;
}

static bool find_label(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		       int64_t *value)
{
	static const char *const names[] = { "IDLE", "RUNNING", "max" };
	static const int64_t values[] = { 0, 1, -1 };

	for (unsigned int i = 0; field <= 1 && i < 3; i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
			*value = values[i];
			return true;
		}
	}
	return false;
}

static void check_bound(const struct test_event *e, const struct row *rows, size_t n, struct hodo_filter_vars *vars)
{
	static const struct hodo_filter_labels labels = { find_label };
	static uint8_t code[HODO_FILTER_MAX];
	struct hodo_filter f, copy;
	size_t i, len;

	for (i = 0; i < n; i++) {
		char error[128] = "";

		if (hodo_filter_compile(rows[i].expr, code, sizeof(code), &len, error, sizeof(error))) {
			if (!event_wants_floats(error))
				fail_msg("%s: %s", rows[i].expr, error);
			continue;
		}
		assert_int_equal(hodo_filter_bind(&f, code, len, e->n, e->types, e->names, &labels), 0);
		memset(&copy, 0xff, sizeof(copy));
		memcpy(&copy, &f, hodo_filter_size(&f));
		if (hodo_filter_run(&copy, e->pieces, e->count, vars) != rows[i].takes)
			fail_msg("%s: not %d", rows[i].expr, rows[i].takes);
	}
}

TEST(test_variables)
{
	static const struct row without[] = {
		{ "$tid == 4713 && $pid == 4700 && $cpu == 2", 1 }, { "$tid > $pid", 1 },
		{ "$comm == \"worker\" && $comm =~ \"w*r\" && \"x\" > $comm", 1 },
		{ "$comm != \"worker\" || $comm !~ \"w*\"", 0 }, { "has($tid) && !has($duration)", 1 },
		{ "$duration > 5ms || $duration <= 5ms || !$duration", 0 }, { "n == $cpu + 1", 1 },
		{ "$duration > 1 || n == 3", 1 },
	};
	static const struct row with[] = {
		{ "$duration == 5ms", 1 }, { "$duration >= 4.9ms && $duration < 5001us", 1 },
		{ "$duration > 0.005s", 0 }, { "has($duration)", 1 }, { "$duration / 1000 == 5000", 1 },
		{ "1s == 1000000000 && 3ns == 3 && 1us == 1000 && .5us == 500 && 010ms == 10000000", 1 },
	};
	static const struct row nobody[] = { { "$tid || !$tid || $comm || has($pid)", 0 }, { "n == 3", 1 } };
	struct hodo_filter_vars some = { .get = some_vars }, all = { .get = all_vars };
	static struct test_event e;

	event_int(&e, "n", HODO_TYPE_I32, 3);
	event_build(&e);
	check_bound(&e, without, sizeof(without) / sizeof(without[0]), &some);
	check_bound(&e, with, sizeof(with) / sizeof(with[0]), &all);
	check_bound(&e, nobody, sizeof(nobody) / sizeof(nobody[0]), NULL);
	event_free(&e);
}

TEST(test_labels)
{
	static const struct row rows[] = {
		{ "state == RUNNING", 1 }, { "RUNNING == state", 1 }, { "state != \"RUNNING\"", 0 },
		{ "\"IDLE\" < state && state > IDLE", 1 }, { "state == NONE || !(state == NONE)", 0 },
		{ "big == max && big > RUNNING", 1 }, /* an unsigned field: compares bits */
		{ "state == \"NONE\"", 0 }, { "text == \"RUNNING\"", 1 }, /* a text field remains a text */
		{ "state == IDLE ? 1 : state == RUNNING", 1 }, { "plain == RUNNING", 0 }, /* no labels */
		{ "state == plain", 1 }, { "plain == state && state == \"RUNNING\"", 1 },
		{ "(state) == (RUNNING)", 1 }, { "state + 0 == RUNNING", 0 }, { "-RUNNING == state", 0 },
		{ "RUNNING == RUNNING", 0 }, { "state =~ \"RUN*\"", 0 },
	};
	static struct test_event e;

	event_int(&e, "state", HODO_TYPE_I32, 1);
	event_int(&e, "big", HODO_TYPE_U64, -1);
	event_int(&e, "plain", HODO_TYPE_I8, 1);
	event_text(&e, "text", "RUNNING", 7);
	event_build(&e);
	check_bound(&e, rows, sizeof(rows) / sizeof(rows[0]), NULL);
	event_free(&e);
}

TEST(test_elements)
{
	static const struct row rows[] = {
		{ "key[0] == 'u' && key[8] == '7' && len(key) == 9", 1 }, { "key[9] == 0 || key[-1] == 0", 0 },
		{ "!(key[9] == 0)", 0 }, { "len(null) == 7 || null[0] == '('", 0 },
		{ "len(data) == 5 && data[4] == 0", 1 },
		{ "len(list) == 3 && list[2] == 0 && !list[n - 1]", 1 }, { "list[3] == 0 || list[3] != 0", 0 },
		{ "real[0] == 0.0 && len(real) == 2", 1 }, { "n[0] == 3 || len(n) == 4", 0 },
		{ "none[0] || len(none)", 0 },
		{ "key[n] == ':' || key[n + 1] == ':'", 1 }, { "key[0x7fffffffffffffff] || key[1u << 63]", 0 },
		{ "list[key] == 0 || list[1] =~ \"x\"", 0 }, { "data[list[0]] == 0", 1 },
	};
	static struct test_event e;

	event_text(&e, "key", "user:1747", 9);
	event_int(&e, "n", HODO_TYPE_I32, 3);
	event_text(&e, "null", NULL, 0);
	event_data(&e, "data", HODO_TYPE_BYTES, 5);
	event_data(&e, "list", HODO_TYPE_ARRAY | HODO_TYPE_I8, 3);
	event_data(&e, "real", HODO_TYPE_ARRAY | HODO_TYPE_F32, 8); /* bytes: event_build() knows no elements */
	event_build(&e);
	check_bound(&e, rows, sizeof(rows) / sizeof(rows[0]), NULL);
	event_free(&e);
}

/* What is known for all events of a class. */
TEST(test_known)
{
	static const struct {
		const char *expr;
		int always, never;
	} rows[] = {
		{ "1", 1, 0 }, { "0", 0, 1 }, { "none == 3", 0, 1 }, { "!(none == 3)", 0, 1 }, { "!has(none)", 1, 0 },
		{ "has(n)", 1, 0 }, { "none == 3 || n == 3", 0, 0 }, { "none == 3 && n == 3", 0, 1 },
		{ "n < 2147483648", 0, 0 }, { "u < 0", 0, 1 }, { "u >= 0", 0, 0 }, { "u > -1", 1, 0 },
		{ "!has(none) || none > 3", 1, 0 }, { "n == \"x\"", 0, 1 }, { "key == 3 || none", 0, 1 },
		{ "none / 10 > 5 ? 1 : 1", 0, 1 }, { "key =~ n", 0, 1 }, { "data == 3", 0, 1 }, { "$tid == 3", 0, 0 },
	};
	static struct test_event e;
	static uint8_t code[HODO_FILTER_MAX];
	struct hodo_filter f;
	size_t i;

	event_int(&e, "n", HODO_TYPE_I32, 3);
	event_int(&e, "u", HODO_TYPE_U64, 3);
	event_text(&e, "key", "k", 1);
	event_data(&e, "data", HODO_TYPE_BYTES, 5);
	event_build(&e);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(event_bind(&f, code, rows[i].expr, &e), 0);
		if (hodo_filter_always(&f) != rows[i].always || hodo_filter_never(&f) != rows[i].never)
			fail_msg("%s: %d %d", rows[i].expr, hodo_filter_always(&f), hodo_filter_never(&f));
	}
	assert_false(hodo_filter_run(&hodo_filter_none, e.pieces, e.count, NULL));
	event_free(&e);
}
