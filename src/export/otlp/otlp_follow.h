/* SPDX-License-Identifier: MIT */
/* otlp_follow.h - OpenTelemetry's messages of a recording that is being written: the same spans as of the finished
 * one. */
#ifndef HODO_EXPORT_OTLP_OTLP_FOLLOW_H
#define HODO_EXPORT_OTLP_OTLP_FOLLOW_H

#include "otlp.h"

#include <hodo/read.h>

struct hodo_otlp_follow;

/* dir: the recording's folder. otlp stays the caller's; its send gets the messages. 0 or a negative errno. */
int hodo_otlp_follow_new(struct hodo_otlp_follow **follow, const char *dir, const struct hodo_otlp *otlp);
void hodo_otlp_follow_free(struct hodo_otlp_follow *follow); /* NULL is allowed */

/*
 * Sends the spans that ended before that time, and values of counters, as hodo_read_follow_on() finds them;
 * UINT64_MAX: all that is left, including spans that have not ended. stop: asked now and then; true: returns -EINTR.
 * 0, send's result, or a negative errno: from then on it only fails.
 */
int hodo_otlp_follow_on(struct hodo_otlp_follow *follow, const struct hodo_read_clock *clock, uint64_t ticks,
			bool (*stop)(void *data), void *data);

/* As hodo_read_follow_missed(). */
uint64_t hodo_otlp_follow_missed(const struct hodo_otlp_follow *follow, uint32_t *processes);

#endif
