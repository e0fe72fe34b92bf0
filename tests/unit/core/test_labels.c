/* SPDX-License-Identifier: MIT */
/* test_labels.c - labels in an event's descriptor, damaged ones too; and which labels an event has. */
#include <stdio.h>
#include <string.h>

#include <lib/unit.h>

#include <core/labels.h>

/* The labels that are accepted, as "FIELD:NAME=VALUE NAME=VALUE|FIELD:…". */
static const char *taken(const char *text)
{
	static char out[512];
	struct hodo_label label;
	unsigned field;
	size_t n = 0;

	out[0] = 0;
	while (hodo_labels_field(&text, &field)) {
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%u:", field);
		while (hodo_labels_next(&text, &label))
			n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s=%lld ", (int)label.len, label.name,
					      (long long)label.value);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "|");
	}
	return out;
}

TEST(test_taken)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "0:RED=0,GREEN=1;", "0:RED=0 GREEN=1 |" },
		{ "2:A=-3;15:B=9223372036854775807,C=-9223372036854775808;",
		  "2:A=-3 |15:B=9223372036854775807 C=-9223372036854775808 |" },
		{ "1:;2:A=1;", "1:|2:A=1 |" },
		/* Damaged: the labels before the damage count. */
		{ "x", "" },
		{ "99:A=1;", "" },
		{ "0", "" },
		{ "0:A", "0:|" },
		{ "0:A=", "0:|" },
		{ "0:A=1", "0:|" },
		{ "0:A=1,B;1:C=2;", "0:A=1 |" },
		{ "0:A=1,=2;", "0:A=1 |" },
		{ "0:A=--1;", "0:|" },
		{ "0:A=123456789012345678901;", "0:|" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(taken(cases[i].text), cases[i].want);
}

TEST(test_of)
{
	assert_int_equal(hodo_labels_of("kv", "kv:put"), HODO_LABELS_OF_PROVIDER);
	assert_int_equal(hodo_labels_of("kv:put", "kv:put"), HODO_LABELS_OF_EVENT);
	assert_int_equal(hodo_labels_of("kv:pu", "kv:put"), HODO_LABELS_OF_OTHERS);
	assert_int_equal(hodo_labels_of("kv:put.begin", "kv:put"), HODO_LABELS_OF_OTHERS);
	assert_int_equal(hodo_labels_of("k", "kv:put"), HODO_LABELS_OF_OTHERS);
	assert_int_equal(hodo_labels_of("kvs", "kv:put"), HODO_LABELS_OF_OTHERS);
	assert_int_equal(hodo_labels_of("", "kv:put"), HODO_LABELS_OF_OTHERS);
}
