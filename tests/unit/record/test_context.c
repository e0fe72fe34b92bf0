/* SPDX-License-Identifier: MIT */
/* test_context.c - contexts: as a process gives them to the recorder, and the reverse: both may be hostile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lib/records.h>
#include <lib/unit.h>

#include <hodo/read.h>
#include <record/catalog.h>

#define HEAD (RECORD_ANCHOR_BYTES + RECORD_EVENT_BYTES) /* of a packet's first event */

bool hodo_context_valid(const uint8_t *at, uint32_t len); /* of libhodo */

static struct hodo_context_config full(void)
{
	struct hodo_context_config c = { .size = sizeof(c), .flags = 63, .depth_max = 32, .stack_bytes = 100,
					 .counters = 2 };

	strcpy(c.counter[0].name, "cycles");
	strcpy(c.counter[1].name, "instructions");
	return c;
}

TEST(test_fields)
{
	static const char *const names[] = { "comm", "pid", "ip", "callstack", "stack_regs", "stack", "perf_cycles",
					     "perf_instructions" };
	struct hodo_context_config c = full();
	struct hodo_context_fields f;

	assert_int_equal(hodo_context_fields(&c, &f), 0);
	assert_int_equal(f.n, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_string_equal(f.name[i], names[i]);
	c.flags = HODO_CONTEXT_IP;
	assert_int_equal(hodo_context_fields(&c, &f), 0);
	assert_int_equal(f.n, 1);
}

TEST(test_bad_fields)
{
	struct hodo_context_fields f;
	struct hodo_context_config c;

#define BAD(change)                                                     \
	do {                                                            \
		c = full();                                             \
		change;                                                 \
		assert_int_equal(hodo_context_fields(&c, &f), -EINVAL); \
	} while (0)
	BAD(c.size--);
	BAD(c.flags = 128);
	BAD(c.counters = HODO_COUNTERS_MAX + 1);
	BAD(c.counter[0].name[0] = 0);
	BAD(c.counter[0].name[2] = '"');
	BAD(memset(c.counter[1].name, 'x', sizeof(c.counter[1].name)));
	BAD(c.counter[1] = c.counter[0]);
}

TEST(test_process_side)
{
	struct hodo_context_config c = full();
	unsigned valid = 0;

	assert_true(hodo_context_valid((const uint8_t *)&c, 0));
	assert_true(hodo_context_valid((const uint8_t *)&c, sizeof(c)));
	assert_false(hodo_context_valid((const uint8_t *)&c, sizeof(c) - 1));
	c.depth_max = HODO_CONTEXT_DEPTH_MAX + 1;
	assert_false(hodo_context_valid((const uint8_t *)&c, sizeof(c)));
	c = full();
	c.stack_bytes = HODO_CONTEXT_STACK_MAX + 1;
	assert_false(hodo_context_valid((const uint8_t *)&c, sizeof(c)));
	c = full();
	c.depth_max = 0;
	assert_false(hodo_context_valid((const uint8_t *)&c, sizeof(c)));
	/* Whatever is accepted has bounds that the process can rely on, and fields that the recorder takes. */
	srandom(1);
	for (int i = 0; i < 300000; i++) {
		uint8_t bytes[sizeof(c) + 1];
		struct hodo_context_fields f;

		c = full();
		for (long k = random() % 4; k >= 0; k--)
			((uint8_t *)&c)[(size_t)random() % (i % 2 ? sizeof(c) : 24)] = (uint8_t)random();
		memcpy(bytes + 1, &c, sizeof(c)); /* unaligned */
		if (!hodo_context_valid(bytes + 1, sizeof(c)))
			continue;
		valid++;
		assert_true(c.depth_max <= HODO_CONTEXT_DEPTH_MAX && c.stack_bytes <= HODO_CONTEXT_STACK_MAX);
		assert_true(c.counters <= HODO_COUNTERS_MAX);
		assert_int_equal(hodo_context_fields(&c, &f), 0);
	}
	assert_true(valid > 100);
}

/* ------------------------------------------------------------------- the catalogue */

static uint8_t catalog_bytes[8192] __attribute__((aligned(8)));
static uint64_t used;

static void add_context(const struct hodo_context_config *c)
{
	struct hodo_record_context r = { { sizeof(r), HODO_RECORD_CONTEXT, 0 }, *c };

	memcpy(catalog_bytes + used, &r, sizeof(r));
	used += sizeof(r);
}

/* An event a:b with one u32 and a text. */
static void add_event(uint16_t id, uint8_t kind)
{
	static const char texts[] = "a:b\0n\0text\0\0\0\0"; /* and the string's NUL */
	struct hodo_record_event r = { { 0, HODO_RECORD_EVENT, id }, kind, 2, 0, 0 };
	size_t size = (sizeof(r) + 2 + sizeof(texts) + 7) & ~7ul;

	r.head.size = (uint32_t)size;
	memset(catalog_bytes + used, 0, size);
	memcpy(catalog_bytes + used, &r, sizeof(r));
	catalog_bytes[used + sizeof(r)] = HODO_TYPE_U32;
	catalog_bytes[used + sizeof(r) + 1] = HODO_TYPE_STR;
	memcpy(catalog_bytes + used + sizeof(r) + 2, texts, sizeof(texts));
	used += size;
}

/* Writes what an event with all of full() looks like behind its header. Returns its size. */
static uint32_t make_event(uint8_t *p)
{
	uint8_t *start = p;
	uint16_t len = 3;
	uint32_t n = 2;

	memcpy(p, &len, 2);
	memcpy(p + 2, "abc", 3);
	p += 2 + 3 + 4 + 8;
	memcpy(p, &n, 4);
	p += 4 + 2 * 8;
	n = 3;
	memcpy(p, &n, 4);
	p += 4 + 3 * 8;
	n = 5;
	memcpy(p, &n, 4);
	p += 4 + 5 + 2 * 8;
	p += 4;
	memcpy(p, &len, 2);
	return (uint32_t)(p + 2 + 3 - start);
}

TEST(test_sizes)
{
	struct hodo_context_config c = full();
	struct hodo_catalog catalog = { 0 };
	struct hodo_walk_result result;
	uint8_t body[512] = { 0 };
	uint32_t size;

	used = 0;
	add_context(&c);
	add_event(1, HODO_KIND_EVENT);
	add_event(2, HODO_KIND_FUNCTION);
	assert_int_equal(hodo_catalog_read(&catalog, catalog_bytes, used), 3);
	size = HEAD + make_event(body + HEAD);
	record_event(body + record_anchor(body, 0, 7, 0), 1, 0);
	hodo_walk(&catalog.walk, body, size, 0, 10, &result);
	assert_int_equal(result.events, 1);
	assert_int_equal(result.bytes, size);
	for (uint32_t cut = 0; cut < size; cut++) {
		hodo_walk(&catalog.walk, body, cut, 0, 10, &result);
		assert_int_equal(result.events, 0);
	}
	/* Functions' events have no context. */
	memset(body + HEAD, 0, sizeof(body) - HEAD);
	record_event(body + RECORD_ANCHOR_BYTES, 2, 0);
	hodo_walk(&catalog.walk, body, HEAD + 6, 0, 1, &result);
	assert_int_equal(result.bytes, HEAD + 6);
	hodo_catalog_free(&catalog);
}

TEST(test_bad_catalogues)
{
	struct hodo_context_config c = full(), bad = full();
	struct hodo_catalog catalog = { 0 };

	bad.counters = 77;
	used = 0;
	add_context(&bad);
	assert_int_equal(hodo_catalog_read(&catalog, catalog_bytes, used), -EBADMSG);
	hodo_catalog_free(&catalog);
	/* Behind an event, when the size is already fixed; and twice. */
	used = 0;
	add_event(1, HODO_KIND_EVENT);
	add_context(&c);
	assert_int_equal(hodo_catalog_read(&catalog, catalog_bytes, used), -EBADMSG);
	assert_int_equal(catalog.events, 1);
	hodo_catalog_free(&catalog);
	used = 0;
	add_context(&c);
	add_context(&c);
	assert_int_equal(hodo_catalog_read(&catalog, catalog_bytes, used), -EBADMSG);
	assert_int_equal(catalog.context.n, 8);
	hodo_catalog_free(&catalog);
}
