/* SPDX-License-Identifier: MIT */
/*
 * top_spans.h - hodo top: transfers the start and end events and counters of one process from its rings into the
 * model.
 *
 * They come ring by ring but are needed in order of time: a thread may begin a span on one CPU and end it on
 * another. So each ring has a queue, and what is older than the last poll of all rings is taken from the
 * queues in order. The number of queued items is bounded: at the bound, all rings are polled at once.
 */
#pragma once

#include "top.h"

#define HODO_TOP_QUEUED_MAX (1u << 18) /* of a model: beyond that, they are taken at once */

struct hodo_top_spans; /* of a process image */

struct hodo_top_spans *hodo_top_spans_new(struct hodo_top_model *m, const struct hodo_process *p);
/* Spans still open will never end. */
void hodo_top_spans_free(struct hodo_top_spans *s); /* NULL is allowed */

/* An event that is new in the catalogue. */
void hodo_top_spans_see(struct hodo_top_spans *s, const struct hodo_catalog_event *e);

/* Queues the items in len bytes of whole events of a ring, in order. cursor: before them. */
void hodo_top_spans_queue(struct hodo_top_spans *s, const struct hodo_process *p, uint32_t ring, const uint8_t *body,
			  uint32_t len, const struct hodo_cursor *cursor);

/* Events of the ring were lost after the last queued one, up to that time (ticks): spans begun before may
 * have ended, and spans that end later may have begun, among them. */
void hodo_top_spans_lose(struct hodo_top_spans *s, uint32_t ring, uint64_t until);

/* The ring has events that can only be queued later: nothing that may be younger is taken before. */
void hodo_top_spans_lag(struct hodo_top_spans *s, uint32_t ring, bool lags);

/* The time now, in ticks: a poll made afterwards sees everything that happened before. */
uint64_t hodo_top_spans_now(const struct hodo_top_spans *s);
/*
 * Takes, in order, what is older. UINT64_MAX: everything, since the process has ended. more: queues further items
 * of a ring whose queue is empty, if there are any, and returns whether there may be more; NULL: all are queued.
 */
void hodo_top_spans_take(struct hodo_top_spans *s, uint64_t until, bool (*more)(void *arg, uint32_t ring), void *arg);
