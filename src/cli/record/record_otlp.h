/* SPDX-License-Identifier: MIT */
/* record_otlp.h - hodo record --otlp: sends the spans of a recording while it is made. */
#pragma once

#include <record/record.h>

#include <cli/export/export_otlp.h>

struct signalfd_siginfo;
struct hodo_record_otlp;

/* Before anything is recorded: reads the environment, and loads what sending needs. args stays the caller's. 0, or
 * the exit status having said why. */
int hodo_record_otlp_new(struct hodo_record_otlp **otlp, struct hodo_otlp_args *args, bool quiet);
/* Begins, once the recording's folder is there and the command has started. otlp may be NULL, here and in _say(). */
void hodo_record_otlp_begin(struct hodo_record_otlp *otlp, const char *dir);
/* As in struct hodo_recorder_ops. */
void hodo_record_otlp_reached(struct hodo_record_otlp *otlp, uint64_t ticks, const struct hodo_read_clock *clock);
/* Gives what there is to say meanwhile, if anything, to the reporter. */
void hodo_record_otlp_say(struct hodo_record_otlp *otlp, const struct hodo_reporter *reporter);
/*
 * The recording is complete: sends the rest, for a limited time, says what came of it, and frees. Each signal that
 * arrives meanwhile is passed to `takes`, which returns whether it ends the sending. What has not begun is only
 * freed.
 */
void hodo_record_otlp_end(struct hodo_record_otlp **otlp, int signal_fd,
			  bool (*takes)(void *arg, const struct signalfd_siginfo *info), void *arg);
