/* SPDX-License-Identifier: MIT */
/* gen_calls.c - see gen_calls.h. Times are ns of a monotonic clock; functions are 0x100 apart. */
#define _GNU_SOURCE
#include "gen_calls_impl.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH_S 1795000000
#define ARRAY(type) ((type) | HODO_TYPE_ARRAY)


void gen_calls_start(struct gen_trace *t, struct gen_stream *s, const char *top, const char *folder, const char *comm,
		     unsigned pid, const char *how)
{
	static const struct gen_field frame[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 } };
	static const struct gen_field sp[] = { { "addr", HODO_TYPE_PTR }, { "sp", HODO_TYPE_U32 } };
	static const struct gen_field call[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 },
						 { "depth", HODO_TYPE_U32 }, { "ticks", HODO_TYPE_U64 },
						 { "left", HODO_TYPE_BOOL } };
	static const struct gen_field callee[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 },
						   { "calls", HODO_TYPE_U64 }, { "ticks", HODO_TYPE_U64 },
						   { "max", HODO_TYPE_U64 } };
	static const struct gen_field stack[] = { { "bytes", HODO_TYPE_U64 }, { "depth", HODO_TYPE_U32 },
						  { "chain", ARRAY(HODO_TYPE_PTR) } };
	static const struct gen_field held[] = { { "addr", HODO_TYPE_PTR }, { "loop", HODO_TYPE_PTR },
						 { "ticks", HODO_TYPE_U64 } };
	static const struct gen_field wrong[] = { { "addr", HODO_TYPE_PTR }, { "wanted", HODO_TYPE_STR },
						  { "role", HODO_TYPE_STR }, { "chain", ARRAY(HODO_TYPE_PTR) } };
	static const struct gen_field get[] = { { "key", HODO_TYPE_STR }, { "shard", HODO_TYPE_I32 } };

	gen_trace_start(t, top, folder, comm, pid, how, 1000000000, EPOCH_S, 0);
	gen_comment(t, "thread tid=%u comm=%s", pid, comm);
	gen_comment(t, "thread tid=%u comm=worker", pid + 1);
	gen_comment(t, "end time=1795000123.000000001");
	gen_class(t, ENTRY, "func:entry", "function", "", frame, 2);
	gen_class(t, EXIT, "func:exit", "function", "", frame, 2);
	gen_class(t, ENTRY_SP, "func:entry_sp", "function", "", sp, 2);
	gen_class(t, EXIT_SP, "func:exit_sp", "function", "", sp, 2);
	gen_class(t, REACHED, "func:reached", "function", "", frame, 2);
	gen_class(t, CALL, "func:call", "function", "", call, 5);
	gen_class(t, OPEN, "func:open", "function", "", call, 4);
	gen_class(t, CALLEE, "func:callee", "function", "", callee, 5);
	gen_class(t, STACK, "func:stack", "function", "", stack, 3);
	gen_class(t, HELD, "func:held", "function", "", held, 3);
	gen_class(t, WRONG, "func:wrong_thread", "function", "", wrong, 4);
	gen_class(t, GET, "kv:get", "mark", "key %s shard %d", get, 2);
	gen_stream_start(s, t, "cpu0", 0);
	gen_packet_start(s, 0);
}

void gen_calls_end(struct gen_trace *t, struct gen_stream *s, uint64_t now, uint64_t lost)
{
	gen_packet_end(s, now, lost);
	gen_stream_end(s);
	gen_trace_end(t);
}

void gen_calls_event(struct gen_stream *s, unsigned id, unsigned tid, uint64_t now, unsigned f, uint64_t frame)
{
	gen_event(s, id, tid, now);
	gen_u64(s, 0x401000 + 0x100 * (uint64_t)f + (id == EXIT ? 0x40 : 0));
	gen_u32(s, (uint32_t)frame);
}

void gen_calls_events(struct gen_stream *s, const struct gen_call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gen_calls_event(s, calls[i].id, calls[i].tid, calls[i].now, calls[i].f, calls[i].frame);
}

static void next_packet(struct gen_stream *s, uint64_t now)
{
	if (s->len < 900000)
		return;
	gen_packet_end(s, now, 0);
	gen_packet_start(s, now);
}

