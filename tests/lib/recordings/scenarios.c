/* SPDX-License-Identifier: MIT */
/* scenarios.c - the recordings that the tests of the reader use. */
#define _GNU_SOURCE
#include "gen.h"

#include <err.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lib/random.h>

#define TSC_HZ      2596123457ull /* divides no round number */
#define EPOCH_S     1795000000
#define ARRAY(type) ((type) | HODO_TYPE_ARRAY)

static const struct gen_field scalars[] = {
	{ "i8", HODO_TYPE_I8 },       { "u8", HODO_TYPE_U8 },      { "i16", HODO_TYPE_I16 },
	{ "u16", HODO_TYPE_U16 },     { "i32", HODO_TYPE_I32 },    { "u32", HODO_TYPE_U32 },
	{ "i64", HODO_TYPE_I64 },     { "u64", HODO_TYPE_U64 },    { "flag", HODO_TYPE_BOOL },
	{ "letter", HODO_TYPE_CHAR }, { "single", HODO_TYPE_F32 }, { "real", HODO_TYPE_F64 },
	{ "address", HODO_TYPE_PTR },
};
static const struct gen_field sequences[] = {
	{ "text", HODO_TYPE_STR },           { "raw", HODO_TYPE_BYTES },
	{ "ints", ARRAY(HODO_TYPE_I32) },    { "longs", ARRAY(HODO_TYPE_U64) },
	{ "reals", ARRAY(HODO_TYPE_F64) },   { "flags", ARRAY(HODO_TYPE_BOOL) },
	{ "singles", ARRAY(HODO_TYPE_F32) }, { "shorts", ARRAY(HODO_TYPE_I16) },
	{ "event", HODO_TYPE_U8 }, /* a keyword of TSDL */
};
static const struct gen_field put[] = { { "key", HODO_TYPE_STR },
					{ "shard", HODO_TYPE_I32 },
					{ "bytes", HODO_TYPE_U64 } };
static const struct gen_field get[] = { { "key", HODO_TYPE_STR }, { "shard", HODO_TYPE_I32 } };
static const struct gen_field state[] = { { "state", HODO_TYPE_I32 } };
static const struct gen_field numbers[] = { { "n", HODO_TYPE_I32 }, { "total", HODO_TYPE_U64 } };

enum { SCALARS = 1, SEQUENCES, PUT, GET, STATE, EMPTY, COUNTER, BEGIN, END, MARK, HIGH = 700 };

static void classes(struct gen_trace *t)
{
	static const struct gen_field value[] = { { "value", HODO_TYPE_I64 } };
	static const struct gen_field mark[] = {
		{ "name", HODO_TYPE_STR },  { "n", HODO_TYPE_I32 },  { "size", HODO_TYPE_U64 },
		{ "ratio", HODO_TYPE_F64 }, { "c", HODO_TYPE_CHAR }, { "p", HODO_TYPE_PTR },
	};

	gen_labels(t, "kv", "state", "IDLE,BUSY,DEAD", "0,1,-7");
	gen_class(t, SCALARS, "all:scalars", "event", "", scalars, 13);
	gen_class(t, SEQUENCES, "all:sequences", "tracepoint", "", sequences, 9);
	gen_class(t, PUT, "kv:put", "event", "", put, 3);
	gen_class(t, GET, "kv:get", "mark", "key %s shard %d", get, 2);
	gen_class(t, STATE, "kv:state", "event", "", state, 1);
	gen_class(t, EMPTY, "kv:empty", "event", "", NULL, 0);
	gen_class(t, COUNTER, "kv:cache_bytes", "counter", "", value, 1);
	gen_class(t, BEGIN, "kv:compact.begin", "span_begin", "", numbers, 2);
	gen_class(t, END, "kv:compact.end", "span_end", "", NULL, 0);
	gen_class(t, MARK, "kv:report", "mark", "%-8s|%5d|%#llx|%.2f|%c|%p 100%%\n", mark, 6);
	gen_class(t, HIGH, "high:id", "event", "", numbers, 2);
}

static void put_scalars(struct gen_stream *s, int64_t i, uint64_t u, double d, char c)
{
	gen_u8(s, (uint8_t)i);
	gen_u8(s, (uint8_t)u);
	gen_u16(s, (uint16_t)i);
	gen_u16(s, (uint16_t)u);
	gen_u32(s, (uint32_t)i);
	gen_u32(s, (uint32_t)u);
	gen_u64(s, (uint64_t)i);
	gen_u64(s, u);
	gen_u8(s, u & 1);
	gen_u8(s, (uint8_t)c);
	gen_f32(s, (float)d);
	gen_f64(s, d);
	gen_u64(s, u);
}

