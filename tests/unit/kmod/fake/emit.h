/* SPDX-License-Identifier: MIT */
/* emit.h - the writer: room of exactly the length that the caller requests. */
#ifndef FAKE_EMIT_H
#define FAKE_EMIT_H

#include "event.h"

struct hodo_emit {
	void *payload;
	u32 len;
};
#define HODO_EMIT(e) struct hodo_emit e

/* Preemption is off between them. */
void hodo_tracepoint_enter(void);
void hodo_tracepoint_leave(void);
void *hodo_emit_begin(struct hodo_emit *e, const struct hodo_event *event, u32 len);
void hodo_emit_end(struct hodo_emit *e, struct hodo_event *event);

#endif
