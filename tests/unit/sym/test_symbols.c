/* SPDX-License-Identifier: MIT */
/*
 * test_symbols.c - src/sym/recording_symbols.c: which object an address is in, at which
 * time; ids; that the cache finds an earlier address fast, and correctly.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/unit.h>

#include <sym/recording_symbols.h>
#include <sym/symbols_dir.h>

/* Saves symbols of an object: f at 0x1000, of 0x20 bytes, its part at 0x1100, and g, each with `prefix`. */
static void save(const char *prefix, uint8_t id)
{
	char name[HODO_SYMBOLS_NAME_MAX], path[256];
	FILE *f;

	hodo_symbols_name(name, "", &id, 1);
	snprintf(path, sizeof(path), HODO_SYMBOLS_DIR "/%s", name);
	f = fopen(folder_path(path), "w");
	assert_non_null(f);
	fprintf(f, "hodo-symbols 1\nbuild_id %02x\npath x\nf %s.c\n", id, prefix);
	fprintf(f, "s 1000 20 0 7 %s_f\ns 1020 10 0 9 %s_g\ns 1100 8 - 0 %s_f.cold 1000\nend 3\n", prefix, prefix,
		prefix);
	fclose(f);
}

static int setup(void **state)
{
	assert_int_equal(mkdir(folder_path(HODO_SYMBOLS_DIR), 0700), 0);
	save("red", 0x11);
	save("blue", 0x22);
	return 0;
}

static struct hodo_read_object object(const char *path, uint8_t id, uint64_t base, int64_t from, int64_t until)
{
	return (struct hodo_read_object){ .size = sizeof(struct hodo_read_object), .path = path, .base = base,
					  .start = base, .end = base + 0x2000, .from_ns = from, .until_ns = until,
					  .functions = 2, .build_id_len = 1, .build_id = { id } };
}

static const char *name_at(struct hodo_symbols *s, const struct hodo_read_process *p, int64_t ts, uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(s, p, ts, address, &place);
	return place.name;
}

TEST(test_recycled)
{
	/* By start, then time. The end of the last object was not reported. */
	const struct hodo_read_object objects[] = {
		object("/red", 0x11, 0x10000, INT64_MIN, 100), object("/blue", 0x22, 0x10000, 200, 300),
		object("/red", 0x11, 0x10000, 300, INT64_MAX), object("/blue", 0x22, 0x10000, 500, INT64_MAX),
	};
	const struct hodo_read_object gone[] = { object("/red", 0x11, 0x10000, 5, 10),
						 object("/blue", 0x22, 0x10000, 10, 20) };
	const struct hodo_read_process p = { .size = sizeof(p), .nobjects = 4, .objects = objects };
	const struct hodo_read_process q = { .size = sizeof(q), .nobjects = 2, .objects = gone };
	struct hodo_symbols *s = hodo_symbols_new(folder());
	struct hodo_place before, after;

	assert_non_null(s);
	for (unsigned round = 0; round < 3; round++) { /* also from the cache, in any order */
		assert_string_equal(name_at(s, &p, 0, 0x11000), "red_f");
		assert_string_equal(name_at(s, &p, 99, 0x1101f), "red_f");
		assert_string_equal(name_at(s, &p, 100, 0x11000), "red_f"); /* the last object that was there */
		assert_string_equal(name_at(s, &p, 250, 0x11000), "blue_f");
		assert_string_equal(name_at(s, &p, 199, 0x11000), "red_f");
		assert_string_equal(name_at(s, &p, 299, 0x11020), "blue_g");
		assert_string_equal(name_at(s, &p, 300, 0x11020), "red_g");
		assert_string_equal(name_at(s, &p, 499, 0x11100), "red_f");
		assert_string_equal(name_at(s, &p, 500, 0x11100), "blue_f");
		assert_string_equal(name_at(s, &p, INT64_MIN, 0x11000), "red_f");
	}
	assert_string_equal(name_at(s, &q, 4, 0x11000), "red_f"); /* the object was reported late */
	assert_string_equal(name_at(s, &q, 1000, 0x11000), "blue_f");
	hodo_symbols_find(s, &p, 50, 0x11104, &before);
	hodo_symbols_find(s, &p, 400, 0x11008, &after);
	assert_true(before.id == after.id && before.id != 0);
	assert_true(before.start == 0x11000 && strcmp(before.object, "/red") == 0);
	hodo_symbols_find(s, &p, 250, 0x11008, &after);
	assert_true(before.id != after.id);
	hodo_symbols_find(s, &p, 250, 0x11800, &after); /* in the object, but in no function */
	assert_string_equal(after.name, "blue+0x1800");
	assert_string_equal(after.object, "/blue");
	assert_int_equal(after.start, 0x11800);
	hodo_symbols_free(s);
}

