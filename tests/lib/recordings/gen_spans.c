/* SPDX-License-Identifier: MIT */
/* gen_spans.c - recordings of spans among calls of functions. */
#include "gen_calls_impl.h"

#include <string.h>

enum { PUT_BEGIN = 20, PUT_END, FLUSH_BEGIN, FLUSH_END, JOB_BEGIN, JOB_END, READ_BEGIN, READ_END,
       EXIT_BEGIN, WAKES, WATCHED, SWITCH_IN, SWITCH_OUT };

static void start(struct gen_trace *t, struct gen_stream *s, const char *top, const char *folder, unsigned pid)
{
	static const struct gen_field put[] = { { "key", HODO_TYPE_STR }, { "shard", HODO_TYPE_I32 } };
	static const struct gen_field bytes[] = { { "bytes", HODO_TYPE_U32 } };
	static const struct gen_field id[] = { { "id", HODO_TYPE_U32 } };

	gen_calls_start(t, s, top, folder, "kvd", pid, "discard");
	gen_class(t, PUT_BEGIN, "kv:put.begin", "span_begin", "", put, 2);
	gen_class(t, PUT_END, "kv:put.end", "span_end", "", bytes, 1);
	gen_class(t, FLUSH_BEGIN, "kv:flush.begin", "span_begin", "", NULL, 0);
	gen_class(t, FLUSH_END, "kv:flush.end", "span_end", "", NULL, 0);
	gen_class(t, JOB_BEGIN, "kv:job.begin", "begin", "", id, 1);
	gen_class(t, JOB_END, "kv:job.end", "end", "", id, 1);
}

/* Records any of the events above; number is the value of its field. */
static void event(struct gen_stream *s, unsigned id, unsigned tid, uint64_t now, unsigned number)
{
	char key[16];

	if (id < PUT_BEGIN && id != GET) {
		gen_calls_event(s, id, tid, now, number, MAIN - 8 * number);
		return;
	}
	gen_event(s, id, tid, now);
	if (id == PUT_BEGIN || id == GET) {
		snprintf(key, sizeof(key), "user:%u", number);
		gen_str(s, key);
	}
	if (id != FLUSH_BEGIN && id != FLUSH_END)
		gen_u32(s, number);
}

struct happens {
	unsigned id, tid;
	uint64_t now;
	unsigned number;
};

static void events(struct gen_stream *s, const struct happens *h, size_t n)
{
	for (size_t i = 0; i < n; i++)
		event(s, h[i].id, h[i].tid, h[i].now, h[i].number);
}
#define EVENTS(stream, ...) \
	events(stream, (const struct happens[]){ __VA_ARGS__ }, \
	       sizeof((const struct happens[]){ __VA_ARGS__ }) / sizeof(struct happens))

static void nested(struct gen_stream *s)
{
	EVENTS(s,
		{ ENTRY, 90, 100, 0 },
		{ PUT_BEGIN, 90, 200, 7 },
		{ ENTRY, 90, 300, 1 },
		{ FLUSH_BEGIN, 90, 400, 0 },
		{ FLUSH_END, 90, 900, 0 },
		{ EXIT, 90, 1000, 1 },
		{ GET, 90, 1100, 3 },
		{ PUT_BEGIN, 90, 1200, 8 }, /* of the same name, inside */
		{ PUT_END, 90, 1250, 64 },
		{ PUT_END, 90, 1300, 128 },
		{ JOB_BEGIN, 90, 1400, 5 },
		{ JOB_BEGIN, 90, 1450, 6 },
		{ JOB_END, 90, 1500, 5 },
		{ EXIT, 90, 1600, 0 },
		{ JOB_END, 91, 1700, 6 }, /* in another thread */
		{ FLUSH_END, 91, 1750, 0 }); /* without a begin */
}

