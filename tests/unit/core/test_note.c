/* SPDX-License-Identifier: MIT */
/* test_note.c - notes aligned to 4 and 8 bytes in one segment, in any order; and bytes that are not a note. */
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <core/note.h>

static uint8_t segment[256];
static size_t filled;

static void align(size_t to)
{
	filled = (filled + to - 1) & ~(to - 1);
}

static void put(size_t alignment, const char *name, uint32_t type, uint32_t size)
{
	uint32_t head[3] = { (uint32_t)strlen(name) + 1, size, type };

	align(alignment);
	memcpy(segment + filled, head, sizeof(head));
	memcpy(segment + filled + sizeof(head), name, head[0]);
	filled += sizeof(head) + head[0];
	align(alignment);
	memset(segment + filled, (int)type, size);
	filled += size;
	align(alignment);
}

static void property(void)
{
	put(8, "GNU", 5, 16);
}

static void build_id(void)
{
	put(4, "GNU", 3, 20);
}

static void hodo(void)
{
	put(4, "Hodo", 1, 16);
}

/* Types of the notes, as digits. */
static unsigned types(size_t bytes)
{
	uint8_t *exact = malloc(bytes + 1); /* for sanitizers, which watch bounds */
	const uint8_t *at = exact;
	struct hodo_elf_note note;
	unsigned got = 0;

	memcpy(exact, segment, bytes);
	while (hodo_note_next(&at, exact + bytes, &note)) {
		got = 10 * got + note.type;
		assert_true(hodo_note_is(&note, note.type == 1 ? "Hodo" : "GNU", note.type == 1 ? 5 : 4));
		for (uint32_t i = 0; i < note.size; i++)
			assert_int_equal(note.desc[i], note.type);
	}
	free(exact);
	return got;
}

TEST(any_order_of_alignments)
{
	static void (*const kinds[])(void) = { property, build_id, hodo };
	static const unsigned type[] = { 5, 3, 1 };

	for (unsigned i = 0; i < 27; i++) {
		unsigned a = i / 9, b = i / 3 % 3, c = i % 3;

		memset(segment, 0, sizeof(segment));
		filled = 0;
		kinds[a]();
		kinds[b]();
		kinds[c]();
		assert_int_equal(types(filled), 100 * type[a] + 10 * type[b] + type[c]);
	}
}

TEST(what_is_cut_or_wrong_ends_the_search)
{
	memset(segment, 0, sizeof(segment));
	filled = 0;
	build_id();
	hodo();
	assert_int_equal(types(filled), 31);
	for (size_t bytes = 0; bytes < filled; bytes++)
		assert_int_equal(types(bytes), bytes < 36 ? 0 : 3);
	memset(segment + 36, 0xff, 4); /* bytes of the name */
	assert_int_equal(types(filled), 3);
	memcpy(segment + 36, &(uint32_t){ 5 }, 4);
	memset(segment + 40, 0xff, 4); /* bytes of the descriptor */
	assert_int_equal(types(filled), 3);
	memset(segment, 0, sizeof(segment));
	assert_int_equal(types(sizeof(segment)), 0);
}
