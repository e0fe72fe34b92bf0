// SPDX-License-Identifier: MIT
/* sites_all - every macro with every type; host.py knows the expected values of each event. */
#include <hodo/trace.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/sched.h>

#include "fire.h"

HODO_TRACEPOINT(sall, evict, (const char *, key), (int, age));
HODO_TRACEPOINT(sall, tick);

enum sall_state { SALL_IDLE, SALL_BUSY = 7, SALL_GONE = -3 };

struct request {
	int shard;
	const char *key;
	unsigned int flags : 3;
};

static inline int inlined(int v)
{
	HODO_EVENT(sall, inlined, v);
	return v + 1;
}

static void scalars(int n, const struct request *req)
{
	enum sall_state state = SALL_BUSY;
	bool yes = true;

	HODO_LABELS(sall, state, SALL_IDLE, SALL_BUSY, SALL_GONE);
	HODO_EVENT(sall, nothing);
	HODO_EVENT(sall, ints, HODO_F(i8, (s8)-8), HODO_F(u8, (u8)200), HODO_F(i16, (s16)-300), HODO_F(u16, (u16)65000),
		   n, HODO_F(u32, 4000000000u), HODO_F(i64, -5000000000000ll), HODO_F(u64, 18000000000000000000ull));
	HODO_EVENT(sall, longs, HODO_F(l, -6000000000l), HODO_F(ul, 6000000000ul), HODO_F(size, sizeof(*req)));
	HODO_EVENT(sall, others, yes, HODO_F(c, (char)'x'), state, HODO_F(flags, req->flags + 0u),
		   HODO_F(p, (void *)0xffff888012345678ul));
	HODO_EVENT(sall, sixteen, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
	HODO_COUNTER(sall, depth, n);
}

static void variable(int n, const struct request *req, const char *null_text)
{
	char buf[16] = "buffer";
	static const short shorts[] = { 1, -2, 3 };
	static const u64 quads[] = { 1, 18446744073709551615ull };
	static const bool bools[] = { true, false };

	HODO_EVENT(sall, texts, req->key, buf, HODO_F(lit, "literal"), HODO_F(null, null_text), HODO_STR(buf, 3));
	HODO_EVENT(sall, mixed, n, HODO_BYTES(buf, 4), HODO_ARRAY(shorts, 3), HODO_F(mid, n + 1), HODO_ARRAY(quads, 2),
		   HODO_ARRAY(bools, 2), HODO_F(last, (u8)9));
	/* These are not addresses of the kernel: a text says so, an array is empty. */
	HODO_EVENT(sall, bad, HODO_F(user, (const char *)0x7fff12345678ul),
		   HODO_F(error, (const char *)ERR_PTR(-ENOENT)),
		   HODO_F(low, (const char *)16), HODO_F(str, HODO_STR((const char *)0x7fff12345678ul, 4)),
		   HODO_F(bytes, HODO_BYTES((const void *)0x1000ul, 100)), n);
	HODO_EVENT(sall, empty, HODO_F(text, ""), HODO_F(bytes, HODO_BYTES(buf, 0)),
		   HODO_F(array, HODO_ARRAY(shorts, 0)));
	HODO_EVENT(sall, comm, HODO_F(comm, current->comm), HODO_F(pid, current->pid));
}

static void fire(int n)
{
	const struct request req = { .shard = 3, .key = "key of it", .flags = 5 };
	int evaluated = 0;

	scalars(n, &req);
	variable(n, &req, NULL);
	HODO_MARK(sall, mark, "key %s shard %d of %5u", req.key, req.shard, 12u);
	HODO_MARK(sall, cut, "cut %s", HODO_STR("cuttlefish", 3));
	HODO_MARK(sall, plain, "plain");
	HODO_BEGIN(sall, request, HODO_F(id, n), req.key);
	HODO_END(sall, request, HODO_F(id, n));
	{
		HODO_SPAN(sall, scope, n);
		HODO_EVENT(sall, inside, n);
	}
	trace_sall_evict(req.key, n);
	trace_sall_tick();
	inlined(n);
	inlined(n + 100);
	HODO_EVENT(sall, once, HODO_F(times, ++evaluated));
	HODO_EVENT(sall, evaluated, evaluated);
}
FIRE_PARAMETER(fire);

/* An event for which no packet has room, and one whose text is over the limit; the event after them is not lost. */
static char large[300000];
static void fire_large(int n)
{
	memset(large, 'x', sizeof(large) - 1);
	HODO_EVENT(sall, too_large, HODO_BYTES(large, sizeof(large)));
	HODO_EVENT(sall, too_long, HODO_F(text, (const char *)large));
	HODO_EVENT(sall, behind, n);
}
static int large_set(const char *text, const struct kernel_param *kp)
{
	fire_large(1);
	return 0;
}
static const struct kernel_param_ops large_ops = { .set = large_set };
module_param_cb(large, &large_ops, NULL, 0200);

/* The host looks at this function's machine code: it shows an idle site. */
noinline int sites_idle(int key, u64 bytes);
noinline int sites_idle(int key, u64 bytes)
{
	HODO_EVENT(sall, idle, key, bytes);
	return key;
}

static int __init sites_all_init(void)
{
	HODO_EVENT(sall, init, HODO_F(when, sites_idle(1, 2)));
	return 0;
}

static void __exit sites_all_exit(void)
{
	HODO_EVENT(sall, exit, HODO_F(when, 2));
}

module_init(sites_all_init);
module_exit(sites_all_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");
