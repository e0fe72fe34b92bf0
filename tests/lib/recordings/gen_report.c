/* SPDX-License-Identifier: MIT */
/* gen_report.c - recordings with spans, pairs, values and a kernel's scheduling: gen_report SCENARIO DIR [N]. */
#define _GNU_SOURCE
#include "gen.h"

#include "gen_identity.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN 1795000000ll

static uint64_t seed = 7;

static uint64_t dice(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

/* ------------------------------------------------------------------------- user */

enum { WORK_BEGIN = 1, WORK_END, REQUEST_BEGIN, REQUEST_END, START, DONE, DEPTH, LOAD, PUT, TICK };

static void classes(struct gen_trace *t)
{
	static const struct gen_field id[] = { { "id", HODO_TYPE_U32 }, { "shard", HODO_TYPE_I32 } };
	static const struct gen_field id64[] = { { "id", HODO_TYPE_U64 } };
	static const struct gen_field key[] = { { "key", HODO_TYPE_STR }, { "shard", HODO_TYPE_I32 } };
	static const struct gen_field value[] = { { "value", HODO_TYPE_I64 } }, load[] = { { "value", HODO_TYPE_F64 } };
	static const struct gen_field put[] = { { "key", HODO_TYPE_STR }, { "bytes", HODO_TYPE_U64 },
						{ "delta", HODO_TYPE_I16 }, { "ratio", HODO_TYPE_F32 } };

	gen_class(t, WORK_BEGIN, "kv:work.begin", "span_begin", "", id, 2);
	gen_class(t, WORK_END, "kv:work.end", "span_end", "", NULL, 0);
	gen_class(t, REQUEST_BEGIN, "kv:request.begin", "begin", "", id, 2);
	gen_class(t, REQUEST_END, "kv:request.end", "end", "", id64, 1);
	gen_class(t, START, "kv:start", "event", "", key, 2);
	gen_class(t, DONE, "kv:done", "event", "", key, 2);
	gen_class(t, DEPTH, "kv:depth", "counter", "", value, 1);
	gen_class(t, LOAD, "kv:load", "counter", "", load, 1);
	gen_class(t, PUT, "kv:put", "event", "", put, 4);
	gen_class(t, TICK, "kv:tick", "event", "", NULL, 0);
}

/* Any event in any order, so that ends are missing and begins pile up. */
static void any_event(struct gen_stream *s, uint64_t tid, uint64_t now)
{
	static const char *const keys[] = { "a", "b", "long key with \"quotes\"", NULL, "" };
	unsigned id = 1 + (unsigned)dice(TICK);
	uint64_t number = 1ull << dice(40);
	float ratio = (float)dice(1000) / 7 - 50;

	if (id == WORK_END && dice(4) == 0)
		return;
	gen_event(s, id, (unsigned)tid, now);
	switch (id) {
	case WORK_BEGIN:
	case REQUEST_BEGIN:
		gen_u32(s, (uint32_t)dice(20));
		gen_u32(s, (uint32_t)dice(3) - 1);
		break;
	case REQUEST_END:
		gen_u64(s, dice(20));
		break;
	case START:
	case DONE:
		gen_str(s, keys[dice(5)]);
		gen_u32(s, (uint32_t)dice(3));
		break;
	case DEPTH:
		gen_u64(s, dice(200) - 50);
		break;
	case LOAD:
		gen_f64(s, dice(50) ? (double)dice(100000) / 997 : 0);
		break;
	case PUT:
		gen_str(s, keys[dice(5)]);
		gen_u64(s, number + dice(number));
		gen_u16(s, (uint16_t)(dice(4000) - 2000));
		gen_f32(s, ratio);
		break;
	}
}

static void process(const char *top, const char *folder, const char *comm, unsigned pid, uint64_t n)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, folder, comm, pid, "discard", 1000000000, ORIGIN, 0);
	classes(&t);
	for (unsigned i = 0; i < 3; i++)
		gen_comment(&t, "thread tid=%u comm=%s%u", pid + i, i ? "worker" : "main", i / 2);
	gen_comment(&t, "end time=%lld.000000000", ORIGIN + 100);
	gen_trace_end(&t);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		uint64_t now = 1000 + cpu;

		gen_stream_start(&s, &t, cpu ? "cpu1" : "cpu0", cpu);
		for (uint64_t i = 0; i < n; i++) {
			if (i % 100 == 0)
				gen_packet_start(&s, now);
			now += 1 + (dice(20) ? dice(300) : dice(1000000));
			any_event(&s, pid + dice(3), now);
			if (i % 100 == 99 || i + 1 == n)
				gen_packet_end(&s, now, 0);
		}
		gen_stream_end(&s);
	}
}