static void put_sequences(struct gen_stream *s, const char *text, uint32_t n)
{
	int32_t ints[64];
	uint64_t longs[64];
	double reals[64];
	float singles[64];
	uint8_t raw[64];
	int16_t shorts[64];

	for (uint32_t i = 0; i < n; i++) {
		ints[i] = i % 2 ? -(int32_t)(i * 1000003) : (int32_t)i;
		longs[i] = UINT64_MAX / (i + 1);
		reals[i] = i * 0.1;
		singles[i] = (float)(i * 0.25);
		raw[i] = (uint8_t)(i * 37);
		shorts[i] = (int16_t)(i * 9999);
	}
	gen_str(s, text);
	gen_array(s, raw, n, 1);
	gen_array(s, ints, n, 4);
	gen_array(s, longs, n, 8);
	gen_array(s, reals, n, 8);
	gen_u32(s, n);
	for (uint32_t i = 0; i < n; i++)
		gen_u8(s, i % 3 == 0);
	gen_array(s, singles, n, 4);
	gen_array(s, shorts, n, 2);
	gen_u8(s, (uint8_t)n);
}

static void kvd_cpu0(struct gen_trace *t, uint64_t t0)
{
	struct gen_stream s;

	gen_stream_start(&s, t, "cpu0", 0);
	gen_packet_start(&s, t0);
	gen_event(&s, SCALARS, 412, t0);
	put_scalars(&s, INT64_MIN, UINT64_MAX, DBL_MAX, 'x');
	gen_event(&s, SCALARS, 412, t0 + 1000);
	put_scalars(&s, 0, 0, 0.1, '\n');
	gen_event(&s, SCALARS, 413, t0 + 1000); /* the same time */
	put_scalars(&s, -1, 1, -1.5, -100);
	gen_event(&s, PUT, 412, t0 + 5000);
	gen_str(&s, "user:1");
	gen_u32(&s, 3);
	gen_u64(&s, 4096);
	gen_packet_end(&s, t0 + 6000, 0);
	gen_packet_start(&s, t0 + 7000);
	gen_event(&s, SEQUENCES, 412, t0 + 7000);
	put_sequences(&s, "plain", 3);
	gen_event(&s, SEQUENCES, 412, t0 + 8000);
	put_sequences(&s, "", 0);
	gen_event(&s, SEQUENCES, 412, t0 + 8500);
	put_sequences(&s, NULL, 1);
	gen_event(&s, SEQUENCES, 412, t0 + 9000);
	put_sequences(&s, "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80 \"q\" \\ \t\n\x1b[31m \xff\xfe", 64);
	gen_packet_end(&s, t0 + 10000, 7);
	gen_packet_start(&s, t0 + 20000);
	gen_event(&s, EMPTY, 414, t0 + 20000);
	gen_event(&s, HIGH, 414, t0 + 3 * TSC_HZ);
	gen_u32(&s, 1);
	gen_u64(&s, 2);
	gen_packet_end(&s, t0 + 4 * TSC_HZ, 0);
	gen_packet_start(&s, t0 + 5 * TSC_HZ); /* losses after the last event */
	gen_packet_end(&s, t0 + 5 * TSC_HZ, 5);
	gen_stream_end(&s);
}

static void kvd_cpu1(struct gen_trace *t, uint64_t t0)
{
	static const int32_t states[] = { 0, 1, -7, 42 };
	struct gen_stream s;

	gen_stream_start(&s, t, "cpu1", 1);
	gen_packet_start(&s, t0 + 100);
	gen_event(&s, GET, 413, t0 + 500);
	gen_str(&s, "user:2");
	gen_u32(&s, (uint32_t)-1);
	gen_event(&s, GET, 413, t0 + 1000);
	gen_str(&s, NULL);
	gen_u32(&s, 7);
	for (unsigned i = 0; i < 4; i++) {
		gen_event(&s, STATE, 413, t0 + 1100 + i);
		gen_u32(&s, (uint32_t)states[i]);
	}
	gen_event(&s, COUNTER, 413, t0 + 2000);
	gen_u64(&s, (uint64_t)-5);
	gen_event(&s, BEGIN, 413, t0 + 2500);
	gen_u32(&s, 9);
	gen_u64(&s, 10);
	gen_event(&s, END, 413, t0 + 2600);
	gen_event(&s, MARK, 413, t0 + 2700);
	gen_str(&s, "abc");
	gen_u32(&s, (uint32_t)-42);
	gen_u64(&s, 0xdeadbeef);
	gen_f64(&s, 3.14159);
	gen_u8(&s, 'Z');
	gen_u64(&s, 0);
	gen_packet_end(&s, t0 + 3000, 0);
	gen_stream_end(&s);
}

