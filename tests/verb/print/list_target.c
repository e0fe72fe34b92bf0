/* SPDX-License-Identifier: MIT */
/* list_target.c - a program with one event of each kind, for `hodo list`. */
#include <hodo/trace.h>

#include <stdlib.h>

enum state { IDLE, BUSY, DEAD = -7 };

HODO_TRACEPOINT(kv, evict, (const char *, key), (int, age));

static void work(const char *key, int shard, size_t len, enum state state)
{
	double load[] = { 0.5, 1.5 };
	char c = (char)shard;

	HODO_LABELS(kv, state, IDLE, BUSY, DEAD);
	HODO_SPAN(kv, compact, shard);
	HODO_EVENT(kv, put, key, shard, HODO_F(bytes, len));
	HODO_EVENT(kv, put, key, shard, HODO_F(bytes, len));
	HODO_EVENT(kv, state, state);
	HODO_EVENT(kv, empty);
	HODO_EVENT(kv, data, HODO_BYTES(key, 3), HODO_ARRAY(load, 2), HODO_STR(key, 2), (void *)key, c);
	HODO_MARK(kv, get, "key %s shard %d\n", key, shard);
	HODO_COUNTER(kv, cache_bytes, len);
	HODO_BEGIN(kv, request, shard, key);
	HODO_END(kv, request, shard);
	trace_kv_evict(key, shard);
}

int main(int argc, char **argv)
{
	work(argc > 1 ? argv[1] : "key", argc, (size_t)argc, BUSY);
	return 0;
}