static void gen_user(const char *top, uint64_t n)
{
	process(top, "kvd-400", "kvd", 400, n);
	process(top, "kvd-500", "kvd", 500, n);
}

/* ----------------------------------------------------------------------- kernel */

enum { SWITCH = 1, WAKING, WAKEUP, WAKEUP_NEW, ENTER_READ, EXIT_READ, ENTER_OPEN, EXIT_OPEN, ISSUE, COMPLETE };

static void kernel_classes(struct gen_trace *t)
{
	static const struct gen_field change[] = {
		{ "prev_pid", HODO_TYPE_I32 },  { "prev_prio", HODO_TYPE_I32 }, { "prev_state", HODO_TYPE_I64 },
		{ "next_pid", HODO_TYPE_I32 },  { "next_prio", HODO_TYPE_I32 }, { "prev_comm", HODO_TYPE_STR },
		{ "next_comm", HODO_TYPE_STR },
	};
	static const struct gen_field wake[] = { { "pid", HODO_TYPE_I32 }, { "prio", HODO_TYPE_I32 },
						 { "target_cpu", HODO_TYPE_I32 }, { "comm", HODO_TYPE_STR } };
	static const struct gen_field nr[] = { { "fd", HODO_TYPE_U64 } }, ret[] = { { "ret", HODO_TYPE_I64 } };
	static const struct gen_field sector[] = { { "sector", HODO_TYPE_U64 } };

	gen_class(t, SWITCH, "sched:sched_switch", "tracepoint", "", change, 7);
	gen_class(t, WAKING, "sched:sched_waking", "tracepoint", "", wake, 4);
	gen_class(t, WAKEUP, "sched:sched_wakeup", "tracepoint", "", wake, 4);
	gen_class(t, WAKEUP_NEW, "sched:sched_wakeup_new", "tracepoint", "", wake, 4);
	gen_class(t, ENTER_READ, "syscalls:sys_enter_read", "tracepoint", "", nr, 1);
	gen_class(t, EXIT_READ, "syscalls:sys_exit_read", "tracepoint", "", ret, 1);
	gen_class(t, ENTER_OPEN, "syscalls:sys_enter_openat", "tracepoint", "", nr, 1);
	gen_class(t, EXIT_OPEN, "syscalls:sys_exit_openat", "tracepoint", "", ret, 1);
	gen_class(t, ISSUE, "block:block_rq_issue", "tracepoint", "", sector, 1);
	gen_class(t, COMPLETE, "block:block_rq_complete", "tracepoint", "", sector, 1);
}

#define THREADS 12u

struct thread {
	bool on, ready;
};

static bool losing;       /* CPU 0 loses what it has */
static uint64_t lost[2];

static bool is_lost(const struct gen_stream *s)
{
	if (!losing || s->cpu != 0)
		return false;
	lost[0]++;
	return true;
}

static void put_comm(struct gen_stream *s, uint32_t tid)
{
	char comm[16] = "";

	if (tid)
		snprintf(comm, sizeof(comm), "task%u", tid % 5);
	else
		snprintf(comm, sizeof(comm), "swapper");
	gen_str_n(s, comm, sizeof(comm)); /* as the kernel records it, with NULs */
}