void gen_all(const char *top)
{
	/* In the second process, the bits of the time that a record has wrap within cpu0's second packet. */
	uint64_t t0 = 0x1234567890ab, wrap = (7ull << 48) - 1000;
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "kvd-412", "kvd", 412, "discard", TSC_HZ, EPOCH_S, 1234567);
	classes(&t);
	gen_comment(&t, "thread tid=412 comm=kvd");
	gen_comment(&t, "thread tid=413 comm=kvd%%20worker");
	kvd_cpu0(&t, t0);
	kvd_cpu1(&t, t0);
	gen_stream_start(&s, &t, "fallback", HODO_CPU_ANY);
	gen_packet_start(&s, t0 + 300);
	gen_event(&s, EMPTY, 999, t0 + 1500);
	gen_packet_end(&s, t0 + 1500, 3);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=10 too_large=2 busy=0 overwritten=0 unwritten=0");
	gen_comment(&t, "lost stream=fallback full=0 too_large=0 busy=3 overwritten=0 unwritten=0");
	gen_comment(&t, "warning text=kv:put%%20is%%20defined%%20twice");
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);

	/* A flight recorder that begins between kvd's packets. */
	gen_trace_start(&t, top, "odd_name-500", "odd name", 500, "overwrite", TSC_HZ, EPOCH_S - 1000000,
			(int64_t)(t0 + 1000000 * TSC_HZ - wrap) + 1234567 + 400);
	classes(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_skip(&s, 40);
	gen_packet_start(&s, wrap);
	gen_event(&s, PUT, 500, wrap + 10);
	gen_str(&s, "first");
	gen_u32(&s, 0);
	gen_u64(&s, 0);
	gen_packet_end(&s, wrap + 10, 40);
	gen_packet_start(&s, wrap + 20);
	for (unsigned i = 0; i < 30; i++) {
		gen_event(&s, PUT, 501, wrap + 100 * i + 20);
		gen_str(&s, i % 2 ? "odd" : "even");
		gen_u32(&s, i);
		gen_u64(&s, i * i);
	}
	gen_packet_end(&s, wrap + 3000, 0);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=0 too_large=0 busy=0 overwritten=40 unwritten=0");
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

static void fill(struct gen_trace *t, unsigned cpu, uint64_t events, bool text)
{
	size_t room = 262144 - sizeof(struct hodo_packet) - RECORD_ANCHOR_BYTES;
	size_t per_packet = room / (RECORD_EVENT_BYTES + (text ? 17 : 12));
	uint64_t ticks = 1000000 + cpu * 13;
	struct gen_stream s;
	char name[16];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	gen_stream_start(&s, t, name, cpu);
	for (uint64_t i = 0; i < events;) {
		uint64_t n = events - i < per_packet ? events - i : per_packet;

		gen_packet_start(&s, ticks);
		for (uint64_t k = 0; k < n; k++, i++) {
			ticks += 25 + (i * 7919) % 11;
			gen_event(&s, text ? 2 : 1, 412 + cpu, ticks);
			gen_u32(&s, (uint32_t)i);
			if (text)
				gen_str(&s, "hello world");
			else
				gen_u64(&s, i * i);
		}
		gen_packet_end(&s, ticks, 0);
	}
	gen_stream_end(&s);
}

static void two_streams(const char *top, uint64_t events, bool text)
{
	static const struct gen_field with_text[] = { { "n", HODO_TYPE_I32 }, { "text", HODO_TYPE_STR } };
	struct gen_trace t;

	gen_trace_start(&t, top, "bench-412", "bench", 412, "discard", TSC_HZ, EPOCH_S, 0);
	gen_class(&t, 1, "bench:fixed", "event", "", numbers, 2);
	gen_class(&t, 2, "bench:text", "event", "", with_text, 2);
	fill(&t, 0, events / 2, text);
	fill(&t, 1, events - events / 2, text);
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

void gen_fixed(const char *top, uint64_t events)
{
	two_streams(top, events, false);
}

void gen_text(const char *top, uint64_t events)
{
	two_streams(top, events, true);
}

void gen_many(const char *top, unsigned processes)
{
	for (unsigned i = 0; i < processes; i++) {
		uint64_t t0 = 1000000000ull * (1 + i / 3); /* three at a time */
		char folder[32];
		struct gen_trace t;

		snprintf(folder, sizeof(folder), "sh-%u", 1000 + i);
		gen_trace_start(&t, top, folder, "sh", 1000 + i, "discard", 1000000000, EPOCH_S, 0);
		gen_class(&t, 1, "sh:step", "event", "", numbers, 2);
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			struct gen_stream s;

			gen_stream_start(&s, &t, cpu ? "cpu1" : "cpu0", cpu);
			gen_packet_start(&s, t0);
			for (unsigned k = 0; k < 20; k++) {
				gen_event(&s, 1, 1000 + i, t0 + k * 1000 + i % 3 + cpu * 10);
				gen_u32(&s, k);
				gen_u64(&s, i);
			}
			gen_packet_end(&s, t0 + 30000, 0);
			gen_stream_end(&s);
		}
		gen_comment(&t, "end time=1795000123.000000001");
		gen_trace_end(&t);
	}
}

static uint64_t state64;

static double random_real(void)
{
	uint64_t bits = xorshift(&state64);
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (!isfinite(d) || fabs(d) > FLT_MAX / 2 || fabs(d) < 1e-30)
		return (double)(int64_t)(bits >> 40) / 100;
	return xorshift(&state64) & 1 ? d : (double)(int32_t)bits / 8;
}

void gen_random(const char *top, uint64_t seed)
{
	uint64_t freqs[] = { 1000000000, TSC_HZ, 1000000, 24000000, 3999999999ull };
	struct gen_trace t;

	state64 = seed * 0x9e3779b97f4a7c15ull + 1;
	for (unsigned p = 0; p < 2; p++) {
		uint64_t freq = freqs[xorshift(&state64) % 5], base = xorshift(&state64) % (freq * 1000000);
		char folder[32];

		snprintf(folder, sizeof(folder), "rand-%u", 77 + p);
		gen_trace_start(&t, top, folder, "rand", 77 + p, "discard", freq, EPOCH_S,
				(int64_t)(freq * 1000001 - base));
		classes(&t);
		for (unsigned cpu = 0; cpu < 3; cpu++) {
			uint64_t ticks = base + xorshift(&state64) % 1000;
			struct gen_stream s;
			char name[16], text[40];

			snprintf(name, sizeof(name), "cpu%u", cpu);
			gen_stream_start(&s, &t, name, cpu);
			for (unsigned packet = 0; packet < 4; packet++) {
				gen_packet_start(&s, ticks);
				for (unsigned k = xorshift(&state64) % 40; k > 0; k--) {
					size_t len = xorshift(&state64) % sizeof(text);

					for (size_t i = 0; i < len; i++)
						text[i] = (char)(xorshift(&state64) % 64
									 ? ' ' + (char)(xorshift(&state64) % 95)
									 : (char)(1 + xorshift(&state64) % 255));
					ticks += xorshift(&state64) % (xorshift(&state64) % 8 ? 1000 : freq);
					switch (xorshift(&state64) % 3) {
					case 0:
						gen_event(&s, SCALARS, 77, ticks);
						put_scalars(&s, (int64_t)xorshift(&state64) >> xorshift(&state64) % 64,
							    xorshift(&state64) >> xorshift(&state64) % 64,
							    random_real(), (char)xorshift(&state64));
						break;
					case 1:
						gen_event(&s, SEQUENCES, 78, ticks);
						put_sequences(&s, xorshift(&state64) % 8 ? "text" : NULL,
							      (uint32_t)(xorshift(&state64) % 64));
						break;
					default:
						gen_event(&s, PUT, 79, ticks);
						gen_str_n(&s, text, len);
						gen_u32(&s, (uint32_t)xorshift(&state64));
						gen_u64(&s, xorshift(&state64));
					}
				}
				gen_packet_end(&s, ticks, xorshift(&state64) % 3 ? 0 : xorshift(&state64) % 100);
				ticks += xorshift(&state64) % 100;
			}
			gen_stream_end(&s);
		}
		gen_trace_end(&t);
	}
}

void gen_lost_only(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "cut-9", "cut", 9, "overwrite", 1000000000, EPOCH_S, 0);
	gen_class(&t, 1, "cut:step", "event", "", numbers, 2);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_skip(&s, 100);
	gen_packet_start(&s, 10);
	gen_event(&s, 1, 9, 11);
	gen_u32(&s, 1);
	gen_u64(&s, 1);
	gen_packet_end(&s, 20, 130);
	gen_stream_end(&s);
	gen_trace_end(&t);
}