static void get(struct gen_stream *s, unsigned tid, uint64_t now, int shard)
{
	gen_event(s, GET, tid, now);
	gen_str(s, "user:7");
	gen_u32(s, (uint32_t)shard);
}

void gen_calls(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "kvd-412", "kvd", 412, "discard");
	GEN_CALLS_EVENTS(&s,
		{ ENTRY, 412, 1000, 0, MAIN },
		{ ENTRY, 412, 1100, 1, MAIN - 8 },
		{ EXIT, 412, 1210, 1, MAIN - 8 }, /* a leaf */
		{ ENTRY, 413, 1250, 7, WORK },
		{ ENTRY, 412, 1300, 2, MAIN - 8 });
	get(&s, 412, 1310, 3);
	GEN_CALLS_EVENTS(&s,
		{ ENTRY, 412, 1400, 3, MAIN - 16 },
		{ ENTRY, 412, 1500, 4, MAIN - 30 }, /* 4 and 3 throw to 2 */
		{ ENTRY, 412, 1700, 5, MAIN - 12 },
		{ EXIT, 412, 1800, 5, MAIN - 12 },
		{ EXIT, 412, 2000, 2, MAIN - 8 },
		{ ENTRY, 412, 2100, 6, MAIN - 8 }, /* resumes a coroutine */
		{ ENTRY, 412, 2200, 8, CORO },
		{ ENTRY, 412, 2300, 9, CORO - 8 }, /* which yields here */
		{ EXIT, 412, 2400, 6, MAIN - 8 },
		{ ENTRY, 413, 2500, 6, WORK - 8 },
		{ EXIT, 413, 3500, 9, CORO - 8 }, /* and goes on in the other thread */
		{ ENTRY, 413, 3600, 1, CORO - 8 },
		{ ENTRY, 413, 3650, 10, SIGN }, /* a signal, on a separate stack */
		{ EXIT, 413, 3700, 10, SIGN },
		{ EXIT, 413, 3750, 1, CORO - 8 },
		{ EXIT, 413, 3800, 8, CORO },
		{ EXIT, 413, 3900, 6, WORK - 8 });
	get(&s, 413, 4000, -1);
	gen_calls_event(&s, EXIT, 412, 2000000, 11, MAIN + 8); /* was entered before the recording began */
	gen_calls_event(&s, ENTRY, 412, 3000000, 12, MAIN - 8);
	gen_calls_end(&t, &s, 1003000000, 0);
}

void gen_deep(const char *top, uint64_t depth)
{
	struct gen_trace t;
	struct gen_stream s;
	uint64_t now = 1;

	gen_calls_start(&t, &s, top, "deep-1", "deep", 1, "discard");
	for (uint64_t i = 0; i < depth; i++) {
		gen_calls_event(&s, ENTRY, 1, now++, 0, MAIN - 6 * i);
		next_packet(&s, now);
	}
	for (uint64_t i = depth; i-- > 0;) {
		gen_calls_event(&s, EXIT, 1, now++, 0, MAIN - 6 * i);
		next_packet(&s, now);
	}
	gen_calls_end(&t, &s, now, 0);
}

void gen_many_calls(const char *top, uint64_t n)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "many-1", "many", 1, "discard");
	for (uint64_t i = 0, now = 1; i + 14 <= n; i += 14) {
		gen_calls_event(&s, ENTRY, 1, now++, 0, MAIN);
		for (unsigned k = 1; k < 4; k++) {
			gen_calls_event(&s, ENTRY, 1, now++, k, MAIN - 8);
			gen_calls_event(&s, ENTRY, 1, now++, 4, MAIN - 16);
			gen_calls_event(&s, EXIT, 1, now++, 4, MAIN - 16);
			gen_calls_event(&s, EXIT, 1, now++, k, MAIN - 8);
		}
		gen_calls_event(&s, EXIT, 1, now++, 0, MAIN);
		next_packet(&s, now);
	}
	gen_calls_end(&t, &s, n + 1, 0);
}

