/* SPDX-License-Identifier: MIT */
/*
 * drain.h - several threads that drain rings, when one would not keep up.
 *
 * The recorder remains written for one thread: of the threads here, only the one that has the lock runs,
 * except for what they do apart: copying and checking a packet, compressing and writing it. That takes most
 * of the time (docs/design/recorder.md), and involves only one ring, one stream and the thread's own buffers.
 * In a round, one thread reads all of a ring.
 *
 *   who                    what                                          beside
 *   has the lock           all of the recorder                            those who are apart
 *   is apart               its ring's reader, its stream's file,         who has the lock, others who are apart
 *                          its own buffers; reads tables of the
 *                          process's catalogue
 *   is alone (has the      also what those who are apart use: the        nobody
 *   lock, nobody is apart) catalogue's tables, files of other streams
 *
 * The recorder's thread holds the lock at all times, except when it is apart or waits here: so code that
 * knows nothing of this need not take it.
 */
#pragma once

#include <stdint.h>

#define HODO_DRAIN_THREADS_MAX 64u

struct hodo_drain;

/* That many threads, including the caller; others start when they are needed. NULL: no memory. */
struct hodo_drain *hodo_drain_new(uint32_t threads);
void hodo_drain_free(struct hodo_drain *d);

/*
 * Calls work(arg, 0) here and work(arg, 1), … in up to that many other threads, each at most once; returns
 * when all have returned. NULL: only here, as in all of the following.
 */
void hodo_drain_run(struct hodo_drain *d, uint32_t others, void (*work)(void *arg, uint32_t thread), void *arg);

/* From here to hodo_drain_back() the caller is apart. */
void hodo_drain_apart(struct hodo_drain *d);
void hodo_drain_back(struct hodo_drain *d);

/*
 * Returns when the caller, which is not apart, is alone; it stays alone until it goes apart. While it waits,
 * others may change everything except its ring. It waits at most until the end of the round: a ring is read
 * only up to where it was filled when its turn came.
 */
void hodo_drain_alone(struct hodo_drain *d);