static void put_switch(struct gen_stream *s, uint64_t now, uint32_t prev, uint64_t state, uint32_t next)
{
	if (is_lost(s))
		return;
	gen_event(s, SWITCH, prev, now);
	gen_u32(s, prev);
	gen_u32(s, 120);
	gen_u64(s, state);
	gen_u32(s, next);
	gen_u32(s, 120);
	put_comm(s, prev);
	put_comm(s, next);
}

static void put_wake(struct gen_stream *s, unsigned id, uint64_t now, uint32_t by, uint32_t tid)
{
	if (is_lost(s))
		return;
	gen_event(s, id, by, now);
	gen_u32(s, tid);
	gen_u32(s, 120);
	gen_u32(s, 0);
	put_comm(s, tid);
}

static void put_number(struct gen_stream *s, unsigned id, uint64_t now, uint32_t tid, uint64_t number)
{
	if (is_lost(s))
		return;
	gen_event(s, id, tid, now);
	gen_u64(s, number);
}

/* Two CPUs that a scheduler gives to threads, which are 1001 and up. lossy: the same, with parts of it lost. */
static void gen_kernel(const char *top, uint64_t n, bool lossy)
{
	static const uint64_t states[] = { 0, 1, 1, 1, 2, 128, 256, 256, 4 };
	struct thread threads[THREADS + 1] = { 0 };
	uint32_t on[2] = { 0, 0 };
	uint64_t now = 1000;
	struct gen_trace t;
	struct gen_stream s[2];

	gen_trace_start(&t, top, "kernel", "kernel", 0, "discard", 1000000000, ORIGIN, 0);
	gen_comment(&t, "kernel release=6.1.0-test");
	kernel_classes(&t);
	for (unsigned i = 1; i <= THREADS; i++)
		gen_comment(&t, "thread tid=%u comm=task%u pid=%u", 1000 + i, (1000 + i) % 5, 1001 + (i - 1) / 4);
	gen_comment(&t, "end time=%lld.000000000", ORIGIN + 100);
	gen_trace_end(&t);
	for (unsigned c = 0; c < 2; c++) {
		gen_stream_start(&s[c], &t, c ? "cpu1" : "cpu0", c);
		gen_packet_start(&s[c], 500);
	}
	for (uint64_t i = 0; i < n; i++) {
		unsigned c = (unsigned)dice(2), who = 1 + (unsigned)dice(THREADS);
		uint32_t prev = on[c], next = 0;

		for (unsigned k = 0; i && i % 1000 == 0 && k < 2; k++) {
			gen_packet_end(&s[k], now + 1, lost[k]);
			gen_packet_start(&s[k], now + 1);
			lost[k] = 0;
		}
		losing = lossy && i % 3000 >= 1400 && i % 3000 < 1500;
		now += 1 + dice(5000);
		switch (dice(6)) {
		case 0:
		case 1:
			if (!threads[who].on && !threads[who].ready) {
				put_wake(&s[c], WAKING, now, prev ? 1000 + prev : 0, 1000 + who);
				now += 1 + dice(100);
				put_wake(&s[1 - c], WAKEUP, now, on[1 - c] ? 1000 + on[1 - c] : 0, 1000 + who);
				threads[who].ready = true;
			}
			break;
		case 2:
			if (prev)
				put_number(&s[c], ENTER_READ + (unsigned)dice(4), now, 1000 + prev, dice(9));
			break;
		case 3:
			put_number(&s[c], ISSUE + (unsigned)dice(2), now, prev ? 1000 + prev : 0, 8 * dice(6));
			break;
		default:
			for (unsigned k = 1; k <= THREADS; k++)
				if (threads[(who + k) % THREADS + 1].ready)
					next = (who + k) % THREADS + 1;
			if (prev != next) {
				uint64_t state = prev ? states[dice(9)] : 0;

				put_switch(&s[c], now, prev ? 1000 + prev : 0, state, next ? 1000 + next : 0);
				threads[prev].on = false;
				threads[prev].ready = prev && (state == 0 || state == 256);
				threads[next] = (struct thread){ .on = next != 0 };
				on[c] = next;
			}
		}
	}
	for (unsigned c = 0; c < 2; c++) {
		gen_packet_end(&s[c], now + c, lost[c]);
		gen_stream_end(&s[c]);
	}
}