static void crossed(struct gen_stream *s)
{
	EVENTS(s,
		{ PUT_BEGIN, 92, 2000, 1 },
		{ FLUSH_BEGIN, 92, 2100, 0 },
		{ PUT_END, 92, 2200, 1 },
		{ GET, 92, 2250, 2 },
		{ FLUSH_END, 92, 2300, 0 },
		{ ENTRY, 92, 2400, 0 },
		{ PUT_BEGIN, 92, 2500, 2 },
		{ EXIT, 92, 2600, 0 }, /* the span continues after its call … */
		{ GET, 92, 2650, 4 },
		{ ENTRY, 92, 2700, 0 },
		{ PUT_END, 92, 2800, 2 }, /* … and ends in another call */
		{ GET, 92, 2850, 5 },
		{ EXIT, 92, 2900, 0 },
		{ ENTRY, 92, 3000, 0 },
		{ PUT_BEGIN, 92, 3100, 3 },
		{ ENTRY, 92, 3200, 1 },
		{ FLUSH_BEGIN, 92, 3300, 0 },
		{ ENTRY, 92, 3400, 2 },
		{ PUT_END, 92, 3500, 3 }, /* an exception leaves 2 and 1, and skips the end of the other span */
		{ EXIT, 92, 3600, 0 },
		{ ENTRY, 92, 3700, 0 },
		{ FLUSH_BEGIN, 92, 3800, 0 });
}

/* Calls recorded only at their end. */
static void complete(struct gen_stream *s, unsigned tid, uint64_t now, unsigned f, uint32_t depth, uint64_t ticks,
		     bool left)
{
	gen_calls_event(s, CALL, tid, now, f, MAIN - 8 * depth);
	gen_u32(s, depth);
	gen_u64(s, ticks * GEN_TICK);
	gen_u8(s, left);
}

static void whole(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	start(&t, &s, top, "whole-95", 95);
	EVENTS(&s,
		{ PUT_BEGIN, 95, 5000, 1 },
		{ FLUSH_BEGIN, 95, 5200, 0 },
		{ GET, 95, 5300, 6 },
		{ FLUSH_END, 95, 5350, 0 });
	complete(&s, 95, 5400, 1, 1, 300, false);
	EVENTS(&s, { FLUSH_BEGIN, 95, 5500, 0 }, { FLUSH_END, 95, 5600, 0 });
	complete(&s, 95, 5700, 0, 0, 650, false);
	EVENTS(&s, { PUT_END, 95, 5800, 9 }, { FLUSH_BEGIN, 95, 5900, 0 });
	gen_calls_end(&t, &s, 6000, 0);
}

static void lost(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	start(&t, &s, top, "lossy-96", 96);
	EVENTS(&s, { PUT_BEGIN, 96, 7000, 1 }, { FLUSH_BEGIN, 96, 7100, 0 });
	gen_packet_end(&s, 7200, 2);
	gen_packet_start(&s, 7200);
	EVENTS(&s, { GET, 96, 7300, 1 }, { PUT_END, 96, 7400, 3 }, { GET, 96, 7500, 2 });
	gen_comment(&t, "lost stream=cpu0 full=2 too_large=0 busy=0 overwritten=0 unwritten=0");
	gen_calls_end(&t, &s, 7600, 0);
}

static void syscalls(const char *top)
{
	static const struct gen_field fd[] = { { "fd", HODO_TYPE_I32 } }, ret[] = { { "ret", HODO_TYPE_I64 } };
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "kernel", "kernel", 0, "discard", 1000000000, 1795000000, 0);
	gen_comment(&t, "kernel release=6.1.0");
	gen_class(&t, READ_BEGIN, "syscalls:sys_enter_read", "event", "", fd, 1);
	gen_class(&t, READ_END, "syscalls:sys_exit_read", "event", "", ret, 1);
	gen_class(&t, EXIT_BEGIN, "syscalls:sys_enter_exit", "event", "", NULL, 0);
	gen_class(&t, WAKES, "net:wakes", "event", "", NULL, 0);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 0);
	gen_event(&s, READ_BEGIN, 97, 8000);
	gen_u32(&s, 3);
	gen_event(&s, WAKES, 97, 8100);
	gen_event(&s, READ_END, 97, 8200);
	gen_u64(&s, 17);
	gen_event(&s, READ_BEGIN, 97, 8300); /* a signal handler leaves it without returning */
	gen_u32(&s, 4);
	gen_event(&s, EXIT_BEGIN, 97, 8400);
	gen_packet_end(&s, 8500, 0);
	gen_stream_end(&s);
	gen_trace_end(&t);
}

