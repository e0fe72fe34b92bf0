/* SPDX-License-Identifier: MIT */
/*
 * test_stages.c - what the stages of src/kmod/events make of a header: fields, their types and order, the bytes of a
 * record; all with a header that has every kind of field, compiled into a program.
 */
#include <linux/types.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

/* Between measuring and copying, the source may change. */
static void hodo_kinds_interlude(void);
#define hodo_kinds_interlude hodo_kinds_interlude

#define HODO_HEADER <trace/events/hodo_kinds.h>
#define HODO_HEADER_CREATES
#define HODO_SKIP_EVENT_hodo_kinds_text_fn ~,
#include "stages.h"

unsigned int nr_cpumask_bits = 65;

/* The stages must skip this event: otherwise it would be defined twice. */
extern const int hodo_tp_hodo_kinds_text_fn;

/* ------------------------------------------------------------- the writer */

static u8 *room;
static u32 room_len, records;
static bool refuse;
static int entered;

void hodo_tracepoint_enter(void)
{
	assert_int_equal(entered++, 0);
}

void hodo_tracepoint_leave(void)
{
	assert_int_equal(--entered, 0);
}

void *hodo_emit_begin(struct hodo_emit *e, const struct hodo_event *event, u32 len)
{
	assert_non_null(event);
	assert_int_equal(entered, 1);
	free(room);
	room = NULL;
	room_len = len;
	if (refuse || len >= HODO_PACKET_MAX)
		return NULL;
	/* Has exactly the requested size: a sanitizer or valgrind sees a write past the end. */
	room = malloc(len ? len : 1);
	assert_non_null(room);
	memset(room, 0xa5, len);
	e->payload = room;
	e->len = len;
	return room;
}

void hodo_emit_end(struct hodo_emit *e, struct hodo_event *event)
{
	assert_ptr_equal(e->payload, room);
	assert_int_equal(entered, 1);
	assert_non_null(event);
	records++;
}

size_t hodo_vstring_size(const char *format, va_list *args)
{
	va_list copy;
	int len;

	va_copy(copy, *args);
	len = vsnprintf(NULL, 0, format, copy);
	va_end(copy);
	return (size_t)len + 1;
}

void hodo_vstring_copy(char *to, size_t size, const char *format, va_list *args)
{
	va_list copy;

	va_copy(copy, *args);
	vsnprintf(to, size, format, copy);
	va_end(copy);
}

static char *changing;
static const char *change_to;

static void hodo_kinds_interlude(void)
{
	if (changing)
		strcpy(changing, change_to);
}

/* -------------------------------------------------------------- reading it */

struct cursor {
	const struct hodo_event *event;
	unsigned int field;
	u32 at;
};

static struct cursor begin(struct hodo_tracepoint *t)
{
	t->describe(&t->event);
	return (struct cursor){ &t->event, 0, 0 };
}

static const u8 *take(struct cursor *c, const char *name, unsigned int type, u32 len)
{
	const u8 *p = room + c->at;

	assert_true(c->field < c->event->nfields);
	assert_string_equal(c->event->fields[c->field].name, name);
	assert_int_equal(c->event->fields[c->field].type, type);
	c->field++;
	c->at += len;
	assert_true(c->at <= room_len);
	return p;
}

static s64 number(struct cursor *c, const char *name, unsigned int type, u32 size)
{
	s64 v = 0;

	memcpy(&v, take(c, name, type, size), size);
	if (size < 8 && type != HODO_TYPE_BOOL && (type & 1)) /* signed ones have odd numbers */
		v = (s64)((u64)v << (64 - 8 * size)) >> (64 - 8 * size);
	return v;
}

static u32 count(struct cursor *c, u32 size)
{
	u32 n = 0;

	assert_true(c->at + size <= room_len);
	memcpy(&n, room + c->at, size);
	c->at += size;
	return n;
}

static void text(struct cursor *c, const char *name, const char *expected, u32 len)
{
	u32 n = count(c, 2);

	assert_int_equal(n, len);
	assert_memory_equal(take(c, name, HODO_TYPE_STR, n), expected, len);
}

static const u8 *array(struct cursor *c, const char *name, unsigned int type, u32 size, u32 n)
{
	assert_int_equal(count(c, 4), n);
	return take(c, name, type, size * n);
}

static void end(const struct cursor *c)
{
	assert_int_equal(c->field, c->event->nfields);
	assert_int_equal(c->at, room_len);
}

/* ---------------------------------------------------------------- the tests */

