/* SPDX-License-Identifier: MIT */
/*
 * test_catalog.c - the catalogue: correct records are taken, a wrong one ends the reading or is left out, within
 * bounds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <record/catalog.h>
#include <record/write/ctf_metadata.h>

#include "writer.h"

#define SIZE 65536u

static uint8_t *new_catalog(void)
{
	return calloc(1, SIZE);
}

/* Writes the metadata of a process with that catalogue. */
static void write_metadata(struct hodo_text *text, const struct hodo_catalog *c)
{
	struct hodo_read_clock clock = { HODO_CLOCK_MONOTONIC, 1000000000, 1, 2 };
	struct hodo_flight flight = { .comm = "c", .exe = "e", .hostname = "h" };
	const struct hodo_ctf_metadata m = { .flight = &flight, .clock = &clock, .catalog = c };

	hodo_ctf_metadata_text(&m, text);
	assert_int_equal(text->error, 0);
}

TEST(test_grows)
{
	static const uint8_t types[] = { HODO_TYPE_ARRAY | HODO_TYPE_U16, HODO_TYPE_BYTES };
	static const char *const names[] = { "a", "b" };
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	uint64_t used = writer_catalog(base);

	assert_int_equal(hodo_catalog_read(&c, base, used), 2);
	assert_int_equal(hodo_catalog_read(&c, base, used), 0);
	writer_catalog_event(base, &used, 700, "more:x", types, 2, names);
	writer_catalog_warning(base, &used, "careful");
	assert_int_equal(hodo_catalog_read(&c, base, used), 2);
	assert_int_equal(c.events, 3);
	assert_string_equal(c.event[0]->name, "fake:number");
	assert_string_equal(c.event[1]->field[1], "_n");
	assert_string_equal(c.event[2]->object, "/no/such/program");
	assert_int_equal(c.event[2]->line, 3);
	assert_int_equal(c.warnings, 1);
	assert_string_equal(c.warning[0], "careful");
	assert_true(hodo_layouts_have(&c.walk, 700) && !hodo_layouts_have(&c.walk, 699));
	hodo_catalog_free(&c);
	free(base);
}

TEST(test_same_id)
{
	static const uint8_t one[] = { HODO_TYPE_U8 }, other[] = { HODO_TYPE_U64 };
	static const char *const names[] = { "a" };
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	uint64_t used = 0;

	writer_catalog_event(base, &used, 5, "x:first", one, 1, names);
	writer_catalog_event(base, &used, 5, "x:second", other, 1, names);
	assert_int_equal(hodo_catalog_read(&c, base, used), 1);
	assert_int_equal(c.events, 1);
	assert_int_equal(c.walk.fixed[5], HODO_EVENT_HEADER + 1);
	hodo_catalog_free(&c);
	free(base);
}

/* Makes one change to a correct catalogue of three records; `events` is how many of them are still taken. */
static void spoilt(void (*spoil)(uint8_t *base, uint64_t *used), int result, uint32_t events)
{
	static const uint8_t types[] = { HODO_TYPE_I32, HODO_TYPE_STR };
	static const char *const names[] = { "a", "b" };
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	uint64_t used = writer_catalog(base);

	writer_catalog_event(base, &used, 9, "last:one", types, 2, names);
	spoil(base, &used);
	assert_int_equal(hodo_catalog_read(&c, base, used), result);
	assert_int_equal(c.events, events);
	/* It stays ended, and reports no error again. */
	if (result < 0)
		assert_int_equal(hodo_catalog_read(&c, base, used + 8), 0);
	hodo_catalog_free(&c);
	free(base);
}

static struct hodo_record_event *second(uint8_t *base)
{
	return (struct hodo_record_event *)(base + ((struct hodo_record *)base)->size);
}

