/* SPDX-License-Identifier: MIT */
/* emit.h - how events come in: from sites through arch/x86_64/site.S, whose frame pointer points to frame,
 * and through calls. */
#ifndef HODO_USER_EVENT_EMIT_H
#define HODO_USER_EVENT_EMIT_H

#include "event.h"

/* Where an event happened. */
struct hodo_origin {
	uintptr_t ip, sp, bp;
};
/* The site's: its frame lies below the red zone of its function. */
static inline struct hodo_origin hodo_site_origin(const uintptr_t *frame)
{
	return (struct hodo_origin){ frame[1], (uintptr_t)(frame + 2) + 128, frame[0] };
}

/* emit.c. Any fields, as in hodo_ops.emit_pieces. */
HODO_HIDDEN void hodo_emit_from(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
				struct hodo_origin *from);
HODO_HIDDEN void hodo_site_slow(struct hodo_state *state, const void *data, size_t len);

/* gather.c. hodo_state.how of tracepoints, and of events whose payload has texts or arrays besides values. */
#define HODO_HOW_GATHER 1u
#define HODO_HOW_PROBES 2u
/* In the constructor. */
HODO_HIDDEN void hodo_gather_init(void);

/* scan.c. Binds a state to this event. Under the control lock. */
HODO_SHARED void hodo_state_bind(struct hodo_state *state, struct hodo_event *event, const struct hodo_desc *desc);

/* steps.c. How values become a payload (hodo_event.plan): a byte for each step. writer.S knows them, too. */
enum hodo_step {
	HODO_STEP_END = 0,
	HODO_STEP_NUMBERS = 8, /* up to this: that many bytes of numbers */
	HODO_STEP_ARRAY = 0x40, /* | size of an element: a pointer and a count; also for bytes */
	HODO_STEP_TEXT = 0x80,  /* | field's number: a pointer; and a count, if that bit is set in hodo_state.values */
};
/* Makes the plan, and hodo_event.room: bytes of payload with HODO_TEXT_ROOM for each text or array. */
#define HODO_TEXT_ROOM 16u
HODO_HIDDEN void hodo_plan_make(struct hodo_event *event);

#endif
