/* SPDX-License-Identifier: MIT */
/* event_filter.h - a filter's expression on events that are read: the same compiler and machine as when recording. */
#ifndef HODO_RECORD_EVENT_FILTER_H
#define HODO_RECORD_EVENT_FILTER_H

#include <hodo/read.h>

struct hodo_event_filter;

/* 0; -EINVAL, -E2BIG with a line in error; -ENOMEM. */
int hodo_event_filter_new(struct hodo_event_filter **filter, const char *expr, char *error, size_t size);
void hodo_event_filter_free(struct hodo_event_filter *filter); /* NULL is allowed */

/*
 * 1: it holds for the event, 0: not, -ENOMEM. To be asked of all events in their order: $duration, at the end of a
 * span or a function, is the time since its begin.
 */
int hodo_event_filter_takes(struct hodo_event_filter *filter, const struct hodo_read_event *event);

#endif