static void nothing(uint8_t *base, uint64_t *used) { (void)base; (void)used; }
static void size_zero(uint8_t *base, uint64_t *used) { (void)used; second(base)->head.size = 0; }
static void size_huge(uint8_t *base, uint64_t *used) { (void)used; second(base)->head.size = 0xfffffff8u; }
static void size_odd(uint8_t *base, uint64_t *used) { (void)used; second(base)->head.size -= 4; }
static void size_small(uint8_t *base, uint64_t *used) { (void)used; second(base)->head.size = 16; }
static void used_huge(uint8_t *base, uint64_t *used) { (void)base; *used = UINT64_MAX; }
static void used_cut(uint8_t *base, uint64_t *used) { (void)base; *used -= 8; }
static void id_zero(uint8_t *base, uint64_t *used) { (void)used; second(base)->head.id = 0; }
static void kind_unknown(uint8_t *base, uint64_t *used) { (void)used; second(base)->kind = 77; }
static void many_fields(uint8_t *base, uint64_t *used) { (void)used; second(base)->nfields = 17; }
static void more_fields(uint8_t *base, uint64_t *used) { (void)used; second(base)->nfields = 16; }
static void type_unknown(uint8_t *base, uint64_t *used) { (void)used; ((uint8_t *)(second(base) + 1))[0] = 99; }
static void array_of_text(uint8_t *base, uint64_t *used)
{
	(void)used;
	((uint8_t *)(second(base) + 1))[0] = HODO_TYPE_ARRAY | HODO_TYPE_STR;
}
static void no_nul(uint8_t *base, uint64_t *used)
{
	(void)used;
	memset(second(base) + 1, 1, second(base)->head.size - sizeof(*second(base)));
}
static void later_type(uint8_t *base, uint64_t *used) { (void)used; second(base)->head.type = 200; }

TEST(test_spoilt)
{
	spoilt(nothing, 3, 3);
	spoilt(later_type, 2, 2);
	spoilt(used_cut, -EBADMSG, 2);
	spoilt(used_huge, -EBADMSG, 0);
	spoilt(size_zero, -EBADMSG, 1);
	spoilt(size_huge, -EBADMSG, 1);
	spoilt(size_odd, -EBADMSG, 1);
	spoilt(size_small, -EBADMSG, 1);
	spoilt(id_zero, -EBADMSG, 1);
	spoilt(kind_unknown, -EBADMSG, 1);
	spoilt(many_fields, -EBADMSG, 1);
	spoilt(more_fields, -EBADMSG, 1);
	spoilt(type_unknown, 3, 2);
	spoilt(array_of_text, 3, 2);
	spoilt(no_nul, -EBADMSG, 1);
}

/* Such an event is left out, with a warning that names it; those behind it are taken. */
TEST(test_unknown_type)
{
	static const uint8_t bad[] = { HODO_TYPE_I32, HODO_TYPE_ARRAY }, good[] = { HODO_TYPE_I32, HODO_TYPE_STR };
	static const char *const names[] = { "a", "b" };
	const uint32_t max = HODO_CATALOG_WARNINGS_MAX;
	uint8_t *base = calloc(max + 6, 256);
	struct hodo_catalog c = { 0 };
	uint64_t used = 0;

	for (uint32_t id = 1; id <= max + 4; id++)
		writer_catalog_event(base, &used, (uint16_t)id, "x:bad", bad, 2, names);
	writer_catalog_event(base, &used, 5000, "x:good", good, 2, names);
	assert_true(used < (max + 6) * 256ull);
	assert_int_equal(hodo_catalog_read(&c, base, used), max + 1);
	assert_false(c.broken);
	assert_int_equal(c.events, 1);
	assert_string_equal(c.event[0]->name, "x:good");
	assert_true(hodo_layouts_have(&c.walk, 5000) && !hodo_layouts_have(&c.walk, 1));
	assert_int_equal(c.warnings, max);
	assert_non_null(strstr(c.warning[0], "event x:bad at "));
	assert_non_null(strstr(c.warning[0], ":3 is not recorded"));
	hodo_catalog_free(&c);
	free(base);
}

