/* SPDX-License-Identifier: MIT */
/* test_short.c - which objects have short calls: no two of these may have addresses that a call's record confuses. */
#include <string.h>
#include <lib/unit.h>
#include <user/objects/extension.h>
#include <user/objects/objects.h>

#define MIB (1ull << 20)
#define BASE 0x7f0000000000ull

static int64_t functions;
static bool asked;

static int64_t object(const struct dl_phdr_info *info, const struct hodo_note_functions *note, bool is_short)
{
	asked = is_short;
	return functions;
}

static int begin(void **state)
{
	static const struct hodo_extension extension = { .object = object };

	hodo_func = &extension;
	hodo_nobjects = 0;
	functions = 1;
	return 0;
}

static int end(void **state)
{
	hodo_func = NULL;
	hodo_nobjects = 0;
	return 0;
}

/* Examines the object; returns whether it is short, as the recorder and the slots are told. */
static bool look(struct hodo_object *o)
{
	static const struct dl_phdr_info info;

	hodo_loaded_object(o, &info, NULL);
	assert_true(!o->is_short || asked);
	return o->is_short;
}

/* An object with that much code, whose data exceeds the addresses that can be told apart. */
static bool map(uint64_t text, uint64_t bytes)
{
	struct hodo_object *o = &hodo_objects[hodo_nobjects++];

	*o = (struct hodo_object){ .base = text - 4096, .start = text - 4096, .end = text + bytes + 2 * HODO_SHORT_SPAN,
				   .text = text, .text_end = text + bytes };
	return look(o);
}

static void unmap(void)
{
	hodo_nobjects--;
}

TEST(test_span)
{
	/* The function in a call's record: an address modulo this. */
	assert_int_equal((~0ull << HODO_FUNCTION_SHIFT) >> HODO_FUNCTION_SHIFT, HODO_SHORT_SPAN - 1);
}

TEST(test_size, .setup = begin, .teardown = end)
{
	assert_true(map(BASE, HODO_SHORT_SPAN));
	unmap();
	assert_false(map(BASE, HODO_SHORT_SPAN + 4096));
	assert_false(asked);
	unmap();
	assert_true(map(BASE + 4096, HODO_SHORT_SPAN));
	assert_false(map(BASE + 8 * HODO_SHORT_SPAN, 4096)); /* there is no address left */
	unmap();
	assert_false(map(BASE, 0)); /* no code */
}

/* Next to each other, at its own place and many spans away, above and below. */
TEST(test_neighbours, .setup = begin, .teardown = end)
{
	static const int64_t spans[] = { 0, 1, -1, 1000, -1000 };

	assert_true(map(BASE + 3 * MIB, 2 * MIB));
	for (unsigned i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		uint64_t base = BASE + (uint64_t)spans[i] * HODO_SHORT_SPAN;

		assert_true(map(base + 2 * MIB, MIB));
		unmap();
		assert_true(map(base + 5 * MIB, MIB));
		unmap();
		assert_false(map(base + 2 * MIB, MIB + 4096));
		unmap();
		assert_false(map(base + 5 * MIB - 4096, MIB));
		unmap();
		assert_false(map(base + 3 * MIB, 2 * MIB));
		unmap();
		assert_false(map(base + 3 * MIB + 4096, 4096)); /* within it */
		unmap();
		assert_false(map(base + MIB, 8 * MIB)); /* around it */
		unmap();
	}
}

/* An object that lies across a multiple of the span. */
TEST(test_across, .setup = begin, .teardown = end)
{
	assert_true(map(BASE + HODO_SHORT_SPAN - MIB, 2 * MIB));
	assert_false(map(BASE, MIB));
	unmap();
	assert_true(map(BASE + MIB, MIB));
	unmap();
	assert_false(map(BASE + 5 * HODO_SHORT_SPAN - MIB, 4096));
	unmap();
	assert_true(map(BASE + 5 * HODO_SHORT_SPAN - 2 * MIB, MIB));
	unmap();
	assert_false(map(BASE + 5 * HODO_SHORT_SPAN - 2 * MIB, MIB + 4096));
	unmap();
	assert_true(map(BASE + MIB, HODO_SHORT_SPAN - 2 * MIB)); /* all that is left */
	assert_false(map(BASE + HODO_SHORT_SPAN / 2, 4096));
}

/* Only short objects exclude another; and they stay short, since the recorder was told. */
TEST(test_changes, .setup = begin, .teardown = end)
{
	functions = 0;
	assert_false(map(BASE, MIB));
	functions = 1;
	assert_true(map(BASE + HODO_SHORT_SPAN, MIB));
	assert_true(look(&hodo_objects[1]));
	hodo_objects[1].text_end += HODO_SHORT_SPAN; /* examined once more: its calls stay as they were */
	assert_true(look(&hodo_objects[1]));
	assert_false(look(&hodo_objects[0])); /* it was sent as one that is not short */
}

/* Of any three, no two that are short have an address in common. */
TEST(test_any, .setup = begin, .teardown = end)
{
	uint64_t x = 88172645463325252ull;

	for (int round = 0; round < 20000; round++) {
		hodo_nobjects = 0;
		for (int i = 0; i < 3; i++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			map((x >> 33) % 64 * 16 * MIB, ((x >> 20) % 8 + 1) * 16 * MIB);
		}
		for (uint32_t i = 0; i < 3; i++) {
			const struct hodo_object *o = &hodo_objects[i], *p = &hodo_objects[(i + 1) % 3];
			bool common = false;

			for (uint64_t at = o->text; at < o->text_end; at += 16 * MIB) {
				for (uint64_t other = p->text; other < p->text_end; other += 16 * MIB)
					common = common || (at - other) % HODO_SHORT_SPAN == 0;
			}
			assert_false(o->is_short && p->is_short && common);
		}
	}
}