/* ------------------------------------------------------------------------- calls */

/* The second and the third have one address modulo 2^27 and follow each other; the last is not short. */
static const uint64_t objects[] = { 0x400000, 0x7f1000000000, 0x7f2008000000, 0x7f3000000000 };
#define OBJECT_BYTES 0x100000ull /* of code */
#define DATA_BYTES (UINT64_C(1) << 28) /* after it: more than a call's record distinguishes */
#define ROUND 64ull      /* calls and returns, all in one thread */
#define SECOND_FROM 20ull /* the round from which the third object is there instead of the second */
#define SHORT_BEGIN ((5ull << 28) - 250000) /* an epoch ends in the 40th round */

struct gen_short_call gen_short_call(uint64_t i)
{
	uint64_t round = i / ROUND, depth = i % ROUND < ROUND / 2 ? i % ROUND : ROUND - 1 - i % ROUND;
	struct gen_short_call c = {
		.form = i % ROUND < ROUND / 2 ? RECORD_CALL : RECORD_RETURN,
		.tid = 31 + round % 2, .ticks = SHORT_BEGIN + i * 100,
		.frame = 0x7ffc00010008 + round % 2 * 0x100000 - depth * 16 * (1 + round % 64),
	};
	unsigned object = (depth + round) % 4;