TEST(test_processes)
{
	const struct hodo_read_object low[] = { object("/red", 0x11, 0x10000, INT64_MIN, INT64_MAX),
						object("/blue", 0x22, 0x12000, INT64_MIN, INT64_MAX) };
	const struct hodo_read_object high[] = { object("/red", 0x11, 0x7f0000000000, INT64_MIN, INT64_MAX) };
	const struct hodo_read_process p = { .size = sizeof(p), .nobjects = 2, .objects = low };
	const struct hodo_read_process q = { .size = sizeof(q), .nobjects = 1, .objects = high };
	const struct hodo_read_process none = { .size = sizeof(none) };
	struct hodo_symbols *s = hodo_symbols_new(folder());
	struct hodo_place a, b;
	const char *file;
	uint32_t line;

	hodo_symbols_find(s, &p, 0, 0x11000, &a);
	hodo_symbols_find(s, &q, 0, 0x7f0000001010, &b);
	assert_true(a.id == b.id && a.start == 0x11000 && b.start == 0x7f0000001000);
	assert_string_equal(name_at(s, &p, 0, 0x13000), "blue_f");
	assert_string_equal(name_at(s, &q, 0, 0x11000), "0x11000");
	assert_string_equal(name_at(s, &p, 0, 0x14000), "0x14000");
	hodo_symbols_find(s, &none, 0, 0x11000, &a);
	assert_string_equal(a.object, "");
	assert_string_equal(a.name, "0x11000");
	assert_true(a.id != 0);
	assert_true(hodo_symbols_line(s, &q, 0, 0x7f0000001020, &file, &line));
	assert_string_equal(file, "red.c");
	assert_int_equal(line, 9);
	assert_false(hodo_symbols_line(s, &q, 0, 0x7f0000001100, &file, &line));
	assert_false(hodo_symbols_line(s, &none, 0, 0x11000, &file, &line));
	hodo_symbols_free(s);
}

/* More addresses than the cache has room for, each several times. */
TEST(test_many)
{
	static struct hodo_read_object objects[500];
	const struct hodo_read_process p = { .size = sizeof(p), .nobjects = 500, .objects = objects };
	struct hodo_symbols *s = hodo_symbols_new(folder());

	for (unsigned i = 0; i < 500; i++)
		objects[i] = object(i % 2 ? "/blue" : "/red", i % 2 ? 0x22 : 0x11, 0x10000 + i * 0x2000ull, INT64_MIN,
				    INT64_MAX);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 300000; i++) {
			uint64_t address = 0x10000 + (i % 500) * 0x2000ull + 0x1000 + (i / 500) % 0x30;
			const char *name = name_at(s, &p, i, address);
			const char *want = i % 2 ? (i / 500) % 0x30 < 0x20 ? "blue_f" : "blue_g"
						 : (i / 500) % 0x30 < 0x20 ? "red_f" : "red_g";

			if (strcmp(name, want) != 0)
				fail_msg("%llx: %s, not %s", (unsigned long long)address, name, want);
			name = name_at(s, &p, i, 0xffff000000000000ull + i % 200000);
			if (strtoull(name, NULL, 16) != 0xffff000000000000ull + i % 200000)
				fail_msg("%u: %s", i, name);
		}
	}
	hodo_symbols_free(s);
}

/* Code that is in no file: only so many addresses are distinguished, and the others are one. */
TEST(test_unnamed)
{
	static const struct hodo_read_process p = { .size = sizeof(p) };
	struct hodo_symbols *s = hodo_symbols_new(folder());
	struct hodo_place first, last, other;

	hodo_symbols_find(s, &p, 0, 0x1000, &first);
	assert_string_equal(first.name, "0x1000");
	for (uint64_t i = 1; i < 300000; i++)
		hodo_symbols_find(s, &p, 0, 0x1000 + i, &last);
	assert_string_equal(last.name, "0x?");
	hodo_symbols_find(s, &p, 0, 0x7fff00000000, &other);
	assert_string_equal(other.name, "0x?");
	assert_int_equal(other.id, last.id);
	hodo_symbols_find(s, &p, 0, 0x1000, &other);
	assert_string_equal(other.name, "0x1000");
	assert_int_equal(other.id, first.id);
	assert_int_not_equal(other.id, last.id);
	hodo_symbols_free(s);
}

TEST_PROGRAM(.setup = setup);
