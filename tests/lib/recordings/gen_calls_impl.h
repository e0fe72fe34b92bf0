/* SPDX-License-Identifier: MIT */
/* gen_calls_impl.h - helpers that make the recordings of functions. */
#ifndef HODO_TESTS_GRAPH_GEN_CALLS_IMPL_H
#define HODO_TESTS_GRAPH_GEN_CALLS_IMPL_H

#include "gen_calls.h"

#include "gen.h"

enum { ENTRY = 1, EXIT, ENTRY_SP, EXIT_SP, REACHED, CALL, CALLEE, STACK, HELD, WRONG, PROFILE, GET, OPEN };

#define MAIN 0x0ffff000u /* frames on the main thread's stack, a worker's, a coroutine's and a signal's */
#define WORK 0x0f000000u
#define CORO 0x02000000u
#define SIGN 0x03000000u

/* Begins a trace with all classes of functions, and the first packet of its stream cpu0; how: the mode. */
void gen_calls_start(struct gen_trace *t, struct gen_stream *s, const char *top, const char *folder, const char *comm,
		     unsigned pid, const char *how);
void gen_calls_end(struct gen_trace *t, struct gen_stream *s, uint64_t now, uint64_t lost);
/* Records the entry or exit of function f; frames are reported in units of 8 bytes. */
void gen_calls_event(struct gen_stream *s, unsigned id, unsigned tid, uint64_t now, unsigned f, uint64_t frame);
/* … a call at its end. */
void gen_calls_whole(struct gen_stream *s, unsigned tid, uint64_t now, unsigned f, uint32_t depth, uint64_t ticks,
		     bool left);
/* … and one that is open at the end. */
void gen_calls_open(struct gen_stream *s, unsigned tid, uint64_t now, unsigned f, uint32_t depth, uint64_t ticks);
/* Records entries and exits; members are like the arguments. */
struct gen_call {
	unsigned id, tid;
	uint64_t now;
	unsigned f;
	uint64_t frame;
};
#define GEN_CALLS_EVENTS(stream, ...) \
	gen_calls_events(stream, (const struct gen_call[]){ __VA_ARGS__ }, \
			 sizeof((const struct gen_call[]){ __VA_ARGS__ }) / sizeof(struct gen_call))
void gen_calls_events(struct gen_stream *s, const struct gen_call *calls, size_t n);

#endif