void gen_calls_whole(struct gen_stream *s, unsigned tid, uint64_t now, unsigned f, uint32_t depth, uint64_t ticks,
		     bool left)
{
	gen_calls_event(s, CALL, tid, now, f, MAIN - 8 * depth);
	gen_u32(s, depth);
	gen_u64(s, ticks * GEN_TICK);
	gen_u8(s, left);
}

static void callee(struct gen_stream *s, unsigned tid, uint64_t now, unsigned f, uint32_t depth, uint64_t calls,
		   uint64_t ticks, uint64_t max)
{
	gen_calls_event(s, CALLEE, tid, now, f, MAIN - 8 * depth);
	gen_u64(s, calls);
	gen_u64(s, ticks * GEN_TICK);
	gen_u64(s, max * GEN_TICK);
}

void gen_calls_open(struct gen_stream *s, unsigned tid, uint64_t now, unsigned f, uint32_t depth, uint64_t ticks)
{
	gen_calls_event(s, OPEN, tid, now, f, MAIN - 8 * depth);
	gen_u32(s, depth);
	gen_u64(s, ticks * GEN_TICK);
}

void gen_whole(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "slow-7", "slow", 7, "discard");
	get(&s, 7, 1050, 1);
	gen_calls_whole(&s, 7, 1100, 2, 2, 100, false);
	gen_calls_whole(&s, 7, 1400, 3, 3, 100, true);
	gen_calls_whole(&s, 7, 1450, 2, 2, 250, true);
	get(&s, 7, 1460, 2);
	callee(&s, 7, 1500, 2, 1, 2, 350, 250);
	gen_calls_whole(&s, 7, 1500, 1, 1, 600, false);
	gen_calls_whole(&s, 8, 1600, 4, 0, 700, false);
	callee(&s, 7, 3000, 1, 0, 1, 600, 600);
	callee(&s, 7, 3000, 5, 0, 9, 900, 101);
	gen_calls_whole(&s, 7, 3000, 0, 0, 2500, false);
	gen_calls_open(&s, 8, 3000, 6, 0, 900);
	gen_calls_end(&t, &s, 3000, 0);
}

/* In thread 7, function 1 takes 10 + 100 + 50 + 7, in thread 8 it takes 1000; 2 takes 400. */
void gen_inside(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "inside-7", "inside", 7, "discard");
	gen_calls_whole(&s, 7, 1010, 1, 3, 10, false);
	gen_calls_whole(&s, 7, 1050, 2, 2, 45, false); /* 1 inside of 2, not of another 1 */
	gen_calls_whole(&s, 7, 1110, 1, 4, 20, false);
	gen_calls_whole(&s, 7, 1120, 2, 3, 35, false);
	gen_calls_whole(&s, 7, 1125, 1, 5, 2, false);
	gen_calls_whole(&s, 7, 1130, 1, 4, 9, false);
	gen_calls_whole(&s, 7, 1160, 1, 2, 100, false); /* contains the last four, but not the thread's first */
	gen_calls_whole(&s, 8, 1170, 1, 0, 1000, false); /* in another thread */
	gen_calls_whole(&s, 7, 1400, 2, 1, 400, false); /* contains both 2 and all 1 */
	gen_calls_whole(&s, 7, 1500, 1, 1, 50, false);
	gen_calls_whole(&s, 7, 1600, 0, 0, 700, false);
	gen_calls_whole(&s, 7, 1700, 1, 1, 7, false); /* inside of a 0 whose end is not in the recording */
	gen_calls_end(&t, &s, 1700, 0);
}

void gen_inside_open(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "open-7", "open", 7, "discard");
	gen_calls_whole(&s, 7, 1100, 1, 4, 20, false);
	gen_calls_whole(&s, 7, 1150, 1, 3, 80, false);
	for (unsigned depth = 3; depth > 0; depth--)
		gen_calls_open(&s, 7, 1500, 1, depth, 500 - 10 * depth);
	gen_calls_open(&s, 7, 1500, 0, 0, 500);
	gen_calls_end(&t, &s, 1500, 0);
}

