/* SPDX-License-Identifier: MIT */
/* gen_calls.h - recordings of functions, by tests/lib/recordings/gen.c. */
#ifndef HODO_TESTS_GRAPH_GEN_CALLS_H
#define HODO_TESTS_GRAPH_GEN_CALLS_H

#include <stdint.h>

/* two threads: nested calls, an exception, a coroutine, a signal's stack, events, calls that remain open */
void gen_calls(const char *top);
void gen_deep(const char *top, uint64_t depth);   /* recursion, all of which returns */
void gen_many_calls(const char *top, uint64_t n); /* n events: a tree of calls, four deep */
void gen_whole(const char *top);                  /* calls recorded at their end, with what they called */
void gen_inside(const char *top);                 /* … and with calls inside of others of the same function */
void gen_again(const char *top);                  /* a thread ends inside of calls, and another one gets its stack */
void gen_late(const char *top);                   /* … and written late, so that they seem to begin late */
void gen_late_lost(const char *top);              /* … and some are lost */
void gen_inside_open(const char *top);            /* … and the program ends in a recursion, one call of which ended */
void gen_around(const char *top, uint64_t n);     /* … and with one that contains n events */
void gen_kinds(const char *top);                  /* stack pointers, entries without exits */
void gen_found(const char *top);                  /* what the tracers stack, loop and thread report */
void gen_profile(const char *top);
void gen_profile_old(const char *top);            /* … as recordings had it before the fields sum and no_exit */
void gen_lossy(const char *top);                  /* entries and exits are missing */
void gen_exit_lost(const char *top);              /* calls whose exits may be lost, and others */
void gen_lost_before(const char *top);            /* overwritten on one CPU up to 5000; left before and after it */
void gen_lost_unseen(const char *top);            /* calls left while a stream lost everything it had */
void gen_fork(const char *top);                   /* a child that returns from calls of its parent */
void gen_mad(const char *top, uint64_t seed);     /* anything at all */
void gen_spans(const char *top);                  /* spans in calls, calls in spans, and spans that cross */
void gen_spans_many(const char *top, uint64_t n); /* n events: spans and calls inside of each other */
void gen_spans_off(const char *top);              /* … with the times when their threads ran */
void gen_spans_left(const char *top, uint64_t n); /* a span that ends after n calls around it */
void gen_spans_mad(const char *top, uint64_t seed); /* in any order; odd seeds: calls recorded at their end */

#endif