/* Switches as hodo record --off-cpu writes them. */
static void switches(const char *top)
{
	static const struct gen_field preempted[] = { { "preempted", HODO_TYPE_BOOL } };
	static const struct {
		unsigned id, tid;
		uint64_t now;
		bool preempted;
	} all[] = {
		{ WATCHED, 98, 150, false },   { SWITCH_OUT, 98, 310, false }, { SWITCH_IN, 98, 350, false },
		{ SWITCH_OUT, 98, 420, true }, { SWITCH_IN, 98, 700, false },  { SWITCH_OUT, 98, 1400, false },
		{ SWITCH_IN, 98, 1450, false }, { SWITCH_OUT, 98, 1650, false }, /* it ran again: that was lost */
		{ SWITCH_OUT, 98, 1750, false }, { SWITCH_IN, 98, 1760, false },
	};
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "kernel", "kernel", 0, "discard", 1000000000, 1795000000, 0);
	gen_comment(&t, "kernel release=6.1.0");
	gen_comment(&t, "thread tid=98 comm=kvd");
	gen_comment(&t, "end time=1795000123.000000001");
	gen_class(&t, WATCHED, "sched:watched", "event", "", NULL, 0);
	gen_class(&t, SWITCH_IN, "sched:switch_in", "event", "", NULL, 0);
	gen_class(&t, SWITCH_OUT, "sched:switch_out", "event", "", preempted, 1);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 0);
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		gen_event(&s, all[i].id, all[i].tid, all[i].now);
		if (all[i].id == SWITCH_OUT)
			gen_u8(&s, all[i].preempted);
	}
	gen_packet_end(&s, 2000, 0);
	gen_stream_end(&s);
	gen_trace_end(&t);
}

void gen_spans_off(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	start(&t, &s, top, "kvd-98", 98);
	EVENTS(&s,
		{ ENTRY, 98, 100, 0 }, /* before the recording says when the thread runs */
		{ PUT_BEGIN, 98, 200, 7 },
		{ ENTRY, 98, 300, 1 },
		{ FLUSH_BEGIN, 98, 400, 0 },
		{ FLUSH_END, 98, 900, 0 },
		{ EXIT, 98, 1000, 1 },
		{ GET, 98, 1100, 3 },
		{ ENTRY, 98, 1150, 2 },
		{ EXIT, 98, 1200, 2 }, /* it ran all the time */
		{ PUT_END, 98, 1250, 64 },
		{ JOB_BEGIN, 98, 1300, 5 },
		{ JOB_BEGIN, 98, 1350, 6 },
		{ JOB_END, 98, 1500, 5 },
		{ JOB_END, 99, 1550, 6 }, /* in another thread */
		{ PUT_BEGIN, 98, 1600, 8 },
		{ PUT_END, 98, 1700, 8 },
		{ EXIT, 98, 1800, 0 });
	gen_calls_end(&t, &s, 2000, 0);
	switches(top);
}

void gen_spans_left(const char *top, uint64_t n)
{
	struct gen_trace t;
	struct gen_stream s;
	uint64_t now = 1;

	start(&t, &s, top, "left-1", 1);
	for (unsigned i = 0; i < n; i++)
		event(&s, ENTRY, 1, now++, i);
	event(&s, FLUSH_BEGIN, 1, now++, 0);
	for (unsigned i = (unsigned)n; i-- > 0;)
		event(&s, EXIT, 1, now++, i);
	event(&s, GET, 1, now++, 1);
	event(&s, FLUSH_END, 1, now++, 0);
	gen_calls_end(&t, &s, now, 0);
}