/* Only functions' events with these names and types are calls and returns. */
TEST(test_calls)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32 }, other[] = { HODO_TYPE_PTR, HODO_TYPE_U64 };
	static const char *const names[] = { "addr", "frame" };
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	struct hodo_text text = { 0 };
	uint64_t used = 0, at;

	writer_catalog_event(base, &used, 7, "func:entry", types, 2, names); /* not a function's event */
	at = used;
	writer_catalog_event(base, &used, 8, "func:exit", other, 2, names);
	((struct hodo_record_event *)(base + at))->kind = HODO_KIND_FUNCTION;
	assert_int_equal(hodo_catalog_read(&c, base, used), 2);
	assert_int_equal(c.walk.call[0] | c.walk.call[1], 0);
	write_metadata(&text, &c);
	assert_null(strstr(hodo_text_string(&text), "function;"));
	hodo_text_free(&text);
	writer_catalog_calls(base, &used);
	assert_int_equal(hodo_catalog_read(&c, base, used), 2);
	assert_int_equal(c.walk.call[0], WRITER_CALL);
	assert_int_equal(c.walk.call[1], WRITER_RETURN);
	write_metadata(&text, &c);
	assert_non_null(strstr(hodo_text_string(&text), "function;"));
	hodo_text_free(&text);
	hodo_catalog_free(&c);
	free(base);
}

TEST(test_field_names)
{
	static const uint8_t types[] = { 2, 2, 2, 2, 2 };
	static const char *const names[] = { "", "9lives", "a b", "a_b", "a_b" };
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	uint64_t used = 0;

	writer_catalog_event(base, &used, 1, "x:y", types, 5, names);
	assert_int_equal(hodo_catalog_read(&c, base, used), 1);
	assert_string_equal(c.event[0]->field[0], "_");
	assert_string_equal(c.event[0]->field[1], "_9lives");
	assert_string_equal(c.event[0]->field[2], "a_b");
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(c.event[0]->field[i], c.event[0]->field[j]);
	hodo_catalog_free(&c);
	free(base);
}

static void add_labels(uint8_t *base, uint64_t *used, const int64_t *values, unsigned int n, const char *texts,
		       size_t len)
{
	struct hodo_record_labels r = { .head = { 0, HODO_RECORD_LABELS, 0 }, .n = n };

	r.head.size = (uint32_t)((sizeof(r) + 8 * n + len + 7) & ~7ull);
	memcpy(base + *used, &r, sizeof(r));
	memcpy(base + *used + sizeof(r), values, 8 * n);
	memcpy(base + *used + sizeof(r) + 8 * n, texts, len);
	*used += r.head.size;
}

TEST(test_labels)
{
	static const uint8_t types[] = { HODO_TYPE_U8, HODO_TYPE_I64, HODO_TYPE_F32 };
	static const char *const names[] = { "state", "big", "other" };
	static const int64_t values[] = { 0, 1, -1 }, far[] = { INT64_MIN, INT64_MAX };
	static const char texts[] = "kv\0state\0IDLE\0BU\"SY\0GONE", far_texts[] = "kv\0big\0MIN\0MAX";
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	struct hodo_text text = { 0 };
	uint64_t used = 0;

	add_labels(base, &used, values, 3, texts, sizeof(texts));
	add_labels(base, &used, far, 2, far_texts, sizeof(far_texts));
	writer_catalog_event(base, &used, 1, "kv:put", types, 3, names);
	assert_int_equal(hodo_catalog_read(&c, base, used), 3);
	write_metadata(&text, &c);
	assert_non_null(strstr(hodo_text_string(&text),
			       "enum : uint8_t { \"IDLE\" = 0, \"BU_SY\" = 1, \"GONE\" = 255 } _state;"));
	assert_non_null(strstr(hodo_text_string(&text), "\"MAX\" = 9223372036854775807 } _big;"));
	assert_non_null(strstr(hodo_text_string(&text), "float_t _other;"));
	assert_non_null(strstr(hodo_text_string(&text), "/*@labels provider=kv field=state names=IDLE,BU%22SY,GONE values=0,1,-1*/"));
	hodo_text_free(&text);
	hodo_catalog_free(&c);
	free(base);
}

/* Adds a mapping, as large as the reader can check; spoil, if not 0, says what is wrong with it. Tick 30 has a short
 * range. */
