/* SPDX-License-Identifier: MIT */
/* test_fields.c - names of fields from the text of the arguments; sizes of types, and of payloads. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <core/fields.h>
#include <core/payload.h>

#define NAMES_MAX 4

static const struct {
	const char *args;
	unsigned n;
	const char *names[NAMES_MAX];
} cases[] = {
	{ "a", 1, { "a" } },
	{ "shard, bytes", 2, { "shard", "bytes" } },
	{ "req->len, *p, &x", 3, { "req_len", "p", "x" } },
	{ " a + b ,(unsigned)c", 2, { "a_b", "unsigned_c" } },
	{ "f(a, b), g[c, d], (e, f)", 3, { "f_a_b", "g_c_d", "e_f" } },
	{ "\"text, with\", ','", 2, { "text_with", "arg2" } },
	{ "\"a\\\"b, c\", d", 2, { "a_b_c", "d" } },
	{ "HODO_F(name, x->y), HODO_STR(s, n)", 2, { "name", "s" } },
	{ "HODO_F (name, 3)", 1, { "name" } },
	{ "HODO_BYTES(p->data, 7), HODO_ARRAY(v, 3)", 2, { "p_data", "v" } },
	{ "HODO_F(key, HODO_STR(k, n))", 1, { "key" } },
	{ "((void)\"\" \"latency\", x)", 1, { "latency" } },
	{ "x, x, x", 3, { "x", "x_2", "x_3" } },
	{ "x_2, x, x", 3, { "x_2", "x", "x_3" } },
	{ "x, x_2, x", 3, { "x", "x_2", "x_3" } },
	{ "3, 4 + 5", 2, { "_3", "_4_5" } },
	{ "", 2, { "arg1", "arg2" } },
	{ ",,", 3, { "arg1", "arg2", "arg3" } },
	{ "a", 3, { "a", "arg2", "arg3" } },
	{ "a, b, c", 2, { "a", "b" } },
	{ "\xc3\xa9, +", 2, { "arg1", "arg2" } },
	{ "\"not closed, b", 2, { "not_closed_b", "arg2" } },
	{ "(not closed, b", 2, { "not_closed_b", "arg2" } },
};

TEST(test_cases)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *names[HODO_FIELDS_MAX];
		char buf[256];

		assert_int_equal(hodo_fields_names(cases[i].args, cases[i].n, buf, sizeof(buf), names), 0);
		for (unsigned k = 0; k < cases[i].n; k++) {
			if (strcmp(names[k], cases[i].names[k]) != 0)
				fail_msg("'%s': field %u is '%s'", cases[i].args, k, names[k]);
		}
	}
}

static bool is_identifier(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++) {
		char c = name[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && !(i > 0 && c >= '0' && c <= '9'))
			return false;
	}
	return i > 0 && i <= HODO_NAME_MAX;
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Whatever the text: identifiers, all different, in the buffer; and too small a buffer (by one byte) is refused. */
TEST(test_any_text)
{
	static const char pieces[] = "aab01_ ,,(()[]{}\"\"''\\HODO_F(x,HODO_STR(\n\xc3";
	uint64_t seed = 20091;

	for (unsigned round = 0; round < 5000; round++) {
		unsigned n = (unsigned)(random_next(&seed) % 17), len = (unsigned)(random_next(&seed) % 200);
		const char *names[HODO_FIELDS_MAX];
		char args[200], *buf, *exact;
		size_t used = 0;

		for (unsigned i = 0; i < len; i++)
			args[i] = pieces[random_next(&seed) % (sizeof(pieces) - 1)];
		args[len ? len - 1 : 0] = '\0';
		buf = malloc(HODO_FIELDS_NAMES_MAX);
		assert_int_equal(hodo_fields_names(args, n, buf, HODO_FIELDS_NAMES_MAX, names), 0);
		for (unsigned i = 0; i < n; i++) {
			if (!is_identifier(names[i]) || names[i] != buf + used)
				fail_msg("'%s': '%s'", args, names[i]);
			for (unsigned k = 0; k < i; k++)
				assert_string_not_equal(names[i], names[k]);
			used += strlen(names[i]) + 1;
		}
		exact = malloc(used ? used : 1);
		assert_int_equal(hodo_fields_names(args, n, exact, used, names), 0);
		assert_memory_equal(exact, buf, used);
		if (n)
			assert_int_equal(hodo_fields_names(args, n, exact, used - 1, names), -1);
		free(exact);
		free(buf);
	}
}

