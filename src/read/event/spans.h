/* SPDX-License-Identifier: MIT */
/* spans.h - end events with their start events, as the reader gives them. */
#pragma once

#include <hodo/read.h>

struct hodo_spans;

struct hodo_spans *hodo_spans_new(void); /* NULL: no memory */
void hodo_spans_free(struct hodo_spans *spans); /* NULL is allowed */
/* Before rereading from the first event. */
void hodo_spans_rewind(struct hodo_spans *spans);

/* Takes each event, in order, pairs it, and sets its start event if `begins`. 0 or -ENOMEM. */
int hodo_spans_event(struct hodo_spans *spans, struct hodo_read_event *event, bool begins);

/* After hodo_spans_event(): notes for the event's start whether the event is taken. 0 or -ENOMEM. */
int hodo_spans_learn(struct hodo_spans *spans, const struct hodo_read_event *event, bool taken);
/* After hodo_spans_event(): whether the event is taken: a start as its end was, anything else according to taken. */
bool hodo_spans_take(const struct hodo_spans *spans, bool taken);
void hodo_spans_forget(struct hodo_spans *spans); /* what was learned */