/* ---------------------------------------------------------------------- extremes */

static void one_stream(const char *top, const char *comm, struct gen_trace *t, struct gen_stream *s)
{
	gen_trace_start(t, top, comm, comm, 1, "discard", 1000000000, ORIGIN, 0);
	classes(t);
	gen_trace_end(t);
	gen_stream_start(s, t, "cpu0", 0);
}

/* Two processes with three spans of one thread each; one process loses events after the second begin. */
static void gen_gap(const char *top, uint64_t losses)
{
	for (uint64_t lost = 0; lost < 2; lost++) {
		struct gen_trace t;
		struct gen_stream s;

		one_stream(top, lost ? "lossy" : "whole", &t, &s);
		for (uint64_t i = 0; i < 6; i++) {
			if (i % 3 == 0)
				gen_packet_start(&s, 1000 * i + 1);
			gen_event(&s, i % 2 ? WORK_END : WORK_BEGIN, 1, 1000 * (i + 1));
			if (i % 2 == 0)
				gen_u64(&s, 0); /* id and shard */
			if (i % 3 == 2)
				gen_packet_end(&s, 1000 * (i + 1), i == 5 ? losses * lost : 0);
		}
		gen_stream_end(&s);
	}
}

/* n spans that do not end, then as many that do; all numbers are different. */
static void gen_leak(const char *top, uint64_t n)
{
	struct gen_trace t;
	struct gen_stream s;

	one_stream(top, "leaky", &t, &s);
	for (uint64_t i = 0; i < n; i++) {
		if (i % 1000 == 0)
			gen_packet_start(&s, 1000 + i);
		gen_event(&s, REQUEST_BEGIN, 1, 1000 + i);
		gen_u32(&s, (uint32_t)i);
		gen_u32(&s, (uint32_t)i);
		if (i % 1000 == 999 || i + 1 == n)
			gen_packet_end(&s, 1000 + i, 0);
	}
	gen_packet_start(&s, 1001 + n);
	for (uint64_t i = 0; i < 1000 && i < n; i++) {
		gen_event(&s, REQUEST_END, 2, 1001 + n + i);
		gen_u64(&s, i); /* the oldest */
		gen_event(&s, REQUEST_END, 2, 1001 + n + i);
		gen_u64(&s, n - 1 - i);
	}
	gen_packet_end(&s, 3000 + n, 0);
	gen_stream_end(&s);
}

/* Counters that reach the limits of their type and go beyond: each thread has one. */
static void gen_extremes(const char *top)
{
	static const double numbers[][3] = {
		{ 1, 1, 1 },
		{ INFINITY, 5, -INFINITY }, /* has no mean */
		{ 3, NAN, 3 },
		{ -INFINITY, 7, INFINITY },
		{ 2, 2, 2 },
		{ DBL_MAX, DBL_MAX, DBL_MAX },
		{ -DBL_MAX, -DBL_MAX, -DBL_MAX },
	};
	struct gen_trace t;
	struct gen_stream s;

	one_stream(top, "far", &t, &s);
	gen_packet_start(&s, 1000);
	for (unsigned i = 0; i < 3 * sizeof(numbers) / sizeof(*numbers); i++) {
		gen_event(&s, LOAD, 1 + i / 3, 1000 + i);
		gen_f64(&s, numbers[i / 3][i % 3]);
	}
	gen_packet_end(&s, 2000, 0);
	gen_stream_end(&s);
}