static void add_object(uint8_t *base, uint64_t *used, const char *path, uint64_t start, uint64_t ticks, int spoil)
{
	size_t len = strlen(path) + 1;
	struct hodo_record_object r = {
		.head = { (uint32_t)((sizeof(r) + len + 7) & ~7ull), HODO_RECORD_OBJECT, 0 },
		.base = start, .start = start, .end = start + 0x1000, .ticks = ticks, .functions = 5,
		.build_id_len = 2, .build_id = { 0xab, 0x01 },
	};

	if (ticks == 30) {
		r.short_start = start + 0x400;
		r.short_end = start + 0xc00;
	}
	if (spoil == 1)
		r.build_id_len = 33;
	if (spoil == 2)
		r.end = r.start;
	if (spoil == 5) /* an empty short range */
		r.short_start = start;
	if (spoil == 6) /* one that begins before the mapping */
		r.short_start = start - 1, r.short_end = start + 1;
	if (spoil == 7) /* one that ends behind it */
		r.short_start = start, r.short_end = start + 0x1001;
	memset(base + *used, 'x', r.head.size);
	memcpy(base + *used, &r, sizeof(r));
	memcpy(base + *used + sizeof(r), path, spoil == 3 ? len - 1 : len);
	if (spoil == 4)
		((struct hodo_record *)(base + *used))->size = 72;
	*used += r.head.size;
}

static void add_unload(uint8_t *base, uint64_t *used, uint64_t start, uint64_t ticks)
{
	struct hodo_record_unload r = { .head = { sizeof(r), HODO_RECORD_UNLOAD, 0 }, .start = start, .ticks = ticks };

	memcpy(base + *used, &r, sizeof(r));
	*used += sizeof(r);
}

TEST(test_objects)
{
	uint8_t *base = new_catalog();
	struct hodo_catalog c = { 0 };
	struct hodo_text text = { 0 };
	uint64_t used = 0;

	add_object(base, &used, "/bin/my prog", 0x400000, 0, 0);
	add_object(base, &used, "/lib/red.so", 0x7000, 10, 0);
	add_unload(base, &used, 0x7000, 20);
	add_object(base, &used, "/lib/blue.so", 0x7000, 30, 0);
	add_unload(base, &used, 0x9000, 35); /* of no object */
	add_unload(base, &used, 0x7000, 40);
	add_unload(base, &used, 0x7000, 50); /* a second time */
	assert_int_equal(hodo_catalog_read(&c, base, used), 5);
	assert_int_equal(c.objects, 3);
	write_metadata(&text, &c);
	assert_non_null(strstr(hodo_text_string(&text), "\n/*@object path=/bin/my%20prog base=0x400000 start=0x400000 end=0x401000 functions=5 build_id=ab01*/\n"));
	assert_non_null(strstr(hodo_text_string(&text), "\n/*@object path=/lib/red.so base=0x7000 start=0x7000 end=0x8000 from=10 until=20 functions=5 build_id=ab01*/\n"));
	assert_non_null(strstr(hodo_text_string(&text), "\n/*@object path=/lib/blue.so base=0x7000 start=0x7000 end=0x8000 from=30 until=40 functions=5 short_start=0x7400 short_end=0x7c00 build_id=ab01*/\n"));
	hodo_text_free(&text);
	hodo_catalog_free(&c);
	for (int spoil = 1; spoil <= 7; spoil++) {
		used = 0;
		add_object(base, &used, "/lib/good.so", 0x1000, 0, 0);
		add_object(base, &used, "/lib/bad-bad.so", 0x2000, 0, spoil); /* 16 bytes: no room behind the NUL */
		assert_int_equal(hodo_catalog_read(&c, base, used), -EBADMSG);
		assert_int_equal(c.objects, 1);
		hodo_catalog_free(&c);
	}
	free(base);
}

/* Objects that come and go without end, and ends that fit no object, cost bounded work. */
TEST(test_many_objects)
{
	uint8_t *base = calloc(1, HODO_CATALOG_SIZE);
	struct hodo_catalog c = { 0 };
	uint64_t used = 0;

	for (unsigned i = 0; i < HODO_CATALOG_OBJECTS_MAX + 100; i++)
		add_object(base, &used, "/lib/a.so", 0x1000 + i, 1, 0);
	while (used + sizeof(struct hodo_record_unload) <= HODO_CATALOG_SIZE)
		add_unload(base, &used, 1, 2);
	assert_int_equal(hodo_catalog_read(&c, base, used), HODO_CATALOG_OBJECTS_MAX);
	assert_int_equal(c.objects_dropped, 100);
	assert_true(c.unload_steps <= HODO_CATALOG_UNLOAD_STEPS);
	hodo_catalog_free(&c);
	free(base);
}