TEST(test_long_names)
{
	const char *names[HODO_FIELDS_MAX];
	char *args = malloc(1002), *buf = malloc(HODO_FIELDS_NAMES_MAX);

	memset(args, 'x', 1000);
	args[500] = ',';
	args[1000] = '\0';
	assert_int_equal(hodo_fields_names(args, 2, buf, HODO_FIELDS_NAMES_MAX, names), 0);
	assert_true(is_identifier(names[0]) && is_identifier(names[1]));
	assert_string_not_equal(names[0], names[1]);
	assert_int_equal(hodo_fields_names(args, HODO_FIELDS_MAX + 1, buf, HODO_FIELDS_NAMES_MAX, names), -1);
	free(args);
	free(buf);
}

TEST(test_sizes)
{
	static const uint8_t scalar[] = { [HODO_TYPE_I8] = 1, [HODO_TYPE_U8] = 1, [HODO_TYPE_I16] = 2,
		[HODO_TYPE_U16] = 2, [HODO_TYPE_I32] = 4, [HODO_TYPE_U32] = 4, [HODO_TYPE_I64] = 8,
		[HODO_TYPE_U64] = 8, [HODO_TYPE_BOOL] = 1, [HODO_TYPE_CHAR] = 1, [HODO_TYPE_F32] = 4,
		[HODO_TYPE_F64] = 8, [HODO_TYPE_PTR] = 8 };

	for (unsigned type = 0; type < 256; type++) {
		unsigned element = type & ~(unsigned)HODO_TYPE_ARRAY, fixed = 0, each = 0;

		if (type < sizeof(scalar)) {
			fixed = scalar[type];
		} else if (type == HODO_TYPE_STR || type == HODO_TYPE_BYTES) {
			fixed = type == HODO_TYPE_STR ? 2 : 4;
			each = 1;
		} else if ((type & HODO_TYPE_ARRAY) && element < sizeof(scalar) && scalar[element]) {
			fixed = 4;
			each = scalar[element];
		}
		if (hodo_fields_fixed_size((uint8_t)type) != fixed || hodo_fields_element_size((uint8_t)type) != each)
			fail_msg("type %u", type);
	}
}

/* The payload: one text between numbers, cut at each byte. The last type does not exist. */
TEST(test_payload)
{
	static const uint8_t types[] = { HODO_TYPE_U32, HODO_TYPE_STR, HODO_TYPE_U8, HODO_TYPE_ARRAY | HODO_TYPE_U16,
					 99 };
	static const uint8_t bytes[] = { 1, 2, 3, 4, 3, 0, 'a', 0, 'c', 7, 2, 0, 0, 0, 5, 0, 6, 0 };
	struct hodo_piece pieces[HODO_PAYLOAD_PIECES_MAX];
	struct hodo_payload payload;

	assert_int_equal(hodo_payload_init(&payload, types, 5), -1);
	assert_int_equal(hodo_payload_init(&payload, types, 4), 0);
	for (size_t room = 0; room <= sizeof(bytes); room++) {
		static const size_t ends[] = { 6, 9, 14, 18 };
		uint8_t *copy = malloc(room ? room : 1); /* so that sanitizers see what is read */
		size_t n = 0;

		memcpy(copy, bytes, room);
		assert_int_equal(hodo_payload_size(&payload, copy, room) > room, room < sizeof(bytes));
		while (n < 4 && ends[n] <= room)
			n++;
		assert_int_equal(hodo_payload_pieces(&payload, copy, room, pieces), n);
		for (size_t i = 0; i < n; i++) {
			assert_ptr_equal(pieces[i].data, copy + (i ? ends[i - 1] : 0));
			assert_int_equal(pieces[i].len, ends[i] - (i ? ends[i - 1] : 0));
		}
		free(copy);
	}
	assert_int_equal(hodo_payload_size(&payload, bytes, sizeof(bytes)), sizeof(bytes));
}