/* n threads that wait in one function, which half of them call again from there; all leave in the order they came. */
static void gen_crowd(const char *top, uint64_t n)
{
	static const struct gen_field fields[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 } };
	static const uint32_t frames[] = { 1000, 900, 900, 1000 };
	struct gen_trace t;
	struct gen_stream s;
	uint64_t put = 0;

	gen_trace_start(&t, top, "crowd", "crowd", 1, "discard", 1000000000, ORIGIN, 0);
	gen_class(&t, 1, "func:entry", "function", "", fields, 2);
	gen_class(&t, 2, "func:exit", "function", "", fields, 2);
	gen_trace_end(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 1000);
	for (uint64_t i = 0; i < 4 * n; i++) {
		uint64_t round = i / n, thread = i % n;

		if (++put % 1000 == 0) {
			gen_packet_end(&s, 1000 + i, 0);
			gen_packet_start(&s, 1000 + i);
		}
		if (thread % 2 && (round == 1 || round == 2))
			continue;
		gen_event(&s, round < 2 ? 1 : 2, (unsigned)(1 + thread), 1000 + i);
		gen_u64(&s, round < 2 ? 0x401000 : 0x401040);
		gen_u32(&s, (uint32_t)(thread << 11) + frames[round]); /* each thread has its own stack */
	}
	gen_packet_end(&s, 1000 + 4 * n, 0);
	gen_stream_end(&s);
}

/* Names and texts that are meant to do harm. */
static void gen_hostile(const char *top)
{
	static const struct gen_field fields[] = { { "<b>\"x", HODO_TYPE_STR }, { "n", HODO_TYPE_U64 } };
	static const char *const texts[] = { "</script><script>alert(1)</script>", "\033[31mred\033[0m", "\xff\xfe\x80",
					     "line\nbreak", "\"quoted\\\"", NULL, "" };
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "x-1", "ev\033[1mil\n\xff", 1, "discard", 1000000000, ORIGIN, 0);
	gen_class(&t, 1, "a:<i>\"\\'%n.begin", "begin", "", fields, 2);
	gen_class(&t, 2, "a:<i>\"\\'%n.end", "end", "", fields, 2);
	gen_class(&t, 3, ".begin", "span_begin", "", fields, 2);
	gen_class(&t, 4, "b:count", "counter", "", fields, 1); /* the value of this counter is a text */
	gen_trace_end(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 100);
	for (unsigned i = 0; i < 56; i++) {
		gen_event(&s, 1 + (i / 7) % 4, 1 + i % 3, 100 + i);
		gen_str(&s, texts[i % 7]);
		if ((i / 7) % 4 != 3)
			gen_u64(&s, UINT64_MAX - i);
	}
	gen_packet_end(&s, 200, 3);
	gen_stream_end(&s);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 2000;

	if (argc > 4)
		seed = strtoull(argv[4], NULL, 10);
	if (argc > 2 && strcmp(argv[1], "user") == 0) {
		gen_user(argv[2], n);
	} else if (argc > 2 && (strcmp(argv[1], "kernel") == 0 || strcmp(argv[1], "lossy") == 0)) {
		gen_kernel(argv[2], n, strcmp(argv[1], "lossy") == 0);
	} else if (argc > 2 && strcmp(argv[1], "both") == 0) {
		gen_kernel(argv[2], n, false);
		gen_user(argv[2], n);
	} else if (argc > 2 && strcmp(argv[1], "ids") == 0) {
		gen_ids(argv[2]);
	} else if (argc > 2 && strcmp(argv[1], "names") == 0) {
		gen_names(argv[2]);
	} else if (argc > 2 && strcmp(argv[1], "leak") == 0) {
		gen_leak(argv[2], n);
	} else if (argc > 2 && strcmp(argv[1], "gap") == 0) {
		gen_gap(argv[2], 2);
	} else if (argc > 2 && strcmp(argv[1], "gap-of-one") == 0) {
		gen_gap(argv[2], 1);
	} else if (argc > 2 && strcmp(argv[1], "extremes") == 0) {
		gen_extremes(argv[2]);
	} else if (argc > 2 && strcmp(argv[1], "crowd") == 0) {
		gen_crowd(argv[2], n);
	} else if (argc > 2 && strcmp(argv[1], "hostile") == 0) {
		gen_hostile(argv[2]);
	} else {
		fprintf(stderr, "usage: gen_report user|kernel|lossy|both|ids|names|leak|gap|gap-of-one|extremes|crowd|"
			"hostile DIR [N [SEED]]\n");
		return 2;
	}
	return 0;
}