TEST(scalars)
{
	struct cursor c = begin(&hodo_tp_hodo_kinds_scalars);
	const struct hodo_kinds_pair *pair;

	assert_string_equal(c.event->provider, "hodo_kinds");
	assert_string_equal(c.event->name, "hodo_kinds_scalars");
	assert_string_equal(c.event->format,
			    "\"e=%d %s\", REC->e, __print_symbolic(REC->l, { HODO_KINDS_A, \"a\" })");
	assert_string_equal(c.event->fields[10].ctype, "const void *");
	hodo_probe_hodo_kinds_scalars(&hodo_tp_hodo_kinds_scalars, 5, &nr_cpumask_bits);
	assert_int_equal(number(&c, "a", HODO_TYPE_I8, 1), -5);
	assert_int_equal(number(&c, "b", HODO_TYPE_U8, 1), 5);
	assert_int_equal(number(&c, "c", HODO_TYPE_I16, 2), -5);
	assert_int_equal(number(&c, "d", HODO_TYPE_U16, 2), 5);
	assert_int_equal(number(&c, "e", HODO_TYPE_I32, 4), -5);
	assert_int_equal(number(&c, "f", HODO_TYPE_U32, 4), 5);
	assert_int_equal(number(&c, "g", HODO_TYPE_I64, 8), -5);
	assert_int_equal(number(&c, "h", HODO_TYPE_U64, 8), 5);
	assert_int_equal(number(&c, "i", HODO_TYPE_BOOL, 1), 1);
	assert_int_equal(number(&c, "j", HODO_TYPE_CHAR, 1), 'x');
	assert_int_equal(number(&c, "k", HODO_TYPE_PTR, 8), (uintptr_t)&nr_cpumask_bits);
	assert_int_equal(number(&c, "l", HODO_TYPE_U32, 4), HODO_KINDS_B);
	assert_int_equal(number(&c, "m", HODO_TYPE_I32, 4), -1);
	assert_int_equal(number(&c, "n", HODO_TYPE_U64, 8), 5);
	pair = (const void *)array(&c, "o", HODO_TYPE_BYTES, 1, sizeof(*pair));
	assert_memory_equal(&pair->b, ((u16[]){ 7 }), 2);
	pair = (const void *)array(&c, "q", HODO_TYPE_BYTES, 1, sizeof(*pair));
	assert_memory_equal(&pair->a, ((u32[]){ 6 }), 4);
	end(&c);
}

TEST(arrays)
{
	static const u8 bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	for (u32 n = 0; n <= 8; n += 4) {
		struct cursor c = begin(&hodo_tp_hodo_kinds_arrays);

		hodo_probe_hodo_kinds_arrays(&hodo_tp_hodo_kinds_arrays, "one", bytes, n);
		text(&c, "comm", "swapper\0\0\0\0\0\0\0\0\0", 16);
		assert_memory_equal(array(&c, "mac", HODO_TYPE_BYTES, 1, 6), bytes, 6);
		assert_memory_equal(array(&c, "words", HODO_TYPE_ARRAY | HODO_TYPE_U32, 4, 3),
				    ((u32[]){ 0, 1, 2 }), 12);
		assert_memory_equal(array(&c, "flags", HODO_TYPE_ARRAY | HODO_TYPE_BOOL, 1, 2), "\1\0", 2);
		assert_int_equal(number(&c, "last", HODO_TYPE_I32, 4), 2 * n);
		array(&c, "none", HODO_TYPE_ARRAY | HODO_TYPE_PTR, 8, 0);
		assert_memory_equal(array(&c, "shorts", HODO_TYPE_ARRAY | HODO_TYPE_U16, 2, n),
				    ((u16[]){ 100, 101, 102, 103, 104, 105, 106, 107 }), 2 * n);
		text(&c, "one", "one", 3);
		assert_memory_equal(array(&c, "bytes", HODO_TYPE_BYTES, 1, n), bytes, n);
		text(&c, "chars", (const char *)bytes, n);
		end(&c);
	}
}

static void check_texts(const char *source, const char *expected, u32 len, const char *part, u32 part_len)
{
	struct cursor c = begin(&hodo_tp_hodo_kinds_text);

	hodo_probe_hodo_kinds_texts(&hodo_tp_hodo_kinds_text, source, part, 2);
	text(&c, "text", expected, len);
	text(&c, "part", part ? part : "(null)", part_len);
	text(&c, "again", expected, len);
	text(&c, "rel", part ? part : "(null)", part_len);
	text(&c, "empty", "", 0);
	end(&c);
}

TEST(texts)
{
	char *longest = malloc(HODO_STR_MAX + 100);

	check_texts("a text", "a text", 6, "parts", 2);
	check_texts("", "", 0, "parts", 2);
	check_texts(NULL, "(null)", 7, NULL, 7);
	memset(longest, 'y', HODO_STR_MAX + 99);
	longest[HODO_STR_MAX + 99] = 0;
	check_texts(longest, longest, HODO_STR_MAX, "parts", 2);
	free(longest);
}

