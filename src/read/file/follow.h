/* SPDX-License-Identifier: MIT */
/*
 * follow.h - reads a recording while its recorder writes it: the same events, classes and processes as when it is
 * read afterwards, in steps.
 *
 *   who                      does                                        beside
 *   the recorder             appends packets, replaces metadata,         the reader
 *                            begins and removes parts
 *   the reader (one thread)  reads the files up to a time that the       the recorder
 *                            recorder has said is on disk
 *
 * They share files and nothing else: the reader takes whole packets only, and metadata only after the packets, as
 * every reader of a recording in progress does (folder.c). It holds no lock that the recorder could wait for.
 *
 * What is known of a process, its events and threads grows, and stays valid as long as the reader. Times are those
 * of the step's clock, which comes closer to the final one from step to step.
 */
#pragma once

#include <hodo/read.h>

/* Opens the recording's folder, in which there may be nothing yet, nor compressed files. 0 or a negative errno. */
int hodo_read_follow(struct hodo_read **reader, const char *path, const struct hodo_read_options *options);

/*
 * Looks what is new: from now on hodo_read_next() gives the events before that time, then 0 until the next step.
 * Events of a process that is seen late may be earlier than those already given. UINT64_MAX: the recording has
 * ended, and all of it is given. 0 or a negative errno.
 */
int hodo_read_follow_on(struct hodo_read *reader, const struct hodo_read_clock *clock, uint64_t ticks);

/* Events that were not seen: damaged, or in parts that were removed before they were read. processes: how many were
 * left out since there were too many: 256 MiB of what is known of them. */
uint64_t hodo_read_follow_missed(const struct hodo_read *reader, uint32_t *processes);
