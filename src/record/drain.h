/* SPDX-License-Identifier: MIT */
/*
 * drain.h - several threads that drain rings, where one would not keep up.
 *
 * The recorder is written for one thread, and so it stays: of the threads here one runs at a time, whoever has the
 * lock, but for what they do apart: copying and checking a packet, compressing and writing it. That is where the time
 * goes (docs/design/recorder.md), and it concerns one ring, one stream and the thread's own buffers alone. A ring is
 * one thread's from its begin to its end in a round.
 *
 *   who                    what                                          beside
 *   has the lock           all of the session                            those who are apart
 *   is apart               its ring's reader, its stream's file,         who has the lock, others who are apart
 *                          its own buffers; reads tables of the
 *                          process's catalogue
 *   is alone (has the      also what those who are apart use: the        nobody
 *   lock, nobody is apart) catalogue's tables, files of other streams
 *
 * The lock is held by the recorder's thread at all times, but where it is apart or waits here: so code that knows
 * nothing of this need not take it.
 */
#ifndef HODO_RECORD_DRAIN_H
#define HODO_RECORD_DRAIN_H

#include <stdint.h>

#define HODO_DRAIN_THREADS_MAX 64u

struct hodo_drain;

/* So many threads, the caller among them; others start when they are needed. NULL: no memory. */
struct hodo_drain *hodo_drain_new(uint32_t threads);
void hodo_drain_free(struct hodo_drain *d);

/*
 * Calls work(arg, 0) here and work(arg, 1) and on in as many other threads as are wanted and can be had, each once at
 * most; returns when all have returned. NULL: here alone, as in all of the following.
 */
void hodo_drain_run(struct hodo_drain *d, uint32_t others, void (*work)(void *arg, uint32_t thread), void *arg);

/* From here to hodo_drain_back() the caller is apart. */
void hodo_drain_apart(struct hodo_drain *d);
void hodo_drain_back(struct hodo_drain *d);

/*
 * Returns when the caller, who is not apart, is alone: so it is until it goes apart. Meanwhile others may have
 * changed all but its ring. It waits for the end of the round at most: a ring is read up to where it was full when
 * its turn came.
 */
void hodo_drain_alone(struct hodo_drain *d);

#endif
