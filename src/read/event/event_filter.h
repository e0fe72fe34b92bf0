/* SPDX-License-Identifier: MIT */
/* event_filter.h - a filter's expression on events that are read: the same compiler and machine as when recording. */
#pragma once

#include <base/why.h>
#include <hodo/read.h>

#include "pattern.h"

struct hodo_event_filter;

/* 0; -EINVAL, -E2BIG with a line in why; -ENOMEM. */
int hodo_event_filter_new(struct hodo_event_filter **filter, const char *expr, struct hodo_why *why);
void hodo_event_filter_free(struct hodo_event_filter *filter); /* NULL is allowed */

/* The names of fields in the expression, as in hodo_pattern_add_fields(). */
int hodo_event_filter_fields(const struct hodo_event_filter *filter, struct hodo_pattern_list *list);

/*
 * 1: it holds for the event, 0: not, -ENOMEM. An event that ends something also has its start's fields,
 * $duration and $off_cpu, if the reader knows the start: hodo_read_spans().
 */
int hodo_event_filter_takes(struct hodo_event_filter *filter, const struct hodo_read_event *event);
