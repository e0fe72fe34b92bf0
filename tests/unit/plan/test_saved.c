/* SPDX-License-Identifier: MIT */
/* test_saved.c - what decoding a file found, saved and read again: the same, and nothing that contradicts itself. */
#define _GNU_SOURCE
#include <lib/unit.h>

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <probe/code/saved.h>
#include <probe/patch/whole_functions.h>

static struct hodo_elf elf;
static struct hodo_probe_object object;
static uint8_t *bytes;
static size_t n;

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libz.so.1"))
		return 0;
	strcpy(path, info->dlpi_name);
	return 1;
}

static int save(void **state)
{
	enum hodo_probe_reason why;
	char path[4096] = "";

	(void)state;
	assert_int_equal(dl_iterate_phdr(find_libc, path), 1);
	assert_int_equal(hodo_elf_open(&elf, path), 0);
	assert_int_equal(hodo_probe_object_open(&object, &elf, &why), 0);
	return hodo_probe_object_save(&object, &bytes, &n);
}

static int drop(void **state)
{
	(void)state;
	free(bytes);
	hodo_probe_object_close(&object);
	hodo_elf_close(&elf);
	return 0;
}

TEST_PROGRAM(.setup = save, .teardown = drop);

TEST(it_is_the_same)
{
	struct hodo_probe_object o = { 0 };

	assert_int_equal(hodo_probe_object_restore(&o, &elf, bytes, n), 0);
	assert_true(o.nfunctions > 100 && o.nexits > 100);
	assert_int_equal(o.nfunctions, object.nfunctions);
	assert_int_equal(o.nexits, object.nexits);
	assert_int_equal(o.nslots, object.nslots);
	assert_int_equal(o.nlandings, object.nlandings);
	assert_int_equal(o.finder, object.finder);
	assert_int_equal(o.ninstructions, object.ninstructions);
	assert_memory_equal(o.landings, object.landings, sizeof(o.landings));
	for (uint32_t i = 0; i < o.nfunctions; i++) {
		const struct hodo_probe_function *a = &o.functions[i], *b = &object.functions[i];

		assert_true(a->start == b->start && a->end == b->end && a->room == b->room && a->reason == b->reason);
		assert_true(a->part == b->part && a->entered == b->entered && a->branched == b->branched &&
			    a->labels == b->labels && a->unsure == b->unsure);
		assert_true(a->exit == b->exit && a->nexits == b->nexits);
	}
	for (uint32_t i = 0; i < o.nexits; i++) {
		const struct hodo_probe_exit *a = &o.exits[i], *b = &object.exits[i];

		assert_true(a->addr == b->addr && a->function == b->function && a->since == b->since &&
			    a->leave == b->leave && a->unsure == b->unsure);
	}
	assert_int_equal(o.nsegments, object.nsegments);
	for (uint32_t i = 0; i < o.nsegments; i++) {
		size_t len = o.segments[i].end - o.segments[i].start;

		assert_int_equal(o.segments[i].start, object.segments[i].start);
		assert_memory_equal(o.segments[i].marks, object.segments[i].marks, len);
		assert_memory_equal(o.segments[i].bytes, object.segments[i].bytes, len);
	}
	hodo_probe_object_close(&o);
}

/* 0, or that it is refused; never more than what is there is read (under sanitizers). */
static void read_as(const uint8_t *from, size_t len)
{
	struct hodo_probe_object o = { 0 };
	uint8_t *copy = malloc(len ? len : 1);
	struct hodo_probe_survey survey;
	int err;

	assert_non_null(copy);
	memcpy(copy, from, len);
	err = hodo_probe_object_restore(&o, &elf, copy, len);
	assert_true(err == 0 || err == -EBADMSG);
	assert_true(err == 0 || !o.functions);
	if (!err)
		assert_int_equal(hodo_probe_survey(&survey, &o), 0);
	hodo_probe_object_close(&o);
	free(copy);
}

TEST(what_is_cut_is_refused)
{
	struct hodo_probe_object o = { 0 };

	for (size_t len = 0; len < n; len += len < 400 ? 1 : 997)
		assert_int_equal(hodo_probe_object_restore(&o, &elf, bytes, len), -EBADMSG);
}

TEST(whatever_it_says_it_stays_in_bounds)
{
	uint32_t random = 1;

	for (unsigned i = 0; i < 300; i++) {
		size_t at;
		uint8_t was;

		random = random * 1103515245 + 12345;
		at = (random >> 8) % (i < 150 ? 4000 : n);
		was = bytes[at];
		bytes[at] = (uint8_t)(i & 1 ? 0xff : was ^ 1u << i % 8);
		read_as(bytes, n);
		bytes[at] = was;
	}
}