/* The text grows or shrinks after it was measured: the record keeps its length, and has no byte of another. */
TEST(texts_that_change)
{
	char source[32] = "12345678";

	changing = source;
	change_to = "abcdefghijklmnop";
	check_texts(source, "abcdefgh", 8, "parts", 2);
	strcpy(source, "12345678");
	change_to = "ab";
	check_texts(source, "ab\0" "45678", 8, "parts", 2);
	changing = NULL;
}

static void others_of(const char *format, ...)
{
	static const unsigned long bits[2] = { 0x8000000000000001, 0x2a };
	static const struct sockaddr addr = { 2, "fourteen bytes" };
	struct cursor c = begin(&hodo_tp_hodo_kinds_others);
	struct va_format vaf = { format, NULL };
	va_list args;

	va_start(args, format);
	vaf.va = &args;
	hodo_probe_hodo_kinds_others(&hodo_tp_hodo_kinds_others, bits, &addr, &vaf);
	va_end(args);
	assert_memory_equal(array(&c, "bits", HODO_TYPE_ARRAY | HODO_TYPE_U64, 8, 2), bits, 16);
	array(&c, "none", HODO_TYPE_ARRAY | HODO_TYPE_U64, 8, 0);
	assert_memory_equal(array(&c, "cpus", HODO_TYPE_ARRAY | HODO_TYPE_U64, 8, 2), bits, 16);
	assert_memory_equal(array(&c, "cpus2", HODO_TYPE_ARRAY | HODO_TYPE_U64, 8, 2), bits, 16);
	assert_memory_equal(array(&c, "addr", HODO_TYPE_BYTES, 1, 16), &addr, 16);
	assert_memory_equal(array(&c, "addr2", HODO_TYPE_BYTES, 1, 16), &addr, 16);
	text(&c, "message", "7 and eight", 12); /* with its NUL */
	assert_memory_equal(array(&c, "longs", HODO_TYPE_ARRAY | HODO_TYPE_U64, 8, 2), ((u64[]){ 1, 2 }), 16);
	end(&c);
}

TEST(others)
{
	others_of("%d and %s", 7, "eight");
}

TEST(names)
{
	struct cursor c = begin(&hodo_tp_int);

	assert_string_equal(c.event->name, "int");
	assert_string_equal(c.event->format, "\"\"%d\"\n\", REC->event");
	hodo_probe_int(&hodo_tp_int, 1, 2, 3, 4);
	assert_int_equal(number(&c, "event", HODO_TYPE_I32, 4), 1);
	assert_int_equal(number(&c, "size", HODO_TYPE_I32, 4), 2);
	assert_int_equal(number(&c, "record", HODO_TYPE_I32, 4), 3);
	assert_int_equal(number(&c, "stream", HODO_TYPE_U64, 8), 4);
	text(&c, "string", "abcd", 4);
	text(&c, "src", "(null)", 7);
	text(&c, "len", "len", 3);
	end(&c);
}

TEST(nothing)
{
	struct cursor c = begin(&hodo_tp_hodo_kinds_nothing);

	records = 0;
	hodo_probe_hodo_kinds_nothing(&hodo_tp_hodo_kinds_nothing, 1);
	assert_int_equal(records, 1);
	end(&c);
}

/* Longer than any packet, so that the writer refuses and counts it; also a text longer than 16 bits can say. */
TEST(huge)
{
	static const int n[] = { -1, HODO_STR_MAX + 1, 0x7fffffff, -0x7fffffff - 1 };

	records = 0;
	for (unsigned int i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		hodo_probe_hodo_kinds_huge(&hodo_tp_hodo_kinds_huge, n[i]);
		assert_true(room_len >= HODO_PACKET_MAX);
	}
	assert_int_equal(records, 0);
	hodo_probe_hodo_kinds_huge(&hodo_tp_hodo_kinds_huge, HODO_STR_MAX);
	assert_int_equal(records, 1);
}

/* No room: the arguments are not read any more. */
TEST(refused)
{
	records = 0;
	refuse = true;
	hodo_probe_hodo_kinds_texts(&hodo_tp_hodo_kinds_text, "a", "bb", 2);
	refuse = false;
	assert_int_equal(records, 0);
}

TEST(formats)
{
	assert_string_equal(hodo_tp_hodo_kinds_text.event.format, "\"%s %s\", __get_str(text), __get_str(part)");
	assert_string_equal(hodo_tp_hodo_kinds_text_print.event.format, "\"own\", ");
	assert_string_equal(hodo_tp_hodo_kinds_text_condition.event.format, hodo_tp_hodo_kinds_text.event.format);
	assert_true(hodo_tp_hodo_kinds_text.event.absent);
	assert_non_null(strstr(hodo_tp_hodo_kinds_text.event.file, "hodo_kinds.h"));
}

static int let_go(void **state)
{
	free(room);
	return 0;
}

TEST_PROGRAM(.teardown = let_go);