	if (object == 1 || object == 2)
		object = round < SECOND_FROM ? 1 : 2;
	c.function = objects[object] + depth * 0x6018 % OBJECT_BYTES;
	c.whole = object == 3 || depth % 7 == 3;
	if (depth % 7 == 3)
		c.frame -= 8;
	return c;
}

static void short_classes(struct gen_trace *t)
{
	static const struct gen_field fields[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 } };
	uint64_t from = (SHORT_BEGIN + SECOND_FROM * ROUND * 100 - 50) * GEN_TICK;
	char times[4][64] = { "", "", "", "" }, code[4][64] = { "", "", "", "" };

	snprintf(times[1], sizeof(times[1]), " until=%llu", (unsigned long long)from);
	snprintf(times[2], sizeof(times[2]), " from=%llu", (unsigned long long)from);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t end = objects[i] + OBJECT_BYTES;

		if (i < 3)
			snprintf(code[i], sizeof(code[i]), " short_start=0x%" PRIx64 " short_end=0x%" PRIx64,
				 objects[i], end);
		gen_comment(t, "object path=/lib/%u.so base=0x%" PRIx64 " start=0x%" PRIx64 " end=0x%" PRIx64
			       "%s functions=9%s build_id=",
			    i, objects[i], objects[i], end + DATA_BYTES, times[i], code[i]);
	}
	gen_class(t, 1, "func:entry", "function", "", fields, 2);
	gen_class(t, 2, "func:exit", "function", "", fields, 2);
}

void gen_short(const char *top, uint64_t rounds)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "short-31", "short", 31, "discard", 1000000000, EPOCH_S, 0);
	short_classes(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	for (uint64_t i = 0; i < rounds * ROUND; i++) {
		struct gen_short_call c = gen_short_call(i);

		if (i % 1000 == 0)
			gen_packet_start(&s, c.ticks);
		if (c.whole) {
			gen_event(&s, c.form == RECORD_CALL ? 1 : 2, c.tid, c.ticks);
			gen_u64(&s, c.function);
			gen_u32(&s, (uint32_t)(c.frame >> 3));
		} else {
			gen_call(&s, c.form, c.tid, c.ticks, c.function, c.frame);
		}
		if (i % 1000 == 999 || i + 1 == rounds * ROUND)
			gen_packet_end(&s, c.ticks, 0);
	}
	gen_stream_end(&s);
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}
