/* SPDX-License-Identifier: MIT */
/* all.h - every macro with every type, included from C and C++; like a user's header. */
#ifndef TESTS_SITES_ALL_H
#define TESTS_SITES_ALL_H

#include <hodo/trace.h>

HODO_TRACEPOINT(tp, evict, (const char *, key), (int, age));
HODO_TRACEPOINT(tp, tick);

enum all_state { ALL_IDLE, ALL_BUSY = 7, ALL_GONE = -3 };

struct all_req {
	int shard;
	const char *key;
	unsigned flags : 3;
};

static inline int all_inlined(int v)
{
	HODO_EVENT(all, inlined, v);
	return v + 1;
}

/* Records each event once; n distinguishes the rounds. */
static inline void all_events(int n, const struct all_req *req, const char *null_text)
{
	char buf[16] = "buffer";
	static const short shorts[] = { 1, -2, 3 };
	static const double doubles[] = { 0.5, -1e300 };
	enum all_state state = ALL_BUSY;
	bool yes = true;

	HODO_LABELS(all, state, ALL_IDLE, ALL_BUSY, ALL_GONE);
	HODO_EVENT(all, nothing);
	HODO_EVENT(all, ints, HODO_F(i8, (signed char)-8), HODO_F(u8, (unsigned char)200), HODO_F(i16, (short)-300),
		   HODO_F(u16, (unsigned short)65000), n, HODO_F(u32, 4000000000u), HODO_F(i64, -5000000000000ll),
		   HODO_F(u64, 18000000000000000000ull));
	HODO_EVENT(all, others, yes, HODO_F(c, (char)'x'), state, HODO_F(f, 1.5f), HODO_F(d, -2.25),
		   HODO_F(p, (void *)req));
	HODO_EVENT(all, texts, req->key, buf, HODO_F(lit, "literal"), HODO_F(null, null_text), HODO_STR(buf, 3));
	HODO_EVENT(all, mixed, n, HODO_BYTES(buf, 4), HODO_ARRAY(shorts, 3), HODO_F(mid, n + 1),
		   HODO_ARRAY(doubles, 2), HODO_F(last, (unsigned char)9));
	HODO_EVENT(all, sixteen, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
	HODO_MARK(all, mark, "key %s shard %d at %5.1f%%", req->key, req->shard, 12.5);
	HODO_MARK(all, cut, "cut %s", HODO_STR(buf, 2));
	HODO_MARK(all, plain, "plain");
	HODO_COUNTER(all, depth, n);
	HODO_BEGIN(all, request, HODO_F(id, n), req->key);
	HODO_END(all, request, HODO_F(id, n));
	{
		HODO_SPAN(all, scope, n);
		HODO_EVENT(all, inside, n);
	}
	trace_tp_evict(req->key, n);
	trace_tp_tick();
	all_inlined(n);
}
#define ALL_EVENTS 18 /* recorded by one all_events() */

#endif