void gen_again(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "again-7", "again", 7, "discard");
	GEN_CALLS_EVENTS(&s,
		{ ENTRY, 7, 1000, 0, MAIN },
		{ ENTRY, 8, 2000, 1, WORK },
		{ ENTRY, 8, 2100, 2, WORK - 8 },
		{ ENTRY, 8, 2200, 3, WORK - 16 },
		{ EXIT, 8, 7000, 3, WORK - 16 }, /* 2 calls pthread_exit() */
		{ ENTRY, 9, 2000000, 1, WORK },
		{ EXIT, 9, 2000300, 1, WORK },
		{ EXIT, 7, 2001000, 0, MAIN });
	gen_calls_end(&t, &s, 2001000, 0);
}

void gen_around(const char *top, uint64_t n)
{
	struct gen_trace t;
	struct gen_stream s;
	uint64_t now = 1000;

	gen_calls_start(&t, &s, top, "around-7", "around", 7, "discard");
	for (uint64_t i = 0; i < n; i++)
		get(&s, 7, now++, (unsigned)(i & 255));
	gen_calls_whole(&s, 7, now + 100, 2, 2, 50, false);
	gen_calls_whole(&s, 7, now + 101, 1, 1, 40, false); /* by its clock, it was entered after what it called */
	gen_calls_whole(&s, 7, now + 200, 0, 0, now + 150, false);
	gen_calls_end(&t, &s, now + 200, 0);
}

void gen_kinds(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "kinds-9", "kinds", 9, "discard");
	GEN_CALLS_EVENTS(&s,
		{ ENTRY_SP, 9, 100, 0, MAIN },
		{ ENTRY_SP, 9, 200, 1, MAIN }, /* inlined */
		{ ENTRY_SP, 9, 300, 2, MAIN - 20 },
		{ EXIT_SP, 9, 400, 2, MAIN - 24 }, /* alloca */
		{ EXIT_SP, 9, 500, 1, MAIN },
		{ REACHED, 9, 600, 3, MAIN - 8 },
		{ REACHED, 9, 650, 4, MAIN - 20 },
		{ ENTRY, 9, 700, 5, MAIN - 30 },
		{ EXIT, 9, 800, 5, MAIN - 30 },
		{ EXIT_SP, 9, 1000, 0, MAIN });
	gen_calls_end(&t, &s, 1000, 0);
}

static void chain(struct gen_stream *s, unsigned n)
{
	gen_u32(s, n);
	for (unsigned i = n; i-- > 0;)
		gen_u64(s, 0x401000 + 0x100 * (uint64_t)i);
}

void gen_found(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "found-20", "found", 20, "discard");
	for (unsigned i = 1; i < 4; i++) {
		gen_event(&s, STACK, 20 + i / 3, 100 * i);
		gen_u64(&s, 3000 * (uint64_t)i);
		gen_u32(&s, i);
		chain(&s, i + 1);
	}
	for (unsigned i = 0; i < 3; i++) {
		gen_event(&s, HELD, 20, 1000 + i);
		gen_u64(&s, 0x401500 + 0x100 * (i == 2));
		gen_u64(&s, 0x401000);
		gen_u64(&s, 5000000 * (uint64_t)(i + 1) * GEN_TICK);
	}
	for (unsigned i = 0; i < 3; i++) {
		gen_event(&s, WRONG, 21, 2000 + i);
		gen_u64(&s, 0x401700);
		gen_str(&s, "main");
		gen_str(&s, i == 2 ? NULL : "worker");
		chain(&s, 3);
	}
	gen_calls_end(&t, &s, 3000, 0);
}

