/* SPDX-License-Identifier: MIT */
/*
 * top_spans.h - hodo top: the begins, ends and counters of one process, from its rings into the model.
 *
 * They come ring by ring and are wanted in the order of their times: a thread may begin a span on one CPU and end it on
 * another. So each ring has a queue, and what is older than the last look at all of them is taken from the queues in
 * order. How many wait is bounded: then that look is made at once.
 */
#ifndef HODO_CLI_TOP_SPANS_H
#define HODO_CLI_TOP_SPANS_H

#include "top.h"

#define HODO_TOP_QUEUED_MAX (1u << 18) /* of a model: from then on they are taken out at once */

struct hodo_top_spans; /* of a process image */

struct hodo_top_spans *hodo_top_spans_new(struct hodo_top_model *m, const struct hodo_process *p);
/* Those that are open then will never be over. */
void hodo_top_spans_free(struct hodo_top_spans *s); /* NULL is allowed */

/* An event that is new in the catalogue. */
void hodo_top_spans_see(struct hodo_top_spans *s, const struct hodo_catalog_event *e);

/* Queues what is in len bytes of whole events of a ring, which come in order. cursor: from before them. */
void hodo_top_spans_queue(struct hodo_top_spans *s, const struct hodo_process *p, uint32_t ring, const uint8_t *body,
			  uint32_t len, const struct hodo_cursor *cursor);

/* Events of the ring were lost behind the last one that was queued, up to that time (ticks): what began before may
 * have ended, and what ends after it begun, among them. */
void hodo_top_spans_lose(struct hodo_top_spans *s, uint32_t ring, uint64_t until);

/* The process has events of the ring that can be queued only later: nothing that may be younger is taken before. */
void hodo_top_spans_lag(struct hodo_top_spans *s, uint32_t ring, bool lags);

/* Now, in the ticks that times are in: all that happened before is seen by a look that is made afterwards. */
uint64_t hodo_top_spans_now(const struct hodo_top_spans *s);
/* Takes out, in order, what is older. UINT64_MAX: the process has ended, all of it. */
void hodo_top_spans_take(struct hodo_top_spans *s, uint64_t until);

#endif