void gen_spans(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	start(&t, &s, top, "kvd-90", 90);
	nested(&s);
	crossed(&s);
	gen_calls_end(&t, &s, 4000, 0);
	whole(top);
	lost(top);
	syscalls(top);
}

void gen_spans_many(const char *top, uint64_t n)
{
	struct gen_trace t;
	struct gen_stream s;

	start(&t, &s, top, "many-1", 1);
	for (uint64_t i = 0, now = 1; i + 10 <= n; i += 10, now += 10) {
		EVENTS(&s,
			{ ENTRY, 1, now, 0 },
			{ PUT_BEGIN, 1, now + 1, (unsigned)i },
			{ ENTRY, 1, now + 2, 1 },
			{ EXIT, 1, now + 3, 1 },
			{ GET, 1, now + 4, (unsigned)i },
			{ FLUSH_BEGIN, 1, now + 5, 0 },
			{ FLUSH_END, 1, now + 6, 0 },
			{ JOB_BEGIN, 1, now + 7, (unsigned)i & 15 },
			{ PUT_END, 1, now + 8, (unsigned)i },
			{ EXIT, 1, now + 9, 0 });
		if (s.len > 60000) {
			gen_packet_end(&s, now + 10, 0);
			gen_packet_start(&s, now + 10);
		}
	}
	gen_calls_end(&t, &s, n + 10, 0);
}

void gen_spans_mad(const char *top, uint64_t seed)
{
	static const unsigned ids[] = { ENTRY, ENTRY, EXIT, EXIT, PUT_BEGIN, PUT_END, FLUSH_BEGIN, FLUSH_END, GET,
					JOB_BEGIN, JOB_END };
	uint64_t random = seed * 2 + 1, began[2][64];
	struct gen_trace t;
	struct gen_stream s;
	unsigned depth[2] = { 0 };

	start(&t, &s, top, "mad-1", 1);
	for (uint64_t now = 1; now < 3000; now++) {
		unsigned id, k, *d;
		bool left = false;

		random ^= random >> 12;
		random ^= random << 25;
		random ^= random >> 27;
		id = ids[(random >> 8) % (sizeof(ids) / sizeof(ids[0]))];
		k = random >> 20 & 1;
		d = &depth[k];
		if (id == EXIT && *d > 1 && (random >> 24) % 8 == 0)
			left = true;
		*d -= left; /* the innermost */
		if (left && seed % 2)
			complete(&s, 1 + k, now, *d, *d, now - began[k][*d], true);
		if ((id == EXIT && !*d) || (id == ENTRY && *d == 64))
			continue;
		if (id == ENTRY)
			began[k][*d] = now;
		else if (id == EXIT)
			--*d;
		if (seed % 2 == 0)
			event(&s, id, 1 + k, now, id == ENTRY || id == EXIT ? *d : (unsigned)(random >> 30) & 3);
		else if (id == EXIT)
			complete(&s, 1 + k, now, *d, *d, now - began[k][*d], false);
		else if (id != ENTRY)
			event(&s, id, 1 + k, now, (unsigned)(random >> 30) & 3);
		*d += id == ENTRY;
	}
	for (unsigned k = 0; seed % 2 && k < 2; k++)
		while (depth[k]-- > 0) {
			gen_calls_event(&s, OPEN, 1 + k, 3000, depth[k], MAIN - 8 * depth[k]);
			gen_u32(&s, depth[k]);
			gen_u64(&s, (3000 - began[k][depth[k]]) * GEN_TICK);
		}
	gen_calls_end(&t, &s, 3000, 0);
}