/* 100 calls with an exit in each thread; the total omits some of them. old: without the last two fields. */
static void make_profile(const char *top, bool old)
{
	static const struct gen_field fields[] = { { "addr", HODO_TYPE_PTR }, { "tid", HODO_TYPE_U32 },
						   { "calls", HODO_TYPE_U64 }, { "total", HODO_TYPE_U64 },
						   { "self", HODO_TYPE_U64 }, { "min", HODO_TYPE_U64 },
						   { "max", HODO_TYPE_U64 }, { "buckets", ARRAY(HODO_TYPE_U32) },
						   { "sum", HODO_TYPE_U64 }, { "no_exit", HODO_TYPE_U64 } };
	static const uint32_t buckets[HODO_PROFILE_BUCKETS] = { [4 * (11 - 1)] = 90, [4 * (15 - 1) + 2] = 10 };
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "profile-30", "profile", 30, "discard");
	gen_class(&t, PROFILE, "func:profile", "function", "", fields, old ? 8 : 10);
	for (unsigned tid = 30; tid < 32; tid++) {
		gen_event(&s, PROFILE, tid, 100);
		gen_u64(&s, 0x401000);
		gen_u32(&s, tid);
		gen_u64(&s, old ? 100 : 103);
		gen_u64(&s, 150000 * GEN_TICK);
		gen_u64(&s, 50000 * GEN_TICK);
		gen_u64(&s, 512 * GEN_TICK);
		gen_u64(&s, 14000 * GEN_TICK);
		gen_array(&s, buckets, HODO_PROFILE_BUCKETS, 4);
		if (!old) {
			gen_u64(&s, (90 * 540 + 10 * 13000) * GEN_TICK);
			gen_u64(&s, 3);
		}
	}
	if (!old) { /* the recording has no exit of this function */
		gen_event(&s, PROFILE, 30, 100);
		gen_u64(&s, 0x401100);
		gen_u32(&s, 30);
		gen_u64(&s, 7);
		for (unsigned i = 0; i < 4; i++)
			gen_u64(&s, 0);
		gen_array(&s, buckets, 0, 4);
		gen_u64(&s, 0);
		gen_u64(&s, 7);
	}
	gen_calls_end(&t, &s, 200, 0);
}

void gen_profile(const char *top)
{
	make_profile(top, false);
}

void gen_profile_old(const char *top)
{
	make_profile(top, true);
}

/* gen.c writes start=exec; the word written over it has the same length. */
static void is_forked(const struct gen_trace *t)
{
	char path[4200], text[20000], *word;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/metadata", t->dir);
	f = fopen(path, "r+");
	if (!f)
		err(1, "%s", path);
	len = fread(text, 1, sizeof(text), f);
	word = memmem(text, len, "start=exec", 10);
	if (!word || fseek(f, word - text, SEEK_SET) < 0 || fputs("start=fork", f) < 0 || fclose(f) != 0)
		errx(1, "%s: no start", path);
}

void gen_fork(const char *top)
{
	struct gen_trace t;
	struct gen_stream s;

	gen_calls_start(&t, &s, top, "fork-50", "fork", 50, "discard");
	GEN_CALLS_EVENTS(&s,
		{ ENTRY, 50, 100, 0, MAIN },
		{ ENTRY, 50, 200, 1, MAIN - 8 },
		{ EXIT, 50, 500, 1, MAIN - 8 },
		{ EXIT, 50, 600, 0, MAIN });
	gen_calls_end(&t, &s, 600, 0);
	gen_calls_start(&t, &s, top, "fork-60", "fork", 60, "discard");
	GEN_CALLS_EVENTS(&s,
		{ EXIT, 60, 300, 1, MAIN - 8 },
		{ ENTRY, 60, 310, 2, MAIN - 8 },
		{ EXIT, 60, 320, 2, MAIN - 8 },
		{ EXIT, 60, 400, 0, MAIN });
	gen_calls_end(&t, &s, 600, 0);
	is_forked(&t);
}

void gen_mad(const char *top, uint64_t seed)
{
	struct gen_trace t;
	struct gen_stream s;
	uint64_t random = seed * 2 + 1;

	gen_calls_start(&t, &s, top, "mad-70", "mad", 70, "discard");
	for (uint64_t now = 1; now < 3000; now++) {
		unsigned what, f, tid;
		uint64_t frame;

		random ^= random >> 12;
		random ^= random << 25;
		random ^= random >> 27;
		what = 1 + (unsigned)(random % 7);
		f = (unsigned)(random >> 8) % 6;
		tid = 70 + (unsigned)(random >> 16) % 3;
		frame = random >> 20 & (random & 64 ? 0xff : 0xffffffff);
		if (what == CALL)
			gen_calls_whole(&s, tid, now, f, (uint32_t)(random >> 40), random >> (random & 31), random & 1);
		else if (what == CALLEE)
			get(&s, tid, now, (int)now);
		else
			gen_calls_event(&s, what, tid, now, f, frame);
	}
	gen_calls_end(&t, &s, 3000, 0);
}
